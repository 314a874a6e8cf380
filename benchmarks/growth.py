"""`python -m benchmarks.growth`: the same operations on stores of a thousand to a million versions."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.growth_measuring import BASE, FIRST_SEARCHES, PER_VERSION, Effort, Growth
from benchmarks.memory import megabytes
from benchmarks.reporting import Report, json_option, microseconds, plots_option, quick_option, run
from benchmarks.targets import verdict

SIZES = (1_000, BASE, 100_000, 1_000_000)
FULL = Effort(rounds=5, round_s=0.25, openings=5, loads=3, call_limit_s=2, stream_limit_s=300)
QUICK = Effort(rounds=2, round_s=0.04, openings=2, loads=1, call_limit_s=0.5, stream_limit_s=5)
UNMEASURED = "too slow"

MOST_RATIO: Mapping[str, float] = {
    "read": 1.6,
    "list 100": 1.6,
    "history 50": 2.5,
    "search rare word": 8,
    "write": 2,
}
"""How many times what it takes at BASE an operation may take at the largest size."""
MOST_US: Mapping[str, float] = {"search common word": 10_000} | dict.fromkeys(FIRST_SEARCHES, 50_000)
MOST_BYTES_PER_VERSION = 900
MOST_BYTES_MORE = 16e6
"""By how much more a process may grow than at BASE: SQLite's caches fill up to their limit."""


@click.command()
@click.option(
    "--up-to",
    type=click.IntRange(BASE, SIZES[-1]),
    default=SIZES[-1],
    show_default=True,
    help="The largest store, in versions.",
)
@quick_option
@json_option
@plots_option
def main(up_to: int, *, quick: bool, json_path: Path | None, plots_path: Path | None) -> None:
    """Measure how everything grows with the number of versions, each size beside 10,000 in one run.

    With --quick no store is larger than that.
    """
    sizes = [size for size in SIZES if size <= (BASE if quick else up_to)]
    report = Report(f"Growth to {sizes[-1]:,} versions: 300-byte values, durability normal, 1 caller")
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        asyncio.run(Growth(report, QUICK if quick else FULL).measure(Path(folder), sizes))
    report.show(
        ["operation (p50)", *(f"{size:,}" for size in sizes), f"× {BASE:,}", "target"],
        [_row(report, name, sizes) for name in report.figures],
    )
    report.write_json(json_path)
    if plots_path is not None:
        _plot(report, plots_path)


def _row(report: Report, name: str, sizes: Sequence[int]) -> list[str]:
    figures = report.figures[name]
    largest = figures.get(str(sizes[-1]))
    cells = [_figure(name, figures.get(str(size)), size) for size in sizes]
    ratio = f"{largest['ratio']:.2f} ×" if largest and "ratio" in largest else ""
    return [name, *cells, ratio, _target(name, largest, figures.get(str(BASE)))]


def _figure(name: str, figures: Mapping[str, Any] | None, size: int) -> str:
    if figures is None:
        return UNMEASURED if size >= BASE else ""
    if name == PER_VERSION:
        return f"{figures['bytes']:.0f} B"
    if "bytes" in figures:
        return megabytes(figures["bytes"])
    return microseconds(figures.get("p50_us", figures.get("mean_us")))


def _target(name: str, largest: Mapping[str, Any] | None, base: Mapping[str, Any] | None) -> str:
    """What is said of the largest size; a figure that took too long meets nothing."""
    if name in MOST_RATIO:
        return _verdict(f"≤ {MOST_RATIO[name]} ×", largest, "ratio", MOST_RATIO[name])
    if name in MOST_US:
        return _verdict(f"≤ {microseconds(MOST_US[name])}", largest, "p50_us", MOST_US[name])
    if name == PER_VERSION:
        return _verdict(f"≤ {MOST_BYTES_PER_VERSION} B", largest, "bytes", MOST_BYTES_PER_VERSION)
    if name.startswith("memory") and base and base["bytes"] is not None:
        most = base["bytes"] + MOST_BYTES_MORE
        return _verdict(f"≤ {megabytes(MOST_BYTES_MORE)} more", largest, "bytes", most)
    return ""


def _verdict(target: str, figures: Mapping[str, Any] | None, field: str, most: float) -> str:
    return verdict(target, met=figures is not None and figures[field] <= most)


def _plot(report: Report, folder: Path) -> None:
    from benchmarks.plots import growth_plot  # noqa: PLC0415 - only who wants plots needs matplotlib

    timed = {name: each for name, each in report.figures.items() if "ratio" in each.get(str(BASE), {})}
    series = {
        name: {int(size): figures["p50_us"] for size, figures in each.items()} for name, each in timed.items()
    }
    x_label, y_label = "versions in the store", "p50, µs"
    growth_plot(folder / "growth.svg", "Growth of latency", series, x_label=x_label, y_label=y_label)


if __name__ == "__main__":
    run(main)
