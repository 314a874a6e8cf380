"""What is derived from the entries, text index and tags: whether it is in step with them; making it anew."""

import sqlite3
from collections import Counter
from collections.abc import Iterator

from amfs_sqlite.clock import CountedIds, instant
from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.rules.confidence import AMFS_0_3
from amfs_sqlite.rules.text import TOKENIZER_VERSION, entry_tokens, joined
from amfs_sqlite.sqlite import index, migrate
from amfs_sqlite.sqlite.entries import ENTRY, PRESENT
from amfs_sqlite.sqlite.locking import WriteLock
from amfs_sqlite.sqlite.rows import entry_of
from amfs_sqlite.sqlite.transaction import Transaction

TEXT_INDEX, TAGS = "text_index", "tags"

INDEXED = f"""
SELECT (SELECT t.tokens FROM text_index AS t WHERE t.rowid = c.id), {ENTRY.lstrip().removeprefix("SELECT ")}
WHERE c.version_id <= ? AND {PRESENT}"""
ALL_TOKENS = "SELECT tokens FROM text_index"
WITHDRAWN = (
    f"SELECT count(*) FROM text_index WHERE rowid NOT IN (SELECT c.id FROM current AS c WHERE {PRESENT})"
)
VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, text_index, row)"
TERMS = "SELECT term, cnt FROM temp.vocabulary"
TAGGED = f"""
SELECT t.value AS tag, c.id AS key_id FROM current AS c, json_each(c.tags) AS t WHERE {PRESENT}"""
KEPT_TAGS = "SELECT tag, key_id FROM entry_tags"
UNTAGGED_COUNT = f"SELECT count(*) FROM ({TAGGED} EXCEPT {KEPT_TAGS})"
SURPLUS_COUNT = f"SELECT count(*) FROM ({KEPT_TAGS} EXCEPT {TAGGED})"
DROP_INDEX = "DROP TABLE text_index"
CLEAR_TAGS = "DELETE FROM entry_tags"
TAG_ALL = f"INSERT OR IGNORE INTO entry_tags (tag, key_id) {TAGGED}"
FORGET = "INSERT OR REPLACE INTO text_state (one, indexed_version_id, tokenizer_version) VALUES (1, 0, ?)"


def faults(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """What is not in step with the entries: TEXT_INDEX or TAGS, and how it differs."""
    tx = _transaction(connection)
    try:
        differing, withdrawn = _differing(tx), tx.value(WITHDRAWN)
        words = 0 if differing or withdrawn else _miscounted(tx)
    except sqlite3.DatabaseError as damaged:
        yield TEXT_INDEX, f"the text index cannot be read: {damaged}"
    else:
        if differing or withdrawn:
            yield TEXT_INDEX, f"the text index differs from {differing} entries, and has {withdrawn} too many"
        elif words:
            yield TEXT_INDEX, f"the text index counts {words} words otherwise than it holds them"
    lacking, surplus = tx.value(UNTAGGED_COUNT), tx.value(SURPLUS_COUNT)
    if lacking or surplus:
        yield TAGS, f"of the tags of entries {lacking} are not listed, and {surplus} are too much"


def make_anew(connection: sqlite3.Connection, lock: WriteLock) -> None:
    """Both of them, from the entries. Searches find everything meanwhile, more slowly."""
    with lock.exclusively(connection):
        tx = _transaction(connection)
        tx.run(DROP_INDEX)
        tx.run(migrate.objects()["table", "text_index"])
        tx.run(FORGET, (TOKENIZER_VERSION,))
        tx.run(CLEAR_TAGS)
        tx.run(TAG_ALL)
    left = 1
    while left:
        with lock.exclusively(connection):
            left = index.catch_up(_transaction(connection), 1)


def _transaction(connection: sqlite3.Connection) -> Transaction:
    """For statements about the whole file, which ask neither for a namespace nor for the time."""
    return Transaction(connection, DEFAULT_NAMESPACE, AMFS_0_3, CountedIds(), instant("1970-01-01T00:00:00Z"))


def _differing(tx: Transaction) -> int:
    """How many entries are not in the index as they are."""
    return sum(
        tokens != joined(entry_tokens(entry_of(row)))
        for tokens, *row in tx.each(INDEXED, (index.indexed_through(tx),))
    )


def _miscounted(tx: Transaction) -> int:
    """Of how many words the index says otherwise than its own texts how often they occur."""
    held: Counter[str] = Counter()
    for (tokens,) in tx.each(ALL_TOKENS):
        held.update(tokens.split())
    tx.run(VOCABULARY)
    counted: Counter[str] = Counter()
    for term, count in tx.each(TERMS):
        counted[term] += count
    return len(held.keys() ^ counted.keys()) + sum(
        held[term] != counted[term] for term in held.keys() & counted
    )
