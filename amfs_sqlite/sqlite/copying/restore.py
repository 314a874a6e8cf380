"""Puts a backup in the place of a store: checked first, all at once, and never under somebody's hands."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from amfs_sqlite.clock import Clock, IdSource, RandomIds, SystemClock
from amfs_sqlite.errors import InvalidArgumentError, StoreBusyError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.rules.confidence import AMFS_0_3
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.copying import backup as backups
from amfs_sqlite.sqlite.copying import copies
from amfs_sqlite.sqlite.copying.backup import BackupReport
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX, FileGuard, Guard, OpenGuard, has_wal_reset_fault
from amfs_sqlite.sqlite.database.translation import is_busy, translated
from amfs_sqlite.sqlite.transaction import Transaction

STAMP = "%Y%m%dT%H%M%SZ"
# In this order: the log goes into the file, which only works while nobody else has it; then nobody gets it.
HAVE_ALONE = ("PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE")
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class RestoreReport(NamedTuple):
    """What stands at ``path`` now. ``kept`` is where the file is that stood there before, if one did."""

    path: str
    kept: str | None
    contents: BackupReport


def restore(
    backup: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    clock: Clock | None = None,
    ids: IdSource | None = None,
) -> RestoreReport:
    """Put a copy of the backup at ``path``, once it is verified; an older schema is migrated in the copy.

    Where something stands there, ``force`` replaces it and keeps it beside, as
    ``<name>.before-restore-<time>``. Raises InvalidArgumentError without ``force``, StoreBusyError while
    anybody has the store open, StoreCorruptError for a backup that does not verify, and
    StoreUnavailableError, ForeignFileError or NewerSchemaError for what is no backup of ours. Then
    nothing was changed. Who reads an immutable file, uses another machine, or has a file open whose
    first page is damaged, cannot be seen.
    """
    moment = (clock or SystemClock()).now()
    ids = ids or RandomIds()
    source, target = files.resolve(backup), files.resolve(path)
    if source == target:
        raise InvalidArgumentError("path", f"is {quoted(target, 400)}, the backup itself; name another file")
    is_taken = any(os.path.lexists(target + suffix) for suffix in ("", *files.SIDE_SUFFIXES))
    if is_taken and not force:
        problem = "where something stands already; force=True keeps that beside it under another name"
        raise InvalidArgumentError("path", f"is {quoted(target, 400)}, {problem}")
    uri = files.find(source, migrate.NEWEST)
    with translated(target), copies.temporary_beside(target, ids) as temporary:
        contents = _copied(uri, source, temporary, moment, ids, target=target)
        kept = None
        if is_taken:
            kept = copies.free_name(f"{target}{files.BEFORE_RESTORE}{moment.strftime(STAMP)}")
            _replace(temporary, target, kept)
        else:
            copies.put(temporary, target)
    return RestoreReport(target, kept, contents._replace(path=target))


def _copied(
    uri: str, source: str, temporary: str, moment: datetime, ids: IdSource, *, target: str
) -> BackupReport:
    def begin(connection: sqlite3.Connection) -> Transaction:
        return Transaction(connection, DEFAULT_NAMESPACE, AMFS_0_3, ids, moment)

    with translated(source), closing(backups.reading(uri)) as connection:
        backups.check_pages(connection, source)
        backups.copy(connection, source, temporary, target)
    with closing(sqlite3.connect(files.file_uri(temporary), uri=True, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        migrate.run(connection, source, moment, ids)
        connection.execute("COMMIT")
    return backups.checked(temporary, source, begin)


def _replace(temporary: str, target: str, kept: str) -> None:
    """Never a moment without a file, where the file system has hard links; never one with another's log."""
    copies.sync(temporary)
    with _guarded(target), _alone(target):
        try:
            _put_aside(target, kept)
            Path(temporary).replace(target)
        except BaseException:
            if os.path.lexists(temporary):  # Otherwise it is in place, and what was there stays aside.
                _put_back(kept, target)
            raise
        copies.sync_folder(target)


def _put_aside(target: str, kept: str) -> None:
    for suffix in files.SIDE_SUFFIXES:
        # SQLite has put what it could read of these into the file, and removed them.
        if os.path.lexists(target + suffix):
            Path(target + suffix).replace(kept + suffix)
    if os.path.lexists(target):
        try:
            Path(kept).hardlink_to(target)
        except OSError:
            Path(target).replace(kept)


def _put_back(kept: str, target: str) -> None:
    if os.path.lexists(kept):
        if os.path.lexists(target):
            copies.discard(kept)  # It is the second name of the same file.
        else:
            Path(kept).replace(target)
    for suffix in files.SIDE_SUFFIXES:
        if os.path.lexists(kept + suffix):
            Path(kept + suffix).replace(target + suffix)


@contextmanager
def _guarded(target: str) -> Iterator[None]:
    guard: Guard = OpenGuard()
    if has_wal_reset_fault(sqlite3.sqlite_version_info):
        guard = FileGuard(target + LOCK_SUFFIX)
    try:
        if not guard.try_acquire():
            raise _in_use(target)
        yield
    finally:
        guard.close()


@contextmanager
def _alone(target: str) -> Iterator[None]:
    """Hold the file so that nobody else has it and nobody gets it."""
    if not os.path.lexists(target):
        yield
        return
    connection = sqlite3.connect(files.file_uri(target), uri=True, timeout=0, isolation_level=None)
    with closing(connection):
        try:
            for statement in HAVE_ALONE:
                connection.execute(statement)
        except sqlite3.Error as error:
            if is_busy(error):
                raise _in_use(target) from error
            if error.sqlite_errorcode & 0xFF not in DAMAGED:
                raise
            files.log.warning("%s is damaged (%s): whether somebody has it open is not known", target, error)
        if os.name == "nt":
            connection.close()  # Windows replaces no file that is open.
        yield


def _in_use(target: str) -> StoreBusyError:
    return StoreBusyError(
        target,
        "is open in another program, or in this one; nothing was changed",
        "close every agent, server and command that uses it, and try again",
    )
