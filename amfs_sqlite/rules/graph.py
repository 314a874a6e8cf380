"""The graph: what may be stored in it and asked of it, and in which order it answers."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Any, NamedTuple, get_args

from amfs_sqlite.errors import InvalidArgumentError, InvalidCursorError, quoted
from amfs_sqlite.records.graph import Direction, GraphEdge, GraphNeighborQuery, GraphStats
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.confidence import mean
from amfs_sqlite.rules.keysets import keyset_cursor, keyset_position
from amfs_sqlite.rules.limits import (
    check_count,
    check_finite,
    check_is_text,
    check_name,
    check_optional_text,
    check_whole_number,
)
from amfs_sqlite.rules.values import encode

MAX_EVIDENCE = 2**31 - 1
DIRECTIONS: tuple[str, ...] = get_args(Direction)

Place = tuple[int, float, str, str, str]
"""Where an edge stands in a list of them: the less the earlier."""


class Alike(NamedTuple):
    """Edges of one relation and confidence: how many, and what evidence they have together."""

    relation: str
    confidence: float
    edge_count: int
    evidence: int


def checked_edge(given: GraphEdge, now: datetime) -> GraphEdge:
    """An edge to be stored, seen now where it does not say when. Raises InvalidArgumentError."""
    edge = checked_model(given, GraphEdge, "edge")
    for argument in ("source_entity", "source_type", "relation", "target_entity", "target_type"):
        check_name(getattr(edge, argument), argument)
    check_finite(edge.confidence, "confidence")
    check_whole_number(edge.evidence_count, "evidence_count")
    if not 1 <= edge.evidence_count <= MAX_EVIDENCE:
        raise InvalidArgumentError(
            "evidence_count", f"is {edge.evidence_count}; it must be from 1 to {MAX_EVIDENCE}"
        )
    encode(edge.provenance, "provenance")
    return edge.copied(first_seen=edge.first_seen or now, last_seen=edge.last_seen or now)


def checked_query(given: GraphNeighborQuery) -> GraphNeighborQuery:
    """What is asked of the graph. Raises InvalidArgumentError."""
    query = checked_model(given, GraphNeighborQuery, "query")
    check_filters(query.entity, query.relation, query.min_confidence, query.limit)
    if query.direction not in DIRECTIONS:
        raise InvalidArgumentError(
            "direction", f"is {quoted(query.direction)}; it must be one of {', '.join(DIRECTIONS)}"
        )
    return query.copied(depth=max(query.depth, 1))


def check_filters(entity: str | None, relation: str | None, min_confidence: float, limit: int | None) -> None:
    """What edges are looked for by."""
    check_optional_text(entity, "entity")
    check_optional_text(relation, "relation")
    check_finite(min_confidence, "min_confidence")
    check_count(limit, "limit")


def check_branch(branch: str) -> None:
    """The branch of a graph."""
    check_is_text(branch, "branch")


def is_about(entity: str, named: str) -> bool:
    """Whether an end of an edge is this entity or below it.

    >>> is_about("a", "a"), is_about("a", "a/b"), is_about("a", "ab")
    (True, True, False)
    """
    return named == entity or named.startswith(f"{entity}/")


def reached(edges: Iterable[GraphEdge], direction: str) -> set[str]:
    """The entities at the other ends of edges that were followed in this direction.

    >>> edge = GraphEdge(
    ...     source_entity="a", source_type="t", relation="r", target_entity="b", target_type="t"
    ... )
    >>> reached([edge], "outgoing"), reached([edge], "incoming"), sorted(reached([edge], "both"))
    ({'b'}, {'a'}, ['a', 'b'])
    """
    found = [(edge.source_entity, edge.target_entity) for edge in edges]
    if direction == "outgoing":
        return {target for _, target in found}
    if direction == "incoming":
        return {source for source, _ in found}
    return set(chain.from_iterable(found))


def by_confidence(edge: GraphEdge) -> tuple[float, str, str, str]:
    """The order of edges that are equally near."""
    return -edge.confidence, edge.source_entity, edge.relation, edge.target_entity


def place(edge: GraphEdge) -> Place:
    """Where an edge stands in a list of them."""
    return -edge.evidence_count, *by_confidence(edge)


def edge_cursor(edge: GraphEdge) -> str:
    """A cursor of ``list_graph_edges`` behind this edge."""
    return keyset_cursor(edge.last_seen or datetime.fromtimestamp(0, UTC), place(edge))


def checked_cursor(cursor: str | None) -> Place | None:
    """The place behind which a list goes on; None without a cursor. Raises InvalidCursorError."""
    position = keyset_position(cursor, list)
    if position is None:
        return None
    match position[1]:
        case [
            int() as evidence,
            int() | float() as confidence,
            str() as source,
            str() as relation,
            str() as to,
        ]:
            return evidence, float(confidence), source, relation, to
    raise InvalidCursorError("is of another list")


def counted(alike: Iterable[Alike], node_count: int) -> GraphStats:
    """The graph in numbers."""
    groups = list(alike)
    edge_count = sum(each.edge_count for each in groups)
    relations: dict[str, int] = {}
    for each in groups:
        relations[each.relation] = relations.get(each.relation, 0) + each.edge_count
    return GraphStats(
        total_edges=edge_count,
        approx_nodes=node_count,
        avg_confidence=mean(chain.from_iterable(repeat(each.confidence, each.edge_count) for each in groups)),
        avg_evidence=sum(each.evidence for each in groups) / edge_count if edge_count else 0.0,
        relations=dict(sorted(relations.items(), key=_most_first)),
    )


def _most_first(relation: tuple[str, int]) -> tuple[int, Any]:
    name, count = relation
    return -count, name
