"""``python -m benchmarks.limit``: the adapter beside ``sqlite3`` by hand, doing the same work in one run."""

import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click

from amfs_sqlite import SqliteAdapter
from benchmarks import limit_operations, loop_turns
from benchmarks.limit_operations import DURABILITIES, Comparison, Inputs, Stores
from benchmarks.measuring import Contender, Round, Timing, concurrently, one_by_one, side_by_side
from benchmarks.plots import latency_plot
from benchmarks.raw import RawStore
from benchmarks.reporting import (
    Report,
    Steps,
    json_option,
    microseconds,
    plots_option,
    progress,
    quick_option,
    run,
)
from benchmarks.workload import COMMON_WORD, RARE_WORD, Workload, address

CALLERS = (1, 10, 100)
NAMES = ("open", "read", "list", "history", "search", "mixed", "write", "write_batch", "outcome", "loop")
BATCH = 1_000
VERSIONS_PER_KEY = 10
STEP_COUNT = 1 + 14 + 10
SAMPLES = 3
MAX_COUNT = 2_000
SLOW_S = 0.005
FEWEST = 5


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured: keys in the store, rounds, the seconds that a raw round takes, and about how many
    a comparison may take in all: what is slow gets fewer rounds.
    """

    key_count: int
    rounds: int
    raw_round_s: float
    comparison_s: float


FULL = Extent(key_count=10_000, rounds=5, raw_round_s=0.06, comparison_s=20.0)
QUICK = Extent(key_count=1_000, rounds=3, raw_round_s=0.015, comparison_s=2.0)


@click.command()
@quick_option
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Run this alone; may be repeated.")
@json_option
@plots_option
def main(quick: bool, only: tuple[str, ...], json_path: Path | None, plots_path: Path | None) -> None:
    """Measure the adapter beside sqlite3 by hand."""
    report = Report("Time of an operation, in times of sqlite3 by hand")
    asyncio.run(_measure(report, QUICK if quick else FULL, only or NAMES))
    _show(report)
    report.write_json(json_path)
    if plots_path is not None:
        _plot(report, plots_path / "limit.svg")


async def _measure(report: Report, extent: Extent, names: Sequence[str]) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="amfs-limit-") as folder,
        progress("limit", STEP_COUNT) as steps,
    ):
        stores = await _built(Path(folder), extent.key_count, steps)
        async for comparison in _comparisons(stores):
            if comparison.name.replace(",", " ").replace("(", " ").split()[0] in names:
                await _compare(report, comparison, extent)
            steps.next(comparison.name)
        for path in (stores.raw, stores.ours):
            await _check_verifies(path)
        if "loop" in names:
            await _probe_loop(report, stores, extent, steps)


async def _comparisons(stores: Stores) -> AsyncIterator[Comparison]:
    """All operations in turn, each while the stores are open as it needs them."""
    inputs = Inputs(stores.key_count)
    yield limit_operations.opening(stores, inputs)
    for durability in DURABILITIES:
        async with stores.opened(durability) as (ours, raw):
            if durability == "normal":
                await _check_same(ours, raw, inputs)
                for comparison in limit_operations.reading(ours, raw, inputs):
                    yield comparison
                yield limit_operations.mixed(ours, raw, inputs)
            for comparison in limit_operations.writing(ours, raw, inputs, durability):
                yield comparison


async def _built(folder: Path, key_count: int, steps: Steps) -> Stores:
    """A store that the adapter wrote, its text index up to date, and a copy of it for each contender."""
    workload, path = Workload(), folder / "built.sqlite"
    addresses = [address(number) for number in range(key_count)]
    long = [(limit_operations.LONG_PATH, f"key-{n}") for n in range(limit_operations.LONG_KEY_COUNT)]
    steps.next("building the store")
    async with SqliteAdapter(path, durability="normal") as store:
        for _ in range(VERSIONS_PER_KEY):
            for begin in range(0, key_count, BATCH):
                await store.write_batch(limit_operations.drafts(workload, addresses[begin : begin + BATCH]))
        for _ in range(limit_operations.HISTORY_LENGTH):
            await store.write_batch(limit_operations.drafts(workload, long))
    with RawStore(path, "normal") as raw:
        raw.index_pending()
    stores = Stores(folder / "ours.sqlite", folder / "raw.sqlite", key_count)
    for copy in (stores.ours, stores.raw):
        shutil.copy(path, copy)
    return stores


async def _check_same(ours: SqliteAdapter, raw: RawStore, inputs: Inputs) -> None:
    """Both must answer the same, or they would not be doing the same work."""
    place, path, long = next(inputs.addresses()), next(inputs.paths()), next(inputs.long())
    length = limit_operations.HISTORY_LENGTH
    pairs = [
        ([await ours.read(*place)], [raw.read(*place)]),
        (await ours.list(path), raw.list(path)),
        (await ours.history(*long, limit=length), raw.history(*long, length)),
    ]
    for text in (RARE_WORD, limit_operations.TWO_WORDS, COMMON_WORD):
        query = limit_operations.newest(text)
        found, _, _ = raw.search(limit_operations.match(text), limit_operations.FOUND)
        pairs.append(((await ours.search(query)).entries, found))
    if not all(list(mine) == list(theirs) for mine, theirs in pairs):
        raise click.ClickException("the adapter and sqlite3 by hand read different things from equal files")


async def _check_verifies(path: Path) -> None:
    async with SqliteAdapter(path) as store:
        if findings := (await store.verify()).findings:
            raise click.ClickException(f"{path.name} does not verify: {findings[0].message}")


async def _compare(report: Report, comparison: Comparison, extent: Extent) -> None:
    raw_s, own_s = await _sampled(comparison)
    count = max(FEWEST, min(MAX_COUNT, int(extent.raw_round_s / raw_s)))
    contenders: dict[str, Contender] = {"raw": partial(_raw_round, comparison, count)}
    round_s = count * raw_s
    for callers in comparison.callers:
        own_count = max(count, callers if raw_s > SLOW_S else 2 * callers)
        own_count = min(own_count, max(FEWEST, int(extent.comparison_s / own_s)))
        contenders[str(callers)] = partial(_our_round, comparison, own_count, callers)
        round_s += own_count * own_s
    rounds = max(1, min(extent.rounds, int(extent.comparison_s / round_s)))
    timings = await side_by_side(contenders, rounds)
    raw = timings.pop("raw")
    report.add(comparison.name, "raw", {"ratio": 1.0, **asdict(raw), "rounds": rounds})
    for callers in comparison.callers:
        timing = timings[str(callers)]
        target = comparison.target(callers, raw.mean_us)
        figures = {"ratio": timing.mean_us / raw.mean_us, **asdict(timing), "target": target}
        report.add(comparison.name, callers, figures)


async def _sampled(comparison: Comparison) -> tuple[float, float]:
    """The seconds of one operation, raw and ours, about."""
    raw = one_by_one(lambda _: comparison.raw(), SAMPLES)
    ours = await concurrently(lambda _: comparison.ours(), SAMPLES, 1)
    return statistics.median(raw.latencies_s), statistics.median(ours.latencies_s)


async def _raw_round(comparison: Comparison, count: int, _: int) -> Round:
    return one_by_one(lambda _: comparison.raw(), count)


async def _our_round(comparison: Comparison, count: int, callers: int, _: int) -> Round:
    """A round with all that it leads to, such as indexing what was written."""
    done = await concurrently(lambda _: comparison.ours(), count, callers)
    if comparison.settle is None:
        return done
    begun = time.perf_counter()
    await comparison.settle()
    return Round(done.total_s + time.perf_counter() - begun, done.latencies_s)


async def _probe_loop(report: Report, stores: Stores, extent: Extent, steps: Steps) -> None:
    async with stores.opened("normal") as (store, _):
        for (name, callers), operation in loop_turns.probed(store, stores.key_count).items():
            longest = await loop_turns.longest_turns(operation, extent.rounds, repetitions=5)
            figures = {
                "longest_ms": statistics.median(longest),
                "p50_us": 1e3 * statistics.median(longest),
                "p99_us": 1e3 * max(longest),
                "target_ms": loop_turns.LONGEST_TARGET_MS,
            }
            report.add(f"loop blocked by {name}", callers, figures)
            steps.next(f"loop blocked by {name}")
        beside = await loop_turns.read_beside_search(store, stores.key_count, extent.comparison_s)
        _add_beside(report, beside)
        steps.next("read beside a heavy search")


def _add_beside(report: Report, timing: Timing) -> None:
    figures = asdict(timing)
    report.add("read beside a search, p50", 1, {**figures, "longest_ms": timing.p50_us / 1e3})
    target = {"longest_ms": timing.p99_us / 1e3, "target_ms": loop_turns.READ_P99_TARGET_MS}
    report.add("read beside a search, p99", 1, {**figures, **target})


def _show(report: Report) -> None:
    rows = []
    for name, columns in report.figures.items():
        raw = microseconds(columns["raw"]["mean_us"]) if "raw" in columns else "-"
        cells = [_cell(columns.get(str(callers))) for callers in CALLERS]
        rows.append((name, raw, *cells))
    report.show(("", "by hand", "1 caller", "10 callers", "100 callers"), rows)


def _cell(figures: Mapping[str, float | None] | None) -> str:
    if figures is None:
        return "-"
    unit = " ms" if "longest_ms" in figures else ""
    value, target = (
        (figures["longest_ms"], figures.get("target_ms")) if unit else (figures["ratio"], figures["target"])
    )
    if value is None or target is None:
        return f"{value:.2f}{unit}"
    colour, mark = ("green", "✓") if value <= target else ("red", "✗")
    return f"[{colour}]{value:.2f}{unit} ≤ {target:.4g} {mark}[/{colour}]"


def _plot(report: Report, path: Path) -> None:
    compared = {name: columns for name, columns in report.figures.items() if "raw" in columns}
    series = {
        f"{callers} caller{'s' * (callers > 1)}": {
            name: columns[str(callers)]["ratio"]
            for name, columns in compared.items()
            if str(callers) in columns
        }
        for callers in CALLERS
    }
    latency_plot(path, report.title, series, y_label="times the time of sqlite3 by hand")


if __name__ == "__main__":
    run(main)
