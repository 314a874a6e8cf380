"""SQLite's errors and the system's as ours. Whoever opens a file uses it: nothing else meets them raw."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from amfs_sqlite.errors import (
    AmfsError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from amfs_sqlite.sqlite.rows import UnreadableRowError


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds what was wanted."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's primary code; what the driver itself raises has none."""
    extended: int | None = getattr(error, "sqlite_errorcode", None)
    return None if extended is None else extended & 0xFF


_KINDS: dict[int | None, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusyError,
    sqlite3.SQLITE_LOCKED: StoreBusyError,
    sqlite3.SQLITE_FULL: StoreFullError,
    sqlite3.SQLITE_READONLY: StoreReadOnlyError,
    sqlite3.SQLITE_CORRUPT: StoreCorruptError,
    sqlite3.SQLITE_NOTADB: StoreCorruptError,
    sqlite3.SQLITE_CANTOPEN: StoreUnavailableError,
    sqlite3.SQLITE_IOERR: StoreUnavailableError,
    sqlite3.SQLITE_PERM: StoreUnavailableError,
}


@contextmanager
def translated(path: str) -> Iterator[None]:
    """SQLite's errors and the system's as ours, the cause kept."""
    try:
        yield
    except AmfsError:
        raise
    except sqlite3.Error as error:
        kind = _KINDS.get(_code(error), StoreError)
        raise kind(path, f"SQLite says: {' '.join(str(error).split())}") from error
    except UnreadableRowError as error:
        raise StoreCorruptError(path, str(error)) from error
    except UnicodeDecodeError as error:  # what the driver makes of a damaged schema
        raise StoreCorruptError(path, "holds text that is none") from error
    except PermissionError as error:
        raise StoreReadOnlyError(path, f"the system says: {error.strerror}") from error
    except OSError as error:
        raise StoreUnavailableError(path, f"the system says: {error.strerror}") from error
