"""What is derived from the rest and lies outside the digests: tags, words, and what requests stand for."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from amfs_sqlite.models import Finding, MemoryEntry
from amfs_sqlite.rules.text import entry_tokens, joined
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.checks.findings import TOUCHED, Beside, Part, finding
from amfs_sqlite.sqlite.entries import ENTRY
from amfs_sqlite.sqlite.rows import entry_of
from amfs_sqlite.sqlite.transaction import Transaction

Index = Literal["text_index", "tags"]

TAGS = "SELECT key_id, tag FROM entry_tags ORDER BY key_id"
NEW_TAGS = f"SELECT key_id, tag FROM entry_tags WHERE key_id IN ({TOUCHED}) ORDER BY key_id"
WORDS = "SELECT rowid, tokens FROM text_index ORDER BY rowid"
NEW_WORDS = f"SELECT rowid, tokens FROM text_index WHERE rowid IN ({TOUCHED}) ORDER BY rowid"
STRAYS = """
SELECT 'tags', 'tags', count(*) FROM entry_tags WHERE key_id NOT IN (SELECT id FROM current)
UNION ALL
SELECT 'text_index', 'words', count(*) FROM text_index WHERE rowid NOT IN (SELECT id FROM current)"""
TEXT_STATE = "SELECT indexed_version_id FROM text_state"
CURRENT = f"""
SELECT c.id, c.version_id, {ENTRY.lstrip().removeprefix("SELECT ")} ORDER BY c.id"""
VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, text_index, row)"
TERMS = "SELECT CAST(term AS BLOB), cnt FROM temp.vocabulary"
DROP_VOCABULARY = "DROP TABLE temp.vocabulary"
MAY_WRITE = "PRAGMA query_only"
UNGROUNDED = """
SELECT i.idempotency_key, i.sequence FROM idempotency AS i
WHERE NOT EXISTS (SELECT 1 FROM commits AS m WHERE m.sequence = i.sequence)
ORDER BY i.namespace, i.agent_id, i.idempotency_key"""


class Derived:
    """Tags and words as they are indexed, key by key in ascending order."""

    def __init__(self, tx: Transaction, part: Part) -> None:
        whole = part.is_whole
        self._tx = tx
        self._is_whole = whole
        self._held = 0
        self._unreadable = ""
        self._tags = Beside(tx.each(TAGS if whole else NEW_TAGS, {} if whole else part.bound))
        self._words = Beside(self._counted(WORDS if whole else NEW_WORDS, {} if whole else part.bound))
        self._indexed_through = index.indexed_through(tx)

    def findings(self, key_id: int, version_id: int, entry: MemoryEntry) -> Iterator[Finding]:
        """What is indexed of a key otherwise than its current version, which holds, has it."""
        for _, problem in self.faults(key_id, version_id, entry):
            yield finding("index", problem, (entry.entity_path, entry.key))

    def faults(self, key_id: int, version_id: int, entry: MemoryEntry) -> Iterator[tuple[Index, str]]:
        """As ``findings``, with the index that it is of."""
        tags = {tag for _, tag in self._tags.of(key_id)}
        if tags != (set() if entry.withdrawn else set(entry.tags)):
            yield "tags", "the tags that lead to the entry are not its own"
        words = [found for _, found in self._words.of(key_id)]
        if self._unreadable:
            return
        if entry.withdrawn:
            if words:
                yield "text_index", "the text index holds words of an entry that is not there"
        elif version_id <= self._indexed_through and not _has_words(entry, words):
            yield "text_index", "the words that lead to the entry are not its own"

    def list_findings(self) -> Iterator[Finding]:
        """As ``list_faults``."""
        for _, problem in self.list_faults():
            yield finding("index", problem)

    def list_faults(self) -> Iterator[tuple[Index, str]]:
        """Once all keys were asked for: whether SQLite's lists of words, by which searches go, can be read
        and are those of the texts that it keeps. They are looked at where all of a store is.
        """
        self._words.pass_over()
        if not self._is_whole:
            return
        is_so = not self._unreadable and self._lists_are_right()
        if self._unreadable:
            yield "text_index", f"the text index cannot be read: {self._unreadable}"
        elif not is_so:
            yield "text_index", "the lists of words in the text index are not those of its texts"

    def _lists_are_right(self) -> bool:
        try:
            with _vocabulary(self._tx):
                listed = sum(count * hash(term) for term, count in self._tx.each(TERMS))
        except sqlite3.DatabaseError as failed:
            self._unreadable = _damage(failed)
            return False
        return bool(listed == self._held)

    def _counted(self, sql: str, bound: dict[str, int]) -> Iterator[Sequence[Any]]:
        # One number for all occurrences of all words takes no memory, and each side counts at its own speed.
        try:
            for key_id, tokens in self._tx.each(sql, bound):
                self._held += sum(map(hash, str(tokens).encode(errors="surrogateescape").split()))
                yield key_id, tokens
        except sqlite3.DatabaseError as failed:
            self._unreadable = _damage(failed)


def _damage(error: sqlite3.DatabaseError) -> str:
    """What is wrong with the index; raises what says nothing of it, as of a full disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    if code & 0xFF not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT):
        raise error
    return str(error)


@contextmanager
def _vocabulary(tx: Transaction) -> Iterator[None]:
    """A table of the words and how often they occur, as SQLite lists them. The store is not written to."""
    only_reads = tx.value(MAY_WRITE)
    tx.run(f"{MAY_WRITE} = OFF")
    try:
        tx.run(VOCABULARY)
        try:
            yield
        finally:
            tx.run(DROP_VOCABULARY)
    finally:
        tx.run(f"{MAY_WRITE} = {only_reads}")


def _has_words(entry: MemoryEntry, found: list[str]) -> bool:
    """Whether the entry is indexed, and by its own words where they are in ASCII."""
    if len(found) != 1:
        return False
    # Other words are cut by Unicode's tables, of which another Python may have had older ones.
    expected = joined(entry_tokens(entry))
    return found[0] == expected or not expected.isascii()


def index_findings(tx: Transaction) -> Iterator[Finding]:
    """What is indexed of nothing, and an index that claims to be further than the store."""
    for _, what, count in tx.each(STRAYS):
        if count:
            yield finding("index", f"{what} of {count} keys that are missing are indexed")
    through = tx.one(TEXT_STATE)
    if through is None:
        yield finding("index", "how far the text index has come is missing")
    elif through[0] > (newest := tx.value(index.NEWEST)):
        yield finding("index", f"the text index claims version row {through[0]}, and the newest is {newest}")


def faults(tx: Transaction) -> Iterator[tuple[Index, str]]:
    """What differs from the entries all over the file, a sentence for each index.

    That is what ``findings`` and ``index_findings`` find, and where the text index is not what its own texts
    make it. The entries themselves are taken as they stand.
    """
    try:
        derived = Derived(tx, Part())
        found = Counter(_differing(tx, derived))
        lists = [*derived.list_faults()]
        for what, _, count in tx.each(STRAYS):
            found[what] += count
    except sqlite3.DatabaseError as failed:
        yield "text_index", f"the text index cannot be read: {_damage(failed)}"
        return
    if found["text_index"]:
        yield "text_index", f"the text index differs from the entries in {found['text_index']} places"
    elif lists:
        yield from lists
    else:
        for each in index_findings(tx):
            yield "text_index", each.message
    if found["tags"]:
        yield "tags", f"the tags that are listed differ from those of entries in {found['tags']} places"


def _differing(tx: Transaction, derived: Derived) -> Iterator[Index]:
    for key_id, version_id, *row in tx.each(CURRENT):
        for what, _ in derived.faults(key_id, version_id, entry_of(row)):
            yield what


def request_findings(tx: Transaction) -> Iterator[Finding]:
    """Idempotency keys that stand for a commit that is missing."""
    for key, sequence in tx.each(UNGROUNDED):
        yield finding("commit", f"idempotency key {key!a} stands for commit {sequence}, which is missing")
