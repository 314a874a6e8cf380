"""Counts and summaries over current entries."""

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

from amfs_sqlite.models import MemoryStats, ScopeInfo
from amfs_sqlite.rules.confidence import mean
from amfs_sqlite.rules.limits import check_flag, check_optional_text
from amfs_sqlite.sqlite import commits
from amfs_sqlite.sqlite.entries import BELOW, HERE, NOT_SYSTEM, PRESENT, VISIBLE
from amfs_sqlite.sqlite.rows import moment
from amfs_sqlite.sqlite.transaction import Transaction

LINES = """
SELECT c.entity_path, c.key, c.confidence, c.written_at FROM current AS c {scan} WHERE {conditions}
ORDER BY c.id"""
BY_AGENT = """
SELECT c.agent_id, c.confidence, count(*), sum(c.outcome_count > 0) FROM current AS c {scan}
WHERE {conditions} GROUP BY c.agent_id, c.confidence ORDER BY min(c.id)"""
BY_PATH = """
SELECT c.entity_path, count(*) FROM current AS c {scan}
WHERE {conditions} GROUP BY c.entity_path ORDER BY min(c.id)"""

# Whether all keys are of this namespace and branch: then the table is read in its own order, and no index.
IS_ALONE = (
    """
SELECT count(*) = 2 FROM (
    SELECT * FROM (SELECT c.namespace, c.branch FROM current AS c ORDER BY 1, 2 LIMIT 1) UNION ALL
    SELECT * FROM (SELECT c.namespace, c.branch FROM current AS c ORDER BY 1 DESC, 2 DESC LIMIT 1)
) AS c WHERE """
    + HERE
)

# Versions of a key are numbered without gaps from 1.
VERSION_COUNT = "SELECT coalesce(sum(c.version), 0) FROM current AS c {scan} WHERE {conditions}"
COMMIT_COUNT = "SELECT count(*) FROM commits WHERE namespace = ? AND kind <> 'description'"
OUTCOME_COUNT = "SELECT count(*) FROM outcomes WHERE namespace = ?"

# What there is nothing of for a viewer to see, from the few versions that are hidden.
EFFECT_IS_SEEN = """NOT EXISTS (
    SELECT 1 FROM versions AS v WHERE v.key_id = e.key_id AND v.version = e.version
    AND v.shared = 0 AND v.agent_id <> :viewer)"""
HIDDEN_COUNTS = f"""
WITH hidden AS MATERIALIZED (
    SELECT v.key_id, v.version, v.sequence FROM versions AS v WHERE v.shared = 0 AND v.agent_id <> :viewer
), touching AS MATERIALIZED (
    SELECT DISTINCT e.outcome_id FROM hidden AS h
    CROSS JOIN outcome_effects AS e ON e.key_id = h.key_id AND e.version = h.version
)
SELECT (
    SELECT count(*) FROM hidden AS h CROSS JOIN current AS c ON c.id = h.key_id WHERE {{conditions}}
), (
    SELECT count(*) FROM (
        SELECT h.sequence FROM hidden AS h UNION
        SELECT o.sequence FROM touching AS t CROSS JOIN outcomes AS o ON o.id = t.outcome_id
    ) AS s CROSS JOIN commits AS m ON m.sequence = s.sequence
    WHERE m.namespace = :namespace AND :viewer <> coalesce((
        SELECT d.author FROM commits AS d WHERE d.namespace = m.namespace AND d.describes = m.id
        ORDER BY d.sequence DESC LIMIT 1), m.author)
    AND NOT EXISTS (
        SELECT 1 FROM versions AS v
        WHERE v.sequence = m.sequence AND (v.shared = 1 OR v.agent_id = :viewer))
    AND NOT EXISTS (
        SELECT 1 FROM outcomes AS o CROSS JOIN outcome_effects AS e ON e.outcome_id = o.id
        WHERE o.sequence = m.sequence AND {EFFECT_IS_SEEN})
), (
    SELECT count(*) FROM touching AS t CROSS JOIN outcomes AS o ON o.id = t.outcome_id
    WHERE o.namespace = :namespace AND o.agent_id <> :viewer
    AND NOT EXISTS (SELECT 1 FROM outcome_effects AS e WHERE e.outcome_id = o.id AND {EFFECT_IS_SEEN})
) + (
    SELECT count(*) FROM outcomes AS o WHERE o.namespace = :namespace AND o.agent_id <> :viewer
    AND NOT EXISTS (SELECT 1 FROM outcome_effects AS e WHERE e.outcome_id = o.id)
)"""


def stats(tx: Transaction, *, include_system: bool = True, viewer: str | None = None) -> MemoryStats:
    check_flag(include_system, "include_system")
    check_optional_text(viewer, "viewer")
    asked = _Asked(tx, None, include_system, viewer)
    by_agent = asked.visible(BY_AGENT)
    agents: dict[str, int] = {}
    for agent, _, number, _ in by_agent:
        agents[agent] = agents.get(agent, 0) + number
    entities = dict(asked.visible(BY_PATH))
    hidden_versions = hidden_commits = hidden_outcomes = 0
    if viewer is not None:
        hidden_versions, hidden_commits, hidden_outcomes = asked.hidden_counts()
        hidden_commits += commits.hidden_saved_count(tx, viewer)
    return MemoryStats(
        total_entries=sum(agents.values()),
        total_entities=len(entities),
        total_agents=len(agents),
        agents=agents,
        entities=entities,
        confidence_avg=mean(chain.from_iterable(repeat(each, number) for _, each, number, _ in by_agent)),
        outcome_linked_count=sum(linked for *_, linked in by_agent),
        version_count=asked.version_count() - hidden_versions,
        commit_count=tx.value(COMMIT_COUNT, (tx.namespace,)) - hidden_commits,
        outcome_count=tx.value(OUTCOME_COUNT, (tx.namespace,)) - hidden_outcomes,
    )


def scopes(
    tx: Transaction,
    entity_path: str | None = None,
    *,
    include_system: bool = True,
    viewer: str | None = None,
) -> Sequence[ScopeInfo]:
    check_optional_text(entity_path, "entity_path")
    check_flag(include_system, "include_system")
    check_optional_text(viewer, "viewer")
    by_path: dict[str, list[tuple[Any, ...]]] = {}
    for line in _Asked(tx, entity_path, include_system, viewer).visible(LINES):
        by_path.setdefault(line[0], []).append(line)
    return [_scope(path, lines) for path, lines in by_path.items()]


def _scope(path: str, lines: list[tuple[Any, ...]]) -> ScopeInfo:
    _, keys, confidences, written_at = zip(*lines, strict=True)
    return ScopeInfo(
        path=path,
        entry_count=len(keys),
        avg_confidence=mean(confidences),
        keys=keys,
        oldest=moment(min(written_at)),
        newest=moment(max(written_at)),
    )


class _Asked:
    """Which entries are asked about, and by whom."""

    def __init__(
        self, tx: Transaction, entity_path: str | None, include_system: bool, viewer: str | None
    ) -> None:
        self._tx = tx
        self._parameters = {
            "namespace": tx.namespace,
            "branch": tx.branch,
            "entity_path": entity_path,
            "viewer": viewer,
        }
        self._conditions = [HERE]
        if entity_path:
            self._conditions.append(BELOW)
        if not include_system:
            self._conditions.append(NOT_SYSTEM)
        is_all = not entity_path and tx.value(IS_ALONE, self._parameters)
        self._scan = "NOT INDEXED" if is_all else ""

    def visible(self, sql: str) -> list[tuple[Any, ...]]:
        """Every row of a statement about those that are there and that the viewer can see."""
        return self._all(sql, VISIBLE, PRESENT)

    def version_count(self) -> int:
        """How many versions there are, hidden ones included."""
        [(count,)] = self._all(VERSION_COUNT)
        return int(count)

    def hidden_counts(self) -> tuple[int, int, int]:
        """Of how many versions, commits and outcomes the viewer cannot see anything."""
        [counts] = self._all(HIDDEN_COUNTS)
        return counts

    def _all(self, sql: str, *more: str) -> list[tuple[Any, ...]]:
        conditions = " AND ".join([*self._conditions, *more])
        return self._tx.all(sql.format(scan=self._scan, conditions=conditions), self._parameters)
