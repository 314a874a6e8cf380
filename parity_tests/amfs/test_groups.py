"""Groups through the SDK's door: agents move between them, and are in one at most."""

from pathlib import Path

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import AgentGroup

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.test_agents import THREADS, at_once
from parity_tests.ledger import proves


def members(adapter: SyncSqliteAdapter, namespace: str = "default") -> dict[str, list[str]]:
    return {each.name: each.agent_ids for each in list[AgentGroup](adapter.list_agent_groups(namespace))}


@proves("groups.sdk")
def test_agents_move_between_groups(sdk_adapter: SyncSqliteAdapter) -> None:
    given = AgentGroup(name="first", description="d", color="red", position=2, source_cluster_id="c")
    first = sdk_adapter.create_agent_group(given)
    second = sdk_adapter.create_agent_group(AgentGroup(name="second", position=1.0))
    own = {"id": first.id, "created_at": first.created_at, "updated_at": first.updated_at}
    assert first == given.model_copy(update=own)
    assert sdk_adapter.add_agents_to_group(first.id, ["a", "b"]) == 2
    assert sdk_adapter.add_agents_to_group(second.id, ["b", "c"], "me") == 2
    assert members(sdk_adapter) == {"second": ["b", "c"], "first": ["a"]}
    sdk_adapter.reorder_agent_groups([(first.id, 0.0)])
    assert sdk_adapter.remove_agents_from_group(second.id, ["c", "a"]) == 1
    assert list(members(sdk_adapter).items()) == [("first", ["a"]), ("second", ["b"])]
    changed = sdk_adapter.update_agent_group(first.id, name="renamed")
    assert changed is not None
    assert (changed.name, changed.color, changed.member_count) == ("renamed", "red", 1)
    assert sdk_adapter.get_agent_group(first.id) == changed
    assert sdk_adapter.delete_agent_group(first.id) is True
    assert sdk_adapter.get_agent_group(first.id) is None
    assert sdk_adapter.update_agent_group(first.id, name="x") is None
    assert sdk_adapter.delete_agent_group(first.id) is False


@proves("groups.sdk")
def test_groups_are_filed_under_the_namespace_named(sdk_adapter: SyncSqliteAdapter) -> None:
    group = sdk_adapter.create_agent_group(AgentGroup(name="g"), namespace="team")
    assert group.namespace == "team"
    assert members(sdk_adapter) == {}
    with pytest.raises(AdapterError, match="which no group has"):
        sdk_adapter.add_agents_to_group(group.id, ["a"])
    assert sdk_adapter.add_agents_to_group(group.id, ["a"], namespace="team") == 1
    assert members(sdk_adapter, "team") == {"g": ["a"]}


@proves("groups.sdk")
def test_an_agent_that_many_threads_put_in_different_groups_is_in_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path) as one, SyncSqliteAdapter(path) as other:
        groups = [one.create_agent_group(AgentGroup(name=f"{n}")).id for n in range(THREADS)]
        calls = [
            lambda group=group, each=each: each.add_agents_to_group(group, ["scout"])
            for group, each in zip(groups, (one, other) * (THREADS // 2), strict=True)
        ]
        assert at_once(*calls) == [1] * THREADS
        assert sorted(members(one).values()) == [[]] * (THREADS - 1) + [["scout"]]


@proves("groups.sdk")
def test_dismissed_suggestions_are_listed_once(sdk_adapter: SyncSqliteAdapter) -> None:
    for cluster_id in ("a", "b", "a"):
        sdk_adapter.dismiss_cluster_suggestion(cluster_id, "default")
    assert sdk_adapter.list_dismissed_cluster_ids("default") == ["a", "b"]
    assert sdk_adapter.list_dismissed_cluster_ids("other") == []
