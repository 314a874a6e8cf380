"""What the other processes do: start, migrate, claim, read, hold a snapshot, or find the file changed."""

import asyncio
import os
import resource
import sqlite3
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from amfs_sqlite import HANDOFF, AmfsError, MemoryEntry, SearchQuery, SqliteAdapter
from benchmarks.torture.crew import PATIENCE_S
from benchmarks.torture.journal import Journal
from benchmarks.torture.rounds import repeatable
from benchmarks.torture.work import attempt, works
from bridge.operations import packets
from bridge.session import Session

NOBODY = 65534


def start(pipe: Connection, path: Path, client: str, seed: str, together: Barrier) -> None:
    """Open the file at the same instant as all others, creating or migrating it, and write once."""

    async def run() -> None:
        journal = Journal(path.parent, client)
        together.wait(PATIENCE_S)
        pipe.send("opening")
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            pipe.send("open")
            mark, work = next(works(client, 0, repeatable(seed)))
            await attempt(store, journal, client, mark, work, pipe.send)
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


def write_singly(
    pipe: Connection, path: Path, journals: Path, client: str, refusals: int, limit_bytes: int | None
) -> None:
    """Write until refused so often, where files may grow no further than to a limit; say each refusal."""
    if limit_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))

    async def run() -> None:
        journal = Journal(journals, client)
        left = refusals
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            for mark, work in works(client, 0, repeatable(client)):
                try:
                    await attempt(store, journal, client, mark, work, pipe.send)
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
