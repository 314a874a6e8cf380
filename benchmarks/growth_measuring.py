"""The measurements on a store that grows: each size beside a small one, on copies."""

import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amfs_sqlite import SqliteAdapter
from benchmarks.growing import BATCH, Snapshot, adapter, grown
from benchmarks.growth_operations import Operations, first_search_s, of_opening, of_operation
from benchmarks.measuring import Round, Timing, concurrently, side_by_side
from benchmarks.reporting import Report, progress
from benchmarks.streaming import STREAMS, streamed

BASE = 10_000
MOST_CALLS = 500
LOADED = 10_000
PER_VERSION = "file, bytes per version"
LOAD = "load, per version"
OPENING = "open and first read"
FIRST_SEARCHES = {
    f"first search after {LOADED:,} writes to {count:,} keys": count for count in (1_000, LOADED)
}

Operation = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure. What takes longer than a limit is left alone from the next larger size on."""

    rounds: int
    round_s: float
    openings: int
    loads: int
    call_limit_s: float
    stream_limit_s: float


class Growth:
    """Fills a report, one size after the other."""

    def __init__(self, report: Report, effort: Effort) -> None:
        self._report = report
        self._effort = effort
        self._too_slow: set[str] = set()

    async def measure(self, folder: Path, sizes: Sequence[int]) -> None:
        """Grow stores of these sizes in the folder, BASE among them, and measure each beside that one."""
        snapshots = await _grown(folder, sizes)
        base = next(each for each in snapshots if each.version_count == BASE)
        for snapshot in snapshots:
            self._report.add(PER_VERSION, snapshot.version_count, {"bytes": snapshot.bytes_per_version})
            self._report.add(LOAD, snapshot.version_count, {"mean_us": snapshot.load_us_per_version})
        for snapshot in snapshots:
            here, there = snapshot.copied(folder / "here.db"), base.copied(folder / "there.db")
            await self._measure_opening(here, there)
            async with adapter(here.path) as store, adapter(there.path) as beside:
                await self._measure_operations(Operations(store, here), Operations(beside, there), here)
                if snapshot.version_count >= BASE:
                    await self._measure_first_searches(store, snapshot.version_count)
            if snapshot.version_count >= BASE:
                self._measure_memory(snapshot)

    async def _measure_opening(self, here: Snapshot, there: Snapshot) -> None:
        count = self._effort.openings
        contenders = {"here": of_opening(here, count), "there": of_opening(there, count)}
        self._add(OPENING, here.version_count, await side_by_side(contenders, self._effort.rounds))

    async def _measure_operations(self, here: Operations, there: Operations, snapshot: Snapshot) -> None:
        large, small = here.each(), there.each()
        with progress(f"{snapshot.version_count:,} versions:", len(large)) as steps:
            for name in large:
                if name not in self._too_slow:
                    timings = await self._compared(name, large[name], small[name])
                    self._add(name, snapshot.version_count, timings)
                steps.next(name)

    async def _compared(self, name: str, large: Operation, small: Operation) -> Mapping[str, Timing]:
        first = await _once(large)
        beside = of_operation(small, self._count(await _fastest_s(small)))
        if first.total_s > self._effort.call_limit_s:
            self._too_slow.add(name)
            there = await side_by_side({"there": beside}, rounds=1)
            return {"here": Timing.of([first]), **there}
        here = of_operation(large, self._count(await _fastest_s(large)))
        return await side_by_side({"here": here, "there": beside}, self._effort.rounds)

    def _count(self, call_s: float) -> int:
        """How many calls fit into a round."""
        return max(1, min(MOST_CALLS, int(self._effort.round_s / call_s)))

    async def _measure_first_searches(self, store: SqliteAdapter, size: int) -> None:
        with progress(f"{size:,} versions: first search", len(FIRST_SEARCHES) * self._effort.loads) as steps:
            for name, key_count in FIRST_SEARCHES.items():
                taken = []
                for number in range(self._effort.loads):
                    path = f"load/{key_count}/{number}"
                    taken.append(await first_search_s(store, path, key_count, LOADED))
                    steps.next()
                self._report.add(name, size, {"p50_us": 1e6 * statistics.median(taken)})

    def _measure_memory(self, snapshot: Snapshot) -> None:
        size = snapshot.version_count
        with progress(f"{size:,} versions: memory", len(STREAMS)) as steps:
            for what in STREAMS:
                name = f"memory: {what}"
                if name not in self._too_slow:
                    stream = streamed(snapshot, what, self._effort.stream_limit_s)
                    if stream.is_stopped:
                        self._too_slow.add(name)
                    else:
                        self._report.add(name, size, {"bytes": stream.grown_bytes, "total_s": stream.taken_s})
                steps.next(what)

    def _add(self, name: str, size: int, timings: Mapping[str, Timing]) -> None:
        here, there = timings["here"], timings["there"]
        figures = {"mean_us": here.mean_us, "p50_us": here.p50_us, "p99_us": here.p99_us}
        self._report.add(name, size, {"ratio": here.p50_us / there.p50_us, **figures})


async def _grown(folder: Path, sizes: Sequence[int]) -> Sequence[Snapshot]:
    snapshots: list[Snapshot] = []
    with progress(f"growing to {sizes[-1]:,} versions", sizes[-1] // BATCH) as steps:
        for size in sizes:
            before = snapshots[-1] if snapshots else None
            snapshots.append(await grown(before, folder / f"{size}.db", size, steps))
    return snapshots


async def _once(operation: Operation) -> Round:
    return await concurrently(lambda _: operation(), 1, callers=1)


async def _fastest_s(operation: Operation) -> float:
    return min([(await _once(operation)).total_s for _ in range(2)])
