"""What is derived from the rest and lies outside the digests: tags, words, and what requests stand for."""

from collections.abc import Iterator

from amfs_sqlite.models import Finding, MemoryEntry
from amfs_sqlite.rules.text import entry_tokens, joined
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.findings import TOUCHED, Beside, Part, finding
from amfs_sqlite.sqlite.transaction import Transaction

TAGS = "SELECT key_id, tag FROM entry_tags ORDER BY key_id"
NEW_TAGS = f"SELECT key_id, tag FROM entry_tags WHERE key_id IN ({TOUCHED}) ORDER BY key_id"
WORDS = "SELECT rowid, tokens FROM text_index ORDER BY rowid"
NEW_WORDS = f"SELECT rowid, tokens FROM text_index WHERE rowid IN ({TOUCHED}) ORDER BY rowid"
STRAYS = """
SELECT 'tags', count(*) FROM entry_tags WHERE key_id NOT IN (SELECT id FROM current)
UNION ALL
SELECT 'words', count(*) FROM text_index WHERE rowid NOT IN (SELECT id FROM current)"""
TEXT_STATE = "SELECT indexed_version_id FROM text_state"
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
        at = (entry.entity_path, entry.key)
        tags = {tag for _, tag in self._tags.of(key_id)}
        if tags != (set() if entry.withdrawn else set(entry.tags)):
            yield finding("index", "the tags that lead to the entry are not its own", at)
        words = [found for _, found in self._words.of(key_id)]
        if entry.withdrawn:
            if words:
                yield finding("index", "the text index holds words of an entry that is not there", at)
        elif version_id <= self._indexed_through and not _has_words(entry, words):
            yield finding("index", "the words that lead to the entry are not its own", at)


def _has_words(entry: MemoryEntry, found: list[str]) -> bool:
    """Whether the entry is indexed, and by its own words where they are in ASCII."""
    if len(found) != 1:
        return False
    # Other words are cut by Unicode's tables, of which another Python may have had older ones.
    expected = joined(entry_tokens(entry))
    return found[0] == expected or not expected.isascii()


def index_findings(tx: Transaction) -> Iterator[Finding]:
    """What is indexed of nothing, and an index that claims to be further than the store."""
    for what, count in tx.each(STRAYS):
        if count:
            yield finding("index", f"{what} of {count} keys that are missing are indexed")
    through = tx.one(TEXT_STATE)
    if through is None:
        yield finding("index", "how far the text index has come is missing")
    elif through[0] > (newest := tx.value(index.NEWEST)):
        yield finding("index", f"the text index claims version row {through[0]}, and the newest is {newest}")


def request_findings(tx: Transaction) -> Iterator[Finding]:
    """Idempotency keys that stand for a commit that is missing."""
    for key, sequence in tx.each(UNGROUNDED):
        yield finding("commit", f"idempotency key {key!a} stands for commit {sequence}, which is missing")
