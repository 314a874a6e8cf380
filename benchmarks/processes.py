"""`python -m benchmarks.processes`: one to eight processes write to one file, beside raw `sqlite3`."""

import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, get_args

import click

from amfs_sqlite import SqliteAdapter
from benchmarks.measuring import Round, Timing
from benchmarks.reporting import (
    Report,
    json_option,
    microseconds,
    plots_option,
    progress,
    quick_option,
    run,
)
from benchmarks.targets import verdict
from benchmarks.writers import Contender, Durability, Job, Writers, Written

PROCESS_COUNTS = (1, 2, 4, 8)
DURABILITIES: Sequence[Durability] = ("full", "normal")
MOST_WAIT_US = 500_000
FAULTS = ("lost", "duplicated", "failed", "gaps", "findings")


@dataclass(frozen=True, slots=True)
class Case:
    """Which keys, which durability, and how many processes."""

    is_shared: bool
    durability: Durability
    process_count: int

    @property
    def name(self) -> str:
        """The operation in the report."""
        return f"{'shared' if self.is_shared else 'own'} keys, {self.durability}"


@dataclass(slots=True)
class Result:
    """The rounds of one contender in one case."""

    rounds: list[Round] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)

    def figures(self) -> dict[str, Any]:
        """Writes in a second of all processes together, microseconds of one write, and what went wrong."""
        timing = Timing.of(self.rounds)
        longest = max(latency for each in self.rounds for latency in each.latencies_s)
        return {
            "per_s": 1e6 / timing.mean_us,
            "p50_us": timing.p50_us,
            "p99_us": timing.p99_us,
            "max_us": 1e6 * longest,
            **{fault: self.faults[fault] for fault in FAULTS},
        }


@click.command()
@quick_option
@json_option
@plots_option
def main(*, quick: bool, json_path: Path | None, plots_path: Path | None) -> None:
    """Measure one to eight processes that write to one file, and count what is lost or there twice."""
    rounds, write_count = (1, 60) if quick else (5, 500)
    cases = [Case(*each) for each in product((False, True), DURABILITIES, PROCESS_COUNTS)]
    report = Report(f"Processes that write to one file: {write_count} writes each, {rounds} rounds")
    with closing(Writers(max(PROCESS_COUNTS))) as writers:
        for case, results in _measured(writers, cases, rounds, write_count):
            _add(report, case, results)
    longest = f"longest (≤ {MOST_WAIT_US / 1000:.0f} ms)"
    report.show(
        ["writes to", "processes", "writes/s", "× raw", "p50", "p99", longest, "raw", "faults", "raw"],
        [_row(name, count, each[count]) for name, each in report.figures.items() for count in each],
    )
    report.write_json(json_path)
    if plots_path is not None:
        _plot(report, plots_path)


def _measured(
    writers: Writers, cases: Sequence[Case], rounds: int, write_count: int
) -> Iterator[tuple[Case, Mapping[Contender, Result]]]:
    chance = random.Random(0)  # noqa: S311 - to be repeated, not to be secret
    contenders = list(get_args(Contender))
    with progress("processes:", len(cases) * rounds * len(contenders)) as steps:
        for case in cases:
            results: dict[Contender, Result] = {each: Result() for each in contenders}
            for _ in range(rounds):
                chance.shuffle(contenders)
                for contender in contenders:
                    _run(writers, case, contender, write_count, results[contender])
                    steps.next(f"{case.name}, {case.process_count}")
            yield case, results


def _run(writers: Writers, case: Case, contender: Contender, write_count: int, result: Result) -> None:
    with tempfile.TemporaryDirectory(prefix="processes-") as folder:
        path = Path(folder) / "written.db"
        asyncio.run(_create(path))
        job = Job(contender, path, case.durability, case.is_shared, write_count)
        total_s, written = writers.run(job, case.process_count)
        result.rounds.append(Round(total_s, [latency for each in written for latency in each.latencies_s]))
        result.faults.update(asyncio.run(_faults(path, written)))


async def _create(path: Path) -> None:
    async with SqliteAdapter(path):
        pass


async def _faults(path: Path, written: Sequence[Written]) -> Mapping[str, int]:
    """What is not in the file although it was acknowledged, or there twice, and what does not hold there."""
    acknowledged = Counter(mark for each in written for mark in each.marks)
    async with SqliteAdapter(path) as store:
        entries = await store.list(include_superseded=True)
        report = await store.verify()
    stored = Counter(entry.value["mark"] for entry in entries)
    versions: dict[tuple[str, str], list[int]] = {}
    for entry in entries:
        versions.setdefault((entry.entity_path, entry.key), []).append(entry.version)
    return {
        "lost": (acknowledged - stored).total(),
        "duplicated": sum(count - 1 for count in stored.values()),
        "failed": sum(len(each.errors) for each in written),
        "gaps": sum(each != list(range(1, len(each) + 1)) for each in versions.values()),
        "findings": len(report.findings),
    }


def _add(report: Report, case: Case, results: Mapping[Contender, Result]) -> None:
    ours, raw = results["ours"].figures(), results["raw"].figures()
    figures = ours | {f"raw_{name}": figure for name, figure in raw.items()}
    report.add(case.name, case.process_count, {"ratio": raw["per_s"] / ours["per_s"], **figures})


def _row(name: str, process_count: str, figures: Mapping[str, Any]) -> list[str]:
    longest = microseconds(figures["max_us"])
    if name.endswith("full"):
        longest = verdict(longest, met=figures["max_us"] <= MOST_WAIT_US)
    return [
        name,
        process_count,
        f"{figures['per_s']:,.0f}",
        f"{figures['ratio']:.2f} ×",
        microseconds(figures["p50_us"]),
        microseconds(figures["p99_us"]),
        longest,
        microseconds(figures["raw_max_us"]),
        verdict(_counted(figures, ""), met=not any(figures[fault] for fault in FAULTS)),
        _counted(figures, "raw_"),
    ]


def _counted(figures: Mapping[str, Any], prefix: str) -> str:
    """What went wrong, or 0.

    >>> _counted({"lost": 2, "duplicated": 0, "failed": 1, "gaps": 0, "findings": 0}, "")
    '2 lost, 1 failed'
    """
    counted = [f"{figures[prefix + fault]} {fault}" for fault in FAULTS if figures[prefix + fault]]
    return ", ".join(counted) or "0"


def _plot(report: Report, folder: Path) -> None:
    from benchmarks.plots import growth_plot  # noqa: PLC0415 - only who wants plots needs matplotlib

    series = {
        f"{label}{name}": {int(count): figures[prefix + "per_s"] for count, figures in each.items()}
        for name, each in report.figures.items()
        for label, prefix in (("", ""), ("raw ", "raw_"))
    }
    growth_plot(
        folder / "processes.svg",
        "Writes of processes",
        series,
        x_label="processes",
        y_label="writes in a second",
    )


if __name__ == "__main__":
    run(main)
