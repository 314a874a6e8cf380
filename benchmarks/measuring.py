"""Timing contenders side by side: round after round in one process, in an order drawn anew each time."""

import asyncio
import gc
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

Operation = Callable[[int], Awaitable[object]]
"""One operation, given its number in the round."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one contender took for one round: seconds for all of it, and for each operation."""

    total_s: float
    latencies_s: Sequence[float]

    @property
    def per_operation_s(self) -> float:
        """Seconds of the round for each of its operations, however many were under way at once."""
        return self.total_s / len(self.latencies_s)


@dataclass(frozen=True, slots=True)
class Timing:
    """What one contender took over all rounds. ``mean_us`` is the median of the rounds' means."""

    mean_us: float
    p50_us: float
    p99_us: float

    @classmethod
    def of(cls, rounds: Sequence[Round]) -> "Timing":
        """The timing of these rounds."""
        latencies = sorted(latency for each in rounds for latency in each.latencies_s)
        return cls(
            mean_us=1e6 * statistics.median(each.per_operation_s for each in rounds),
            p50_us=1e6 * _quantile(latencies, 0.50),
            p99_us=1e6 * _quantile(latencies, 0.99),
        )


Contender = Callable[[int], Awaitable[Round]]
"""Runs the round of this number."""


async def side_by_side(contenders: Mapping[str, Contender], rounds: int, seed: int = 0) -> dict[str, Timing]:
    """Run every contender once in every round, after a first round that is not counted."""
    order, chance = list(contenders), random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    taken: dict[str, list[Round]] = {name: [] for name in order}
    for number in range(rounds + 1):
        chance.shuffle(order)
        for name in order:
            gc.collect()
            done = await contenders[name](number)
            if number:
                taken[name].append(done)
    return {name: Timing.of(each) for name, each in taken.items()}


async def concurrently(operation: Operation, count: int, callers: int) -> Round:
    """``count`` operations by so many callers, each with one under way at a time."""
    latencies = [0.0] * count
    numbers = iter(range(count))

    async def caller() -> None:
        for number in numbers:
            begun = time.perf_counter()
            await operation(number)
            latencies[number] = time.perf_counter() - begun

    begun = time.perf_counter()
    if callers == 1:
        await caller()
    else:
        await asyncio.gather(*(caller() for _ in range(callers)))
    return Round(time.perf_counter() - begun, latencies)


def one_by_one(operation: Callable[[int], object], count: int) -> Round:
    """``count`` operations of a contender that does not await."""
    latencies = [0.0] * count
    started = time.perf_counter()
    for number in range(count):
        begun = time.perf_counter()
        operation(number)
        latencies[number] = time.perf_counter() - begun
    return Round(time.perf_counter() - started, latencies)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
