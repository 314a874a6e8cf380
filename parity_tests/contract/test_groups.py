"""Groups: an agent is in one at most, and they stay in order."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import FixedClock, InvalidArgumentError
from amfs_sqlite.protocol import Groups
from amfs_sqlite.records.groups import AgentGroup
from parity_tests.ledger import proves
from parity_tests.state import plain


def group(name: str = "g", **fields: Any) -> AgentGroup:
    return AgentGroup.model_validate({"name": name} | fields)


async def members(adapter: Groups) -> dict[str, tuple[str, ...]]:
    return {each.name: each.agent_ids for each in await adapter.list_agent_groups()}


@proves("groups.made")
async def test_a_group_comes_back_whole_under_its_own_id(adapter: Groups, clock: FixedClock) -> None:
    given = group(
        id="mine",
        namespace="elsewhere",
        description="é\0",
        color="red",
        icon="i",
        position=-0.5,
        auto_generated=True,
        source_cluster_id="c",
        account_id="acc",
        member_count=9,
        agent_ids=["b", "a", "b"],
        mood=[1.0],
    )
    made = await adapter.create_agent_group(given)
    now = clock.now().isoformat()
    own = {"id": made.id, "namespace": "default", "created_at": now, "updated_at": now}
    assert plain(made) == plain(given) | own | {"agent_ids": ["a", "b"], "member_count": 2}
    assert plain(await adapter.get_agent_group(made.id)) == plain(made)
    assert made.id != "mine"
    assert await adapter.get_agent_group("mine") is None


@proves("groups.one-group")
async def test_adding_an_agent_to_a_group_moves_it(adapter: Groups) -> None:
    first, second = [await adapter.create_agent_group(group(name)) for name in ("1", "2")]
    assert await adapter.add_agents_to_group(first.id, ["a", "b", "a"], added_by="me") == 2
    assert await adapter.add_agents_to_group(second.id, ["b", "c"]) == 2
    assert await members(adapter) == {"1": ("a",), "2": ("b", "c")}
    assert await adapter.add_agents_to_group(second.id, ["b", "c"]) == 2
    assert await adapter.add_agents_to_group(first.id, []) == 0
    third = await adapter.create_agent_group(group("3", agent_ids=["c"]))
    assert third.agent_ids == ("c",)
    assert await members(adapter) == {"1": ("a",), "2": ("b",), "3": ("c",)}


@proves("groups.left")
async def test_those_taken_out_are_counted_and_a_deleted_group_is_gone_with_its_members(
    adapter: Groups,
) -> None:
    first = await adapter.create_agent_group(group("1", agent_ids=["a", "b"]))
    second = await adapter.create_agent_group(group("2", agent_ids=["c"]))
    assert await adapter.remove_agents_from_group(first.id, ["a", "c", "nobody", "a"]) == 1
    assert await adapter.remove_agents_from_group("none", ["b"]) == 0
    assert await members(adapter) == {"1": ("b",), "2": ("c",)}
    assert await adapter.delete_agent_group(second.id) is True
    assert await adapter.delete_agent_group(second.id) is False
    assert await adapter.get_agent_group(second.id) is None
    assert await adapter.remove_agents_from_group(second.id, ["c"]) == 0
    assert await members(adapter) == {"1": ("b",)}


@proves("groups.changed")
async def test_what_is_given_is_changed_and_nothing_else(adapter: Groups, clock: FixedClock) -> None:
    made = await adapter.create_agent_group(group(color="red", agent_ids=["a"], mood=1))
    clock.set("2026-02-01")
    assert plain(await adapter.update_agent_group(made.id)) == plain(made)
    changed = await adapter.update_agent_group(made.id, name="", position=3, icon="i")
    expected = {"name": "", "position": 3.0, "icon": "i", "updated_at": clock.now().isoformat()}
    assert plain(changed) == plain(made) | expected
    assert plain(await adapter.get_agent_group(made.id)) == plain(changed)
    assert await adapter.update_agent_group("none", name="x") is None


@proves("groups.order")
async def test_groups_are_in_order_and_get_new_places_together(adapter: Groups, clock: FixedClock) -> None:
    third = await adapter.create_agent_group(group("third", position=2))
    clock.set("2025-01-01")
    second = await adapter.create_agent_group(group("second", position=2))
    twin = await adapter.create_agent_group(group("twin", position=2))
    await adapter.create_agent_group(group("first", position=1.5))
    assert second.id < twin.id
    assert [each.name for each in await adapter.list_agent_groups()] == ["first", "second", "twin", "third"]
    clock.set("2026-01-05")
    await adapter.reorder_agent_groups([(third.id, 0), ("gone", 1), [second.id, 9.5]])  # type: ignore[list-item]  # a list is a pair too
    listed = await adapter.list_agent_groups()
    assert [each.name for each in listed] == ["third", "first", "twin", "second"]
    assert [each.updated_at == clock.now() for each in listed] == [True, False, False, True]


WRONG: dict[str, Callable[[Any, str], Awaitable[object]]] = {
    "group_id is 'none', which": lambda adapter, _: adapter.add_agents_to_group("none", ["a"]),
    "group is a dict": lambda adapter, _: adapter.create_agent_group({"name": "g"}),
    "position is nan": lambda adapter, _: adapter.create_agent_group(group(position=float("nan"))),
    "name has 4097": lambda adapter, _: adapter.create_agent_group(group("a" * 4097)),
    "group.mood is inf": lambda adapter, _: adapter.create_agent_group(group(mood=float("inf"))),
    "name is 5": lambda adapter, made: adapter.update_agent_group(made, name=5),
    "position is inf": lambda adapter, made: adapter.update_agent_group(made, position=float("inf")),
    "agent_ids is 'abc'": lambda adapter, made: adapter.add_agents_to_group(made, "abc"),
    "agent_ids has 4097": lambda adapter, made: adapter.add_agents_to_group(made, ["a" * 4097]),
    "added_by is 5": lambda adapter, made: adapter.add_agents_to_group(made, ["a"], 5),
    "positions hold 'ab'": lambda adapter, _: adapter.reorder_agent_groups(["ab"]),
    "positions is None": lambda adapter, _: adapter.reorder_agent_groups(None),
    "positions is '1'": lambda adapter, made: adapter.reorder_agent_groups([(made, "1")]),
    "cluster_id is None": lambda adapter, _: adapter.dismiss_cluster_suggestion(None, "acc"),
}


@proves("groups.refused")
@pytest.mark.parametrize("message", WRONG)
async def test_what_cannot_be_is_refused_and_nothing_is_stored(adapter: Groups, message: str) -> None:
    made = await adapter.create_agent_group(group(agent_ids=["z"]))
    with pytest.raises(InvalidArgumentError) as refused:
        await WRONG[message](adapter, made.id)
    assert message.startswith(refused.value.argument)
    assert plain(await adapter.list_agent_groups()) == [plain(made)]


@proves("groups.dismissed")
async def test_a_suggestion_is_dismissed_once_for_an_account(adapter: Groups, clock: FixedClock) -> None:
    await adapter.dismiss_cluster_suggestion("z", "acc")
    clock.set("2026-02-01")
    for cluster_id in ("y", "x", "z"):
        await adapter.dismiss_cluster_suggestion(cluster_id, "acc")
    await adapter.dismiss_cluster_suggestion("w", "other")
    assert list(await adapter.list_dismissed_cluster_ids("acc")) == ["z", "x", "y"]
    assert list(await adapter.list_dismissed_cluster_ids("nobody")) == []
