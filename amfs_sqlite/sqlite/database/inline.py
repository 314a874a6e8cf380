"""Reading in the event loop's own thread: single rows, which are there sooner than another thread is."""

import sqlite3
import weakref

from amfs_sqlite.sqlite.database.turns import TurnClock
from amfs_sqlite.sqlite.rows import UnreadableRowError
from amfs_sqlite.sqlite.transaction import TooLongForTheLoopError

CACHED_STATEMENTS = 256
READER_SETTINGS = ("PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "PRAGMA wal_autocheckpoint = 0")
# What is then read by the thread that reads: it waits, if it must, and says what is wrong.
NOT_INLINE = (sqlite3.Error, UnreadableRowError, TooLongForTheLoopError)


class InlineReader:
    """A connection that never waits, and how long the loop has been kept."""

    def __init__(self, uri: str) -> None:
        self.connection = sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            timeout=0,
            cached_statements=CACHED_STATEMENTS,
            # An adapter that nobody closed may be finalised by any thread.
            check_same_thread=False,
        )
        # Also when it is dropped with an adapter that nobody closed.
        self._close_once = weakref.finalize(self, self.connection.close)
        self.give_way = TurnClock().give_way
        for statement in READER_SETTINGS:
            self.connection.execute(statement)

    def stop(self) -> None:
        """There is no thread to end, and whoever still reads must not lose the file under his hands."""

    def close(self) -> None:
        """Let go of the file."""
        self._close_once()
