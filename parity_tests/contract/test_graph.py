"""The graph: edges are seen again, followed, listed and counted."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from amfs_sqlite import FixedClock, InvalidArgumentError, InvalidCursorError
from amfs_sqlite.protocol import Graph
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery, GraphStats
from amfs_sqlite.rules.graph import MAX_EVIDENCE, edge_cursor
from amfs_sqlite.rules.keysets import keyset_cursor
from parity_tests.ledger import proves
from parity_tests.state import plain, text


def edge(source: str = "a", target: str = "b", relation: str = "r", **fields: Any) -> GraphEdge:
    named = {"source_entity": source, "relation": relation, "target_entity": target}
    return GraphEdge.model_validate({"source_type": "s", "target_type": "t"} | named | fields)


def query(entity: str = "a", **fields: Any) -> GraphNeighborQuery:
    return GraphNeighborQuery.model_validate({"entity": entity} | fields)


def drawn(edges: Any) -> list[str]:
    return [f"{each.source_entity}-{each.target_entity}" for each in edges]


async def stored(adapter: Graph, *named: str, **fields: Any) -> None:
    for each in named:
        await adapter.upsert_graph_edge(edge(*each.split("-"), **fields))


@proves("graph.upserted")
async def test_an_edge_that_is_seen_again_gains_evidence(adapter: Graph, clock: FixedClock) -> None:
    first = await adapter.upsert_graph_edge(
        edge("é\0", "b", confidence=0.5, provenance={"why": [1.0]}, first_seen="2020-01-01T00:00:00.000001Z")
    )
    assert first.first_seen == datetime(2020, 1, 1, 0, 0, 0, 1, UTC)
    assert (first.last_seen, first.evidence_count, first.provenance) == (clock.now(), 1, {"why": [1.0]})
    clock.set("2026-02-01")
    again = await adapter.upsert_graph_edge(
        edge("é\0", "b", confidence=0.25, source_type="new", evidence_count=7, last_seen="2030-01-01")
    )
    changed = {"source_type": "new", "provenance": None, "evidence_count": 2}
    assert plain(again) == plain(first) | changed | {"last_seen": clock.now().isoformat()}
    surer = await adapter.upsert_graph_edge(edge("é\0", "b", confidence=0.75))
    assert (surer.confidence, surer.evidence_count) == (0.75, 3)
    assert plain(await adapter.list_graph_edges()) == [plain(surer)]
    whole = await adapter.upsert_graph_edge(edge("é\0", "b", confidence=1))
    assert text(whole.confidence) == "1.0"


@proves("graph.upserted")
async def test_evidence_is_counted_from_what_the_first_sighting_has_up_to_the_limit(adapter: Graph) -> None:
    for expected in (MAX_EVIDENCE - 1, MAX_EVIDENCE, MAX_EVIDENCE):
        seen = await adapter.upsert_graph_edge(edge(evidence_count=MAX_EVIDENCE - 1))
        assert seen.evidence_count == expected


@proves("graph.upserted")
async def test_source_relation_and_target_make_an_edge(adapter: Graph) -> None:
    await stored(adapter, "a-b", "b-a")
    await stored(adapter, "a-b", relation="other")
    assert {each.evidence_count for each in await adapter.list_graph_edges()} == {1}
    assert len(await adapter.list_graph_edges()) == 3


WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "edge is a dict": lambda adapter: adapter.upsert_graph_edge({}),
    "source_entity has 4097": lambda adapter: adapter.upsert_graph_edge(edge("a" * 4097)),
    "relation .*surrogate": lambda adapter: adapter.upsert_graph_edge(edge(relation="\ud800")),
    "confidence is nan": lambda adapter: adapter.upsert_graph_edge(edge(confidence=float("nan"))),
    "evidence_count is 0": lambda adapter: adapter.upsert_graph_edge(edge(evidence_count=0)),
    "evidence_count is -1": lambda adapter: adapter.upsert_graph_edge(edge(evidence_count=-1)),
    "evidence_count is 2147483648": lambda adapter: adapter.upsert_graph_edge(edge(evidence_count=2**31)),
    "provenance.n is nan": lambda adapter: adapter.upsert_graph_edge(edge(provenance={"n": float("nan")})),
    "branch is None": lambda adapter: adapter.upsert_graph_edge(edge(), branch=None),
    "query is a str": lambda adapter: adapter.graph_neighbors("a"),
    "direction is 'up'": lambda adapter: adapter.graph_neighbors(query(direction="up")),
    "limit is -1": lambda adapter: adapter.graph_neighbors(query(limit=-1)),
    "min_confidence is inf": lambda adapter: adapter.list_graph_edges(min_confidence=float("inf")),
    "entity is 5": lambda adapter: adapter.list_graph_edges(entity=5),
}


@proves("graph.refused")
@pytest.mark.parametrize("message", WRONG)
async def test_what_no_edge_or_question_can_be_is_refused(adapter: Graph, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        await WRONG[message](adapter)
    assert message.startswith(refused.value.argument)
    assert (await adapter.graph_stats()).total_edges == 0


@proves("graph.refused")
@pytest.mark.parametrize("cursor", ["none", keyset_cursor(datetime(2026, 1, 1, tzinfo=UTC), ["a"])])
async def test_what_is_no_cursor_of_edges_is_refused(adapter: Graph, cursor: str) -> None:
    with pytest.raises(InvalidCursorError):
        await adapter.list_graph_edges(cursor=cursor)


@proves("graph.about")
async def test_an_edge_is_about_its_ends_and_what_is_above_them(adapter: Graph) -> None:
    await stored(adapter, "a-x", "a/b-y", "z-a/b/c", "ab-x", "a%-x", "A-x")
    assert drawn(await adapter.list_graph_edges(entity="a")) == ["a-x", "a/b-y", "z-a/b/c"]
    assert drawn(await adapter.graph_neighbors(query("a"))) == ["a-x", "a/b-y", "z-a/b/c"]
    assert drawn(await adapter.graph_neighbors(query("a", direction="outgoing"))) == ["a-x", "a/b-y"]
    assert drawn(await adapter.graph_neighbors(query("a", direction="incoming"))) == ["z-a/b/c"]
    assert drawn(await adapter.graph_neighbors(query("a_"))) == []
    assert drawn(await adapter.graph_neighbors(query("\ud800"))) == []
    assert len(await adapter.list_graph_edges(entity="")) == 6


@proves("graph.hops")
async def test_a_circle_is_gone_round_once_in_the_direction_asked(adapter: Graph) -> None:
    await stored(adapter, "a-b", "b-c", "c-a", "c-d", "x-a")
    far = query("a", depth=99, direction="outgoing")
    assert drawn(await adapter.graph_neighbors(far)) == ["a-b", "b-c", "c-a", "c-d"]
    near = query("a", depth=2, direction="outgoing")
    assert drawn(await adapter.graph_neighbors(near)) == ["a-b", "b-c"]
    back = query("a", depth=2, direction="incoming")
    assert drawn(await adapter.graph_neighbors(back)) == ["c-a", "x-a", "b-c"]
    both = query("d", depth=3)
    assert drawn(await adapter.graph_neighbors(both)) == ["c-d", "b-c", "c-a", "a-b", "x-a"]
    assert drawn(await adapter.graph_neighbors(query("a", depth=0))) == ["a-b", "c-a", "x-a"]


@proves("graph.hops")
async def test_relation_and_confidence_hold_on_every_hop(adapter: Graph) -> None:
    await stored(adapter, "a-b", "b-c", "c-d")
    await stored(adapter, "b-e", relation="other")
    await stored(adapter, "b-f", "f-g", confidence=0.5)
    asked = {"depth": 5, "direction": "outgoing"}
    every = await adapter.graph_neighbors(query("a", **asked))
    assert drawn(every) == ["a-b", "b-e", "b-c", "b-f", "c-d", "f-g"]
    one_relation = await adapter.graph_neighbors(query("a", relation="r", **asked))
    assert drawn(one_relation) == ["a-b", "b-c", "b-f", "c-d", "f-g"]
    sure = await adapter.graph_neighbors(query("a", min_confidence=0.75, **asked))
    assert drawn(sure) == ["a-b", "b-e", "b-c", "c-d"]
    assert drawn(await adapter.graph_neighbors(query("a", limit=3, **asked))) == ["a-b", "b-e", "b-c"]
    assert drawn(await adapter.graph_neighbors(query("a", limit=0, **asked))) == []
    assert len(await adapter.graph_neighbors(query("a", relation="", limit=None, **asked))) == 6


@proves("graph.hops")
async def test_the_nearest_come_first_then_the_surest(adapter: Graph) -> None:
    await stored(adapter, "a-z", confidence=0.1)
    await stored(adapter, "a-b", confidence=0.2)
    await stored(adapter, "b-c", confidence=0.9)
    assert drawn(await adapter.graph_neighbors(query("a", depth=2))) == ["a-b", "a-z", "b-c"]


@proves("graph.listed")
async def test_edges_are_listed_by_evidence_and_page_by_page(adapter: Graph) -> None:
    await stored(adapter, "a-b", "a-c", "a-d", "a-e", confidence=0.5)
    await stored(adapter, "a-c", confidence=0.1)
    await stored(adapter, "b-c", confidence=0.7)
    await stored(adapter, "a-e", relation="other", confidence=0.2)
    everything = await adapter.list_graph_edges()
    assert drawn(everything) == ["a-c", "b-c", "a-b", "a-d", "a-e", "a-e"]
    for size in (1, 2, 4):
        pages: list[GraphEdge] = []
        cursor = None
        while page := await adapter.list_graph_edges(limit=size, cursor=cursor):
            pages += page
            cursor = edge_cursor(page[-1])
        assert plain(pages) == plain(everything)
    assert drawn(await adapter.list_graph_edges(relation="other")) == ["a-e"]
    assert drawn(await adapter.list_graph_edges(min_confidence=0.5, limit=2)) == ["a-c", "b-c"]
    assert len(await adapter.list_graph_edges(limit=None, cursor="")) == 6


@proves("graph.stats")
async def test_the_graph_is_counted(adapter: Graph) -> None:
    nothing = GraphStats(total_edges=0, approx_nodes=0, avg_confidence=0.0, avg_evidence=0.0, relations={})
    assert plain(await adapter.graph_stats()) == plain(nothing)
    await stored(adapter, "a-b", "b-c", "b-c", confidence=0.1, relation="z")
    await stored(adapter, "c-a", "c-b", confidence=0.3, relation="y")
    await stored(adapter, "c-b", confidence=0.5, relation="x")
    stats = await adapter.graph_stats()
    assert list(stats.relations.items()) == [("y", 2), ("z", 2), ("x", 1)]
    assert (stats.total_edges, stats.approx_nodes) == (5, 3)
    assert stats.avg_confidence == pytest.approx(0.26)
    assert stats.avg_evidence == pytest.approx(1.2)


@proves("graph.branches")
async def test_each_branch_has_its_graph(adapter: Graph) -> None:
    await stored(adapter, "a-b")
    await adapter.upsert_graph_edge(edge("a", "c"), branch="trial")
    assert drawn(await adapter.list_graph_edges()) == drawn(await adapter.graph_neighbors(query())) == ["a-b"]
    assert drawn(await adapter.list_graph_edges(branch="trial")) == ["a-c"]
    assert drawn(await adapter.graph_neighbors(query(depth=3), branch="trial")) == ["a-c"]
    assert (await adapter.graph_stats(branch="trial")).total_edges == 1
    assert (await adapter.graph_stats(branch="none")).total_edges == 0
