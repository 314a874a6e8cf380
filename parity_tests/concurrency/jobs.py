"""What other processes are made to do. They see only what is passed to them and the file."""

import asyncio
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

from amfs_sqlite import (
    HANDOFF,
    AmfsError,
    MemoryEntry,
    SearchQuery,
    SqliteAdapter,
    VersionConflictError,
)
from amfs_sqlite.sqlite.database import lanes
from amfs_sqlite.sqlite.database.lanes import FunctionConnection
from parity_tests.drafts import at, draft, outcome
from parity_tests.sqlite.internals import store_id_of, trace

NOBODY = 65534
JOB_TIMEOUT_S = 30.0

Address = tuple[str, str, int]


def first_start(number: int, path: str) -> str:
    """Open, perhaps create, write; the identity of the store that was found or made."""

    async def run() -> str:
        async with SqliteAdapter(path) as adapter:
            await adapter.write(draft(key=f"by-{number}", agent=f"agent-{number}"))
            return store_id_of(adapter)

    return asyncio.run(run())


def write_shared_keys(number: int, path: str, keys: int, writes: int) -> list[Address]:
    """Write the same keys as all others, many at once; the versions that were acknowledged."""

    async def run() -> list[Address]:
        async with SqliteAdapter(path) as adapter:
            written = await asyncio.gather(
                *(adapter.write(draft(key=f"k{each % keys}", value=[number, each])) for each in range(writes))
            )
        return [(entry.key, str(entry.value), entry.version) for entry in written]

    return asyncio.run(run())


def count_up(number: int, path: str, times: int) -> int:
    """Read a number, write its successor if nobody else has: so many times. How often somebody had."""

    async def run() -> int:
        conflicts = counted = 0
        async with SqliteAdapter(path) as adapter:
            while counted < times:
                entry = await adapter.read("svc/a", "counter")
                assert entry is not None
                following = draft(key="counter", value=entry.value + 1, agent=f"agent-{number}")
                try:
                    await adapter.write(following, expected_version=entry.version)
                except VersionConflictError:
                    conflicts += 1
                else:
                    counted += 1
        return conflicts

    return asyncio.run(run())


def read_or_write(number: int, path: str, times: int) -> int:
    """Even numbers write one key, odd ones read it: the lowest version read last, or written last."""

    async def write(adapter: SqliteAdapter) -> int:
        written = [await adapter.write(draft(key="k", value=f"word {each}")) for each in range(times)]
        return written[-1].version

    async def read(adapter: SqliteAdapter) -> int:
        seen = 0
        for _ in range(times):
            entry = await adapter.read("svc/a", "k")
            assert entry is not None
            assert entry.version >= seen
            seen = entry.version
            versions = [each.version for each in await adapter.history("svc/a", "k")]
            assert versions == list(range(1, len(versions) + 1))
            assert len(versions) >= seen
            found = await adapter.search(SearchQuery(text="word"))
            assert [each.key for each in found.entries] == ["k"]
        return seen

    async def run() -> int:
        async with SqliteAdapter(path) as adapter:
            return await (read(adapter) if number % 2 else write(adapter))

    return asyncio.run(run())


def claim(number: int, path: str) -> bool:
    """Try to be the first to write a key. Whether it was."""

    async def run() -> bool:
        async with SqliteAdapter(path) as adapter:
            try:
                await adapter.write(draft(key="claimed", agent=f"agent-{number}"), expected_version=0)
            except VersionConflictError:
                return False
            return True

    return asyncio.run(run())


def write_once(number: int, path: str) -> MemoryEntry:
    """Make the same request as all others, under the same idempotency key."""

    async def run() -> MemoryEntry:
        async with SqliteAdapter(path) as adapter:
            return await adapter.write(draft(key="once", session=f"s{number}"), idempotency_key="request-1")

    return asyncio.run(run())


def write_own_keys(number: int, path: str, writes: int) -> list[str]:
    """Write so many keys of one's own, alone and in pairs, and judge some; the commits made."""

    async def run() -> list[str]:
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            for each in range(writes):
                key = f"{number}-{each}"
                await adapter.write_batch([draft(key=key, confidence=0.5), draft(key=f"{key}-too")])
                await adapter.commit_outcome(outcome("success", at(key=key), outcome_ref=key))
            return [commit.id for commit in await adapter.list_commits()]

    return asyncio.run(run())


def watch_and_write(number: int, path: str, size: int, writes: int) -> list[str]:
    """Watch, tell all others that one does, write when they do too; the commits heard, own ones included."""

    async def run() -> list[str]:
        heard: list[MemoryEntry] = []
        async with SqliteAdapter(path) as adapter:
            everybody, everything = asyncio.Event(), asyncio.Event()

            def callback(entry: MemoryEntry) -> None:
                heard.append(entry)
                if len([each for each in heard if each.entity_path == "all"]) == size * writes:
                    everything.set()

            await adapter.watch("all", callback)
            await adapter.watch("here", lambda _: everybody.set())
            await adapter.write(draft("here", f"{number}"))
            async with asyncio.timeout(JOB_TIMEOUT_S):
                while len(await adapter.list("here")) < size:
                    everybody.clear()
                    await everybody.wait()
                for each in range(writes):
                    written = await adapter.write(draft("all", f"k{each % 3}"))
                    assert written.commit_id in [entry.commit_id for entry in heard]
                await everything.wait()
        return [str(entry.commit_id) for entry in heard]

    return asyncio.run(run())


def echo_until_told(pipe: Connection, path: str, count: int) -> None:
    """Answer every question heard with an echo, written within the callback."""

    async def run() -> None:
        async with SqliteAdapter(path) as adapter:
            done = asyncio.Event()
            heard = 0

            async def echo(entry: MemoryEntry) -> None:
                nonlocal heard
                heard += 1
                await adapter.write(draft("echo", entry.key, entry.value))
                if heard == count:
                    done.set()

            await adapter.watch("question", echo)
            pipe.send("watching")
            async with asyncio.timeout(JOB_TIMEOUT_S):
                await done.wait()

    asyncio.run(run())
    pipe.send("done")


def read_changes(pipe: Connection, path: str, after: str | None, count: int) -> None:
    """Follow the changes behind a cursor; the addresses of so many, and the last cursor, without closing."""

    async def run() -> None:
        adapter = SqliteAdapter(path)
        await adapter.open()
        changes = adapter.changes(after=after)
        events = [await anext(changes) for _ in range(count)]
        pipe.send(([event.entry.key for event in events], events[-1].cursor))
        await anext(changes)

    asyncio.run(run())


def write_until_killed(pipe: Connection, path: str, mark: str) -> None:
    """Write for ever, in several tasks; every acknowledgement goes through the pipe at once."""

    async def singles(adapter: SqliteAdapter, lane: int) -> None:
        while True:
            entry = await adapter.write(draft(key=f"single-{lane}", value=mark))
            pipe.send((entry.key, entry.version))

    async def batches(adapter: SqliteAdapter) -> None:
        while True:
            for entry in await adapter.write_batch(
                [draft(key=f"batch-{each}", value=mark) for each in "abc"]
            ):
                pipe.send((entry.key, entry.version))

    async def outcomes(adapter: SqliteAdapter) -> None:
        number = 0
        while True:
            number += 1
            reported = outcome("success", at(key="judged"), outcome_ref=f"{mark}-{number}")
            await adapter.commit_outcome(reported)
            pipe.send(("outcome", reported.outcome_ref))

    async def run() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            await adapter.write(draft(key="judged", confidence=0.5))
            await asyncio.gather(
                singles(adapter, 0), singles(adapter, 1), batches(adapter), outcomes(adapter)
            )

    asyncio.run(run())


def pair(value: str) -> list[MemoryEntry]:
    """Two entries that belong together."""
    return [draft("pair", key, value) for key in "ab"]


def write_and_be_killed(pipe: Connection, path: str, statement: int) -> None:
    """Write a pair, and be killed when SQLite is about to run this statement of it, the first being 1."""

    async def run() -> None:
        async with SqliteAdapter(path) as adapter:
            begun = 0

            def killing(_: str) -> None:
                nonlocal begun
                begun += 1
                if begun == statement:
                    os.kill(os.getpid(), signal.SIGKILL)

            await trace(adapter, killing)
            await adapter.write_batch(pair("second"))
            pipe.send("survived")

    asyncio.run(run())


def create_and_be_killed(pipe: Connection, path: str, statement: int) -> None:
    """Open what is not there yet, and be killed when SQLite is about to run this statement of it."""
    begun = 0

    def killing(_: str) -> None:
        nonlocal begun
        begun += 1
        if begun == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    class KillingConnection(FunctionConnection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            super().execute("PRAGMA cache_size = 1")  # Pages go to the disk before the transaction ends.
            self.set_trace_callback(killing)

    async def run() -> None:
        async with SqliteAdapter(path):
            pass
        pipe.send("survived")

    with mock.patch.object(lanes, "FunctionConnection", KillingConnection):
        asyncio.run(run())


def become_nobody() -> None:
    """From here on a user without rights, where modes would not apply to the one we are."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def answer_without_rights(pipe: Connection, path: str, file_mode: int, folder_mode: int) -> None:
    """As a user to whom these modes apply, read and write a store; what came of each."""

    async def run() -> tuple[Any, Any]:
        async with SqliteAdapter(path) as adapter:
            entry = await adapter.read("svc/a", "k")
            assert entry is not None
            try:
                return entry.value, await adapter.write(drafted)
            except AmfsError as refused:
                return entry.value, refused

    # Libraries load parts of themselves when first used, and nobody may be let near where they lie.
    drafted = draft()
    file = Path(path)
    everything = [*file.parent.iterdir(), file.parent]
    if os.geteuid() == 0:
        for each in everything:
            os.chown(each, NOBODY, NOBODY)
    become_nobody()
    file.chmod(file_mode)
    file.parent.chmod(folder_mode)
    try:
        answer = asyncio.run(run())
    except AmfsError as refused:
        answer = refused, refused
    pipe.send(answer)


def opened_and_closed(number: int, path: str) -> int:
    """Open the store, look, and close it: whoever is the last to close removes the log."""

    async def visit() -> int:
        async with SqliteAdapter(path) as adapter:
            return len(await adapter.list())

    return asyncio.run(visit())
