"""Reading and writing as one agent: what it reads is logged, what it writes carries on the outcome count."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import (
    ArtifactRef,
    CommitResult,
    MemoryEntry,
    Provenance,
    SearchQuery,
    Write,
)
from amfs_sqlite.rules.limits import (
    check_flag,
    check_instant,
    check_is_text,
    check_min_confidence,
    check_optional_text,
    made,
)
from amfs_sqlite.rules.visibility import is_expired


async def read(
    session: AgentSession, entity_path: str, key: str, min_confidence: float | None
) -> MemoryEntry | None:
    """The current version, logged as read."""
    _check_address(entity_path, key)
    return session.note(
        await session.adapter.read(entity_path, key, min_confidence=min_confidence, viewer=session.agent_id)
    )


async def recall(
    session: AgentSession, entity_path: str, key: str, min_confidence: float | None
) -> MemoryEntry | None:
    """The agent's own latest version, superseded or not; the current version is logged as read.

    Unlike in ``read``, 0 does compare, and is the least confidence when none is given.
    """
    check_min_confidence(min_confidence)
    await read(session, entity_path, key, None)
    versions = await session.adapter.history(entity_path, key, viewer=session.agent_id)
    own = [each for each in versions if each.agent_id == session.agent_id]
    if not own or is_expired(own[-1].ttl_at, session.clock.now()):
        return None
    return own[-1] if own[-1].confidence >= (min_confidence or 0) else None


async def list_entries(
    session: AgentSession, entity_path: str | None, *, include_superseded: bool
) -> Sequence[MemoryEntry]:
    """The entries at this path and below it."""
    check_optional_text(entity_path, "entity_path")
    check_flag(include_superseded, "include_superseded")
    return await session.adapter.list(
        entity_path, include_superseded=include_superseded, viewer=session.agent_id
    )


async def history(
    session: AgentSession,
    entity_path: str,
    key: str,
    since: datetime | str | None,
    until: datetime | str | None,
) -> Sequence[MemoryEntry]:
    """The versions of exactly this address."""
    _check_address(entity_path, key)
    return await session.adapter.history(entity_path, key, since=since, until=until, viewer=session.agent_id)


async def my_entries(session: AgentSession, entity_path: str | None) -> Sequence[MemoryEntry]:
    """The current entries this agent wrote last, most confident first. As in any search, '' is anyone."""
    query = made(
        SearchQuery,
        entity_path=entity_path,
        agent_id=session.agent_id,
        sort_by="confidence",
        limit=None,
    )
    return (await session.adapter.search(query, viewer=session.agent_id)).entries


async def read_from(session: AgentSession, agent_id: str, entity_path: str, key: str) -> MemoryEntry | None:
    """The current version if it is shared and that agent wrote it ('' is anyone), logged as read."""
    check_is_text(agent_id, "agent_id")
    _check_address(entity_path, key)
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
    """An entry to be written. None means the default, for every option. Raises InvalidArgumentError."""
    provenance = made(
        Provenance,
        agent_id=session.agent_id,
        session_id=session.session_id,
        pattern_refs=() if pattern_refs is None else pattern_refs,
    )
    return made(
        MemoryEntry,
        entity_path=entity_path,
        key=key,
        value=value,
        provenance=provenance,
        confidence=1.0 if confidence is None else confidence,
        ttl_at=_expiry(ttl_at),
        shared=True if shared is None else shared,
        artifact_refs=artifact_refs,
    )


def _check_address(entity_path: str, key: str) -> None:
    check_is_text(entity_path, "entity_path")
    check_is_text(key, "key")


def _expiry(ttl_at: datetime | str | None) -> datetime | None:
    if ttl_at == "":
        raise InvalidArgumentError("ttl_at", "is '', no instant; write one, or leave it out")
    return check_instant(ttl_at, "ttl_at")


async def write(session: AgentSession, drafted: MemoryEntry) -> MemoryEntry:
    """Store one entry."""
    return (await commit(session, [drafted])).entries[0]


async def commit(
    session: AgentSession,
    drafts: Sequence[MemoryEntry],
    message: str = "",
    idempotency_key: str | None = None,
) -> CommitResult:
    """Store the drafts as one commit, each carrying on the outcome count of its key."""
    return await session.adapter.commit(
        [Write(drafted, carries_outcome_count=True) for drafted in drafts],
        author=session.agent_id,
        session_id=session.session_id or None,
        message=message,
        idempotency_key=idempotency_key,
    )
