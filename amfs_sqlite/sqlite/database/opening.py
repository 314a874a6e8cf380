"""What is done to a file before it is used: for writing it is brought in order, for reading left as it is."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import datetime
from typing import Literal, get_args

from amfs_sqlite.clock import Clock, IdSource
from amfs_sqlite.errors import InvalidArgumentError, StoreReadOnlyError, quoted
from amfs_sqlite.rules.confidence import OutcomePolicy, check_policy
from amfs_sqlite.rules.limits import check_finite, check_name, check_sources
from amfs_sqlite.sqlite import functions, migrate
from amfs_sqlite.sqlite.copying import backup, copies
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.locking import WriteLock

MEMORY = ":memory:"
WAL_PAGES_BEFORE_CHECKPOINT = 2000
WAL_BYTES_KEPT = 16 * 1024 * 1024
SCHEMA_VERSION = "PRAGMA schema_version"

Durability = Literal["full", "normal"]
Mode = Literal["rw", "ro"]


def checked_path(
    path: str | os.PathLike[str],
    *,
    namespace: str,
    policy: OutcomePolicy,
    durability: Durability,
    mode: Mode,
    busy_timeout_s: float,
    clock: Clock,
    ids: IdSource,
) -> str:
    """The resolved path, or MEMORY. Raises InvalidArgumentError for what no database can be opened with."""
    check_finite(busy_timeout_s, "busy_timeout_s")
    if busy_timeout_s < 0:
        raise InvalidArgumentError("busy_timeout_s", f"is {busy_timeout_s}; it must be seconds from 0")
    check_name(namespace, "namespace")
    check_policy(policy)
    check_sources(clock, ids)
    in_memory = isinstance(path, str | os.PathLike) and os.fspath(path) == MEMORY
    _check_choices(durability, mode, in_memory=in_memory)
    return MEMORY if in_memory else files.resolve(path)


def _check_choices(durability: Durability, mode: Mode, *, in_memory: bool) -> None:
    if durability not in get_args(Durability):
        raise InvalidArgumentError("durability", f"is {quoted(durability)}; choose 'full' or 'normal'")
    if mode not in get_args(Mode):
        raise InvalidArgumentError("mode", f"is {quoted(mode)}; choose 'rw' or 'ro'")
    if mode == "ro" and in_memory:
        raise InvalidArgumentError("mode", "is 'ro', and in memory there is nothing yet to be read")


def find(path: str, mode: Mode) -> str:
    """The URI of the file, which is made where it may be."""
    if mode == "rw":
        files.prepare(path, migrate.NEWEST)
        return files.file_uri(path)
    uri = files.find(path, migrate.NEWEST)
    files.refuse_second_names(path)
    return uri


def set_up(connection: sqlite3.Connection, lock: WriteLock, durability: Durability) -> None:
    """The writer's settings. Nothing is locked."""
    functions.register(connection)
    settings = (
        f"PRAGMA synchronous = {durability.upper()}",
        "PRAGMA trusted_schema = OFF",
        f"PRAGMA wal_autocheckpoint = {WAL_PAGES_BEFORE_CHECKPOINT}",
        f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}",
    )
    lock.patiently(lambda: run_all(connection, settings))


def bring_up(
    connection: sqlite3.Connection, lock: WriteLock, path: str, now: datetime, ids: IdSource
) -> None:
    """The newest schema; what the file holds is copied beside it first. Where all is there nothing is locked.

    Whatever goes wrong, the file is as it was, and then there is no copy either.
    """
    if not lock.patiently(lambda: migrate.is_needed(connection, path)):
        return
    kept = None
    try:
        with lock.exclusively(connection):
            version = migrate.schema_of(connection)
            if 0 < version < migrate.NEWEST:
                kept = backup.before_migration(path, version, migrate.NEWEST, ids)
            migrate.run(connection, path, now, ids)
    except BaseException:
        if kept is not None:
            copies.discard(kept)
        raise
    if kept is not None:
        files.log.info("%s has schema %d now; as it was before it lies in %s", path, migrate.NEWEST, kept)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """The journal mode in which readers and a writer do not wait for each other."""
    if not has_write_ahead_log(connection):
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise sqlite3.OperationalError(f"no write-ahead log is possible here, only {mode}")


def has_write_ahead_log(connection: sqlite3.Connection) -> bool:
    """Whether the file is in that mode already."""
    return bool(connection.execute("PRAGMA journal_mode").fetchone() == ("wal",))


def close_untouched(connection: sqlite3.Connection, path: str) -> None:
    """Close the connection to a file that was refused, and leave file and log as they are.

    Who closes last moves the log into the file and removes it; a reader is held open until then, and closes
    after, since readers do neither.
    """
    with closing(sqlite3.connect(files.file_uri(path, "ro"), uri=True, timeout=0)) as reader:
        with suppress(sqlite3.Error):  # Damaged or not: it holds the file from its first look on.
            reader.execute(SCHEMA_VERSION)
        connection.close()


def check_readable(connection: sqlite3.Connection, lock: WriteLock, path: str) -> None:
    """Raise StoreReadOnlyError for a schema that would have to be migrated before it is read."""
    if lock.patiently(lambda: migrate.is_needed(connection, path)):
        found = migrate.schema_of(connection)
        raise StoreReadOnlyError(
            path,
            f"has schema {found}, older than {migrate.NEWEST}, and is opened for reading alone",
            "open it once for writing, which keeps a copy beside it and migrates it",
        )


def refusal(path: str) -> StoreReadOnlyError:
    """What is said to whoever wants to write all the same."""
    return StoreReadOnlyError(
        path,
        "was opened for reading alone; nothing was stored",
        "open it for writing (mode 'rw', no --read-only) to change what it holds",
    )


def run_all(connection: sqlite3.Connection, statements: Sequence[str]) -> None:
    """Run statements that answer nothing of interest."""
    for statement in statements:
        connection.execute(statement)
