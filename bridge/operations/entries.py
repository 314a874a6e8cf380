"""Records: remembering a belief, reading it, and how it came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amfs_sqlite.errors import EntryNotFoundError, InvalidArgumentError, VersionConflictError, quoted
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.rules.confidence import HANDOFF
from amfs_sqlite.rules.hashing import content_hash
from amfs_sqlite.rules.limits import (
    check_address,
    check_count,
    check_flag,
    check_optional_text,
    check_tags,
    check_texts,
)
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.visibility import is_system
from bridge.errors import ReservedPathError
from bridge.handoff import withdrawals
from bridge.operations.arguments import check_record
from bridge.operations.redaction import Redactor
from bridge.session import Session

DEFAULT_CONFIDENCE = 0.8
HISTORY_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Remembered:
    """A record as it stands after remembering.

    ``superseded_version`` is the version before it, None where it is the first. ``unchanged``
    says that it stood like this already, and that no version was made. ``superseded`` is what a new
    version took the place of, as it last stood: None where there was nothing this agent may see.
    ``redacted`` is how many secrets were taken out of what was given, by the name of their pattern.
    """

    entry: MemoryEntry
    superseded_version: int | None
    unchanged: bool
    superseded: MemoryEntry | None = None
    redacted: Mapping[str, int] = field(default_factory=dict)


async def remember(
    session: Session,
    scope: str,
    key: str,
    value: Any,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    tags: Sequence[str] = (),
    expected_version: int | None = None,
    idempotency_key: str | None = None,
    shared: bool = True,
) -> Remembered:
    """Write a belief as the next version of its key, and touch it.

    Where the current version has the same value, tags and ``shared``, it is returned ``unchanged``:
    ``confidence`` (0 to 1) is where a new belief starts, and does not undo what outcomes have moved
    since. A new version takes nothing over from the one before: it says everything anew.
    ``expected_version`` is compare-and-set: 0 means the key must be new, N that N must be current.
    A call with an ``idempotency_key`` always writes, the first time; repeated, it returns that
    result as it was, whatever was written since. Where it was erased since, the entry says so in
    ``withdrawn``, has no value, and is not touched.

    Raises ReservedPathError, InvalidArgumentError for a scope with '/' at an end or with an empty
    part, and what ``AmfsAdapter.write`` raises.
    """
    check_record(session, scope, key)
    redactor = Redactor(session)
    redactor.check_names(scope=scope, key=key, idempotency_key=idempotency_key)
    _check(scope, key, value, tags)
    HANDOFF.check_confidence(confidence)
    check_flag(shared, "shared")
    check_count(expected_version, "expected_version")
    check_optional_text(idempotency_key, "idempotency_key")
    draft = MemoryEntry.draft(
        scope,
        key,
        redactor.value(value),
        agent_id=session.agent_id,
        session_id=session.session_id,
        tags=redactor.texts(tags),
        confidence=confidence,
        shared=shared,
    )
    # Where the current version is private to another, only a conflict tells which one it is.
    hidden_version = 0
    while True:
        current = await session.adapter.read(scope, key, include_expired=True, viewer=session.agent_id)
        if (
            current is not None
            and idempotency_key is None
            and expected_version in (None, current.version)
            and _says_the_same(current, draft)
        ):
            session.touch(current)
            return Remembered(current, _before(current), unchanged=True, redacted=redactor.counts)
        expected = expected_version
        if expected is None and idempotency_key is None:
            # What was read must still stand. A key cannot hold to that: what is expected is part of
            # the request it stands for, and would be another when the call is repeated.
            expected = hidden_version if current is None else current.version
        try:
            written = await session.adapter.write(
                _continued(draft, current), expected_version=expected, idempotency_key=idempotency_key
            )
        except VersionConflictError as faster:
            if expected_version is not None:
                raise
            hidden_version = faster.actual if faster.actual_agent_id is None else 0
        else:
            if not written.withdrawn:
                session.touch(written)
            superseded = await _superseded(session, written)
            return Remembered(
                written,
                _before(written),
                unchanged=False,
                superseded=superseded,
                redacted=redactor.counts,
            )


async def read(session: Session, scope: str, key: str) -> MemoryEntry:
    """The current version, which is touched.

    Raises ReservedPathError, and EntryNotFoundError, which says so where it was erased or archived: then
    ``history`` shows what is left.
    """
    check_record(session, scope, key)
    _refuse_system(scope)
    entry = await session.adapter.read(scope, key, viewer=session.viewer)
    if entry is None:
        raise EntryNotFoundError(scope, key, withdrawn=await withdrawals.withdrawn(session, scope, key))
    session.touch(entry)
    return entry


async def history(
    session: Session, scope: str, key: str, *, after_version: int = 0, limit: int | None = HISTORY_LIMIT
) -> Sequence[MemoryEntry]:
    """Every belief of the key behind ``after_version``, oldest first; nothing is touched.

    Outcomes add none. Raises EntryNotFoundError where the key has none at all.
    """
    check_record(session, scope, key)
    check_count(after_version, "after_version")
    adapter, viewer = session.adapter, session.viewer
    versions = await adapter.history(scope, key, after_version=after_version or 0, limit=limit, viewer=viewer)
    if not versions and not await adapter.history(scope, key, limit=1, viewer=viewer):
        raise EntryNotFoundError(scope, key)
    return versions


def _check(scope: str, key: str, value: Any, tags: Sequence[str]) -> None:
    check_address(scope, key)
    _refuse_system(scope)
    if "" in scope.split("/"):
        raise InvalidArgumentError(
            "entity_path", f"is {quoted(scope)}; write it without '/' at its ends and without empty parts"
        )
    encode(value)
    check_texts(tags, "tags")
    check_tags(tags)


def _refuse_system(scope: str) -> None:
    if is_system(scope):
        raise ReservedPathError(scope)


def _says_the_same(current: MemoryEntry, draft: MemoryEntry) -> bool:
    return (
        current.content_hash == content_hash(draft.value)
        and current.tags == draft.tags
        and current.shared == draft.shared
        and current.ttl_at is None
    )


def _continued(draft: MemoryEntry, current: MemoryEntry | None) -> MemoryEntry:
    count = 0 if current is None else current.outcome_count
    return draft.model_copy(update={"outcome_count": count})


async def _superseded(session: Session, written: MemoryEntry) -> MemoryEntry | None:
    """The version before, as it last stood: read behind the write, so that it is that one for sure."""
    before = _before(written)
    if before is None:
        return None
    path, key = written.entity_path, written.key
    found = await session.adapter.read_at_version(path, key, before, viewer=session.agent_id)
    return None if found is None or found.withdrawn else found


def _before(entry: MemoryEntry) -> int | None:
    return entry.version - 1 or None
