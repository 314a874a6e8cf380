"""A driver's side of the conversation: a line of JSON asks for a round, a line of JSON answers it.

Needs the standard library alone, for it runs in the environment of every contestant.
"""

import asyncio
import gc
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from benchmarks.measuring import Round, concurrently, one_by_one
from benchmarks.workload import KEYS_PER_PATH, Workload, address

KEY_COUNT = 1_000
VERSION_COUNT = 10
OUTCOME_SIZE = 5
SEARCH_LIMIT = 10
AT_LEAST = {
    "read": 1,
    "search": 1,
    "list 100": KEYS_PER_PATH,
    "history 10": VERSION_COUNT,
    "write": 1,
    "outcome 5": OUTCOME_SIZE,
}
"""How many records an operation deals with; one that gives fewer does not do what it says."""
MANY = 100
"""So many callers, where more than one can be at work."""


@dataclass(frozen=True)
class Given:
    """What the operations of one round are about, each by its number; made before the clock runs."""

    name: str
    addresses: Sequence[tuple[str, str]]
    values: Sequence[dict[str, Any]]
    paths: Sequence[str]
    groups: Sequence[Sequence[tuple[str, str]]]

    @classmethod
    def drawn(cls, seed: int, count: int) -> "Given":
        """The same for every contestant."""
        workload = Workload(seed)
        numbers = [workload.random.sample(range(KEY_COUNT), OUTCOME_SIZE) for _ in range(count)]
        addresses = workload.addresses(count, KEY_COUNT)
        return cls(
            name=f"round {seed}",
            addresses=addresses,
            values=workload.values(count),
            paths=[path for path, _ in addresses],
            groups=[[address(number) for number in group] for group in numbers],
        )


Operation = Callable[[Given, int], Awaitable[int]] | Callable[[Given, int], int]
"""Does what is given under this number, and answers how many records it dealt with."""
Operations = Mapping[str, Operation]


def versions() -> Iterator[list[tuple[str, str, dict[str, Any]]]]:
    """What is stored before anything is timed: version by version, one for every key."""
    workload = Workload()
    for _ in range(VERSION_COUNT):
        yield [(*address(number), workload.value()) for number in range(KEY_COUNT)]


def newest() -> list[tuple[str, str, dict[str, Any]]]:
    """The last of them, for what keeps only one version."""
    *_, last = versions()
    return last


def run(
    contestant: Callable[..., AbstractAsyncContextManager[Operations]], one_at_a_time: Collection[str] = ()
) -> None:
    """Drive a contestant, opened on a folder and the other arguments, until the input ends.

    Operations that are coroutines are asked for by many callers too, but those ``one_at_a_time``.
    """
    sink = _claim_output()
    folder, *arguments = sys.argv[1:]
    asyncio.run(_serve(contestant(Path(folder), *arguments), sink, one_at_a_time))


def run_sync(contestant: Callable[[Path], AbstractContextManager[Operations]]) -> None:
    """Drive a contestant whose operations do not await."""

    @asynccontextmanager
    async def opened(folder: Path) -> AsyncIterator[Operations]:
        with contestant(folder) as operations:
            yield operations

    run(opened)


async def _serve(
    opening: AbstractAsyncContextManager[Operations], sink: TextIO, one_at_a_time: Collection[str]
) -> None:
    async with opening as operations:
        can = {}
        for name, operation in operations.items():
            await _check(name, operation)
            alone = name in one_at_a_time or not inspect.iscoroutinefunction(operation)
            can[name] = [1] if alone else [1, MANY]
        _say(sink, can)
        while asked := await asyncio.to_thread(sys.stdin.readline):
            wanted = json.loads(asked)
            operation = operations[wanted["operation"]]
            taken = await _round(operation, wanted["callers"], wanted["count"], wanted["seed"])
            _say(sink, {"total_s": taken.total_s, "latencies_s": taken.latencies_s})


async def _check(name: str, operation: Operation) -> None:
    found = operation(Given.drawn(0, 1), 0)
    count = found if isinstance(found, int) else await found
    if count < AT_LEAST[name]:
        raise ValueError(f"{name} dealt with {count} records, not with {AT_LEAST[name]}")


async def _round(operation: Operation, callers: int, count: int, seed: int) -> Round:
    bound: Any = partial(operation, Given.drawn(seed, count))
    gc.collect()
    if inspect.iscoroutinefunction(operation):
        return await concurrently(bound, count, callers)
    return one_by_one(bound, count)


def _say(sink: TextIO, what: object) -> None:
    sink.write(json.dumps(what) + "\n")
    sink.flush()


def _claim_output() -> TextIO:
    """The standard output for answers alone: what a library prints goes to the standard error."""
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return sink
