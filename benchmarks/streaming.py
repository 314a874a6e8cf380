"""How much memory a process allocates while it goes through a whole store: run in one of its own.

`python -m benchmarks.streaming FILE WHAT` says `ready` when the store is open, waits for a line, says
`done` when it has been through, and leaves at the end of its input.
"""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from amfs_sqlite import SqliteAdapter
from benchmarks.growing import Snapshot, adapter
from benchmarks.memory import private_bytes
from benchmarks.workload import address

SAMPLE_S = 0.005


async def _whole_list(store: SqliteAdapter) -> None:
    await store.list()


async def _paths(store: SqliteAdapter) -> None:
    number = 0
    while await store.list(address(number)[0]):
        number += 100


async def _histories(store: SqliteAdapter) -> None:
    number = 0
    while await store.history(*address(number)):
        number += 1


async def _changes(store: SqliteAdapter) -> None:
    async for _ in store.changes(follow=False):
        pass


async def _verify(store: SqliteAdapter) -> None:
    await store.verify()


STREAMS: Mapping[str, Callable[[SqliteAdapter], Awaitable[None]]] = {
    "list, one path at a time": _paths,
    "list, everything": _whole_list,
    "history of every key": _histories,
    "changes": _changes,
    "verify": _verify,
}


@dataclass(frozen=True, slots=True)
class Stream:
    """How it went. ``grown_bytes`` is the most above what the process held when it was ready, if known."""

    grown_bytes: int | None
    taken_s: float
    is_stopped: bool


def streamed(snapshot: Snapshot, what: str, limit_s: float) -> Stream:
    """Go through the store in a process of its own, which is stopped at the limit."""
    command = [sys.executable, "-m", "benchmarks.streaming", str(snapshot.path), what]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None or not process.stdout.readline():
            raise RuntimeError(f"the process for {what} did not start")
        done = threading.Thread(target=process.stdout.readline)
        before = highest = private_bytes(process.pid)
        begun = time.perf_counter()
        process.stdin.write("go\n")
        process.stdin.flush()
        done.start()
        while done.is_alive() and time.perf_counter() - begun < limit_s:
            done.join(SAMPLE_S)
            now = private_bytes(process.pid)
            highest = None if highest is None or now is None else max(highest, now)
        taken_s = time.perf_counter() - begun
        is_stopped = done.is_alive()
        if is_stopped:
            process.kill()
        done.join()
        process.stdin.close()
    if process.returncode and not is_stopped:
        raise RuntimeError(f"the process for {what} failed")
    return Stream(None if highest is None or before is None else highest - before, taken_s, is_stopped)


async def _serve(path: Path, what: str) -> None:
    async with adapter(path) as store:
        await store.read(*address(0))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        await STREAMS[what](store)
        sys.stdout.write("done\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2]))
