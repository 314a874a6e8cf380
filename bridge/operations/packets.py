"""Packets: handing work over and picking it up."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import get_args

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import EntryRef, SearchOrder
from amfs_sqlite.rules.limits import check_count, check_optional_text, check_texts
from bridge.handoff import filing, giving, moves, taking
from bridge.handoff.addressees import RECENT_CHANGES
from bridge.handoff.giving import Given
from bridge.handoff.packet import PACKET_STATES, Packet, PacketState, Pin
from bridge.handoff.requests import MAX_PINS, Request
from bridge.handoff.staleness import Stale
from bridge.handoff.taking import MAX_WAITING_COUNTED, NothingWaiting, Taken
from bridge.operations.arguments import check_handoff, check_refs, check_session
from bridge.operations.redaction import Redactor
from bridge.session import Session

LIST_LIMIT = 50
ORDERS: tuple[SearchOrder, ...] = get_args(SearchOrder)


async def give(
    session: Session,
    summary: str,
    *,
    next_steps: Sequence[str] = (),
    open_questions: Sequence[str] = (),
    refs: Sequence[EntryRef] | None = None,
    to_agent: str | None = None,
    idempotency_key: str | None = None,
) -> Given:
    """Hand over: a packet for ``to_agent``, or for whoever comes, pinned to exact versions.

    ``refs`` None pins everything the session touched, at the version seen: the last MAX_PINS it
    touched, without private records, unless the packet is for their author. A ref without a version
    pins the current one; the same version twice is pinned once. An ``idempotency_key`` (of this
    agent) used before returns the first packet as it was given, whatever was touched or written
    since.

    All or nothing: raises EntryNotFoundError for a ref that is not stored, PrivatePinError for a
    private one, ReservedPathError, IdempotencyConflictError, and InvalidArgumentError for an empty
    summary or what is over a limit of ``bridge.handoff.requests``.
    """
    check_session(session)
    check_texts(next_steps, "next_steps")
    check_texts(open_questions, "open_questions")
    check_refs(refs)
    request = Request.checked(summary, next_steps, open_questions, refs, to_agent)
    redactor = Redactor(session)
    redactor.check_names(to_agent=to_agent, idempotency_key=idempotency_key)
    request = replace(
        request,
        summary=redactor.text(request.summary),
        next_steps=redactor.texts(request.next_steps),
        open_questions=redactor.texts(request.open_questions),
    )
    return replace(await giving.give(session, request, idempotency_key), redacted=redactor.counts)


async def take(session: Session, handoff_id: str | None = None) -> Taken | NothingWaiting:
    """Claim a packet and have its pinned versions, which are touched, and the warnings with it.

    Without an id: the oldest one that is open, or whose lease has run out, addressed to this agent,
    or to nobody and given by another session. Of any number of takers exactly one gets a packet.
    With the id of a packet this agent holds: the same again, with fresh warnings and, where the
    session has one, a fresh lease.

    Raises PacketNotFoundError, PacketNotYoursError where it is addressed to another agent, and
    PacketStateError where another agent holds it or it is final.
    """
    check_session(session)
    check_optional_text(handoff_id, "handoff_id")
    if handoff_id is None:
        return await taking.take_next(session)
    return await taking.take_this(session, handoff_id)


async def peek(session: Session, handoff_id: str | None = None) -> Taken | NothingWaiting:
    """What ``take`` would deliver. Claims nothing, touches nothing; raises what ``take`` would."""
    check_session(session)
    check_optional_text(handoff_id, "handoff_id")
    if handoff_id is None:
        return await taking.peek_next(session)
    return await taking.peek_this(session, handoff_id)


async def list_packets(
    session: Session,
    *,
    state: PacketState | None = None,
    limit: int | None = LIST_LIMIT,
    order: SearchOrder = "oldest",
) -> Sequence[Packet]:
    """The packets in this state (None: all); ``limit`` None is all of them.

    ``oldest`` goes by when they were given, earliest first; ``newest`` by their latest change,
    latest first. A claimed packet whose lease has run out is listed as claimed.
    """
    check_session(session)
    check_count(limit, "limit")
    if state is not None and state not in PACKET_STATES:
        known = ", ".join(PACKET_STATES)
        raise InvalidArgumentError("state", f"is {quoted(state)}; it must be one of {known}")
    if order not in ORDERS:
        raise InvalidArgumentError("order", f"is {quoted(order)}; it must be one of {', '.join(ORDERS)}")
    tag = None if state is None else filing.state_tag(state)
    found: list[Packet] = []
    async with aclosing(filing.look_through(session, tag, order)) as packets:
        async for filed in packets:
            if limit is not None and len(found) >= limit:
                break
            found.append(filed.packet)
    return found


async def show(session: Session, handoff_id: str) -> Packet:
    """The packet as it stands. Raises PacketNotFoundError."""
    check_handoff(session, handoff_id)
    return (await filing.find(session, handoff_id)).packet


async def release(session: Session, handoff_id: str) -> Packet:
    """Give a claimed packet back: it is open again, in its old place in the line.

    For the agent that holds it, or the owner of the file. Raises PacketNotFoundError,
    PacketNotYoursError, and PacketStateError where it is not claimed.
    """
    check_handoff(session, handoff_id)
    filed = await filing.move(
        session,
        handoff_id,
        lambda packet: moves.released(packet, session.agent_id, owner=session.owner),
        "released",
    )
    return filed.packet


async def cancel(session: Session, handoff_id: str) -> Packet:
    """Withdraw an open packet, for good. For its sender, or the owner of the file.

    Raises PacketNotFoundError, PacketNotYoursError, and PacketStateError where it is not open.
    """
    check_handoff(session, handoff_id)
    filed = await filing.move(
        session,
        handoff_id,
        lambda packet: moves.cancelled(packet, session.agent_id, session.clock.now(), owner=session.owner),
        "cancelled",
    )
    return filed.packet


__all__ = [
    "LIST_LIMIT",
    "MAX_PINS",
    "MAX_WAITING_COUNTED",
    "PACKET_STATES",
    "RECENT_CHANGES",
    "Given",
    "NothingWaiting",
    "Packet",
    "PacketState",
    "Pin",
    "Stale",
    "Taken",
    "cancel",
    "give",
    "list_packets",
    "peek",
    "release",
    "show",
    "take",
]
