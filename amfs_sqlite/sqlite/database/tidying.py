"""What the last writer of an adapter does on the way out: index, scrub, and empty the log."""

import sqlite3
from collections.abc import Callable

from amfs_sqlite.errors import StoreBusyError, StoreFullError, StoreReadOnlyError, StoreUnavailableError
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.database import files, scrubbing
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.transaction import Transaction

UNINDEXED_LIMIT = 200
CLOSE_TIMEOUT_S = 1.0


def tidy_up(
    connection: sqlite3.Connection,
    lock: WriteLock,
    path: str,
    transaction: Callable[[sqlite3.Connection], Transaction],
    *,
    has_unindexed: bool,
) -> None:
    """Index, scrub and checkpoint, unless somebody else is at work: then they will."""
    try:
        with translated(path):
            with lock.exclusively(connection, CLOSE_TIMEOUT_S):
                if has_unindexed:
                    index.catch_up(transaction(connection), UNINDEXED_LIMIT)
                is_due = scrubbing.is_due(connection)
            if is_due:
                for remains in scrubbing.scrub(connection, lock, path, CLOSE_TIMEOUT_S):
                    files.log.warning("of what was erased, %s", remains)
            lock.checkpoint(connection, CLOSE_TIMEOUT_S)
    except StoreBusyError:
        return
    except (StoreFullError, StoreReadOnlyError, StoreUnavailableError) as error:
        # Both are derived or repeated work: what was acknowledged is in the file.
        files.log.warning("the text index and the log were left as they are at closing: %s", error)
