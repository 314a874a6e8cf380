"""Keeps commits and checkpoints of our processes apart where SQLite itself does not do so safely.

SQLite 3.7.0 to 3.51.2 (but for the fixed 3.44.6 and 3.50.7) can lose an acknowledged commit when
one connection resets the write-ahead log while another commits. An advisory lock beside the file,
held around every transaction that writes and every checkpoint, makes that moment impossible.
"""

import os
import sqlite3
import stat
import sys
import weakref
from typing import Protocol

from amfs_sqlite.errors import StoreUnavailableError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_SUFFIX = "-lock"
WAL_RESET_FAULT = (
    "SQLite {version} has a known fault that our lock works around: see docs/explanation/durability.md"
)


class Guard(Protocol):
    """Something held by at most one connection at a time."""

    def try_acquire(self) -> bool:
        """Take it if nobody has it."""
        ...

    def release(self) -> None:
        """Give it back."""
        ...

    def close(self) -> None:
        """Let go of the file behind it."""
        ...


class OpenGuard:
    """Excludes nobody: for files in memory and for SQLite releases without the fault."""

    def try_acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass

    def close(self) -> None:
        pass


class FileGuard:
    """An advisory lock on a file of its own; the system frees it when the process ends, however it ends."""

    def __init__(self, path: str) -> None:
        """Raises StoreUnavailableError where something else stands than a file: a link is not followed."""
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise StoreUnavailableError(
                path, "is a link, a folder or a device, where the lock file belongs", "move it away"
            )
        kept_apart = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | kept_apart, 0o600)
        self._close_once = weakref.finalize(self, os.close, self._descriptor)
        _opened.add(self)

    def try_acquire(self) -> bool:
        try:
            if sys.platform == "win32":
                os.lseek(self._descriptor, 0, os.SEEK_SET)
                msvcrt.locking(self._descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self) -> None:
        if sys.platform == "win32":
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            msvcrt.locking(self._descriptor, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        self._close_once()


_opened: "weakref.WeakSet[FileGuard]" = weakref.WeakSet()


def _let_go() -> None:
    for guard in list(_opened):
        guard.close()


if hasattr(os, "register_at_fork"):
    # The lock belongs to whoever has the file open: a child would hold on to it after its parent's end.
    os.register_at_fork(after_in_child=_let_go)


def has_wal_reset_fault(version: tuple[int, ...]) -> bool:
    """Whether this SQLite release can lose a commit at a reset of the write-ahead log.

    >>> has_wal_reset_fault((3, 40, 1)), has_wal_reset_fault((3, 50, 7)), has_wal_reset_fault((3, 51, 3))
    (True, False, False)
    """
    fixed_lines = ((3, 44, 6), (3, 50, 7))
    if any(version[:2] == fixed[:2] and version >= fixed for fixed in fixed_lines):
        return False
    return (3, 7, 0) <= version < (3, 51, 3)


def known_faults() -> tuple[str, ...]:
    """The known faults of the SQLite in use, each in one sentence with what is done about it."""
    if has_wal_reset_fault(sqlite3.sqlite_version_info):
        return (WAL_RESET_FAULT.format(version=sqlite3.sqlite_version),)
    return ()
