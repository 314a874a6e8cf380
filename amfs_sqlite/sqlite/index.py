"""The text index, kept lazily: writers bring it up to date, searches look at the rest themselves."""

from amfs_sqlite.rules.text import TOKENIZER_VERSION, entry_tokens, joined
from amfs_sqlite.sqlite.entries import ENTRY, PRESENT
from amfs_sqlite.sqlite.rows import entry_of
from amfs_sqlite.sqlite.transaction import Transaction

BATCH = 1000

INDEXED_THROUGH = """
SELECT coalesce((SELECT indexed_version_id FROM text_state WHERE tokenizer_version = ?), 0)"""
PENDING_COUNT = """
SELECT count(*) FROM (SELECT 1 FROM versions WHERE id > ? LIMIT ?)"""
PENDING = """
SELECT v.id, c.id FROM versions AS v JOIN current AS c ON c.id = v.key_id AND c.version_id = v.id
WHERE v.id > ? ORDER BY v.id LIMIT ?"""
NEWEST = "SELECT coalesce(max(id), 0) FROM versions"
ENTRY_OF_KEY = f"{ENTRY} WHERE c.id = ? AND {PRESENT}"
CLEAR = "DELETE FROM text_index"
REMOVE = "DELETE FROM text_index WHERE rowid = ?"
REPLACE = "INSERT OR REPLACE INTO text_index (rowid, tokens) VALUES (?, ?)"
ADVANCE = """
INSERT OR REPLACE INTO text_state (one, indexed_version_id, tokenizer_version) VALUES (1, ?, ?)"""


def indexed_through(tx: Transaction) -> int:
    """Current versions up to this id are in the index; 0 when it was made by another cut."""
    through: int = tx.value(INDEXED_THROUGH, (TOKENIZER_VERSION,))
    return through


def pending_count(tx: Transaction, limit: int) -> int:
    """How many versions the index lags behind, counted up to the limit."""
    count: int = tx.value(PENDING_COUNT, (indexed_through(tx), limit))
    return count


def remove(tx: Transaction, key_id: int) -> None:
    """Take a key out of the index: nothing is there any more."""
    tx.run(REMOVE, (key_id,))


def catch_up(tx: Transaction, limit: int) -> int:
    """Index the longest unindexed keys, a batch of them; how many versions are left, up to the limit."""
    through = indexed_through(tx)
    if through == 0:
        tx.run(CLEAR)
    pending = tx.all(PENDING, (through, BATCH))
    for _, key_id in pending:
        row = tx.one(ENTRY_OF_KEY, (key_id,))
        if row is not None:
            tx.run(REPLACE, (key_id, joined(entry_tokens(entry_of(row)))))
    through = pending[-1][0] if len(pending) == BATCH else tx.value(NEWEST)
    tx.run(ADVANCE, (through, TOKENIZER_VERSION))
    return pending_count(tx, limit)
