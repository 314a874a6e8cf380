"""Graphs drawn by chance: both adapters answer alike, whatever is asked."""

from hypothesis import given, settings
from hypothesis import strategies as st

from amfs_sqlite import FixedClock, ReferenceAdapter, SqliteAdapter
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery
from parity_tests.contract.test_graph import edge, query
from parity_tests.ledger import proves
from parity_tests.state import plain

ENTITIES = st.sampled_from(["a", "a/b", "ab", "b", "c", "d", "a/b/c"])
EDGES = st.builds(
    edge,
    ENTITIES,
    ENTITIES,
    st.sampled_from(["r", "q"]),
    confidence=st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    evidence_count=st.integers(1, 3),
)
QUERIES = st.builds(
    query,
    ENTITIES,
    relation=st.sampled_from([None, "", "r"]),
    direction=st.sampled_from(["outgoing", "incoming", "both"]),
    min_confidence=st.sampled_from([0.0, 0.3]),
    depth=st.integers(0, 4),
    limit=st.none() | st.integers(0, 5),
)


@proves("graph.parity")
@settings(max_examples=60, deadline=None)
@given(edges=st.lists(EDGES, max_size=14), asked=QUERIES)
async def test_whatever_the_graph_both_adapters_answer_alike(
    edges: list[GraphEdge], asked: GraphNeighborQuery
) -> None:
    answers = []
    clock = FixedClock()
    async with ReferenceAdapter(clock=clock) as reference, SqliteAdapter(":memory:", clock=clock) as sqlite:
        for adapter in (reference, sqlite):
            for each in edges:
                await adapter.upsert_graph_edge(each)
            neighbors = await adapter.graph_neighbors(asked)
            listed = await adapter.list_graph_edges(entity=asked.entity, limit=asked.limit)
            answers.append(plain([neighbors, listed, await adapter.graph_stats()]))
    assert answers[0] == answers[1]
