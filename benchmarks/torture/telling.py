"""The table, the figures and the page of a run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.reporting import Report, machine
from benchmarks.torture.rounds import Scenario, Tally

COUNTED = (
    "rounds",
    "acknowledged",
    "lost",
    "doubled",
    "unnoticed",
    "refused",
    "reported",
)
OTHERWISE = ("forgone", "older", "derived", "harmless")


def show(tallies: Mapping[str, Tally]) -> None:
    """One table, and below it whatever is wrong."""
    report = Report("What was acknowledged, and what became of it")
    report.show(
        ["scenario", *COUNTED, "faults", "otherwise"],
        [[name, *cells(tally)] for name, tally in tallies.items()],
    )
    for name, tally in tallies.items():
        for note, count in tally.notes.items():
            print(f"{name}: {note}" + (f" ({count} times)" if count > 1 else ""))
        for fault in tally.faults:
            print(f"FAULT {fault}")


def cells(tally: Tally) -> Sequence[str]:
    """A row: the figures in the order of COUNTED, the number of faults, and what else there is to count.

    >>> cells(Tally(rounds=1200, older=2, harmless=3))
    ['1,200', '0', '0', '0', '0', '0', '0', '0', '2 older, 3 harmless']
    """
    figures = [*(getattr(tally, name) for name in COUNTED), len(tally.faults)]
    otherwise = [f"{count:,} {name}" for name in OTHERWISE if (count := getattr(tally, name))]
    return [*(f"{each:,}" for each in figures), ", ".join(otherwise)]


def write_json(path: Path | None, tallies: Mapping[str, Tally]) -> None:
    """All figures, and the machine, where a path was asked for."""
    if path is not None:
        whole = {**{name: asdict(tally) for name, tally in tallies.items()}, "machine": machine()}
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def write_page(path: Path, scenarios: Sequence[Scenario], tallies: Mapping[str, Tally]) -> None:
    """The page of this run."""
