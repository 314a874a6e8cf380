"""What other processes do to a store while it is backed up, restored or read."""

import asyncio
import os
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from amfs_sqlite import AmfsError, SqliteAdapter
from amfs_sqlite.sqlite import Mode, restore
from amfs_sqlite.sqlite.copying import copies
from parity_tests.concurrency.jobs import become_nobody
from parity_tests.drafts import draft


def write_pairs_until_killed(pipe: Connection, path: str) -> None:
    """Write two entries at once, the same number in both, for ever; each acknowledged number is told."""

    async def run() -> None:
        async with SqliteAdapter(path) as adapter:
            number = 0
            while True:
                number += 1
                await adapter.write_batch([draft(key="left", value=number), draft(key="right", value=number)])
                pipe.send(number)

    asyncio.run(run())


def hold_open(pipe: Connection, path: str, mode: Mode) -> None:
    """Open the store, read, and keep it open until something is heard."""

    async def run() -> None:
        async with SqliteAdapter(path, mode=mode) as adapter:
            pipe.send(len(await adapter.list()))
            await asyncio.to_thread(pipe.recv)

    asyncio.run(run())


def be_killed(pipe: Connection) -> NoReturn:
    """End here, with nothing tidied up, when whoever listens kills this or has stopped listening."""
    with suppress(EOFError):
        pipe.recv()
    os._exit(1)


def stop_before_the_name(pipe: Connection, path: str, dest: str) -> None:
    """Back up, and wait to be killed when all is there but the name."""

    def waiting(temporary: str, _: str) -> None:
        pipe.send(temporary)
        be_killed(pipe)

    async def run() -> None:
        async with SqliteAdapter(path) as adapter:
            await adapter.backup(dest)

    with mock.patch.object(copies, "put", waiting):
        asyncio.run(run())


def back_up_to_the_end_or(pipe: Connection, event: str, path: str, dest: str) -> None:
    """Back up; be ended before the system is first asked for this about the new file. Tells of the end."""

    def ending(asked: str, arguments: tuple[Any, ...]) -> None:
        if asked == event and any(str(each).startswith(dest) for each in arguments):
            os._exit(1)

    async def run() -> None:
        async with SqliteAdapter(path) as adapter:
            await adapter.backup(dest)

    sys.addaudithook(ending)
    asyncio.run(run())
    pipe.send("done")


def stop_before_the_old_is_replaced(pipe: Connection, backup: str, path: str) -> None:
    """Restore, and wait to be killed when the old file is kept and still in its place."""
    kept = Path.hardlink_to

    def waiting(name: Path, target: str) -> None:
        kept(name, target)
        pipe.send(str(name))
        be_killed(pipe)

    with mock.patch.object(Path, "hardlink_to", waiting):
        restore(backup, path, force=True)


def read_as_nobody(pipe: Connection, path: str) -> None:
    """As a user without rights, read a store in its folder, which may not be written; what came of it."""

    async def run() -> Any:
        async with SqliteAdapter(path, mode="ro") as adapter:
            entry = await adapter.read("svc/a", "k")
            verified = await adapter.verify()
            return None if entry is None else (entry.value, verified.ok)

    async def make_what_is_needed() -> None:
        async with SqliteAdapter(":memory:") as adapter:
            await adapter.write(draft())
            await adapter.verify()

    asyncio.run(make_what_is_needed())  # Who has no rights may not be able to import any more.
    become_nobody()
    try:
        pipe.send(asyncio.run(run()))
    except AmfsError as refused:
        pipe.send(refused)
