"""Namespaces: the one that the SDK passes where nobody named any stands for the adapter's own."""

from pathlib import Path

from amfs_core.models import Commit, Event, EventType, GraphEdge

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.ledger import proves

EDGE = GraphEdge(
    source_entity="a", source_type="entity", relation="knows", target_entity="b", target_type="entity"
)


def seen(adapter: SyncSqliteAdapter, namespace: str = "default") -> list[int]:
    return [
        len(adapter.list_events("scout", namespace)),
        len(adapter.list_agents(namespace)),
        len(adapter.list_graph_edges(namespace=namespace)),
        len(adapter.list_commits(namespace=namespace)),
    ]


@proves("servers.namespace")
def test_what_names_no_namespace_is_kept_in_the_adapters_own(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "memory.db", namespace="team") as adapter:
        adapter.log_event(Event(agent_id="scout", event_type=EventType.WRITE))
        adapter.ensure_agent("scout")
        adapter.upsert_graph_edge(EDGE)
        adapter.save_commit(Commit(id="c1", message="a", author_agent_id="scout"))
        assert seen(adapter) == seen(adapter, "team") == [1, 1, 1, 1]
    with SyncSqliteAdapter(tmp_path / "memory.db") as adapter:
        assert seen(adapter) == [0, 0, 0, 0]
        assert seen(adapter, "team") == [1, 1, 1, 1]
