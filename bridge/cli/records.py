"""How a record is told, whichever command tells of it."""

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from amfs_sqlite.clock import spelled
from amfs_sqlite.models import EntryRef, MemoryEntry, OutcomeEffect
from bridge import rendering
from bridge.cli.layout import LABEL_WIDTH, Row
from bridge.cli.output import Output

VALUE_BYTES = 400
TAB_WIDTH = 4
TEXT_CHARACTERS = 100_000
HIGH_CONFIDENCE = 0.75
LOW_CONFIDENCE = 0.5


def document(entry: MemoryEntry) -> dict[str, Any]:
    """A record for programs: its wire form, and beside it what that leaves out."""
    return {
        "ref": str(entry.ref),
        "entry": entry.to_wire(),
        "supersededAt": None if entry.superseded_at is None else spelled(entry.superseded_at),
        "successCount": entry.success_count,
        "failureCount": entry.failure_count,
        "withdrawn": entry.withdrawn,
    }


def confidence(out: Output, number: float) -> Text:
    """A confidence, in a colour that says whether it is high."""
    style = "green" if number >= HIGH_CONFIDENCE else "red" if number < LOW_CONFIDENCE else "yellow"
    return out.text(rendering.percent(number), style)


def belief(out: Output, entry: MemoryEntry) -> Text:
    """The value of a version on one line, or why there is none."""
    if entry.withdrawn:
        return out.text(rendering.WITHDRAWN[entry.withdrawn], "yellow")
    return value(out, entry.value)


def value(out: Output, stored: Any) -> Text:
    """A value on one line, cut visibly where it is long."""
    return out.text(rendering.Value(stored).beginning(VALUE_BYTES, "show has more"))


def ref(out: Output, entity_path: str, key: str, version: int | None = None, style: str = "") -> Text:
    """An address, as it is printed everywhere."""
    return out.name(str(EntryRef(entity_path=entity_path, key=key, version=version)), style)


def effect(out: Output, done: OutcomeEffect) -> tuple[Text, Text]:
    """What an outcome was about, and what it did to it."""
    about = ref(out, done.entity_path, done.key, done.version)
    after = rendering.percent(done.confidence_after)
    if done.reason is not None:
        return about, out.text(f"stays {after}: {rendering.REASONS[done.reason]}", "yellow")
    rises = done.confidence_after >= done.confidence_before
    moved = f"{rendering.percent(done.confidence_before)} -> {after}"
    return about, out.text(moved, "green" if rises else "red")


def text(out: Output, label: str, stored: str) -> Iterator[Row]:
    """A text line by line, behind a bar that nothing in it can get past."""
    bar = f"{out.marks.line} "
    margin = " " * LABEL_WIDTH + bar
    gutter = f"{label:<{LABEL_WIDTH}}" + bar
    for line in stored[:TEXT_CHARACTERS].split("\n"):
        yield Row((out.text(rendering.escaped(line.expandtabs(TAB_WIDTH))),), gutter, margin)
        gutter = margin
    if len(stored) > TEXT_CHARACTERS:
        cut = f"cut after {TEXT_CHARACTERS:,} characters; --json has all"
        yield Row((out.text(cut, "yellow"),), " " * LABEL_WIDTH, " " * LABEL_WIDTH)
