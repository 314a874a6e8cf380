"""Processes that write to one file at the same time, ours and raw `sqlite3`, told by a pipe what to do."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from amfs_sqlite import AmfsError, MemoryEntry, SqliteAdapter
from benchmarks.raw import RawStore
from benchmarks.workload import AGENT, Workload

KEY_COUNT = 20
"""So many keys all processes share, or each has for itself."""

Contender = Literal["ours", "raw"]
Durability = Literal["full", "normal"]


@dataclass(frozen=True, slots=True)
class Job:
    """What each process is to do: so many writes, one by one, to keys of its own or to shared ones."""

    contender: Contender
    path: Path
    durability: Durability
    is_shared: bool
    write_count: int


@dataclass(slots=True)
class Written:
    """What one process did: the mark of each acknowledged write, seconds of each write, what failed."""

    marks: list[str] = field(default_factory=list)
    latencies_s: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def one(self, mark: str) -> Iterator[None]:
        """Around a write, whatever becomes of it."""
        begun = time.perf_counter()
        try:
            yield
        except (AmfsError, sqlite3.Error) as error:
            self.errors.append(str(error))
        else:
            self.marks.append(mark)
        self.latencies_s.append(time.perf_counter() - begun)


class Writers:
    """Processes that are started once and then given any number of jobs."""

    def __init__(self, count: int) -> None:
        context = get_context("spawn")
        self._pipes: list[Connection] = []
        for number in range(count):
            pipe, end = context.Pipe()
            context.Process(target=_serve, args=(number, end), daemon=True).start()
            end.close()
            self._pipes.append(pipe)

    def run(self, job: Job, count: int) -> tuple[float, Sequence[Written]]:
        """Let the first ``count`` processes do the job at once: the seconds it took, and what each did."""
        pipes = self._pipes[:count]
        for pipe in pipes:
            pipe.send(job)
        for pipe in pipes:
            pipe.recv()
        begun = time.perf_counter()
        for pipe in pipes:
            pipe.send("go")
        for pipe in pipes:
            pipe.recv()
        taken_s = time.perf_counter() - begun
        return taken_s, [pipe.recv() for pipe in pipes]

    def close(self) -> None:
        """Let them all leave."""
        for pipe in self._pipes:
            pipe.close()


def _serve(number: int, pipe: Connection) -> None:
    while True:
        try:
            job: Job = pipe.recv()
        except EOFError:
            return
        if job.contender == "ours":
            asyncio.run(_write(job, number, pipe))
        else:
            _write_raw(job, number, pipe)


async def _write(job: Job, number: int, pipe: Connection) -> None:
    entries = _entries(job, number)
    async with SqliteAdapter(job.path, durability=job.durability) as store:
        await store.read(entries[0].entity_path, entries[0].key)
        _await_start(pipe)
        written = Written()
        for entry in entries:
            with written.one(entry.value["mark"]):
                await store.write(entry)
        _tell(pipe, written)


def _write_raw(job: Job, number: int, pipe: Connection) -> None:
    entries = _entries(job, number)
    with RawStore(job.path, job.durability) as store:
        store.read(entries[0].entity_path, entries[0].key)
        _await_start(pipe)
        written = Written()
        for entry in entries:
            with written.one(entry.value["mark"]):
                store.write(entry)
        _tell(pipe, written)


def _await_start(pipe: Connection) -> None:
    pipe.send("ready")
    pipe.recv()


def _tell(pipe: Connection, written: Written) -> None:
    pipe.send("done")
    pipe.send(written)


def _entries(job: Job, number: int) -> list[MemoryEntry]:
    """Values that carry a mark of their own, so that each can be found again."""
    path = "shared" if job.is_shared else f"own/{number}"
    values = Workload(seed=number).values(job.write_count)
    return [
        MemoryEntry.draft(path, f"key-{n % KEY_COUNT}", value | {"mark": f"{number}-{n}"}, agent_id=AGENT)
        for n, value in enumerate(values)
    ]
