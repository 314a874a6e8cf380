"""After an erasure: what was removed is removed from free space, text index and log too."""

import sqlite3
from pathlib import Path

from amfs_sqlite.errors import StoreBusyError, StoreFullError
from amfs_sqlite.sqlite import files
from amfs_sqlite.sqlite.locking import WriteLock
from amfs_sqlite.sqlite.translation import translated

# FTS5 marks what is deleted in a new segment, and keeps the old one until they are merged.
MERGE_INDEX = "INSERT INTO text_index (text_index) VALUES ('optimize')"
AGAIN = "then run the same command again"


def scrub(connection: sqlite3.Connection, lock: WriteLock, path: str) -> tuple[str, ...]:
    """Write the file anew and empty the log; sentences about what is left elsewhere, none when nothing is.

    Pages that SQLite frees or rewrites keep what stood in them before: only a file written anew has none.
    """
    remains = []
    try:
        with translated(path):
            lock.alone(lambda: _rewrite(connection))
    except (StoreBusyError, StoreFullError) as failed:
        remains.append(f"free space of the file may still hold it ({failed.problem}); {AGAIN}")
    with translated(path):
        if not lock.empty_log(connection):
            remains.append(f"{path}-wal still holds it: a reader keeps it open; end the reader, {AGAIN}")
    remains += [f"{copy} was copied from the file before, and may still hold it" for copy in _copies(path)]
    return tuple(remains)


def _rewrite(connection: sqlite3.Connection) -> None:
    connection.execute(MERGE_INDEX)
    connection.execute("VACUUM")


def _copies(path: str) -> list[str]:
    store = Path(path)
    prefix = store.name + files.BEFORE_MIGRATION
    return sorted(str(each) for each in store.parent.iterdir() if each.name.startswith(prefix))
