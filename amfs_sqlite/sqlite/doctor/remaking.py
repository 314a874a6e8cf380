"""What is derived from the entries, text index and tags, made anew."""

import sqlite3

from amfs_sqlite.clock import CountedIds, instant
from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.rules.confidence import AMFS_0_3
from amfs_sqlite.rules.text import TOKENIZER_VERSION
from amfs_sqlite.rules.values import decode
from amfs_sqlite.sqlite import entries, index, migrate
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.entries import PRESENT
from amfs_sqlite.sqlite.transaction import Transaction

TAGGED = f"SELECT c.id, c.tags FROM current AS c WHERE c.tags <> '[]' AND {PRESENT}"
DROP_INDEX = "DROP TABLE text_index"
CLEAR_TAGS = "DELETE FROM entry_tags"
FORGET = "INSERT OR REPLACE INTO text_state (one, indexed_version_id, tokenizer_version) VALUES (1, 0, ?)"


def make_anew(connection: sqlite3.Connection, lock: WriteLock) -> None:
    """Both of them, from the entries. Searches find everything meanwhile, more slowly."""
    with lock.exclusively(connection):
        tx = whole_file(connection)
        tx.run(DROP_INDEX)
        tx.run(migrate.objects()["table", "text_index"])
        tx.run(FORGET, (TOKENIZER_VERSION,))
        tx.run(CLEAR_TAGS)
        # Cut by us and not by SQLite, whose JSON ends a text at a NUL.
        for key_id, tags in tx.all(TAGGED):
            entries.retag(tx, key_id, "[]", decode(tags))
    left = 1
    while left:
        with lock.exclusively(connection):
            left = index.catch_up(whole_file(connection), 1)


def whole_file(connection: sqlite3.Connection) -> Transaction:
    """For statements about the whole file, which ask neither for a namespace nor for the time."""
    return Transaction(connection, DEFAULT_NAMESPACE, AMFS_0_3, CountedIds(), instant("1970-01-01T00:00:00Z"))
