"""The table and the figures of a run."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.reporting import FILE_WIDTH, machine
from benchmarks.torture.rounds import Tally

COUNTED = ("rounds", "acknowledged", "lost", "doubled", "unnoticed", "refused", "reported")
OTHERWISE = ("forgone", "older", "derived", "harmless")


def show(tallies: Mapping[str, Tally]) -> None:
    """One table, below it what is to be noted, and last whatever is wrong."""
    table = Table("scenario", title="What was acknowledged, and what became of it", title_justify="left")
    for heading in (*COUNTED, "faults"):
        table.add_column(heading, justify="right")
    table.add_column("otherwise")
    for name, tally in tallies.items():
        table.add_row(name, *cells(tally))
    table.columns[0].no_wrap = True
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else FILE_WIDTH).print(table)
    for name, tally in tallies.items():
        for damage, verdicts in tally.damages.items():
            print(f"{name}: {damage}: {told(verdicts)}")
        for note, count in tally.notes.items():
            print(f"{name}: {note}" + (f" ({count} times)" if count > 1 else ""))
    for tally in tallies.values():
        for fault in tally.faults:
            print(f"FAULT {fault}")


def cells(tally: Tally) -> Sequence[str]:
    """A row: the figures in the order of COUNTED, the number of faults, and what else there is to count.

    >>> cells(Tally(rounds=1200, older=2, harmless=3))
    ['1,200', '0', '0', '0', '0', '0', '0', '0', '2 older, 3 harmless']
    """
    figures = [*(getattr(tally, name) for name in COUNTED), len(tally.faults)]
    return [*(f"{each:,}" for each in figures), told({name: getattr(tally, name) for name in OTHERWISE})]


def told(counts: Mapping[str, int]) -> str:
    """What there is of each, without what there is none of.

    >>> told({"older": 2, "derived": 0, "harmless": 1000})
    '2 older, 1,000 harmless'
    """
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def write_json(path: Path | None, tallies: Mapping[str, Tally]) -> None:
    """All figures, and the machine, where a path was asked for."""
    if path is not None:
        told_of = {name: figures(tally) for name, tally in tallies.items()}
        whole = {**told_of, "machine": machine()}
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def figures(tally: Tally) -> Mapping[str, object]:
    """Everything of a tally by its name."""
    return {each.name: getattr(tally, each.name) for each in fields(tally)}
