"""From pins to records: exactly the pinned versions, and a warning for each that has moved on."""

from collections.abc import Sequence
from dataclasses import dataclass

from amfs_sqlite.clock import spelled
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.rules.hashing import content_hash
from amfs_sqlite.rules.visibility import is_expired
from bridge.handoff.differences import difference
from bridge.handoff.packet import Pin
from bridge.session import Session


@dataclass(frozen=True, slots=True)
class Stale:
    """A pin whose record has moved on. Moving on goes by the value, not by version or confidence.

    ``current_version`` is None where the reader can see none. ``change`` says in one line what
    changed, or why the pinned version itself is not among the records.
    """

    entity_path: str
    key: str
    pinned_version: int
    current_version: int | None
    change: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The pinned versions that are there as they were, in pin order, and the warnings."""

    records: tuple[MemoryEntry, ...]
    stale: tuple[Stale, ...]


async def resolve(session: Session, pins: Sequence[Pin]) -> Resolved:
    """Read the pinned versions. None is ever replaced by another.

    What is gone, hidden or changed is left out, and told under ``stale``.
    """
    records: list[MemoryEntry] = []
    stale: list[Stale] = []
    for pin in pins:
        record = await session.adapter.read_at_version(
            pin.entity_path, pin.key, pin.version, viewer=session.viewer
        )
        if record is not None and not record.withdrawn and content_hash(record.value) == pin.content_hash:
            records.append(record)
            warning = await _moved_on(session, pin, record)
        else:
            warning = await _lost(session, pin, record)
        if warning is not None:
            stale.append(warning)
    return Resolved(tuple(records), tuple(stale))


async def _moved_on(session: Session, pin: Pin, record: MemoryEntry) -> Stale | None:
    if record.superseded_at is None:
        expired = is_expired(record.ttl_at, session.clock.now())
        return _stale(pin, record, _expiry(record)) if expired else None
    current = await _current(session, pin)
    if current is not None:
        if current.content_hash == pin.content_hash:
            return None
        return _stale(pin, current, difference(record.value, current.value))
    newer = await session.adapter.history(
        pin.entity_path, pin.key, after_version=pin.version, viewer=session.viewer
    )
    if newer and newer[-1].superseded_at is None:
        ended = f"it was {newer[-1].withdrawn}" if newer[-1].withdrawn else _expiry(newer[-1])
        return _stale(pin, newer[-1], ended)
    return _stale(pin, None, "its current version is not visible to you")


async def _lost(session: Session, pin: Pin, record: MemoryEntry | None) -> Stale:
    """The warning for a pinned version that is not there as it was."""
    if record is None:
        why = f"version {pin.version} is gone, or not visible to you"
    elif record.withdrawn:
        why = f"version {pin.version} was {record.withdrawn}"
    else:
        why = f"version {pin.version} does not hold what was pinned; verify the file"
    return _stale(pin, await _current(session, pin), why)


async def _current(session: Session, pin: Pin) -> MemoryEntry | None:
    return await session.adapter.read(pin.entity_path, pin.key, viewer=session.viewer)


def _expiry(entry: MemoryEntry) -> str:
    return "it expired" if entry.ttl_at is None else f"it expired at {spelled(entry.ttl_at)}"


def _stale(pin: Pin, current: MemoryEntry | None, change: str) -> Stale:
    return Stale(
        entity_path=pin.entity_path,
        key=pin.key,
        pinned_version=pin.version,
        current_version=None if current is None else current.version,
        change=change,
    )
