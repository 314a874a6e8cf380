"""Taking: from a waiting packet to its claim and its records; peeking, without the claim."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from amfs_sqlite.errors import VersionConflictError
from amfs_sqlite.models import MemoryEntry
from bridge.handoff import filing, moves
from bridge.handoff.filing import Filed
from bridge.handoff.packet import Packet
from bridge.handoff.staleness import Stale, resolve
from bridge.session import Session

MAX_WAITING_COUNTED = 100


@dataclass(frozen=True, slots=True)
class Taken:
    """A packet with its records: the pinned versions in pin order, and never newer ones.

    ``stale`` warns of each that has moved on, or is not among the records any more. ``held`` are
    the ids of the other packets this agent holds; ``waiting_count`` is how many more it is offered,
    counted up to MAX_WAITING_COUNTED.
    """

    packet: Packet
    records: tuple[MemoryEntry, ...]
    stale: tuple[Stale, ...]
    held: tuple[str, ...]
    waiting_count: int = 0


@dataclass(frozen=True, slots=True)
class NothingWaiting:
    """No packet waits for this agent.

    ``held`` are the ids of the packets it holds already. ``own`` are those that wait for whoever
    comes and were given by this very session, which is offered none of its own.
    """

    held: tuple[str, ...]
    own: tuple[str, ...] = ()


async def take_next(session: Session) -> Taken | NothingWaiting:
    """Claim the oldest packet that this session is offered."""
    own: list[str] = []
    async with aclosing(_waiting(session, own)) as packets:
        async for filed in packets:
            claimed = await _claim_if_waiting(session, filed)
            if claimed is not None:
                return await _delivered(session, claimed.packet)
    return NothingWaiting(await _held(session), tuple(own))


async def take_this(session: Session, handoff_id: str) -> Taken:
    """Claim this packet, or have it again."""
    filed = await filing.move(
        session,
        handoff_id,
        lambda packet: _claimed(session, packet, session.clock.now()),
        "claimed",
    )
    return await _delivered(session, filed.packet)


async def peek_next(session: Session) -> Taken | NothingWaiting:
    """What ``take_next`` would deliver."""
    own: list[str] = []
    async with aclosing(_waiting(session, own)) as packets:
        async for filed in packets:
            return await _shown(session, filed.packet)
    return NothingWaiting(await _held(session), tuple(own))


async def peek_this(session: Session, handoff_id: str) -> Taken:
    """What ``take_this`` would deliver, raising what it would raise."""
    filed = await filing.find(session, handoff_id)
    _claimed(session, filed.packet, session.clock.now())
    return await _shown(session, filed.packet)


async def _waiting(session: Session, own: list[str]) -> AsyncGenerator[Filed, None]:
    """The packets that wait for this agent, oldest first; those that are ``own`` are put there.

    What a session gave to whoever comes is meant for another: for the next run of its agent too.
    """
    async with aclosing(filing.look_through(session, filing.UNFINISHED_TAG)) as packets:
        async for filed in packets:
            packet = filed.packet
            if not packet.waits_for(session.agent_id, session.clock.now()):
                continue
            if packet.to_agent is None and session.has_given(packet.id):
                own.append(packet.id)
            else:
                yield filed


async def _claim_if_waiting(session: Session, filed: Filed) -> Filed | None:
    """The claimed packet; None if it does not wait, or not any more."""
    while filed.packet.waits_for(session.agent_id, at := session.clock.now()):
        try:
            packet = _claimed(session, filed.packet, at)
            return await filing.refile(session, filed, packet, "claimed")
        except VersionConflictError:
            filed = await filing.find(session, filed.packet.id)
    return None


def _claimed(session: Session, packet: Packet, at: datetime) -> Packet:
    return moves.claimed(packet, session.agent_id, at, session.lease_s)


async def _delivered(session: Session, packet: Packet) -> Taken:
    taken = await _shown(session, packet)
    for record in taken.records:
        session.touch(record)
    return taken


async def _shown(session: Session, packet: Packet) -> Taken:
    resolved = await resolve(session, packet.pins)
    held = tuple(each for each in await _held(session) if each != packet.id)
    return Taken(packet, resolved.records, resolved.stale, held, await _waiting_count(session, packet))


async def _waiting_count(session: Session, besides: Packet) -> int:
    counted = 0
    async with aclosing(_waiting(session, [])) as packets:
        async for filed in packets:
            counted += filed.packet.id != besides.id
            if counted == MAX_WAITING_COUNTED:
                break
    return counted


async def _held(session: Session) -> tuple[str, ...]:
    tag = filing.claimed_by_tag(session.agent_id)
    return tuple([filed.packet.id async for filed in filing.look_through(session, tag)])
