"""Giving: from a request to a packet that waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from amfs_sqlite.errors import EntryNotFoundError, IdempotencyConflictError, VersionConflictError
from amfs_sqlite.models import EntryRef, MemoryEntry
from amfs_sqlite.rules.hashing import digest
from bridge.errors import PrivatePinError
from bridge.handoff import filing
from bridge.handoff.packet import Packet, Pin
from bridge.handoff.requests import Request, check_idempotency_key, check_pin_count
from bridge.session import Session

ID_DIGITS = 8
# Members of a packet given under an idempotency key, beside its own: the key, and what was asked.
REQUEST_KEY = "requestKey"
REQUEST = "requestDigest"


@dataclass(frozen=True, slots=True)
class Given:
    """A packet that was given. ``left_out`` are touched records that are private, so not in it."""

    packet: Packet
    left_out: tuple[EntryRef, ...]


async def give(session: Session, request: Request, idempotency_key: str | None) -> Given:
    """Store the packet asked for, once for each idempotency key of this agent."""
    check_idempotency_key(idempotency_key)
    if idempotency_key is not None:
        return await _give_once(session, request, idempotency_key)
    pinned = await _to_pin(session, request)
    while True:
        try:
            return await _file(session, request, pinned, f"h_{session.ids.hex(ID_DIGITS)}", {})
        except VersionConflictError:
            continue


async def _give_once(session: Session, request: Request, idempotency_key: str) -> Given:
    asked = {REQUEST_KEY: digest(session.agent_id, idempotency_key), REQUEST: request.digest()}
    # The id follows from the key, so that a repetition finds the packet. Where another packet
    # happens to have that id, the next one is tried, by every repetition alike.
    for probe in count():
        handoff_id = f"h_{digest(asked[REQUEST_KEY], str(probe))[:ID_DIGITS]}"
        first = await filing.find_as_given(session, handoff_id)
        if first is None:
            pinned = await _to_pin(session, request)
            try:
                return await _file(session, request, pinned, handoff_id, asked)
            except VersionConflictError:
                first = await filing.find_as_given(session, handoff_id)
        noted = {} if first is None else first.entry.value
        if first is not None and noted.get(REQUEST_KEY) == asked[REQUEST_KEY]:
            if noted.get(REQUEST) != asked[REQUEST]:
                break
            return Given(first.packet, _left_out(session, request))
    raise IdempotencyConflictError(session.agent_id, idempotency_key)


async def _file(
    session: Session,
    request: Request,
    pinned: Sequence[MemoryEntry],
    handoff_id: str,
    more: Mapping[str, str],
) -> Given:
    packet = Packet(
        id=handoff_id,
        summary=request.summary,
        next_steps=request.next_steps,
        open_questions=request.open_questions,
        pins=tuple(Pin.of(entry) for entry in pinned),
        from_agent=session.agent_id,
        to_agent=request.to_agent,
        session_id=session.session_id,
        created_at=session.clock.now(),
    )
    # A packet that names private records is as private as they are.
    private = any(not entry.shared for entry in pinned)
    filed = await filing.file_new(session, packet, more, private=private)
    return Given(filed.packet, _left_out(session, request))


async def _to_pin(session: Session, request: Request) -> list[MemoryEntry]:
    """The versions to be pinned, each once."""
    if request.refs is None:
        entries = [each for each in session.touched if _may_know(request.to_agent, each)]
    else:
        check_pin_count(len(request.refs))
        entries = [await _named(session, ref, request.to_agent) for ref in request.refs]
    once = {(each.entity_path, each.key, each.version): each for each in entries}
    check_pin_count(len(once))
    return list(once.values())


async def _named(session: Session, ref: EntryRef, to_agent: str | None) -> MemoryEntry:
    path, key, version = ref.entity_path, ref.key, ref.version
    if version is None:
        entry = await session.adapter.read(path, key, viewer=session.viewer)
    else:
        entry = await session.adapter.read_at_version(path, key, version, viewer=session.viewer)
    if entry is None:
        raise EntryNotFoundError(path, key, version)
    if not _may_know(to_agent, entry):
        raise PrivatePinError(path, key)
    return entry


def _left_out(session: Session, request: Request) -> tuple[EntryRef, ...]:
    if request.refs is not None:
        return ()
    return tuple(entry.ref for entry in session.touched if not _may_know(request.to_agent, entry))


def _may_know(to_agent: str | None, entry: MemoryEntry) -> bool:
    """Whether a record may be pinned for this agent. None is anyone: nothing private then."""
    return entry.shared or entry.agent_id == to_agent
