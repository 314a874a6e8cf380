"""Counts and summaries over current entries."""

from collections.abc import Sequence
from typing import Any

from amfs_sqlite.models import MemoryStats, ScopeInfo
from amfs_sqlite.rules.confidence import mean
from amfs_sqlite.sqlite import commits, outcomes
from amfs_sqlite.sqlite.entries import BELOW, HERE, NOT_SYSTEM, VERSION_VISIBLE, VISIBLE
from amfs_sqlite.sqlite.rows import moment
from amfs_sqlite.sqlite.transaction import Transaction

LINES = """
SELECT c.entity_path, c.key, c.agent_id, c.confidence, c.outcome_count, c.written_at
FROM current AS c WHERE """
VERSION_COUNT = "SELECT count(*) FROM versions AS v JOIN current AS c ON c.id = v.key_id WHERE "


def stats(tx: Transaction, *, include_system: bool = True, viewer: str | None = None) -> MemoryStats:
    agents: dict[str, int] = {}
    entities: dict[str, int] = {}
    confidences: list[float] = []
    linked = 0
    for path, _, agent, confidence, outcome_count, _ in _lines(tx, None, include_system, viewer):
        agents[agent] = agents.get(agent, 0) + 1
        entities[path] = entities.get(path, 0) + 1
        confidences.append(confidence)
        linked += outcome_count > 0
    conditions = [HERE, VERSION_VISIBLE, *([] if include_system else [NOT_SYSTEM])]
    return MemoryStats(
        total_entries=len(confidences),
        total_entities=len(entities),
        total_agents=len(agents),
        agents=agents,
        entities=entities,
        confidence_avg=mean(confidences),
        outcome_linked_count=linked,
        version_count=tx.value(VERSION_COUNT + " AND ".join(conditions), _parameters(tx, viewer)),
        commit_count=commits.count(tx, viewer),
        outcome_count=outcomes.count(tx, viewer),
    )


def scopes(
    tx: Transaction,
    entity_path: str | None = None,
    *,
    include_system: bool = True,
    viewer: str | None = None,
) -> Sequence[ScopeInfo]:
    by_path: dict[str, list[tuple[Any, ...]]] = {}
    for line in _lines(tx, entity_path, include_system, viewer):
        by_path.setdefault(line[0], []).append(line)
    return [
        ScopeInfo(
            path=path,
            entry_count=len(lines),
            avg_confidence=mean(line[3] for line in lines),
            keys=tuple(line[1] for line in lines),
            oldest=moment(min(line[5] for line in lines)),
            newest=moment(max(line[5] for line in lines)),
        )
        for path, lines in by_path.items()
    ]


def _lines(
    tx: Transaction, entity_path: str | None, include_system: bool, viewer: str | None
) -> list[tuple[Any, ...]]:
    conditions = [HERE, VISIBLE]
    if entity_path:
        conditions.append(BELOW)
    if not include_system:
        conditions.append(NOT_SYSTEM)
    sql = LINES + " AND ".join(conditions) + " ORDER BY c.id"
    return tx.all(sql, _parameters(tx, viewer) | {"entity_path": entity_path})


def _parameters(tx: Transaction, viewer: str | None) -> dict[str, Any]:
    return {"namespace": tx.namespace, "branch": tx.branch, "viewer": viewer}
