"""The graph: how entities are related."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery, GraphStats


@runtime_checkable
class Graph(Protocol):
    """Directed edges of one branch, one for each source, relation and target.

    An edge is about an entity where its source or target is the entity itself or below it: ``a`` and ``a/b``,
    not ``ab``.
    """

    async def upsert_graph_edge(self, edge: GraphEdge, *, branch: str = MAIN_BRANCH) -> GraphEdge:
        """Store an edge, or see it once more; the edge as it is stored then.

        Seen once more it keeps ``first_seen`` and the higher confidence, counts one more evidence, is last
        seen now, and has the types and provenance given. Raises InvalidArgumentError for a name of more than
        4,096 characters, a confidence that is not finite, an ``evidence_count`` that is not from 1 to
        2,147,483,647 (where counting ends), and for what JSON cannot hold.
        """
        ...

    async def graph_neighbors(
        self, query: GraphNeighborQuery, *, branch: str = MAIN_BRANCH
    ) -> Sequence[GraphEdge]:
        """The edges that can be reached, each once.

        The first are about the entity: ``outgoing`` with it as source, ``incoming`` as target, ``both`` as
        either. The next have in that place exactly what the one before has at its other end. The nearest come
        first, then the higher confidence, then source, relation and target by code point. Raises
        InvalidArgumentError for another direction.
        """
        ...

    async def list_graph_edges(
        self,
        *,
        entity: str | None = None,
        relation: str | None = None,
        min_confidence: float = 0.0,
        branch: str = MAIN_BRANCH,
        limit: int | None = 500,
        cursor: str | None = None,
    ) -> Sequence[GraphEdge]:
        """Edges by evidence and confidence, most first, then source, relation and target by code point.

        ``entity`` keeps those about it, ``relation`` is exact; None and empty are any. ``cursor`` continues
        behind an edge: ``rules.graph.edge_cursor(edge)``. Raises InvalidCursorError for what is none.
        """
        ...

    async def graph_stats(self, *, branch: str = MAIN_BRANCH) -> GraphStats:
        """The branch's graph in numbers; averages of nothing are 0."""
        ...
