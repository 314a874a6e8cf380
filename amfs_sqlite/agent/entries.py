"""Reading and writing as one agent: what it reads is logged, what it writes carries on the outcome count."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.errors import InvalidArgumentError, VersionConflictError
from amfs_sqlite.models import (
    ArtifactRef,
    CommitResult,
    MemoryEntry,
    Provenance,
    SearchQuery,
    Write,
)
from amfs_sqlite.rules.limits import check_instant
from amfs_sqlite.rules.visibility import is_expired


async def read(
    session: AgentSession, entity_path: str, key: str, min_confidence: float | None
) -> MemoryEntry | None:
    """The current version, logged as read."""
    return session.note(
        await session.adapter.read(entity_path, key, min_confidence=min_confidence, viewer=session.agent_id)
    )


async def recall(
    session: AgentSession, entity_path: str, key: str, min_confidence: float | None
) -> MemoryEntry | None:
    """The agent's own latest version, superseded or not; the current version is logged as read.

    Unlike in ``read``, 0 does compare, and is the least confidence when none is given.
    """
    await read(session, entity_path, key, None)
    versions = await session.adapter.history(entity_path, key, viewer=session.agent_id)
    own = [each for each in versions if each.agent_id == session.agent_id]
    if not own or is_expired(own[-1].ttl_at, session.clock.now()):
        return None
    return own[-1] if own[-1].confidence >= (min_confidence or 0) else None


async def my_entries(session: AgentSession, entity_path: str | None) -> Sequence[MemoryEntry]:
    """The current entries this agent wrote last, most confident first. As in any search, '' is anyone."""
    query = SearchQuery(entity_path=entity_path, agent_id=session.agent_id, sort_by="confidence", limit=None)
    return (await session.adapter.search(query, viewer=session.agent_id)).entries


async def read_from(session: AgentSession, agent_id: str, entity_path: str, key: str) -> MemoryEntry | None:
    """The current version if it is shared and that agent wrote it ('' is anyone), logged as read."""
    entry = await session.adapter.read(entity_path, key, viewer=session.agent_id)
    wanted = entry is not None and entry.shared and agent_id in ("", entry.agent_id)
    return session.note(entry) if wanted else None


def draft(
    session: AgentSession,
    entity_path: str,
    key: str,
    value: Any,
    *,
    confidence: float | None,
    pattern_refs: Sequence[str] | None,
    ttl_at: datetime | str | None,
    shared: bool | None,
    artifact_refs: Sequence[ArtifactRef] | None,
) -> MemoryEntry:
    """An entry to be written. None means the default, for every option."""
    return MemoryEntry(
        entity_path=entity_path,
        key=key,
        value=value,
        provenance=Provenance(
            agent_id=session.agent_id,
            session_id=session.session_id,
            pattern_refs=tuple(pattern_refs or ()),
        ),
        confidence=1.0 if confidence is None else confidence,
        ttl_at=_expiry(ttl_at),
        shared=True if shared is None else shared,
        artifact_refs=None if artifact_refs is None else tuple(artifact_refs),
    )


def _expiry(ttl_at: datetime | str | None) -> datetime | None:
    if ttl_at == "":
        raise InvalidArgumentError("ttl_at", "is '', no instant; write one, or leave it out")
    return check_instant(ttl_at, "ttl_at")


async def write(session: AgentSession, drafted: MemoryEntry) -> MemoryEntry:
    """Store one entry."""
    return (await commit(session, [drafted])).entries[0]


async def commit(session: AgentSession, drafts: Sequence[MemoryEntry], message: str = "") -> CommitResult:
    """Store the drafts as one commit, each carrying on the outcome count of its key.

    The count must still hold when the commit is made: where another writer was quicker it is read again.
    """
    while True:
        counted: dict[tuple[str, str], Write] = {}
        changes = []
        for each in drafts:
            address = (each.entity_path, each.key)
            first = counted.get(address)
            if first is None:
                first = counted[address] = await _counted(session, each)
                changes.append(first)
            else:
                count = first.entry.outcome_count
                changes.append(Write(each.model_copy(update={"outcome_count": count})))
        try:
            return await session.adapter.commit(
                changes,
                author=session.agent_id,
                session_id=session.session_id or None,
                message=message,
            )
        except VersionConflictError:
            continue


async def _counted(session: AgentSession, drafted: MemoryEntry) -> Write:
    current = await session.adapter.read(
        drafted.entity_path, drafted.key, include_expired=True, viewer=session.agent_id
    )
    if current is None:
        return Write(drafted)
    counted = drafted.model_copy(update={"outcome_count": current.outcome_count})
    return Write(counted, expected_version=current.version)
