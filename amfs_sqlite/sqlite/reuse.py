"""Reuse: reads that somebody gave a memory credit for, and sums over them."""

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction

INSERT = """
INSERT INTO reuse_events (namespace, branch, entity_path, key, entry_version, written_by, reused_by,
                          est_tokens_saved, surface, created_at)
VALUES (:namespace, :branch, :entity_path, :key, :entry_version, :written_by, :reused_by,
        :est_tokens_saved, :surface, :created_at)"""
SINCE = """
FROM reuse_events WHERE namespace = :namespace AND created_at >= :since
AND (:visible IS NULL OR reused_by IN (SELECT value FROM json_each(:visible)))
AND (:agent IS NULL OR reused_by = :agent) AND (:writer IS NULL OR written_by = :writer)"""
CROSSED = "written_by <> '' AND reused_by <> '' AND written_by <> reused_by"
TOTALS = f"""
SELECT count(*), coalesce(sum(est_tokens_saved), 0), count(*) FILTER (WHERE {CROSSED}),
       (SELECT count(*) FROM (SELECT DISTINCT entity_path, key {SINCE})) {SINCE}"""
TOP = f"""
SELECT entity_path, key, count(*) AS reuses, sum(est_tokens_saved) AS saved {SINCE}
GROUP BY entity_path, key ORDER BY reuses DESC, saved DESC, entity_path, key LIMIT :limit"""
BY_AGENT = f"""
SELECT reused_by, count(*) AS reuses {SINCE} AND reused_by <> ''
GROUP BY reused_by ORDER BY reuses DESC, reused_by LIMIT :limit"""
RECENT = f"""
SELECT entity_path, key, written_by, reused_by, created_at {SINCE} AND {CROSSED}
ORDER BY created_at DESC, id DESC LIMIT :limit"""


@dataclass(frozen=True, slots=True)
class Reuse:
    """One read of a memory: whose it was, who read it, where, and what that is thought to have saved."""

    entity_path: str
    key: str
    entry_version: int | None
    written_by: str | None
    reused_by: str | None
    est_tokens_saved: int
    surface: str | None


class Asked(NamedTuple):
    """Which reads: since then, by one of these agents, by this one, of what that one wrote."""

    since: datetime
    visible: Collection[str] | None
    agent: str | None
    writer: str | None

    def parameters(self, tx: Transaction, limit: int) -> dict[str, Any]:
        """What the statements bind."""
        return {
            "namespace": tx.namespace,
            "since": microseconds(self.since),
            "visible": None if self.visible is None else json.dumps([*self.visible]),
            "agent": self.agent,
            "writer": self.writer,
            "limit": limit,
        }


def record(tx: Transaction, reuse: Reuse) -> None:
    """Store one."""
    here = {"namespace": tx.namespace, "branch": tx.branch, "created_at": microseconds(tx.now)}
    tx.run(INSERT, asdict(reuse) | here)


def totals(tx: Transaction, asked: Asked) -> tuple[int, int, int, int]:
    """Reads, tokens saved, reads of what another agent wrote, and entries that were read."""
    reads, saved, crossed, entries = tx.row(TOTALS, asked.parameters(tx, 0))
    return reads, saved, crossed, entries


def top(tx: Transaction, asked: Asked, limit: int) -> Iterator[tuple[Any, ...]]:
    """The entries read most: path, key, reads, tokens saved."""
    return tx.each(TOP, asked.parameters(tx, limit))


def by_agent(tx: Transaction, asked: Asked, limit: int) -> Iterator[tuple[Any, ...]]:
    """The agents that read most: name, reads."""
    return tx.each(BY_AGENT, asked.parameters(tx, limit))


def recent_crossed(tx: Transaction, asked: Asked, limit: int) -> Iterator[tuple[Any, ...]]:
    """The latest reads of what another agent wrote: path, key, author, reader, microseconds."""
    return tx.each(RECENT, asked.parameters(tx, limit))
