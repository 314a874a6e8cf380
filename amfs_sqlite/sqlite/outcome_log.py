"""The log of outcomes as reports: narrowed and counted by what their records say, newest report first."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.models import OutcomeRecord
from amfs_sqlite.sqlite.recalls import packed, unpacked
from amfs_sqlite.sqlite.rows import optional_microseconds, record_of
from amfs_sqlite.sqlite.transaction import Transaction

UNDER = "({column} >= :entity_path || '/' AND {column} < :entity_path || '0')"
CITES_BELOW = f"""
(EXISTS (SELECT 1 FROM json_each(o.record, '$.causalEntryKeys') AS k WHERE {UNDER.format(column="k.value")})
 OR EXISTS (SELECT 1 FROM json_each(o.record, '$.refs') AS r WHERE
            json_extract(r.value, '$.entityPath') || '/' >= :entity_path || '/'
            AND json_extract(r.value, '$.entityPath') || '/' < :entity_path || '0'))"""
FAILED_BELOW = f"""
EXISTS (SELECT 1 FROM json_each(o.record, '$.attempts') AS a,
        json_each(a.value, '$.causal_entry_keys') AS k WHERE {UNDER.format(column="k.value")})"""
IS_ABOUT = f"""
(EXISTS (SELECT 1 FROM json_each(o.record, '$.entity_paths') AS p WHERE p.value = :entity_path)
 OR {CITES_BELOW} OR {FAILED_BELOW})"""
HERE = "t.namespace = :namespace"
# The plus keeps the index of times out: of one reference there are few.
OF_REF = f"+{HERE} AND o.namespace = :namespace AND o.outcome_ref = :outcome_ref"
SINCE = "t.committed_at >= :since"
HAS_ACTIONS = "json_array_length(o.record, '$.actions_taken') > 0"
REPORTS = """
SELECT o.id, o.record, x.vector FROM outcome_times AS t JOIN outcomes AS o ON o.id = t.outcome_id
LEFT JOIN outcome_vectors AS x ON x.outcome_id = o.id
WHERE """
COUNT = """
SELECT count(*) FROM outcome_times AS t JOIN outcomes AS o ON o.id = t.outcome_id
WHERE """
NEWEST_FIRST = "ORDER BY t.committed_at DESC, t.outcome_id DESC LIMIT :limit"
PUT_TIME = "INSERT INTO outcome_times (outcome_id, namespace, committed_at) VALUES (?, ?, ?)"
PUT_VECTOR = "INSERT INTO outcome_vectors (outcome_id, dimension, vector) VALUES (?, ?, ?)"
NEWEST_ID = "SELECT max(id) FROM outcomes WHERE sequence = ?"


class Asked(NamedTuple):
    """Which reports are asked for. ``below`` cite something below the path, ``about`` are about it."""

    below: str | None = None
    about: str | None = None
    since: datetime | None = None
    outcome_ref: str | None = None
    has_actions: bool = False
    has_vector: bool = False

    def conditions(self) -> str:
        """All of them, as they stand behind WHERE."""
        named = {
            CITES_BELOW: self.below is not None,
            IS_ABOUT: self.about is not None,
            SINCE: self.since is not None,
            HAS_ACTIONS: self.has_actions,
            "x.vector IS NOT NULL": self.has_vector,
        }
        here = HERE if self.outcome_ref is None else OF_REF
        return " AND ".join([here, *(condition for condition, is_asked in named.items() if is_asked)])

    def parameters(self, tx: Transaction, limit: int | None = None) -> dict[str, Any]:
        """What the conditions bind."""
        return {
            "namespace": tx.namespace,
            "entity_path": self.below if self.about is None else self.about,
            "since": optional_microseconds(self.since),
            "outcome_ref": self.outcome_ref,
            "limit": -1 if limit is None else limit,
        }


class Report(NamedTuple):
    """A record as it was reported, and the embedding of its task, where there is one."""

    outcome_id: int
    record: OutcomeRecord
    vector: Sequence[float] | None


def reports(tx: Transaction, asked: Asked, *, limit: int | None = None) -> Iterator[Report]:
    """Newest first, as their ``committed_at`` says; of one time the one recorded last."""
    sql = f"{REPORTS}{asked.conditions()} {NEWEST_FIRST}"
    for outcome_id, stored, vector in tx.each(sql, asked.parameters(tx, limit)):
        yield Report(outcome_id, record_of(stored), None if vector is None else unpacked(vector))


def count(tx: Transaction, asked: Asked) -> int:
    """How many there are."""
    found: int = tx.value(f"{COUNT}{asked.conditions()}", asked.parameters(tx))
    return found


def put(tx: Transaction, outcome_id: int, given: OutcomeRecord) -> None:
    """Keep when this outcome was reported."""
    tx.run(PUT_TIME, (outcome_id, tx.namespace, optional_microseconds(given.committed_at)))


def put_vector(tx: Transaction, sequence: int, embedding: Sequence[float]) -> None:
    """Keep the embedding of the task that the outcome of this commit was about."""
    tx.run(PUT_VECTOR, (tx.value(NEWEST_ID, (sequence,)), len(embedding), packed(embedding)))
