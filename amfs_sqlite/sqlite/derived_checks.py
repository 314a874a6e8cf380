"""What is derived from the rest and lies outside the digests: tags, words, and what requests stand for."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from amfs_sqlite.models import Finding, MemoryEntry
from amfs_sqlite.rules.text import entry_tokens, joined
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.entries import ENTRY
from amfs_sqlite.sqlite.findings import TOUCHED, Beside, Part, finding
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
TERMS = "SELECT term, cnt FROM temp.vocabulary"
UNGROUNDED = """
SELECT i.idempotency_key, i.sequence FROM idempotency AS i
WHERE NOT EXISTS (SELECT 1 FROM commits AS m WHERE m.sequence = i.sequence)
ORDER BY i.namespace, i.agent_id, i.idempotency_key"""


class Derived:
    """Tags and words as they are indexed, key by key in ascending order."""

    def __init__(self, tx: Transaction, part: Part) -> None:
        whole = part.is_whole
        self._tags = Beside(tx.each(TAGS if whole else NEW_TAGS, {} if whole else part.bound))
        self._words = Beside(tx.each(WORDS if whole else NEW_WORDS, {} if whole else part.bound))
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
        if entry.withdrawn:
            if words:
                yield "text_index", "the text index holds words of an entry that is not there"
        elif version_id <= self._indexed_through and not _has_words(entry, words):
            yield "text_index", "the words that lead to the entry are not its own"


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
        found = Counter(_differing(tx))
        for what, _, count in tx.each(STRAYS):
            found[what] += count
        words = 0 if found["text_index"] else _miscounted(tx)
    except sqlite3.DatabaseError as damaged:
        yield "text_index", f"the text index cannot be read: {damaged}"
        return
    if found["text_index"]:
        yield "text_index", f"the text index differs from the entries in {found['text_index']} places"
    elif words:
        yield "text_index", f"the text index counts {words} words otherwise than it holds them"
    else:
        for each in index_findings(tx):
            yield "text_index", each.message
    if found["tags"]:
        yield "tags", f"the tags that are listed differ from those of entries in {found['tags']} places"


def _differing(tx: Transaction) -> Iterator[Index]:
    derived = Derived(tx, Part())
    for key_id, version_id, *row in tx.each(CURRENT):
        for what, _ in derived.faults(key_id, version_id, entry_of(row)):
            yield what


def _miscounted(tx: Transaction) -> int:
    """Of how many words the index says otherwise than its own texts how often they occur."""
    held: Counter[str] = Counter()
    for _, tokens in tx.each(WORDS):
        held.update(tokens.split(" ") if tokens else ())
    tx.run(VOCABULARY)
    counted: Counter[str] = Counter()
    for term, count in tx.each(TERMS):
        counted[term] += count
    return len(held.keys() ^ counted.keys()) + sum(
        held[term] != counted[term] for term in held.keys() & counted
    )


def request_findings(tx: Transaction) -> Iterator[Finding]:
    """Idempotency keys that stand for a commit that is missing."""
    for key, sequence in tx.each(UNGROUNDED):
        yield finding("commit", f"idempotency key {key!a} stands for commit {sequence}, which is missing")
