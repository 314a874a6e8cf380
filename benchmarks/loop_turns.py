"""How long the event loop is kept from its next turn while operations are under way."""

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle

from amfs_sqlite import MemoryEntry, SearchQuery, SqliteAdapter
from benchmarks.measuring import Timing, concurrently
from benchmarks.workload import AGENT, COMMON_WORD, Workload, address

LONGEST_TARGET_MS = 2.0
READ_P99_TARGET_MS = 2.0
LARGE_VALUE_PARTS = 3_200
"""So many values of the workload are 1 MB of JSON."""
READ_PACE_S = 0.002
FEWEST_READS = 10

Operation = Callable[[], Awaitable[object]]


class Turns:
    """Takes part in every turn of the loop, and remembers the longest time between two of them."""

    def __init__(self) -> None:
        self._longest_s = 0.0

    async def keep(self) -> None:
        """Until cancelled."""
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0)
            now = time.perf_counter()
            self._longest_s = max(self._longest_s, now - last)
            last = now

    async def longest_ms_during(self, operation: Operation) -> float:
        """The longest time between two turns while the operation ran."""
        await asyncio.sleep(0)
        self._longest_s = 0.0
        await operation()
        await asyncio.sleep(0)  # An operation that never let the loop turn ends before we hear of it.
        await asyncio.sleep(0)
        return 1e3 * self._longest_s


def probed(store: SqliteAdapter, key_count: int) -> Mapping[tuple[str, int], Operation]:
    """What is probed, by its name and how many callers it has."""
    workload = Workload(seed=3)
    addresses = cycle(workload.addresses(1_000, key_count))
    entries = cycle(
        [MemoryEntry.draft(*next(addresses), workload.value(), agent_id=AGENT) for _ in range(500)]
    )
    large = MemoryEntry.draft("large", "value", workload.values(LARGE_VALUE_PARTS), agent_id=AGENT)
    heavy = SearchQuery(text=COMMON_WORD, sort_by="relevance", limit=10)

    async def read(_: int) -> object:
        return await store.read(*next(addresses))

    async def write(_: int) -> object:
        return await store.write(next(entries))

    return {
        ("nothing", 1): lambda: asyncio.sleep(0.02),
        ("reads", 1): lambda: concurrently(read, 100, 1),
        ("reads", 100): lambda: concurrently(read, 500, 100),
        ("writes", 1): lambda: concurrently(write, 50, 1),
        ("writes", 100): lambda: concurrently(write, 300, 100),
        ("a heavy search", 1): lambda: store.search(heavy),
        ("a list of 100", 1): lambda: store.list(address(0)[0]),
        ("writing 1 MB", 1): lambda: store.write(large),
        ("reading 1 MB", 1): lambda: store.read("large", "value"),
    }


async def longest_turns(operation: Operation, rounds: int, repetitions: int) -> Sequence[float]:
    """For each round, the longest time between two turns in it, in milliseconds."""
    turns = Turns()
    # What the benchmark itself holds must not be gone through by the garbage collector meanwhile.
    gc.collect()
    gc.freeze()
    async with _beside(turns.keep()):
        await turns.longest_ms_during(operation)
        return [
            max([await turns.longest_ms_during(operation) for _ in range(repetitions)]) for _ in range(rounds)
        ]


async def read_beside_search(store: SqliteAdapter, key_count: int, duration_s: float) -> Timing:
    """What reads take while one search for the commonest word follows on the other, for so many seconds."""
    query = SearchQuery(text=COMMON_WORD, sort_by="relevance", limit=10)
    addresses = cycle(Workload(seed=4).addresses(1_000, key_count))

    async def search_on() -> None:
        while True:
            await store.search(query)

    latencies: list[float] = []
    async with _beside(search_on()):
        end = time.perf_counter() + duration_s
        while len(latencies) < FEWEST_READS or time.perf_counter() < end:
            await asyncio.sleep(READ_PACE_S)
            begun = time.perf_counter()
            await store.read(*next(addresses))
            latencies.append(time.perf_counter() - begun)
    cuts = statistics.quantiles(latencies, n=100)
    return Timing(1e6 * statistics.fmean(latencies), 1e6 * cuts[49], 1e6 * cuts[98])


@asynccontextmanager
async def _beside(work: Awaitable[None]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
