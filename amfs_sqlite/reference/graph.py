"""The graph: edges, what can be reached along them, and what they come to."""

from collections.abc import Sequence

from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery, GraphStats
from amfs_sqlite.reference.store import State, Store
from amfs_sqlite.rules import graph as rules
from amfs_sqlite.rules.values import decode, encode


def upsert_graph_edge(store: Store, edge: GraphEdge, *, branch: str = MAIN_BRANCH) -> GraphEdge:
    rules.check_branch(branch)
    now = store.clock.now()
    given = rules.checked_edge(edge, now)
    at = (branch, given.source_entity, given.relation, given.target_entity)

    def work(state: State) -> GraphEdge:
        seen = given
        if at in state.edges:
            before = _shown(state.edges[at])
            seen = given.copied(
                confidence=max(before.confidence, given.confidence),
                evidence_count=min(before.evidence_count + 1, rules.MAX_EVIDENCE),
                first_seen=before.first_seen,
                last_seen=now,
            )
        state.edges[at] = encode(seen.to_wire(), "edge")
        return _shown(state.edges[at])

    return store.change(work)


def graph_neighbors(
    store: Store, query: GraphNeighborQuery, *, branch: str = MAIN_BRANCH
) -> Sequence[GraphEdge]:
    rules.check_branch(branch)
    query = rules.checked_query(query)
    edges = _likely(store, branch, query.relation, query.min_confidence)
    reached = {
        end
        for edge in edges
        for end in (edge.source_entity, edge.target_entity)
        if rules.is_about(query.entity, end)
    }
    found: list[GraphEdge] = []
    for _ in range(query.depth):
        near = [edge for edge in edges if edge not in found and _leaves(edge, reached, query.direction)]
        if not near:
            break
        found += sorted(near, key=rules.by_confidence)
        reached |= rules.reached(near, query.direction)
    return found[: query.limit]


def list_graph_edges(
    store: Store,
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
    behind = rules.checked_cursor(cursor)
    found = [
        edge
        for edge in sorted(_likely(store, branch, relation, min_confidence), key=rules.place)
        if (
            not entity
            or rules.is_about(entity, edge.source_entity)
            or rules.is_about(entity, edge.target_entity)
        )
        and (behind is None or rules.place(edge) > behind)
    ]
    return found[:limit]


def graph_stats(store: Store, *, branch: str = MAIN_BRANCH) -> GraphStats:
    rules.check_branch(branch)
    edges = _likely(store, branch, None, None)
    nodes = {end for edge in edges for end in (edge.source_entity, edge.target_entity)}
    alike = [rules.Alike(edge.relation, edge.confidence, 1, edge.evidence_count) for edge in edges]
    return rules.counted(alike, len(nodes))


def _likely(store: Store, branch: str, relation: str | None, min_confidence: float | None) -> list[GraphEdge]:
    edges = [_shown(record) for (at, *_), record in store.state.edges.items() if at == branch]
    return [
        edge
        for edge in edges
        if (not relation or edge.relation == relation)
        and (min_confidence is None or edge.confidence >= min_confidence)
    ]


def _leaves(edge: GraphEdge, reached: set[str], direction: str) -> bool:
    """Whether one gets onto an edge from what was reached."""
    is_from, is_to = edge.source_entity in reached, edge.target_entity in reached
    return {"outgoing": is_from, "incoming": is_to, "both": is_from or is_to}[direction]


def _shown(record: str) -> GraphEdge:
    return GraphEdge.from_wire(decode(record))
