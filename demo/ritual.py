"""The three steps that every agent takes, whatever its work is: pick up, report, hand over."""

from collections.abc import Sequence

from amfs_sqlite import EntryRef
from bridge.operations import outcomes, packets
from bridge.operations.packets import NothingWaiting, Packet, Taken
from bridge.session import Session
from demo.beliefs import belief
from demo.console import Console

Outcome = tuple[str, Sequence[EntryRef]]


async def pick_up(session: Session, console: Console) -> Taken | None:
    """Take the packet that waits, and say what it holds; None where there is nothing to work on."""
    console.section("pick up whatever is waiting")
    taken = await packets.take(session)
    if isinstance(taken, NothingWaiting):
        console.line(f"nothing is waiting for {session.agent_id}")
        for handoff_id in taken.held:
            console.line(
                f"it holds {handoff_id}; to open that again: amfs-sqlite packets release {handoff_id}"
            )
        return None
    packet = taken.packet
    console.line(f"packet {packet.id} from {packet.from_agent}: {packet.summary}")
    say_steps(console, packet)
    console.line(f"{len(taken.records)} pinned record versions arrived with the packet")
    for stale in taken.stale:
        now = "out of sight" if stale.current_version is None else f"at v{stale.current_version}"
        console.line(
            f"stale: {stale.entity_path}/{stale.key} was pinned at v{stale.pinned_version}, now {now}"
        )
    if any(belief(record) for record in taken.records):
        return taken
    await decline(session, console, packet)
    return None


async def decline(session: Session, console: Console, packet: Packet) -> None:
    """Let go of a packet that holds no work for this agent."""
    await packets.release(session, packet.id)
    console.line(f"this is no work for {session.agent_id}: {packet.id} is open again, for whoever comes")


async def report(
    session: Session, console: Console, happened: Sequence[Outcome], packet: Packet | None
) -> None:
    """Report each outcome; the last report closes the packet, if there is one, in the same commit."""
    about = session.session_id if packet is None else packet.id
    closing: Sequence[Outcome] = [("success", ())] if packet is not None else []
    reports = list(happened or closing)
    for number, (outcome, refs) in enumerate(reports, 1):
        handoff_id = packet.id if packet is not None and number == len(reports) else None
        done = await outcomes.record_outcome(
            session, outcome, f"run/{about}", refs=refs, handoff_id=handoff_id
        )
        for effect in done.effects:
            moved = f"{effect.confidence_before:.0%} -> {effect.confidence_after:.0%}"
            why = f"confidence {moved}" if effect.applied else f"nothing moved ({effect.reason})"
            console.line(f"{outcome} on {effect.entity_path}/{effect.key}: {why}")
        if done.packet is not None:
            console.line(f"packet {done.packet.id} is {done.packet.state}")


async def hand_over(
    session: Session,
    console: Console,
    to_agent: str,
    summary: str,
    *,
    next_steps: Sequence[str],
    open_questions: Sequence[str],
    refs: Sequence[EntryRef] | None = None,
) -> Packet:
    """Give a packet; with no ``refs`` it pins everything the session touched."""
    given = await packets.give(
        session,
        summary,
        next_steps=next_steps,
        open_questions=open_questions,
        refs=refs,
        to_agent=to_agent,
    )
    packet = given.packet
    console.line(f"packet {packet.id} for {to_agent}: {summary}")
    console.line(
        f"{len(packet.pins)} of {len(session.touched)} touched records pinned, each at the version seen"
    )
    return packet


def say_steps(console: Console, packet: Packet) -> None:
    """Say what is next and what is open."""
    for step in packet.next_steps:
        console.line(f"next: {step}")
    for question in packet.open_questions:
        console.line(f"open: {question}")
