"""Giving: from a request to a packet that waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from amfs_sqlite.errors import EntryNotFoundError, IdempotencyConflictError, VersionConflictError
from amfs_sqlite.models import EntryRef
from amfs_sqlite.rules.hashing import digest
from bridge.errors import PrivatePinError
from bridge.handoff import addressees, filing
from bridge.handoff.packet import Packet, Pin
from bridge.handoff.requests import MAX_PINS, Request, check_idempotency_key, check_pin_count
from bridge.session import SeenVersion, Session

ID_DIGITS = 8
# Members of a packet given under an idempotency key, beside its own: the key, and what was asked.
REQUEST_KEY = "requestKey"
REQUEST = "requestDigest"


@dataclass(frozen=True, slots=True)
class Given:
    """A packet that was given.

    Where it was to pin what the session touched, ``left_out`` are records that are private, so not
    in it; ``older_count`` is how many more were touched before the MAX_PINS it had room for; and
    ``nothing_touched`` says that it pins nothing because nothing was touched. ``addressee_known``
    is False where none of the last changes here is by the agent it is for. ``redacted`` is how many
    secrets were taken out of its texts, by the name of their pattern.
    """

    packet: Packet
    left_out: tuple[EntryRef, ...] = ()
    older_count: int = 0
    nothing_touched: bool = False
    addressee_known: bool = True
    redacted: Mapping[str, int] = field(default_factory=dict)


async def give(session: Session, request: Request, idempotency_key: str | None) -> Given:
    """Store the packet asked for, once for each idempotency key of this agent."""
    check_idempotency_key(idempotency_key)
    # All that is told is found out before anything is stored: what is given must not fail any more.
    known = request.to_agent is None or await addressees.is_known(session, request.to_agent)
    touched = session.touched_last(MAX_PINS)
    older_count = len(session.touched) - len(touched)
    if idempotency_key is None:
        packet = await _give_new(session, request, touched)
    else:
        packet = await _give_once(session, request, touched, idempotency_key)
    session.mark_given(packet.id)
    if request.refs is not None:
        return Given(packet, addressee_known=known)
    return Given(
        packet,
        left_out=tuple(seen.ref for seen in touched if not _may_know(request.to_agent, seen)),
        older_count=older_count,
        nothing_touched=not packet.pins and not touched,
        addressee_known=known,
    )


async def _give_new(session: Session, request: Request, touched: Sequence[SeenVersion]) -> Packet:
    pinned = await _to_pin(session, request, touched)
    while True:
        try:
            return await _file(session, request, pinned, f"h_{session.ids.hex(ID_DIGITS)}", {})
        except VersionConflictError:
            continue


async def _give_once(
    session: Session, request: Request, touched: Sequence[SeenVersion], idempotency_key: str
) -> Packet:
    asked = {REQUEST_KEY: digest(session.agent_id, idempotency_key), REQUEST: request.digest()}
    # The id follows from the key, so that a repetition finds the packet. Where another packet
    # happens to have that id, the next one is tried, by every repetition alike.
    for probe in count():
        handoff_id = f"h_{digest(asked[REQUEST_KEY], str(probe))[:ID_DIGITS]}"
        first = await filing.find_as_given(session, handoff_id)
        if first is None:
            pinned = await _to_pin(session, request, touched)
            try:
                return await _file(session, request, pinned, handoff_id, asked)
            except VersionConflictError:
                first = await filing.find_as_given(session, handoff_id)
        noted = {} if first is None else first.entry.value
        if first is not None and noted.get(REQUEST_KEY) == asked[REQUEST_KEY]:
            if noted.get(REQUEST) != asked[REQUEST]:
                break
            return first.packet
    raise IdempotencyConflictError(session.agent_id, idempotency_key)


async def _file(
    session: Session,
    request: Request,
    pinned: Sequence[SeenVersion],
    handoff_id: str,
    more: Mapping[str, str],
) -> Packet:
    packet = Packet(
        id=handoff_id,
        summary=request.summary,
        next_steps=request.next_steps,
        open_questions=request.open_questions,
        pins=tuple(Pin.of(seen) for seen in pinned),
        from_agent=session.agent_id,
        to_agent=request.to_agent,
        session_id=session.session_id,
        created_at=session.clock.now(),
    )
    # A packet that names private records is as private as they are.
    private = any(not seen.shared for seen in pinned)
    return (await filing.file_new(session, packet, more, private=private)).packet


async def _to_pin(
    session: Session, request: Request, touched: Sequence[SeenVersion]
) -> Sequence[SeenVersion]:
    """The versions to be pinned, each once."""
    if request.refs is None:
        return [seen for seen in touched if _may_know(request.to_agent, seen)]
    check_pin_count(len(request.refs))
    named = [await _named(session, ref, request.to_agent) for ref in request.refs]
    return list(dict.fromkeys(named))


async def _named(session: Session, ref: EntryRef, to_agent: str | None) -> SeenVersion:
    path, key, version = ref.entity_path, ref.key, ref.version
    if version is None:
        entry = await session.adapter.read(path, key, viewer=session.viewer)
    else:
        entry = await session.adapter.read_at_version(path, key, version, viewer=session.viewer)
    if entry is None or entry.withdrawn:
        raise EntryNotFoundError(path, key, version)
    seen = SeenVersion.of(entry)
    if not _may_know(to_agent, seen):
        raise PrivatePinError(path, key)
    return seen


def _may_know(to_agent: str | None, seen: SeenVersion) -> bool:
    """Whether a record may be pinned for this agent. None is anyone: nothing private then."""
    return seen.shared or seen.agent_id == to_agent
