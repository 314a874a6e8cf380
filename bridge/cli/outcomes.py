"""`outcomes`: how things turned out, and what that did to the records they relied on."""

from collections.abc import Iterator, Sequence

import click

from amfs_sqlite.models import OutcomeType, RecordedOutcome
from amfs_sqlite.rules.confidence import is_success
from bridge.cli import records
from bridge.cli.layout import Row, blank
from bridge.cli.options import (
    EPILOG,
    PLACE,
    answer,
    asked,
    full_option,
    json_option,
    limit_option,
    page,
    setting_options,
)
from bridge.cli.output import Output
from bridge.operations import outcomes as reports

EFFECTS_SHOWN = 10
NOTE_BYTES = 400


@click.command(epilog=EPILOG)
@click.option("--ref", "outcome_ref", metavar="TEXT", help="Only those of this run, ticket or task.")
@limit_option(reports.LIST_LIMIT)
@click.option("--before", type=click.IntRange(min=1), metavar="N", help="Begin behind commit number N.")
@full_option
@json_option
@setting_options(*PLACE)
def outcomes(outcome_ref: str | None, limit: int, before: int | None, *, full: bool, as_json: bool) -> None:
    """Show how things turned out, newest first, and what it moved.

    JSON: {"outcomes": [{"record", "effects", "commitId", "sequence"}], "nextBefore": N for
    --before, or null where nothing is left}.
    """
    found = asked(
        lambda store: reports.list_outcomes(
            store.session, outcome_ref=outcome_ref, limit=limit + 1, before=before
        )
    )
    shown, last = page(found, limit)
    answer(
        lambda: {
            "outcomes": [outcome.to_wire() for outcome in shown],
            "nextBefore": None if last is None else last.sequence,
        },
        lambda out: _rows(out, shown, last, full=full),
        as_json=as_json,
    )


def _rows(
    out: Output, shown: Sequence[RecordedOutcome], last: RecordedOutcome | None, *, full: bool
) -> Iterator[Row]:
    if not shown:
        yield Row((out.text("no outcomes"),))
    for outcome in shown:
        if outcome is not shown[0]:
            yield blank()
        yield from _outcome(out, outcome, full=full)
    if last is not None:
        yield blank()
        yield Row((out.text(f"more: --before {last.sequence}", "dim"),))


def _outcome(out: Output, outcome: RecordedOutcome, *, full: bool) -> Iterator[Row]:
    record, rail = outcome.record, "  "
    head = [
        out.name(record.outcome_type, "bold green" if _is_success(record.outcome_type) else "bold red"),
        out.name(record.outcome_ref),
        out.name(record.agent_id),
        out.text(f"#{outcome.sequence}"),
    ]
    if record.committed_at is not None:
        head.insert(2, out.at(record.committed_at))
    yield Row(tuple(head), rail=rail)
    shown = outcome.effects if full else outcome.effects[:EFFECTS_SHOWN]
    for effect in shown:
        yield Row(records.effect(out, effect), rail, rail)
    if len(shown) < len(outcome.effects):
        yield Row((out.text(f"and {len(outcome.effects) - len(shown)} more: --full"),), rail, rail)
    if not outcome.effects:
        yield Row((out.text("about no record that is stored", "dim"),), rail, rail)
    if record.note:
        yield Row((out.line(record.note, "italic", NOTE_BYTES),), rail, rail)


def _is_success(name: str) -> bool:
    return name in set(OutcomeType) and is_success(OutcomeType(name))
