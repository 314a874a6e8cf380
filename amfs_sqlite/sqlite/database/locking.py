"""The right to write a file: taken with patience, held for one transaction or one checkpoint."""

import sqlite3
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from amfs_sqlite.clock import patience
from amfs_sqlite.errors import StoreBusyError, StoreFullError, StoreUnavailableError
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX, FileGuard, Guard, OpenGuard, has_wal_reset_fault
from amfs_sqlite.sqlite.database.translation import is_busy

T = TypeVar("T")


class WriteLock:
    """SQLite's write lock on one file, and our guard beside it. In memory there is nobody to exclude."""

    def __init__(self, path: str, *, in_memory: bool, timeout_s: float) -> None:
        self._path = path
        self._in_memory = in_memory
        self._timeout_s = timeout_s
        self._guard: Guard = OpenGuard()
        self._identity: tuple[int, int] | None = None
        self._is_committing = False

    def attach(self) -> None:
        """From now on this is about the file that stands at the path now."""
        if not self._in_memory:
            self._identity = files.identity(self._path)
            if has_wal_reset_fault(sqlite3.sqlite_version_info):
                self._guard = FileGuard(self._path + LOCK_SUFFIX)

    def detach(self) -> None:
        """Let go of the file."""
        self._guard.close()
        self._guard = OpenGuard()

    def patiently(self, attempt: Callable[[], T]) -> T:
        """SQLite answers busy at once: to readers while another process recovers or sets up the file."""
        for _ in patience(self._timeout_s):
            try:
                return attempt()
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise
        raise StoreBusyError(self._path, f"was locked by another process for {self._timeout_s:g} s")

    def exclusively(self, connection: sqlite3.Connection, timeout_s: float | None = None) -> "Exclusive":
        """One transaction that may write: committed at the end, rolled back on any error."""
        return Exclusive(self, connection, self._timeout_s if timeout_s is None else timeout_s)

    def was_rolled_back(self, connection: sqlite3.Connection) -> bool:
        """Whether the last transaction is not committed, for whoever is interrupted and cannot tell."""
        return connection.in_transaction or not self._is_committing

    def begin(self, connection: sqlite3.Connection, timeout_s: float) -> None:
        """Begin it. Raises StoreBusyError, and StoreUnavailableError."""
        self._is_committing = False
        try:
            self._begin(connection, timeout_s)
        except BaseException:
            self._end(connection)
            raise

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit it, or end it all the same."""
        try:
            if not connection.in_transaction:
                raise StoreFullError(self._path, "SQLite gave the transaction up")
            self._commit(connection)
        finally:
            self._end(connection)

    def _commit(self, connection: sqlite3.Connection) -> None:
        self._is_committing = True
        try:
            # Before the file is in write-ahead mode, its creation waits here for readers to end.
            self.patiently(lambda: connection.execute("COMMIT"))
        except Exception:
            self._is_committing = False  # some errors end the transaction by themselves
            raise

    def roll_back(self, connection: sqlite3.Connection) -> None:
        """End it as if it had never been."""
        self._end(connection)

    def _end(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                self._is_committing = False
                connection.execute("ROLLBACK")
        finally:
            self._guard.release()

    def checkpoint(self, connection: sqlite3.Connection, timeout_s: float) -> None:
        """Move the write-ahead log into the file and cut it, unless somebody is at work all that time."""
        for _ in patience(timeout_s):
            if self._guard.try_acquire():
                self._cut_log(connection)
                return

    def empty_log(self, connection: sqlite3.Connection, timeout_s: float | None = None) -> bool:
        """As ``checkpoint``, waiting for readers too; whether nothing is left in the log."""
        return any(
            self._guard.try_acquire() and self._cut_log(connection)
            for _ in patience(self._timeout_s if timeout_s is None else timeout_s)
        )

    def _cut_log(self, connection: sqlite3.Connection) -> bool:
        """With the guard, which is released: whether it was cut whole."""
        try:
            (is_read, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._guard.release()
        return not is_read

    def alone(self, work: Callable[[], None], timeout_s: float | None = None) -> None:
        """Do what is a transaction of its own, once nobody else writes. Raises StoreBusyError."""
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        self._check_in_place()
        for _ in patience(timeout_s):
            if not self._guard.try_acquire():
                continue
            try:
                return work()
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise
            finally:
                self._guard.release()
        raise StoreBusyError(self._path, f"another process held the write lock for {timeout_s:g} s")

    def _begin(self, connection: sqlite3.Connection, timeout_s: float) -> None:
        self._check_in_place()
        for _ in patience(timeout_s):
            if not self._guard.try_acquire():
                continue
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                self._guard.release()
                if not is_busy(error):
                    raise
            else:
                return
        raise StoreBusyError(
            self._path,
            f"another process held the write lock for {timeout_s:g} s; nothing was stored",
        )

    def _check_in_place(self) -> None:
        """A file that was deleted or replaced under us would take writes that nobody finds again."""
        if not self._in_memory and files.identity(self._path) != self._identity:
            raise StoreUnavailableError(
                self._path,
                "was deleted or replaced while it was open; nothing was stored: open it anew",
            )


class Exclusive:
    """A transaction for as long as a ``with`` lasts.

    No generator: what interrupts one at its start leaves it to be ended when its last reference goes, and by
    then another transaction may be under way.
    """

    __slots__ = ("_connection", "_lock", "_timeout_s")

    def __init__(self, lock: WriteLock, connection: sqlite3.Connection, timeout_s: float) -> None:
        self._lock = lock
        self._connection = connection
        self._timeout_s = timeout_s

    def __enter__(self) -> None:
        self._lock.begin(self._connection, self._timeout_s)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._lock.commit(self._connection)
        else:
            self._lock.roll_back(self._connection)
