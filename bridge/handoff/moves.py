"""What may become of a packet, and by whom: pure decisions, each giving the packet as it would be.

open → claimed → closed; claimed → open by release, or when its lease has run out; open → cancelled.
Closed and cancelled are final.
"""

from datetime import datetime, timedelta

from bridge.errors import PacketNotYoursError, PacketStateError
from bridge.handoff.packet import Packet


def claimed(packet: Packet, agent_id: str, at: datetime, lease_s: float | None) -> Packet:
    """The packet in this agent's hands. Its own claim stays, with a new lease if it has one.

    Raises PacketNotYoursError where it is addressed to another agent, and PacketStateError where
    another agent holds it or it is final.
    """
    if packet.to_agent not in (None, agent_id):
        raise PacketNotYoursError(packet.id, packet.to_agent, "claimed")
    lease_until = None if lease_s is None else at + timedelta(seconds=lease_s)
    if packet.is_open_at(at):
        return packet.model_copy(
            update={
                "state": "claimed",
                "claimed_by": agent_id,
                "claimed_at": at,
                "lease_until": lease_until,
            }
        )
    if packet.state == "claimed" and packet.claimed_by == agent_id:
        renewed = {} if lease_until is None else {"lease_until": lease_until}
        return packet.model_copy(update=renewed)
    raise _refused(packet, "claimed", "wait until it is released, or take another")


def released(packet: Packet, agent_id: str, *, owner: bool) -> Packet:
    """The packet open again. Only the claimer, or the owner of the file, releases."""
    if packet.state != "claimed":
        raise _refused(packet, "released", "only a claimed packet is released")
    if packet.claimed_by != agent_id and not owner:
        raise PacketNotYoursError(packet.id, packet.claimed_by or "", "released")
    return packet.model_copy(
        update={"state": "open", "claimed_by": None, "claimed_at": None, "lease_until": None}
    )


def cancelled(packet: Packet, agent_id: str, at: datetime, *, owner: bool) -> Packet:
    """The packet withdrawn. Only its sender, or the owner of the file, cancels an open one."""
    if packet.from_agent != agent_id and not owner:
        raise PacketNotYoursError(packet.id, packet.from_agent, "cancelled")
    if not packet.is_open_at(at):
        raise _refused(packet, "cancelled", "only an open packet is: have it released first")
    return packet.model_copy(
        update={
            "state": "cancelled",
            "claimed_by": None,
            "claimed_at": None,
            "lease_until": None,
            "closed_at": at,
        }
    )


def closed(packet: Packet, agent_id: str, at: datetime, outcome_ref: str) -> Packet:
    """The packet done with, by its claimer."""
    if packet.state == "open":
        raise _refused(packet, "closed", "take it first")
    if packet.state != "claimed" or packet.claimed_by != agent_id:
        raise _refused(packet, "closed", "only the agent that holds it closes it")
    return packet.model_copy(update={"state": "closed", "closed_at": at, "outcome_ref": outcome_ref})


def _refused(packet: Packet, wanted: str, advice: str) -> PacketStateError:
    if packet.is_final:
        advice = "that is final: give a new packet for more work"
    return PacketStateError(packet.id, packet.state, wanted, advice, packet.claimed_by)
