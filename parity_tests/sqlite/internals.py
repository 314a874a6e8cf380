"""The private parts of the SQLite adapter that tests look at, named in one place."""

import sqlite3
import threading
from collections.abc import Callable, Iterable
from typing import Any

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite.database import exits
from amfs_sqlite.sqlite.database.connection import Database
from amfs_sqlite.sqlite.database.lanes import Lane, hop

THREAD_ENDS_WITHIN_S = 20


def database_of(adapter: SqliteAdapter) -> Database:
    """What stands behind the flat surface."""
    return adapter._database


def look_around(database: Database, connection: sqlite3.Connection) -> None:
    """What opening does last: as often as it takes, while another process holds the file."""
    database._lock.patiently(lambda: database._look_around(connection))


def store_id_of(adapter: SqliteAdapter) -> str:
    """The identity of the file, which its cursors carry."""
    return database_of(adapter).store_id


def lanes_of(adapter: SqliteAdapter) -> tuple[Lane, Lane]:
    """The writer and the reader of an open adapter."""
    database = database_of(adapter)
    assert database._writer is not None
    assert database._reader is not None
    return database._writer, database._reader


async def settled(adapter: SqliteAdapter) -> None:
    """Wait until nothing is under way, what callers left behind and the indexing included."""
    for lane in lanes_of(adapter):
        await lane.finish()


async def trace(adapter: SqliteAdapter, tell: Callable[[str], None] | None) -> None:
    """Have the writer tell each statement that it is about to run, on its own thread."""
    writer, _ = lanes_of(adapter)
    await hop(await writer.connected(), lambda connection: connection.set_trace_callback(tell))


async def write_directly(adapter: SqliteAdapter, statement: str) -> Any:
    """Run a statement on the writer's own connection; its first row."""
    writer, _ = lanes_of(adapter)
    return await hop(await writer.connected(), lambda connection: connection.execute(statement).fetchone())


def left_running(before: Iterable[threading.Thread]) -> list[threading.Thread]:
    """The threads of adapters that do not end. The watcher of exits stays, and is no adapter's."""
    known = set(before)
    started = [each for each in threading.enumerate() if each not in known and each.name != exits.WATCHER]
    for thread in started:
        thread.join(THREAD_ENDS_WITHIN_S)
    return [thread for thread in started if thread.is_alive()]
