"""The graph as the SDK means it, kept under the namespace and branch that it names."""

from typing import Any

from amfs_core.models import GraphEdge, GraphNeighborQuery

from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH
from amfs_sqlite.records import graph as records
from amfs_sqlite.sqlite import graph
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def upsert_graph_edge(
    tx: Transaction, edge: GraphEdge, *, namespace: str = DEFAULT_NAMESPACE, branch: str = MAIN_BRANCH
) -> GraphEdge:
    given = ours(checked(edge, GraphEdge, "edge"), records.GraphEdge, "edge")
    with under(tx, namespace):
        return theirs(graph.upsert_graph_edge(tx, given, branch=branch), GraphEdge)


def graph_neighbors(
    tx: Transaction,
    query: GraphNeighborQuery,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    branch: str = MAIN_BRANCH,
) -> list[GraphEdge]:
    asked = ours(checked(query, GraphNeighborQuery, "query"), records.GraphNeighborQuery, "query")
    with under(tx, namespace):
        return [theirs(edge, GraphEdge) for edge in graph.graph_neighbors(tx, asked, branch=branch)]


def list_graph_edges(
    tx: Transaction,
    *,
    entity: str | None = None,
    relation: str | None = None,
    min_confidence: float = 0.0,
    namespace: str = DEFAULT_NAMESPACE,
    branch: str = MAIN_BRANCH,
    limit: int = 500,
) -> list[GraphEdge]:
    with under(tx, namespace):
        found = graph.list_graph_edges(
            tx, entity=entity, relation=relation, min_confidence=min_confidence, branch=branch, limit=limit
        )
    return [theirs(edge, GraphEdge) for edge in found]


def graph_stats(
    tx: Transaction, *, namespace: str = DEFAULT_NAMESPACE, branch: str = MAIN_BRANCH
) -> dict[str, Any]:
    with under(tx, namespace):
        return graph.graph_stats(tx, branch=branch).model_dump(by_alias=False)
