"""Agents through the SDK's door: its models, its dictionaries, and one row for each whoever calls."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from amfs.memory import AgentMemory
from amfs_core.exceptions import AdapterError
from amfs_core.models import (
    Agent,
    AgentCapability,
    AgentProfile,
    Event,
    EventType,
    GraphEdge,
    MemoryContract,
    SessionMetadata,
)

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.ledger import proves

THREADS = 8


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What the calls answer when all begin together."""
    barrier = threading.Barrier(len(calls))

    def begin(call: Callable[[], Any]) -> Any:
        barrier.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [*pool.map(begin, calls)]


def names(agents: Iterable[Agent]) -> list[str]:
    return [each.agent_id for each in agents]


def directory(adapter: Any, **asked: Any) -> list[dict[str, Any]]:
    """As the server asks for it: with more than the interface has."""
    lines: list[dict[str, Any]] = adapter.list_agents_enriched("default", **asked)
    return lines


@proves("agents.threads")
def test_eight_threads_and_two_adapters_register_one_agent(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path) as one, SyncSqliteAdapter(path) as other:
        calls = [lambda each=each: each.ensure_agent("scout") for each in (one, other) * (THREADS // 2)]
        registered = at_once(*calls)
        listed = list[Agent](one.list_agents())
    assert len({each.id for each in registered}) == 1
    assert names(listed) == ["scout"]
    assert listed[0].last_active_at == max(each.last_active_at for each in registered)


@proves("agents.sdk")
def test_what_an_agent_says_comes_back_in_the_sdks_models(sdk_adapter: SyncSqliteAdapter) -> None:
    session = SessionMetadata.model_validate({"model": "m", "platform": "cli", "mood": [1.0]})
    profile = AgentProfile(description="Writes", tags=["t"], session_metadata=session)
    able = [AgentCapability(name="sql", entity_paths=["db"])]
    promised = [MemoryContract(entity_path="db", required_fields=["why"], ttl_required=True)]
    assert sdk_adapter.update_agent_profile("scout", profile).profile == profile
    assert sdk_adapter.update_agent_capabilities("scout", able).capabilities == able
    changed = sdk_adapter.update_agent_contracts("scout", promised)
    assert (changed.profile, changed.capabilities, changed.contracts) == (profile, able, promised)
    assert sdk_adapter.get_agent("scout") == changed
    assert type(changed) is Agent
    assert sdk_adapter.discover_agents(capability="sql", entity_path="db/main") == [changed]
    assert sdk_adapter.discover_agents(capability="css") == []


@proves("agents.sdk")
def test_agents_are_filed_under_the_namespace_named(sdk_adapter: SyncSqliteAdapter) -> None:
    registered = sdk_adapter.ensure_agent("scout", "team")
    assert (registered.namespace, registered.entry_count) == ("team", 0)
    assert sdk_adapter.get_agent("scout") is None
    assert sdk_adapter.list_agents() == []
    assert sdk_adapter.get_agent("scout", namespace="team") == registered


@proves("agents.sdk")
def test_an_agent_of_the_sdk_is_in_the_directory_with_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with AgentMemory("scout", adapter=SyncSqliteAdapter(path)) as memory:
        memory.write("web/a", "k", 1)
        memory.write("web/b", "k", 1)
        memory.write("web/b", "k", 2)
        memory.set_profile(description="Looks around")
        memory.declare_capability("looking", entity_paths=["web"])
        assert names(memory.discover_agents(capability="looking", entity_path="web/a")) == ["scout"]
    learned = GraphEdge(
        source_entity="pupil",
        source_type="agent",
        relation="learned_from",
        target_entity="scout",
        target_type="agent",
    )
    with SyncSqliteAdapter(path) as adapter:
        adapter.upsert_graph_edge(learned)
        assert [each.entry_count for each in list[Agent](adapter.list_agents())] == [2]
        [line] = directory(adapter)
    assert {name: line[name] for name in line if name not in {"created_at", "last_active"}} == {
        "agent_id": "scout",
        "entries_written": 2,
        "entities_touched": 2,
        "primary_repo": "web",
        "entity_paths": ["web/a", "web/b"],
        "type_dist": {"fact": 2},
        "collaborators": ["pupil"],
        "group_id": None,
        "platform": None,
        "model": None,
        "inferred_tags": [],
        "description": "Looks around",
    }
    assert line["created_at"] <= line["last_active"]


@proves("agents.sdk")
def test_a_page_of_the_directory_tells_the_whole(sdk_adapter: SyncSqliteAdapter) -> None:
    for name in ("a", "b", "c"):
        sdk_adapter.ensure_agent(name)
    rows = directory(sdk_adapter, sort="agent_id", limit=2, offset=1)
    assert [(each["agent_id"], each["total"], each["active_7d"]) for each in rows] == [
        ("b", 3, 3),
        ("c", 3, 3),
    ]
    assert [each["agent_id"] for each in directory(sdk_adapter, q="B", agent_ids=["a", "b"])] == ["b"]
    with pytest.raises(ValueError, match="sort is 'size'"):
        directory(sdk_adapter, sort="size")


@proves("agents.sdk")
def test_events_just_logged_are_in_the_histogram(sdk_adapter: SyncSqliteAdapter) -> None:
    now = datetime.now(UTC)
    for _ in range(3):
        sdk_adapter.log_event(Event(agent_id="scout", event_type=EventType.WRITE, created_at=now))
    counted = list[int](sdk_adapter.get_agent_activity_histogram("scout", 2))
    assert (len(counted), sum(counted)) == (2, 3)
    assert sdk_adapter.get_agent_activity_histogram("scout", namespace="other") == [0] * 7


WRONG: dict[str, Callable[[Any], object]] = {
    "profile is {}; it must be an amfs_core AgentProfile": lambda a: a.update_agent_profile("x", {}),
    "capabilities is 'sql'; it must be": lambda a: a.update_agent_capabilities("x", ["sql"]),
    "contracts is None; give a list": lambda a: a.update_agent_contracts("x", None),
    "namespace is None": lambda a: a.ensure_agent("x", None),
    "agent_id is 5": lambda a: a.ensure_agent(5),
}


@proves("agents.sdk")
@pytest.mark.parametrize("message", WRONG)
def test_what_is_none_of_the_sdks_models_is_refused(sdk_adapter: SyncSqliteAdapter, message: str) -> None:
    with pytest.raises(AdapterError, match=message):
        WRONG[message](sdk_adapter)
    assert sdk_adapter.list_agents() == []
