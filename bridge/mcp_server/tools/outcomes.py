"""Reporting how something turned out."""

from typing import Annotated, Any, Literal

from pydantic import Field

from amfs_sqlite.models import EntryRef, OutcomeEffect
from bridge import rendering
from bridge.mcp_server import pages, records, redactions
from bridge.mcp_server.arguments import Arguments, Texts
from bridge.mcp_server.tool import Answer, MemoryTool
from bridge.mcp_server.workplace import Workplace
from bridge.operations import outcomes, references

# Effects in an acknowledgement, where they stand twice.
EFFECTS_BYTES = 12_000


class RecordOutcome(Arguments):
    """What `record_outcome` takes."""

    outcome: Annotated[
        Literal["success", "minor_failure", "failure", "critical_failure"],
        Field(description="How it turned out"),
    ]
    outcome_ref: Annotated[str, Field(description="Run, ticket or task it is about")]
    refs: Annotated[Texts, Field(description="Records relied on; empty: all used")] = ()
    handoff_id: Annotated[str, Field(description="Packet to close")] = ""
    note: Annotated[str, Field(description="What happened")] = ""


async def record_outcome(at: Workplace, given: RecordOutcome) -> Answer:
    """Credit an outcome; say what it did to each record."""
    refs = await references.resolve_all(at.session, given.refs) if given.refs else None
    report = await outcomes.record_outcome(
        at.session,
        given.outcome,
        given.outcome_ref,
        refs=refs,
        handoff_id=given.handoff_id or None,
        note=given.note,
    )
    packet = report.packet
    effects = report.effects
    shown = pages.fitting_texts([_line(given.outcome, each) for each in effects], EFFECTS_BYTES)
    if len(shown) < len(effects):
        shown.append(f"{len(effects) - len(shown)} more effects")
    head = (
        f"{given.outcome}  {rendering.word(given.outcome_ref)}  {rendering.counted(len(effects), 'effect')}"
    )
    tail = [] if packet is None else [f"packet {packet.id} is {packet.state}"]
    if report.older_count:
        older = rendering.counted(report.older_count, "record")
        tail.append(f"not credited: {older} touched before the last {len(effects)}; name them in refs")
    return Answer(
        "\n".join([head, *shown, *tail, *redactions.said(report.redacted)]),
        {
            "outcome": given.outcome,
            "outcomeRef": given.outcome_ref,
            "effectCount": len(effects),
            "effects": _facts(effects),
            "notCreditedCount": report.older_count,
            "handoffId": "" if packet is None else packet.id,
            "packetState": "" if packet is None else packet.state,
            "redacted": redactions.facts(report.redacted),
        },
    )


def _line(outcome: str, effect: OutcomeEffect) -> str:
    ref = records.reference(_ref(effect))
    if effect.reason is not None:
        now = rendering.percent(effect.confidence_after)
        return f"{ref}: not applied, {rendering.REASONS[effect.reason]}; confidence stays {now}"
    before, after = rendering.percent(effect.confidence_before), rendering.percent(effect.confidence_after)
    return f"{ref}: {outcome}, confidence {before} -> {after}"


def _facts(effects: tuple[OutcomeEffect, ...]) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = []
    left_bytes = EFFECTS_BYTES
    for effect in effects:
        ref = str(_ref(effect))
        left_bytes -= rendering.size(rendering.token(ref)) + 100
        if left_bytes < 0 and facts:
            break
        facts.append(
            {
                "ref": ref,
                "applied": effect.applied,
                "before": effect.confidence_before,
                "after": effect.confidence_after,
                "reason": effect.reason or "",
            }
        )
    return facts


def _ref(effect: OutcomeEffect) -> EntryRef:
    return EntryRef(entity_path=effect.entity_path, key=effect.key, version=effect.version)


RECORD_OUTCOME = MemoryTool(
    name="record_outcome",
    title="Report an outcome",
    description=(
        "Report how work turned out. Call when you know. Moves the confidence of the records"
        " it relied on; with handoff_id it also closes your packet."
    ),
    arguments=RecordOutcome,
    run=record_outcome,
    facts={
        "outcome": {"type": "string"},
        "outcomeRef": {"type": "string"},
        "effectCount": {"type": "integer"},
        "effects": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "ref": {"type": "string"},
                    "applied": {"type": "boolean"},
                    "before": {"type": "number"},
                    "after": {"type": "number"},
                    "reason": {"type": "string", "description": "Why not applied"},
                },
                "required": ["ref", "applied", "before", "after", "reason"],
                "additionalProperties": False,
            },
        },
        "notCreditedCount": {"type": "integer", "description": "Touched before all these"},
        "handoffId": {"type": "string", "description": "Empty: none"},
        "packetState": {"type": "string"},
        "redacted": redactions.SCHEMA,
    },
)
