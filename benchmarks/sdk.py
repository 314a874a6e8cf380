"""``python -m benchmarks.sdk``: the AMFS Python SDK on its own file adapter and on ours, side by side."""

import asyncio
import contextlib
import logging
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path

import click
from amfs import AgentMemory
from amfs.memory import _get_sdk_executor
from amfs_core.abc import AdapterABC
from amfs_core.engine import CausalTagger
from amfs_core.models import MemoryEntry, OutcomeType
from amfs_filesystem import FilesystemAdapter

from amfs_sqlite.sync import SyncSqliteAdapter
from benchmarks.measuring import Contender, Round, Timing, one_by_one, side_by_side
from benchmarks.reporting import Report, json_option, microseconds, progress, quick_option, run
from benchmarks.targets import verdict

PATH_COUNT, KEY_COUNT = 100, 100
LOADED_AT_ONCE = 500
OLD_KEY, VERSION_COUNT = "old", 50
CITED, TOGETHER = 5, 10
RARE = "needle"
FOUND = 20
FILES, FULL, NORMAL = "file adapter", "ours, full", "ours, normal"
LEAST = {"search": 10.0, "list all": 10.0}
"""So many times the file adapter must take at least; the others have to be ahead."""

Operation = Callable[[int], object]


@click.command()
@quick_option
@json_option
def main(*, quick: bool, json_path: Path | None) -> None:
    """Measure the SDK's AgentMemory on its own file adapter and on ours, at 10,000 entries."""
    logging.disable(logging.WARNING)
    rounds = 3 if quick else 9
    report = Report(f"The AMFS Python SDK through AgentMemory: {PATH_COUNT * KEY_COUNT:,} entries")
    with tempfile.TemporaryDirectory(prefix="sdk-") as folder, contextlib.chdir(folder):
        asyncio.run(_measure(report, Path(folder), rounds))
    report.show(["operation", FILES, FULL, "×", NORMAL, "×", "target"], _rows(report))
    click.echo(
        "×: so many times of ours the file adapter takes. It waits for no disk; full does, normal does not."
    )
    report.write_json(json_path)


async def _measure(report: Report, folder: Path, rounds: int) -> None:
    stores: dict[str, Callable[[], AdapterABC]] = {
        FILES: lambda: FilesystemAdapter(folder / "files"),
        FULL: lambda: SyncSqliteAdapter(folder / "full.db"),
        NORMAL: lambda: SyncSqliteAdapter(folder / "normal.db", durability="normal"),
    }
    with contextlib.ExitStack() as leaving:
        memories = {}
        with progress("loading:", len(stores)) as steps:
            for name, opened in stores.items():
                steps.next(name)
                memories[name] = leaving.enter_context(AgentMemory("bench", adapter=opened()))
                _load(memories[name])
        with progress("sdk:", len(COUNTS)) as steps:
            for operation, times in COUNTS.items():
                steps.next(operation)
                racing = {name: _contender(memory, operation, times) for name, memory in memories.items()}
                _add(report, operation, await side_by_side(racing, rounds))


def _load(memory: AgentMemory) -> None:
    """The same entries everywhere, a few of them found by a word; and one key with many versions."""
    tagger = CausalTagger("bench", "loading")
    chance = random.Random(0)  # noqa: S311 - to be repeated, not to be secret
    addresses = [(f"svc/{path}", f"k{key}") for path in range(PATH_COUNT) for key in range(KEY_COUNT)]
    rare = set(chance.sample(range(len(addresses)), FOUND))
    entries = [
        MemoryEntry(
            entity_path=path,
            key=key,
            version=1,
            value={"fact": f"{RARE if number in rare else 'hay'} {number}", "weight": number / 7},
            provenance=tagger.tag(),
            confidence=chance.random(),
        )
        for number, (path, key) in enumerate(addresses)
    ]
    for first in range(0, len(entries), LOADED_AT_ONCE):
        memory.adapter.write_batch(entries[first : first + LOADED_AT_ONCE])
    for number in range(VERSION_COUNT):
        memory.write("history", OLD_KEY, number)
    _drain()


COUNTS: Mapping[str, int] = {
    "read": 200,
    "history 50": 10,
    "list 100": 10,
    "list all": 1,
    "search": 1,
    "search, newest 10": 1,
    "write": 100,
    "rewrite": 100,
    "write, by the adapter alone": 100,
    "outcome over 5": 20,
    "transaction of 10": 10,
}
"""How often in a round. What only reads comes first, at the number of entries that the title says."""


def _operations(memory: AgentMemory, numbers: Iterator[int]) -> dict[str, Operation]:
    def address(number: int) -> tuple[str, str]:
        return f"svc/{number * 7 % PATH_COUNT}", f"k{number * 13 % KEY_COUNT}"

    def transaction(_: int) -> None:
        with memory.transaction("several") as several:
            for number in range(TOGETHER):
                several.write("together", f"k{next(numbers)}", number)

    def outcome(_: int) -> None:
        cited = ["/".join(address(next(numbers))) for _ in range(CITED)]
        memory.commit_outcome(f"r{next(numbers)}", OutcomeType.SUCCESS, cited)

    (entry, *_) = memory.list("svc/0")

    def alone(_: int) -> None:
        anew = {"entity_path": "alone", "key": f"k{next(numbers)}", "version": 1}
        memory.adapter.write(entry.model_copy(update=anew))

    return {
        "read": lambda number: memory.read(*address(number)),
        "history 50": lambda _: memory.history("history", OLD_KEY),
        "list 100": lambda number: memory.list(f"svc/{number % PATH_COUNT}"),
        "list all": lambda _: memory.list(),
        "search": lambda _: memory.search(query=RARE),
        "search, newest 10": lambda _: memory.search(min_confidence=0.5, sort_by="recency", limit=10),
        "write": lambda _: memory.write("new", f"k{next(numbers)}", {"a": 1}),
        "rewrite": lambda number: memory.write(*address(number), {"a": next(numbers)}),
        "write, by the adapter alone": alone,
        "outcome over 5": outcome,
        "transaction of 10": transaction,
    }


def _contender(memory: AgentMemory, operation: str, times: int) -> Contender:
    asked = _operations(memory, count())[operation]

    async def contend(number: int) -> Round:
        begun = time.perf_counter()
        taken = one_by_one(lambda each: asked(number * times + each), times)
        _drain()  # what the SDK logs behind a call belongs to it
        return Round(time.perf_counter() - begun, taken.latencies_s)

    return contend


def _drain() -> None:
    _get_sdk_executor().submit(int).result()


def _add(report: Report, operation: str, timings: Mapping[str, Timing]) -> None:
    files = timings[FILES]
    for name, timing in timings.items():
        report.add(operation, name, {"ratio": files.mean_us / timing.mean_us, **asdict(timing)})


def _rows(report: Report) -> Iterator[Sequence[str]]:
    for operation, columns in report.figures.items():
        full, normal = columns[FULL]["ratio"], columns[NORMAL]["ratio"]
        least = LEAST.get(operation, 1.0)
        yield [
            operation,
            microseconds(columns[FILES]["mean_us"]),
            microseconds(columns[FULL]["mean_us"]),
            f"{full:.2f}",
            microseconds(columns[NORMAL]["mean_us"]),
            f"{normal:.2f}",
            verdict(f"≥ {least:g} ×", met=normal >= least),
        ]


if __name__ == "__main__":
    run(main)
