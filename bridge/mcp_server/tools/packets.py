"""Handing work over, and picking it up."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from amfs_sqlite.clock import spelled
from amfs_sqlite.models import EntryRef, MemoryEntry
from bridge import rendering
from bridge.mcp_server import pages, readings, records, redactions
from bridge.mcp_server.arguments import Arguments, Texts
from bridge.mcp_server.tool import Answer, MemoryTool
from bridge.mcp_server.workplace import Workplace
from bridge.operations import packets, references

# Shares of a packet's answer; its records have what the others leave.
SUMMARY_BYTES = 6_000
STEPS_BYTES = 4_000
STALE_BYTES = 6_000
HELD_BYTES = 1_000
# Pinned references in an acknowledgement, where they stand twice.
PINNED_BYTES = 8_000


class Handoff(Arguments):
    """What `handoff` takes."""

    summary: Annotated[str, Field(description="What was done and found")]
    next_steps: Annotated[Texts, Field(description="In order")] = ()
    open_questions: Annotated[Texts, Field(description="Undecided")] = ()
    refs: Annotated[Texts, Field(description="scope/key@N or scope/key")] = ()
    to_agent: Annotated[str, Field(description="Empty: whoever comes")] = ""
    idempotency_key: Annotated[str, Field(description="Makes a retry safe")] = ""


class Resume(Arguments):
    """What `resume` takes."""

    handoff_id: Annotated[str, Field(description="Empty: the oldest waiting")] = ""
    peek: Annotated[bool, Field(description="Look, claim nothing")] = False


async def handoff(at: Workplace, given: Handoff) -> Answer:
    """Give a packet; say what it pins."""
    refs = await references.resolve_all(at.session, given.refs) if given.refs else None
    done = await packets.give(
        at.session,
        given.summary,
        next_steps=given.next_steps,
        open_questions=given.open_questions,
        refs=refs,
        to_agent=given.to_agent or None,
        idempotency_key=given.idempotency_key or None,
    )
    packet = done.packet
    pinned = [pin.ref for pin in packet.pins]
    lines = [
        f"{packet.id}  {packet.state}  {_addressee(packet)}  pins {rendering.counted(len(pinned), 'record')}",
        *_listed("pinned", pinned),
        *_listed("left out, private", done.left_out),
        *_notes(done),
        *redactions.said(done.redacted),
    ]
    return Answer(
        "\n".join(lines),
        {
            "handoffId": packet.id,
            "state": packet.state,
            "toAgent": packet.to_agent or "",
            "pinnedCount": len(pinned),
            "pinned": _some(pinned),
            "leftOutCount": len(done.left_out),
            "leftOut": _some(done.left_out),
            "olderCount": done.older_count,
            "nothingTouched": done.nothing_touched,
            "toAgentKnown": done.addressee_known,
            "redacted": redactions.facts(done.redacted),
        },
    )


async def resume(at: Workplace, given: Resume) -> Answer:
    """A packet with its pinned records and what has changed since, or that nothing waits."""
    look = packets.peek if given.peek else packets.take
    found = await look(at.session, given.handoff_id or None)
    if isinstance(found, packets.NothingWaiting):
        held, own = _ids_shown(found.held), _ids_shown(found.own)
        made = readings.nothing_waits(held, own) if at.settings.structured else None
        return Answer("\n".join(_nothing(at.session.agent_id, found)), made)
    above = [records.STORED, *_packet(found.packet, claimed=not given.peek)]
    also = found.packet.claimed_by == at.session.agent_id
    below = [*_warnings(found.stale), *_held(found.held, also=also), *_waiting(found.waiting_count)]
    taken_bytes = sum(rendering.size(line) + 1 for line in [*above, *below])
    made = _object(found, claimed=not given.peek) if at.settings.structured else None
    if made is not None:
        taken_bytes += readings.size(made)
    room_bytes = pages.ANSWER_BYTES - pages.FRAME_BYTES - taken_bytes
    facts = readings.facts(at, found.records)
    shown, pinned = pages.fitted([_line(record) for record in found.records], facts, room_bytes)
    if made is not None:
        made["records"] = pinned
    hidden = len(found.records) - len(shown)
    more = [f"{hidden} more pinned records; {_elsewhere(found.packet)}"] if hidden else []
    count = f"{rendering.counted(len(found.records), 'pinned record')}, as given:"
    return Answer("\n".join([*above, count, *shown, *more, *below]), made)


def _object(found: packets.Taken, *, claimed: bool) -> readings.Object:
    """What the text says of a packet, but for its records."""
    packet = found.packet
    steps = {
        "summary": _cut(packet.summary, SUMMARY_BYTES),
        "nextStepCount": len(packet.next_steps),
        "nextSteps": [_cut(each, STEPS_BYTES) for each in _steps_shown(packet, packet.next_steps)],
        "openQuestionCount": len(packet.open_questions),
        "openQuestions": [_cut(each, STEPS_BYTES) for each in _steps_shown(packet, packet.open_questions)],
    }
    return readings.resumed(found, claimed=claimed, steps=steps) | {
        "stale": [readings.stale(each) for each in found.stale[: len(_warnings_shown(found.stale))]],
        "held": _ids_shown(found.held),
    }


def _cut(text: str, limit_bytes: int) -> str:
    return text[: rendering.Value(text).reach(limit_bytes)]


def _notes(done: packets.Given) -> list[str]:
    notes = []
    if done.older_count:
        older = rendering.counted(done.older_count, "record")
        notes.append(
            f"left out: {older} touched before the last {packets.MAX_PINS}; name what matters in refs"
        )
    if done.nothing_touched:
        notes.append(
            "no record was read or written in this session (searches do not count): name what matters in refs"
        )
    if not done.addressee_known:
        agent = rendering.word(done.packet.to_agent or "")
        notes.append(
            f"no agent named {agent} has written here, as far as the last {packets.RECENT_CHANGES} changes"
            " tell: check the name (one that has only read is not known)"
        )
    return notes


def _nothing(agent_id: str, found: packets.NothingWaiting) -> list[str]:
    lines = [f"nothing waits for {rendering.word(agent_id)}"]
    if found.own:
        lines.append(
            f"given in this session, for another: {_ids(found.own)}; resume with handoff_id takes one"
        )
    return [*lines, *_held(found.held, also=False)]


def _addressee(packet: packets.Packet) -> str:
    to = "whoever comes" if packet.to_agent is None else rendering.word(packet.to_agent)
    return f"from {rendering.word(packet.from_agent)} to {to}"


def _packet(packet: packets.Packet, *, claimed: bool) -> list[str]:
    claim = f"claimed by {rendering.word(packet.claimed_by or '')}" if claimed else "only looked at"
    if packet.lease_until is not None and claimed:
        claim += f" until {spelled(packet.lease_until)}"
    lines = [
        f"{packet.id}  {_addressee(packet)}  {spelled(packet.created_at)}  {claim}",
        f"summary: {_text(packet, packet.summary, SUMMARY_BYTES)}",
    ]
    for name, texts in (("next", packet.next_steps), ("open", packet.open_questions)):
        shown = _steps_shown(packet, texts)
        lines += [f"{name}: {_text(packet, each, STEPS_BYTES)}" for each in shown]
        if len(shown) < len(texts):
            lines.append(f"{name}: {len(texts) - len(shown)} more; {_elsewhere(packet)}")
    return lines


def _steps_shown(packet: packets.Packet, texts: Sequence[str]) -> Sequence[str]:
    """The first of these texts, as many as fit."""
    lines = [f"next: {_text(packet, each, STEPS_BYTES)}" for each in texts]
    return texts[: len(pages.fitting_texts(lines, STEPS_BYTES + rendering.NAME_BYTES))]


def _text(packet: packets.Packet, text: str, limit_bytes: int) -> str:
    return rendering.Value(text).beginning(limit_bytes, _elsewhere(packet))


def _elsewhere(packet: packets.Packet) -> str:
    return f"the command 'amfs-sqlite packets show {packet.id}' has all"


def _line(record: MemoryEntry) -> pages.Line:
    value = rendering.Value(record.value)
    heading = records.heading(record)
    advice = f'history of it with limit 1 cursor "{record.version - 1}" for all'
    return lambda value_bytes: f"{heading}  {value.beginning(value_bytes, advice)}"


def _warnings(stale: tuple[packets.Stale, ...]) -> list[str]:
    if not stale:
        return ["stale: none, every pinned value is still current"]
    shown = _warnings_shown(stale)
    if len(shown) < len(stale):
        shown.append(f"stale: {len(stale) - len(shown)} more; recall a record before you use it")
    return shown


def _warnings_shown(stale: tuple[packets.Stale, ...]) -> list[str]:
    return pages.fitting_texts([_warning(each) for each in stale], STALE_BYTES)


def _warning(stale: packets.Stale) -> str:
    ref = EntryRef(entity_path=stale.entity_path, key=stale.key)
    now = "not to be seen" if stale.current_version is None else f"at {stale.current_version}"
    return (
        f"stale: {rendering.word(str(ref), STALE_BYTES // 2)} was pinned at {stale.pinned_version},"
        f" is now {now}: {rendering.one_line(stale.change)}"
    )


def _held(held: tuple[str, ...], *, also: bool) -> list[str]:
    if not held:
        return []
    what = "besides this one you hold" if also else "you hold"
    return [f"{what} {_ids(held)}; resume with handoff_id returns one"]


def _waiting(count: int) -> list[str]:
    if not count:
        return []
    if count == packets.MAX_WAITING_COUNTED:
        return [f"{count} or more other packets wait for you"]
    return [f"{rendering.counted(count, 'other packet')} {'waits' if count == 1 else 'wait'} for you"]


def _ids(handoff_ids: Sequence[str]) -> str:
    shown = _ids_shown(handoff_ids)
    more = f" and {len(handoff_ids) - len(shown)} more" if len(shown) < len(handoff_ids) else ""
    return " ".join(shown) + more


def _ids_shown(handoff_ids: Sequence[str]) -> list[str]:
    return pages.fitting_texts([rendering.word(each) for each in handoff_ids], HELD_BYTES)


def _some(refs: Sequence[EntryRef]) -> list[str]:
    exact = [str(ref) for ref in refs]
    return exact[: len(pages.fitting_texts([rendering.token(each) for each in exact], PINNED_BYTES))]


def _listed(what: str, refs: Sequence[EntryRef]) -> list[str]:
    lines = [f"{what}: {records.reference(ref)}" for ref in refs]
    shown = pages.fitting_texts(lines, PINNED_BYTES)
    if len(shown) < len(lines):
        shown.append(f"{what}: {len(lines) - len(shown)} more")
    return shown


_REFS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}

HANDOFF = MemoryTool(
    name="handoff",
    title="Hand over",
    description=(
        "Hand work over. Call when you stop or pass a task on. Without refs it pins all you"
        " remembered, read by scope+key or resumed, at the versions you saw."
    ),
    arguments=Handoff,
    run=handoff,
    facts={
        "handoffId": {"type": "string"},
        "state": {"type": "string"},
        "toAgent": {"type": "string", "description": "Empty: whoever comes"},
        "pinnedCount": {"type": "integer"},
        "pinned": _REFS,
        "leftOutCount": {"type": "integer", "description": "Private records not pinned"},
        "leftOut": _REFS,
        "olderCount": {"type": "integer", "description": "Touched before all that is pinned, not pinned"},
        "nothingTouched": {"type": "boolean", "description": "So nothing is pinned"},
        "toAgentKnown": {"type": "boolean", "description": "False: no recent change is by that name"},
        "redacted": redactions.SCHEMA,
    },
)
RESUME = MemoryTool(
    name="resume",
    title="Pick up work",
    description=(
        "Pick up handed-over work. Call when you start, before anything else. Claims a packet;"
        " gives its pinned records and a warning for each that has changed since."
    ),
    arguments=Resume,
    run=resume,
    reading=readings.RESUME,
)
