"""Which sessions read which entries, and how they ended: what the uplift of an entry is counted from."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.models import OutcomeRecord
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.references import splits
from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction

PUT_PATH = """
INSERT OR IGNORE INTO outcome_paths (namespace, entity_path, committed_at, outcome_id, success)
VALUES (?, ?, ?, ?, ?)"""
PUT_READ = "INSERT OR IGNORE INTO outcome_reads (namespace, entry_key, outcome_id) VALUES (?, ?, ?)"
COUNTS = """
SELECT coalesce(sum(r.entry_key IS NOT NULL AND w.success), 0), coalesce(sum(r.entry_key IS NOT NULL), 0),
       coalesce(sum(r.entry_key IS NULL AND w.success), 0), coalesce(sum(r.entry_key IS NULL), 0)
FROM (SELECT outcome_id, success FROM outcome_paths
      WHERE namespace = :namespace AND entity_path = :entity_path AND committed_at >= :since
      ORDER BY committed_at DESC, outcome_id DESC LIMIT :limit) AS w
LEFT JOIN outcome_reads AS r
ON r.namespace = :namespace AND r.entry_key = :entry_key AND r.outcome_id = w.outcome_id"""


class Counts(NamedTuple):
    """How many sessions read an entry, how many did not, and how many of each ended well."""

    read_successes: int
    read: int
    unread_successes: int
    unread: int


def put(tx: Transaction, outcome_id: int, given: OutcomeRecord) -> None:
    """Keep what this outcome read and is about. Its ``committed_at`` is known."""
    cited = dict.fromkeys(_cited(given))
    named = given.model_extra.get("entity_paths", ()) if given.model_extra else ()
    paths = dict.fromkeys(path for path in named if isinstance(path, str)) if isinstance(named, list) else {}
    paths |= dict.fromkeys(path for text in cited for path, _ in splits(text))
    at = None if given.committed_at is None else microseconds(given.committed_at)
    success = int(is_success(outcome_type(given.outcome_type)))
    for path in paths:
        tx.run(PUT_PATH, (tx.namespace, path, at, outcome_id, success))
    for text in cited:
        tx.run(PUT_READ, (tx.namespace, text, outcome_id))


def counts(tx: Transaction, entity_path: str, entry_key: str, *, since: datetime, limit: int) -> Counts:
    """Over the newest outcomes that are about this path."""
    asked = {
        "namespace": tx.namespace,
        "entity_path": entity_path,
        "entry_key": entry_key,
        "since": microseconds(since),
        "limit": limit,
    }
    return Counts(*tx.row(COUNTS, asked))


def _cited(given: OutcomeRecord) -> Iterator[str]:
    """Every text that a step cites: of the end, and of failed attempts as the SDK has them."""
    yield from given.causal_entry_keys
    for ref in given.refs:
        yield f"{ref.entity_path}/{ref.key}"
    attempts: Any = given.model_extra.get("attempts") if given.model_extra else None
    for attempt in attempts if isinstance(attempts, list) else ():
        texts = attempt.get("causal_entry_keys") if isinstance(attempt, dict) else None
        yield from (text for text in texts or () if isinstance(text, str))
