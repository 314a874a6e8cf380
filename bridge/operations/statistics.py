"""The store in numbers."""

from collections import Counter
from dataclasses import dataclass

from amfs_sqlite.models import MemoryStats
from bridge.handoff import filing
from bridge.handoff.packet import PACKET_STATES, PacketState
from bridge.operations.arguments import check_session
from bridge.session import Session


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """Counts of records, and of packets by state: every state, in the order of their life."""

    stats: MemoryStats
    packets: dict[PacketState, int]


async def stats(session: Session) -> StoreSummary:
    """What this agent can see, in numbers. A packet whose lease has run out counts as claimed."""
    check_session(session)
    counted = await session.adapter.stats(include_system=False, viewer=session.viewer)
    packets = Counter([filed.packet.state async for filed in filing.look_through(session, None)])
    return StoreSummary(counted, {state: packets[state] for state in PACKET_STATES})
