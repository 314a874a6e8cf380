"""The text index, kept lazily: writers bring it up to date, searches look at the rest themselves."""

from amfs_sqlite.rules.text import TOKENIZER_VERSION, entry_tokens, joined
from amfs_sqlite.sqlite.entries import ENTRY
from amfs_sqlite.sqlite.rows import entry_of
from amfs_sqlite.sqlite.transaction import Transaction

BATCH = 1000

INDEXED_THROUGH = """
SELECT coalesce((SELECT indexed_version_id FROM text_state WHERE tokenizer_version = ?), 0)"""
PENDING_COUNT = """
SELECT count(*) FROM (SELECT 1 FROM current WHERE version_id > ? LIMIT ?)"""
PENDING = """
SELECT c.version_id, c.id FROM current AS c WHERE c.version_id > ? ORDER BY c.version_id LIMIT ?"""
ENTRY_OF_KEY = f"{ENTRY} WHERE c.id = ?"
CLEAR = "DELETE FROM text_index"
REPLACE = "INSERT OR REPLACE INTO text_index (rowid, tokens) VALUES (?, ?)"
ADVANCE = """
INSERT OR REPLACE INTO text_state (one, indexed_version_id, tokenizer_version) VALUES (1, ?, ?)"""


def indexed_through(tx: Transaction) -> int:
    """Current versions up to this id are in the index; 0 when it was made by another cut."""
    through: int = tx.value(INDEXED_THROUGH, (TOKENIZER_VERSION,))
    return through


def pending_count(tx: Transaction, limit: int) -> int:
    """How many keys the index lags behind, counted up to the limit."""
    count: int = tx.value(PENDING_COUNT, (indexed_through(tx), limit))
    return count


def catch_up(tx: Transaction, limit: int) -> int:
    """Index the longest unindexed keys, a batch of them; how many are left, counted up to the limit."""
    through = indexed_through(tx)
    if through == 0:
        tx.run(CLEAR)
    for version_id, key_id in tx.all(PENDING, (through, BATCH)):
        row = tx.row(ENTRY_OF_KEY, (key_id,))
        tx.run(REPLACE, (key_id, joined(entry_tokens(entry_of(row)))))
        through = version_id
    tx.run(ADVANCE, (through, TOKENIZER_VERSION))
    return pending_count(tx, limit)
