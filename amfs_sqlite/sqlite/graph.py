"""The graph: edges, what can be reached along them, and what they come to."""

from collections.abc import Iterable, Sequence
from typing import Any

from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery, GraphStats
from amfs_sqlite.rules import graph as rules
from amfs_sqlite.rules.graph import Alike
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.rows import edge_of, microseconds
from amfs_sqlite.sqlite.transaction import Transaction

COLUMNS = ", ".join(GraphEdge.model_fields)
UPSERT = f"""
INSERT INTO graph_edges (namespace, branch, {COLUMNS})
VALUES (:namespace, :branch, :source_entity, :source_type, :relation, :target_entity, :target_type,
        :confidence, :evidence_count, :first_seen, :last_seen, :provenance)
ON CONFLICT (namespace, branch, source_entity, relation, target_entity) DO UPDATE SET
       evidence_count = min(evidence_count + 1, :most), last_seen = :now,
       confidence = max(confidence, excluded.confidence), provenance = excluded.provenance,
       source_type = excluded.source_type, target_type = excluded.target_type
RETURNING {COLUMNS}"""

HERE = "namespace = :namespace AND branch = :branch"
LIKELY = "(:relation IS NULL OR relation = :relation) AND confidence >= :min_confidence"
EDGES = f"SELECT {COLUMNS} FROM graph_edges WHERE {HERE} AND {LIKELY}"
# One range that an index can walk, and within it the rule: the entity itself, or below it.
ABOUT = """
({end} >= :entity AND {end} < :entity || '0' AND ({end} = :entity OR {end} >= :entity || '/'))"""
ENDS = {"outgoing": ("source_entity",), "incoming": ("target_entity",)}
BOTH = ("source_entity", "target_entity")

BEHIND = """
(-evidence_count, -confidence, source_entity, relation, target_entity)
 > (:evidence, :negative_confidence, :source, :relation_behind, :target)"""
SUREST_FIRST = "ORDER BY confidence DESC, source_entity, relation, target_entity LIMIT :limit"
MOST_FIRST = "evidence_count DESC, confidence DESC, source_entity, relation, target_entity LIMIT :limit"

ALIKE = f"""
SELECT relation, confidence, count(*), sum(evidence_count) FROM graph_edges WHERE {HERE}
GROUP BY relation, confidence"""
NODE_COUNT = f"""
SELECT count(*) FROM (
    SELECT source_entity FROM graph_edges WHERE {HERE} UNION
    SELECT target_entity FROM graph_edges WHERE {HERE})"""


def upsert_graph_edge(tx: Transaction, edge: GraphEdge, *, branch: str = MAIN_BRANCH) -> GraphEdge:
    rules.check_branch(branch)
    edge = rules.checked_edge(edge, tx.now)
    provenance = None if edge.provenance is None else encode(edge.provenance, "provenance")
    times = {
        "first_seen": microseconds(edge.first_seen or tx.now),
        "last_seen": microseconds(edge.last_seen or tx.now),
        "now": microseconds(tx.now),
    }
    named = {**edge.__dict__, "provenance": provenance, **times, "most": rules.MAX_EVIDENCE}
    [row] = tx.all(UPSERT, _here(tx, branch) | named)
    return edge_of(row)


def graph_neighbors(
    tx: Transaction, query: GraphNeighborQuery, *, branch: str = MAIN_BRANCH
) -> Sequence[GraphEdge]:
    rules.check_branch(branch)
    query = rules.checked_query(query)
    ends = ENDS.get(query.direction, BOTH)
    # One statement for each end: SQLite looks for either of them by one index alone.
    at_each_end = [f"{EDGES} AND {end} = :entity" for end in ends]
    asked = _here(tx, branch) | {
        "relation": query.relation or None,
        "min_confidence": query.min_confidence,
        "entity": query.entity,
        "limit": -1 if query.limit is None else query.limit,
    }
    found: dict[rules.Place, GraphEdge] = {}
    visited: set[str] = set()
    rows: Iterable[tuple[Any, ...]] = tx.all(f"{EDGES} AND {_about(ends)} {SUREST_FIRST}", asked)
    for _ in range(query.depth):
        edges = {rules.place(edge): edge for edge in map(edge_of, rows)}
        fresh = [edges[place] for place in edges.keys() - found.keys()]
        found |= {rules.place(edge): edge for edge in sorted(fresh, key=rules.by_confidence)}
        if not fresh or (query.limit is not None and len(found) >= query.limit):
            break
        frontier = rules.reached(fresh, query.direction) - visited
        frontier = {entity for entity in frontier if not rules.is_about(query.entity, entity)}
        visited |= frontier
        rows = (
            row
            for entity in frontier
            for sql in at_each_end
            for row in tx.all(sql, asked | {"entity": entity})
        )
    return list(found.values())[: query.limit]


def list_graph_edges(
    tx: Transaction,
    *,
    entity: str | None = None,
    relation: str | None = None,
    min_confidence: float = 0.0,
    branch: str = MAIN_BRANCH,
    limit: int | None = 500,
    cursor: str | None = None,
) -> Sequence[GraphEdge]:
    rules.check_branch(branch)
    rules.check_filters(entity, relation, min_confidence, limit)
    place = rules.checked_cursor(cursor)
    conditions = [EDGES]
    asked = _here(tx, branch) | {
        "relation": relation or None,
        "min_confidence": min_confidence,
        "entity": entity,
        "limit": -1 if limit is None else limit,
    }
    if entity:
        conditions.append(_about(BOTH))
    if place is not None:
        names = ("evidence", "negative_confidence", "source", "relation_behind", "target")
        asked |= dict(zip(names, place, strict=True))
        conditions.append(BEHIND)
    return [edge_of(row) for row in tx.all(f"{' AND '.join(conditions)} ORDER BY {MOST_FIRST}", asked)]


def graph_stats(tx: Transaction, *, branch: str = MAIN_BRANCH) -> GraphStats:
    rules.check_branch(branch)
    here = _here(tx, branch)
    return rules.counted((Alike(*row) for row in tx.all(ALIKE, here)), tx.value(NODE_COUNT, here))


def _about(ends: Sequence[str]) -> str:
    return f"({' OR '.join(ABOUT.format(end=end) for end in ends)})"


def _here(tx: Transaction, branch: str) -> dict[str, Any]:
    return {"namespace": tx.namespace, "branch": branch}
