"""Search as the AMFS Python SDK means it: which entries, in which order, and those of a place in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite import recalls
from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.recalls import Row
from amfs_sqlite.sqlite.rows import microseconds, moment
from amfs_sqlite.sqlite.transaction import Transaction

# What most entries have nothing of is not parsed for each of them.
ARTIFACT = "(c.extra <> '{}' AND coalesce(json_extract(c.extra, '$.is_artifact'), 0))"
SAYS = "(instr(lowered(c.key), :needle) OR instr(lowered(c.entity_path), :needle) OR says(c.value, :needle))"
TAGGED = "c.id IN (SELECT t.key_id FROM entry_tags AS t WHERE t.tag = :tag)"
IN_TIER = "coalesce(r.tier, 3) <= :depth"
ENTRIES = "FROM current AS c"
WITH_RECALLS = f"{ENTRIES} LEFT JOIN recalls AS r ON r.key_id = c.id"
ORDERS = {
    "confidence": "c.confidence DESC, ",
    "recency": "c.written_at DESC, ",
    "version": "c.version DESC, ",
}
IN_ORDER = "c.entity_path, c.key"
NEWEST_FIRST = f"c.written_at DESC, {IN_ORDER}"
FOUND = f"SELECT c.id {WITH_RECALLS}"
RANKED = f"""
SELECT c.id, c.written_at, c.confidence, coalesce(r.recall_count, 0),
       CASE WHEN c.extra <> '{{}}' THEN json_extract(c.extra, '$.importance_score') END, {ARTIFACT}
{WITH_RECALLS}"""
CHOSEN = "FROM json_each(:chosen) AS w CROSS JOIN current AS c ON c.id = w.value"
OF_CHOSEN = f"{recalls.ENTRY.replace(ENTRIES, CHOSEN, 1)} ORDER BY w.key"


@dataclass(frozen=True)
class Filters:
    """What an entry must be. None, an empty sequence and a ``needle`` of nothing ask for nothing."""

    paths: Sequence[str] = ()
    descendants: bool = False
    needle: str | None = None
    min_confidence: float = 0.0
    max_confidence: float | None = None
    agent_id: str | None = None
    since: datetime | None = None
    tag: str | None = None
    depth: int | None = None
    include_artifacts: bool = True

    def conditions(self, tx: Transaction) -> Conditions:
        """As conditions, the dearest last."""
        asked = Conditions.here(tx)
        if self.paths:
            asked.under(self.paths, descendants=self.descendants)
        asked.add("c.confidence >= :min_confidence", min_confidence=self.min_confidence)
        if self.max_confidence is not None:
            asked.add("c.confidence <= :max_confidence", max_confidence=self.max_confidence)
        if self.agent_id is not None:
            asked.add("c.agent_id = :agent_id", agent_id=self.agent_id)
        if self.since is not None:
            asked.add("c.written_at >= :since", since=microseconds(self.since))
        if self.tag is not None:
            asked.add(TAGGED, tag=self.tag)
        if self.depth is not None:
            asked.add(IN_TIER, depth=self.depth)
        if not self.include_artifacts:
            asked.add(f"NOT {ARTIFACT}")
        if self.needle:
            asked.add(SAYS, needle=self.needle)
        return asked


class Rankable(NamedTuple):
    """What decides about the priority of a key."""

    key_id: int
    written_at: datetime
    confidence: float
    recall_count: int
    importance_score: float | None
    is_artifact: bool


def found(tx: Transaction, filters: Filters, sort_by: str, limit: int) -> Iterator[Row]:
    """The first of those that match: artifacts behind all others, then by ``sort_by``, path and key."""
    asked = filters.conditions(tx)
    order = f"{ARTIFACT}, {ORDERS.get(sort_by, '')}{IN_ORDER}"
    sql = f"{FOUND} WHERE {asked} ORDER BY {order} LIMIT :limit"
    rows = tx.all(sql, asked.parameters | {"limit": limit})
    return chosen(tx, [key_id for (key_id,) in rows])


def rankable(tx: Transaction, asked: Conditions, order: str = IN_ORDER) -> Iterator[Rankable]:
    """What is needed to rank those that match."""
    sql = f"{RANKED} WHERE {asked} ORDER BY {order}"
    for key_id, written_at, confidence, recall_count, importance, is_artifact in tx.each(
        sql, asked.parameters
    ):
        yield Rankable(key_id, moment(written_at), confidence, recall_count, importance, bool(is_artifact))


def chosen(tx: Transaction, key_ids: Sequence[int]) -> Iterator[Row]:
    """The entries of these keys, in this order."""
    return tx.each(OF_CHOSEN, {"chosen": encode(list(key_ids))})
