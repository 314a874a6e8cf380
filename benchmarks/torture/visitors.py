"""What the other processes do: start, migrate, claim, read, hold a snapshot, or find the file changed."""

import asyncio
import logging
import os
import resource
import sqlite3
import sys
import threading
from contextlib import closing
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from amfs_sqlite import HANDOFF, AdapterClosedError, AmfsError, MemoryEntry, SearchQuery, SqliteAdapter
from benchmarks.torture.crew import PATIENCE_S
from benchmarks.torture.work import Client, attempt
from bridge.operations import packets
from bridge.session import Session

NOBODY = 65534
TASKS_LEFT = 40


def start(pipe: Connection, client: Client, together: Barrier) -> None:
    """Open the file at the same instant as all others, creating or migrating it, and write once."""

    async def run() -> None:
        journal = client.journal()
        together.wait(PATIENCE_S)
        pipe.send("opening")
        async with SqliteAdapter(client.path, outcomes=HANDOFF) as store:
            pipe.send("open")
            mark, work = next(client.works())
            await attempt(store, journal, mark, work)
            pipe.send(mark)
        journal.close()

    asyncio.run(run())


def claim(pipe: Connection, path: Path, client: str, together: Barrier) -> None:
    """Take the packet that waits, at the same instant as all others; say its id, or None."""

    async def run() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            session = Session(store, client, f"session-{client}")
            together.wait(PATIENCE_S)
            pipe.send("claiming")
            taken = await packets.take(session)
            pipe.send(taken.packet.id if isinstance(taken, packets.Taken) else None)

    asyncio.run(run())


def read_on(pipe: Connection, path: Path, count: int) -> None:
    """Read, list and search so often; say what goes back or does not fit together."""

    async def run() -> None:
        newest: dict[tuple[str, str], int] = {}
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            for _ in range(count):
                entries = await store.list("shared")
                for entry in entries:
                    at = (entry.entity_path, entry.key)
                    if entry.version < newest.get(at, 0):
                        pipe.send(f"{at} went back from version {newest[at]} to {entry.version}")
                    newest[at] = entry.version
                page = await store.search(SearchQuery(text="lorem", limit=5))
                if any("lorem" not in str(entry.value) for entry in page.entries):
                    pipe.send("a search found what does not match")
                for path_, key in newest:
                    versions = [each.version for each in await store.history(path_, key)]
                    if versions != list(range(1, len(versions) + 1)):
                        pipe.send(f"the history of {path_}/{key} is {versions}")

    asyncio.run(run())


def hold_snapshot(pipe: Connection, path: Path) -> None:
    """Begin to read, go on reading the same state until told to end; say if it is not the same."""
    query = "SELECT count(*), max(sequence) FROM commits"
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN")
        before = raw.execute(query).fetchone()
        pipe.send("holding")
        while not pipe.poll(0.01):
            if raw.execute(query).fetchone() != before:
                pipe.send("a snapshot changed")
        raw.execute("ROLLBACK")


def back_up(pipe: Connection, path: Path, destination: Path) -> None:
    """Copy the store, which others write meanwhile; say how many commits the copy has."""

    async def run() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            pipe.send("copying")
            pipe.send((await store.backup(destination)).commit_count)

    asyncio.run(run())


def write_singly(pipe: Connection, client: Client, refusals: int, limit_bytes: int | None) -> None:
    """Write until refused so often, where files may grow no further than to a limit; say each refusal."""
    if limit_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))

    async def run() -> None:
        journal = client.journal()
        left = refusals
        async with SqliteAdapter(client.path, outcomes=HANDOFF) as store:
            for mark, work in client.works():
                try:
                    await attempt(store, journal, mark, work)
                    pipe.send(mark)
                except AmfsError as refused:
                    pipe.send(refused)
                    left -= 1
                if not left:
                    break
        journal.close()

    asyncio.run(run())


def try_without_rights(pipe: Connection, path: Path, file_mode: int, folder_mode: int) -> None:
    """As somebody to whom these modes apply, list and write; say what was listed, and each refusal."""

    async def run() -> None:
        try:
            async with SqliteAdapter(path, outcomes=HANDOFF) as store:
                pipe.send([entry.value for entry in await store.list(include_superseded=True)])
                await store.write(drafted)
                pipe.send("written")
        except AmfsError as refused:
            pipe.send(refused)

    drafted = MemoryEntry.draft("p", "k", {"mark": "m"}, agent_id="nobody")
    everything = [*path.parent.iterdir(), path.parent]
    if os.geteuid() == 0:  # The one to whom modes do not apply becomes nobody.
        for each in everything:
            os.chown(each, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    path.chmod(file_mode)
    path.parent.chmod(folder_mode)
    asyncio.run(run())


def leave_the_loop(pipe: Connection, client: Client, answers: int) -> None:
    """Begin many requests, and end after so many answers, closing nothing but the loop."""
    loop = asyncio.new_event_loop()
    store = SqliteAdapter(client.path, outcomes=HANDOFF)
    loop.run_until_complete(store.open())
    journal, planned = client.journal(), client.works()
    tasks = [loop.create_task(attempt(store, journal, *next(planned))) for _ in range(TASKS_LEFT)]

    async def hear_answers() -> None:
        for answer in islice(asyncio.as_completed(tasks), answers):
            await answer

    loop.run_until_complete(hear_answers())
    # Python says of each task that it was left, and aiosqlite of each answer that nobody is there: so it is.
    logging.disable()
    threading.excepthook = lambda _: None
    loop.close()
    pipe.send("left")


def fork_in_the_middle(pipe: Connection, client: Client, ends_at_once: bool) -> None:
    """Write, fork, see that the child may do nothing and ends, write on; say what became of the child."""
    loop = asyncio.new_event_loop()
    store = SqliteAdapter(client.path, outcomes=HANDOFF)
    loop.run_until_complete(store.open())
    journal, planned = client.journal(), client.works()

    def write_on() -> None:
        for _ in range(10):
            loop.run_until_complete(attempt(store, journal, *next(planned)))

    write_on()
    child = os.fork()
    if not child:
        refused = _is_refused(store)
        if ends_at_once:
            os._exit(refused)
        sys.exit(refused)
    _, status = os.waitpid(child, 0)
    write_on()
    loop.run_until_complete(store.close())
    loop.close()
    journal.close()
    pipe.send(
        "the child was refused" if os.waitstatus_to_exitcode(status) == 1 else f"it ended with {status}"
    )


def _is_refused(store: SqliteAdapter) -> bool:
    try:
        asyncio.new_event_loop().run_until_complete(store.stats())
    except AdapterClosedError:
        return True
    return False
