"""After an erasure: what was removed is removed from free space, text index and log too."""

import sqlite3

from amfs_sqlite.errors import StoreError
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.doctor import surroundings
from amfs_sqlite.sqlite.transaction import Transaction

# In the transaction that erases: whoever is ended before all is done leaves it to the next.
MARK = "INSERT OR IGNORE INTO meta (name, value) VALUES ('scrub_due', 'erased')"
DUE = "SELECT count(*) FROM meta WHERE name = 'scrub_due'"
DONE = "DELETE FROM meta WHERE name = 'scrub_due'"
# FTS5 marks what is deleted in a new segment, and keeps the old one until they are merged.
MERGE_INDEX = "INSERT INTO text_index (text_index) VALUES ('optimize')"
AGAIN = "it goes with the next erasure, when a writer closes, or by 'amfs-sqlite doctor --fix'"


def mark(tx: Transaction) -> None:
    """From this transaction on the file is to be scrubbed."""
    tx.run(MARK)


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether something was erased that may still stand in free space, or in the log."""
    return bool(connection.execute(DUE).fetchone() != (0,))


def scrub(
    connection: sqlite3.Connection, lock: WriteLock, path: str, timeout_s: float | None = None
) -> tuple[str, ...]:
    """Where it is due, write the file anew and empty the log; sentences about what is left, and where.

    Pages that SQLite frees or rewrites keep what stood in them before: only a file written anew has none.
    ``timeout_s`` is how long others are waited for, None the time of the lock. Raises no StoreError: what was
    erased is erased.
    """
    remains = []
    try:
        with translated(path):
            if is_due(connection):
                lock.alone(lambda: _rewrite(connection), timeout_s)
                if lock.empty_log(connection, timeout_s):
                    with lock.exclusively(connection, timeout_s):
                        connection.execute(DONE)
                else:
                    remains.append(
                        f"{path} and its log still hold it, since a reader keeps both: end it; {AGAIN}"
                    )
    except StoreError as failed:
        remains.append(f"free space of the file may still hold it ({failed.problem}); {AGAIN}")
    return (*remains, *_copies(path))


def _copies(path: str) -> list[str]:
    try:
        found = dict.fromkeys([*surroundings.copies_beside(path), *surroundings.half_made(path)])
    except OSError as failed:
        return [f"whether a copy beside {path} holds it is not known: {failed.strerror}"]
    return [f"{copy} is a copy from before, and may still hold it: look, and delete it" for copy in found]


def _rewrite(connection: sqlite3.Connection) -> None:
    connection.execute(MERGE_INDEX)
    connection.execute("VACUUM")
