"""The graph through the SDK's door: no sighting is lost, and neighbours are found more than one hop away."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from amfs.memory import AgentMemory, _get_sdk_executor
from amfs_core.exceptions import AdapterError
from amfs_core.models import GraphEdge, GraphNeighborQuery

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.test_agents import THREADS, at_once
from parity_tests.ledger import proves

SIGHTINGS = 20


def edge(source: str = "a", target: str = "b", relation: str = "r", **fields: object) -> GraphEdge:
    named = {"source_entity": source, "relation": relation, "target_entity": target}
    return GraphEdge.model_validate({"source_type": "s", "target_type": "t"} | named | fields)


def drawn(edges: Iterable[GraphEdge]) -> list[str]:
    return [f"{each.source_entity}-{each.target_entity}" for each in edges]


@proves("graph.threads")
def test_no_sighting_of_many_threads_and_two_adapters_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with (
        SyncSqliteAdapter(path, durability="normal") as one,
        SyncSqliteAdapter(path, durability="normal") as other,
    ):

        def see(adapter: SyncSqliteAdapter) -> list[int]:
            return [adapter.upsert_graph_edge(edge()).evidence_count for _ in range(SIGHTINGS)]

        calls = [lambda each=each: see(each) for each in (one, other) * (THREADS // 2)]
        counts = [count for seen in at_once(*calls) for count in seen]
        stored = list[GraphEdge](one.list_graph_edges())
    assert sorted(counts) == list(range(1, THREADS * SIGHTINGS + 1))
    assert [each.evidence_count for each in stored] == [THREADS * SIGHTINGS]


@proves("graph.sdk")
def test_an_edge_comes_back_in_the_sdks_model(sdk_adapter: SyncSqliteAdapter) -> None:
    then = datetime(2020, 1, 1, tzinfo=UTC)
    given = edge(confidence=0.5, provenance={"why": [1.0]}, first_seen=then, last_seen=then)
    assert sdk_adapter.upsert_graph_edge(given) == given
    again = sdk_adapter.upsert_graph_edge(edge(confidence=0.2))
    expected = {"evidence_count": 2, "last_seen": again.last_seen, "provenance": None}
    assert again == given.model_copy(update=expected)
    assert again.last_seen > then
    assert sdk_adapter.list_graph_edges(entity="a", relation="r", min_confidence=0.5) == [again]


@proves("graph.sdk")
def test_neighbours_are_found_round_a_circle(sdk_adapter: SyncSqliteAdapter) -> None:
    for each in ("a-b", "b-c", "c-a", "x-a"):
        sdk_adapter.upsert_graph_edge(edge(*each.split("-")))
    sdk_adapter.upsert_graph_edge(edge("b", "d", "other"))
    query = GraphNeighborQuery(entity="a", relation="r", direction="outgoing", depth=9)
    assert drawn(sdk_adapter.graph_neighbors(query)) == ["a-b", "b-c", "c-a"]
    back = GraphNeighborQuery(entity="a", direction="incoming", depth=2)
    assert drawn(sdk_adapter.graph_neighbors(back)) == ["c-a", "x-a", "b-c"]
    with AgentMemory("scout", adapter=sdk_adapter) as memory:  # closes the adapter, too
        assert drawn(memory.graph_neighbors("a", depth=2)) == ["a-b", "c-a", "x-a", "b-d", "b-c"]


@proves("graph.sdk")
def test_namespaces_and_branches_have_graphs_of_their_own(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.upsert_graph_edge(edge("a", "b"), namespace="team", branch="trial")
    assert sdk_adapter.graph_stats()["total_edges"] == 0
    assert sdk_adapter.graph_stats(namespace="team")["total_edges"] == 0
    assert sdk_adapter.graph_stats(namespace="team", branch="trial") == {
        "total_edges": 1,
        "approx_nodes": 2,
        "avg_confidence": 1.0,
        "avg_evidence": 1.0,
        "relations": {"r": 1},
    }
    query = GraphNeighborQuery(entity="a")
    assert drawn(sdk_adapter.graph_neighbors(query, namespace="team", branch="trial")) == ["a-b"]
    assert sdk_adapter.graph_neighbors(query, namespace="team") == []


@proves("graph.sdk")
def test_what_the_sdk_writes_is_drawn_without_losing_a_sighting(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with AgentMemory("scout", adapter=SyncSqliteAdapter(path)) as memory:
        for n in range(SIGHTINGS):
            memory.write("svc", "k", n, pattern_refs=["slow-disk"])
        # The SDK draws edges on a thread of its own, and does not wait for it in the end.
        _get_sdk_executor().submit(int).result(60)
    with SyncSqliteAdapter(path) as adapter:
        edges = list[GraphEdge](adapter.list_graph_edges())
        [found] = [each for each in edges if each.target_entity == "slow-disk"]
    assert found.evidence_count == SIGHTINGS


@proves("graph.sdk")
def test_what_is_no_edge_or_direction_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    with pytest.raises(AdapterError, match="edge is 'a'; it must be an amfs_core GraphEdge"):
        sdk_adapter.upsert_graph_edge("a")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(AdapterError, match=r"provenance\.n is nan"):
        sdk_adapter.upsert_graph_edge(edge(provenance={"n": float("nan")}))
    with pytest.raises(AdapterError, match="confidence"):
        sdk_adapter.upsert_graph_edge(edge(confidence=float("nan")))
    with pytest.raises(AdapterError, match="direction is 'up'; it must be one of outgoing, incoming, both"):
        sdk_adapter.graph_neighbors(GraphNeighborQuery(entity="a", direction="up"))
