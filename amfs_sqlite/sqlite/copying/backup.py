"""A copy of a store that is whole: taken beside its writers, checked, and only then given its name."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from amfs_sqlite.clock import IdSource
from amfs_sqlite.errors import StoreBusyError, StoreCorruptError
from amfs_sqlite.sqlite import functions, integrity
from amfs_sqlite.sqlite.copying import copies
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.transaction import Transaction

COPY_INTO = "VACUUM INTO ?"
CHECK_PAGES = "PRAGMA integrity_check(1)"
SCHEMA = "PRAGMA user_version"
HEAD = "SELECT sequence, digest FROM head"
LOCKED_S = 5.0
"""How long a file is waited for that is locked only while somebody takes up a log that was left beside it."""
LONGEST_WAIT_S = 2_000_000.0
"""SQLite counts milliseconds in 32 bits."""

Begin = Callable[[sqlite3.Connection], Transaction]


class BackupReport(NamedTuple):
    """A store that was copied whole and verified. Sizes are bytes.

    ``head_sequence`` and ``head_digest`` are of the newest commit in it; kept elsewhere, they show
    later whether a file is this one or goes on from it.
    """

    path: str
    file_bytes: int
    schema_version: int
    key_count: int
    version_count: int
    commit_count: int
    outcome_count: int
    head_sequence: int
    head_digest: str


def take(
    source: sqlite3.Connection, store: str, destination: str, ids: IdSource, begin: Begin
) -> BackupReport:
    """Copy what this connection sees to a new file; ``store`` is what messages call it.

    The copy is one snapshot, without what was left of erased rows. Raises InvalidArgumentError where
    the name is taken, and StoreCorruptError for a store that does not verify; then there is no new file.
    """
    copies.refuse_taken(destination, "dest")
    with translated(destination), copies.temporary_beside(destination, ids) as temporary:
        copy(source, store, temporary, destination)
        report = checked(temporary, store, begin)
        copies.put(temporary, destination)
    return report._replace(path=destination)


def take_of_file(
    uri: str, store: str, destination: str, ids: IdSource, begin: Begin, *, busy_timeout_s: float
) -> BackupReport:
    """As ``take``, on a connection of its own, so that neither readers nor writers wait."""
    with translated(store), closing(reading(uri, busy_timeout_s)) as source:
        return take(source, store, destination, ids, begin)


def reading(uri: str, busy_timeout_s: float = LOCKED_S) -> sqlite3.Connection:
    """A connection for copying; the URI says that it may only read."""
    timeout_s = min(busy_timeout_s, LONGEST_WAIT_S)
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout_s)


def copy(source: sqlite3.Connection, store: str, temporary: str, destination: str) -> None:
    """Fill an empty file that is to become ``destination``, of which errors tell, as of a full disk.

    Damage and locks are told of the store.
    """
    try:
        with translated(destination):
            source.execute(COPY_INTO, (temporary,))
    except (StoreBusyError, StoreCorruptError) as found:
        raise type(found)(store, found.problem) from found


def checked(path: str, store: str, begin: Begin) -> BackupReport:
    """What is in a file that nobody else has open. Raises StoreCorruptError where it does not verify."""
    with closing(sqlite3.connect(files.untouched_uri(path), uri=True, isolation_level=None)) as connection:
        functions.register(connection)
        check_pages(connection, store)
        tx = begin(connection)
        report = integrity.verify(tx)
        # What is derived is made anew from the rest, and is no reason to be without a backup.
        findings = [each for each in report.findings if each.code != "index"]
        if findings:
            first = findings[0]
            count = f"{len(findings)} findings, the first is {first.code}: {first.message}"
            raise StoreCorruptError(store, f"does not verify: {count}")
        sequence, digest = tx.row(HEAD)
        return BackupReport(
            path=path,
            file_bytes=Path(path).stat().st_size,
            schema_version=tx.value(SCHEMA),
            key_count=report.key_count,
            version_count=report.version_count,
            commit_count=report.commit_count,
            outcome_count=report.outcome_count,
            head_sequence=sequence,
            head_digest=digest,
        )


def check_pages(connection: sqlite3.Connection, store: str) -> None:
    """Raise StoreCorruptError where SQLite finds its own structures damaged."""
    (found,) = connection.execute(CHECK_PAGES).fetchone()
    if found != "ok":
        raise StoreCorruptError(store, f"SQLite says: {' '.join(str(found).split())}")


def before_migration(path: str, version: int, newest: int, ids: IdSource) -> str:
    """Keep the file as it is beside it, while the caller holds the right to write; the name it has there.

    It is read back, but not verified: what an older schema holds, its own release can tell.
    """
    kept = copies.free_name(f"{path}{files.BEFORE_MIGRATION}{newest}")
    with translated(kept), copies.temporary_beside(kept, ids) as temporary:
        with closing(reading(files.file_uri(path, "ro"))) as source:
            copy(source, path, temporary, kept)
        with closing(reading(files.untouched_uri(temporary))) as connection:
            check_pages(connection, path)
            if connection.execute(SCHEMA).fetchone() != (version,):
                raise StoreCorruptError(path, "could not be copied before its schema is changed")
        copies.put(temporary, kept)
    return kept
