"""Agents: each is registered once, says what it says, and is counted by what is there."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError
from amfs_sqlite.protocol import Agents, Events, Graph, Groups
from amfs_sqlite.records.agents import AgentCapability, AgentProfile, AgentSummary, MemoryContract
from amfs_sqlite.records.events import Event
from amfs_sqlite.records.graph import GraphEdge
from amfs_sqlite.records.groups import AgentGroup
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import draft, private
from parity_tests.ledger import proves
from parity_tests.state import plain


class Whole(Agents, Groups, Graph, Events, AmfsAdapter):
    """What the directory of agents is made from."""


@proves("agents.once")
async def test_an_agent_is_registered_once_and_is_active_whenever_it_is_announced(
    adapter: Agents, clock: FixedClock
) -> None:
    assert await adapter.get_agent("scout") is None
    first = await adapter.ensure_agent("scout")
    began = clock.now()
    assert (first.agent_id, first.namespace, first.created_at, first.last_active_at) == (
        "scout",
        "default",
        began,
        began,
    )
    clock.set("2026-01-02T00:00:00.000001Z")
    again = await adapter.ensure_agent("scout")
    assert plain(again) == plain(first) | {"last_active_at": clock.now().isoformat()}
    clock.set("2026-01-01T12:00:00Z")
    assert plain(await adapter.ensure_agent("scout")) == plain(again)
    found = await adapter.get_agent("scout")
    assert plain(found) == plain(again) | {"entry_count": 0}
    assert plain(await adapter.list_agents()) == [plain(found)]


@proves("agents.said")
async def test_what_an_agent_says_comes_back_whole_and_is_replaced(adapter: Agents) -> None:
    profile = AgentProfile.model_validate(
        {"description": "é\0", "tags": ["a"], "session_metadata": {"model": "m", "n": 1.0}, "mood": [None]}
    )
    assert plain((await adapter.update_agent_profile("scout", profile)).profile) == plain(profile)
    able = [AgentCapability(name="sql", entity_paths=("db",)), AgentCapability(name="css")]
    assert plain((await adapter.update_agent_capabilities("scout", able)).capabilities) == plain(able)
    promised = [MemoryContract(entity_path="db", min_confidence=0.5, required_fields=("why",))]
    assert plain((await adapter.update_agent_contracts("scout", promised)).contracts) == plain(promised)
    found = await adapter.get_agent("scout")
    assert found is not None
    assert plain([found.profile, found.capabilities, found.contracts]) == plain([profile, able, promised])
    await adapter.update_agent_capabilities("scout", [])
    await adapter.update_agent_profile("scout", AgentProfile(description="new"))
    changed = await adapter.get_agent("scout")
    assert plain(changed) == plain(found) | {
        "capabilities": [],
        "profile": plain(AgentProfile(description="new")),
    }


WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "agent_id is 5": lambda adapter: adapter.ensure_agent(5),
    "agent_id has 4097": lambda adapter: adapter.ensure_agent("a" * 4097),
    r"agent_id .*surrogate": lambda adapter: adapter.ensure_agent("\ud800"),
    "profile is a dict": lambda adapter: adapter.update_agent_profile("a", {}),
    "profile.session_metadata.n is nan": lambda adapter: adapter.update_agent_profile(
        "a", AgentProfile(session_metadata={"n": float("nan")})
    ),
    "capabilities is a str": lambda adapter: adapter.update_agent_capabilities("a", ["sql"]),
    "capabilities is 'sql'": lambda adapter: adapter.update_agent_capabilities("a", "sql"),
    "contracts is None": lambda adapter: adapter.update_agent_contracts("a", None),
    "contracts.min_confidence is nan": lambda adapter: adapter.update_agent_contracts(
        "a", [MemoryContract(entity_path="p", min_confidence=float("nan"))]
    ),
    "entity_path is 5": lambda adapter: adapter.discover_agents(entity_path=5),
    "sort is 'size'": lambda adapter: adapter.list_agents_enriched(sort="size"),
    r"sort is \[\]": lambda adapter: adapter.list_agents_enriched(sort=[]),
    "limit is -1": lambda adapter: adapter.list_agents_enriched(limit=-1),
    "agent_ids is 'a'": lambda adapter: adapter.list_agents_enriched(agent_ids="a"),
    "days is -1": lambda adapter: adapter.get_agent_activity_histogram("a", -1),
    "days is 3661": lambda adapter: adapter.get_agent_activity_histogram("a", 3661),
}


@proves("agents.refused")
@pytest.mark.parametrize("message", WRONG)
async def test_what_no_agent_can_be_or_be_asked_is_refused(adapter: Agents, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        await WRONG[message](adapter)
    assert message.startswith(refused.value.argument)
    assert list(await adapter.list_agents()) == []


@proves("agents.counts")
async def test_an_agents_entries_are_those_it_wrote_last_and_that_are_there(adapter: Whole) -> None:
    await adapter.write(draft("a", "1", agent="bob"))
    await adapter.write(private("a", "2", agent="bob", ttl_at="2020-01-01"))
    await adapter.write(draft("a", "3", agent="bob"))
    await adapter.write(draft("a", "3", agent="amy"))
    await adapter.write(draft("a", "4", agent="bob"))
    assert (await adapter.ensure_agent("bob")).entry_count is None
    await adapter.ensure_agent("zoe")
    assert {each.agent_id: each.entry_count for each in await adapter.list_agents()} == {"bob": 3, "zoe": 0}
    found = await adapter.get_agent("bob")
    assert found is not None
    assert found.entry_count == 3
    assert (await adapter.update_agent_profile("bob", AgentProfile())).entry_count is None
    assert (await adapter.update_agent_capabilities("bob", [])).entry_count is None
    assert (await adapter.update_agent_contracts("bob", [])).entry_count is None


@proves("agents.counts")
async def test_what_was_erased_is_not_counted(adapter: Whole) -> None:
    await adapter.write(draft(agent="bob"))
    await adapter.erase(written_by="bob", author="amy")
    await adapter.ensure_agent("bob")
    found = await adapter.get_agent("bob")
    assert found is not None
    assert found.entry_count == 0


@proves("agents.order")
async def test_the_last_active_come_first_and_then_names_in_order(adapter: Agents, clock: FixedClock) -> None:
    for name in ("b", "é", "a"):
        await adapter.ensure_agent(name)
    clock.set("2026-01-02")
    await adapter.ensure_agent("z")
    assert [each.agent_id for each in await adapter.list_agents()] == ["z", "a", "b", "é"]


@proves("agents.discovered")
async def test_agents_are_found_by_capability_and_path(adapter: Agents) -> None:
    await adapter.update_agent_capabilities("dba", [AgentCapability(name="sql", entity_paths=("db/main",))])
    await adapter.update_agent_profile("ops", AgentProfile(auto_context_paths=("svc",)))
    await adapter.ensure_agent("new")

    async def found(**asked: str | None) -> list[str]:
        return [each.agent_id for each in await adapter.discover_agents(**asked)]

    assert await found() == ["dba", "new", "ops"]
    assert await found(capability="", entity_path="") == ["dba", "new", "ops"]
    assert await found(capability="sql") == ["dba"]
    assert await found(entity_path="db") == ["dba"]
    assert await found(entity_path="db/main/users") == ["dba"]
    assert await found(entity_path="svc/checkout") == ["ops"]
    assert await found(capability="sql", entity_path="svc") == []


def learned(source: str, target: str) -> GraphEdge:
    return GraphEdge(
        source_entity=source,
        source_type="agent",
        relation="learned_from",
        target_entity=target,
        target_type="agent",
    )


async def staffed(adapter: Whole, clock: FixedClock) -> None:
    """Three agents with some history."""
    clock.set("2026-01-01")
    profile = {"description": "Writes", "tags": ["t"], "session_metadata": {"platform": "Cli", "model": "M1"}}
    await adapter.update_agent_profile("bob", AgentProfile.model_validate(profile))
    await adapter.ensure_agent("amy")
    clock.set("2026-01-05")
    await adapter.ensure_agent("zoe")
    await adapter.write(draft("web/a", "1", agent="bob"))
    clock.set("2026-01-11")
    await adapter.write(draft("web/b", "1", agent="bob", memory_type="belief"))
    await adapter.write(draft("db", "1", agent="bob", memory_type=5))
    await adapter.write(draft("db", "2", agent="stranger"))


@proves("agents.enriched")
async def test_a_directory_tells_what_each_agent_did(adapter: Whole, clock: FixedClock) -> None:
    await staffed(adapter, clock)
    await adapter.upsert_graph_edge(learned("zoe", "bob"))
    await adapter.upsert_graph_edge(learned("amy", "bob"))
    group = await adapter.create_agent_group(AgentGroup(name="g", agent_ids=("bob",)))
    bob, zoe, amy = (await adapter.list_agents_enriched()).agents
    assert plain(bob) == plain(
        AgentSummary(
            agent_id="bob",
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            entries_written=3,
            entities_touched=3,
            last_active=clock.now(),
            primary_repo="web",
            entity_paths=("db", "web/a", "web/b"),
            type_dist={"belief": 1, "fact": 2},
            collaborators=("amy", "zoe"),
            group_id=group.id,
            platform="Cli",
            model="M1",
            inferred_tags=("t",),
            description="Writes",
        )
    )
    nothing = AgentSummary(
        agent_id="zoe",
        created_at=datetime(2026, 1, 5, tzinfo=UTC),
        last_active=datetime(2026, 1, 5, tzinfo=UTC),
    )
    assert plain(zoe) == plain(nothing)
    assert amy.agent_id == "amy"


@proves("agents.pages")
async def test_a_directory_is_narrowed_sorted_and_cut(adapter: Whole, clock: FixedClock) -> None:
    await staffed(adapter, clock)

    async def found(**asked: Any) -> list[str]:
        return [each.agent_id for each in (await adapter.list_agents_enriched(**asked)).agents]

    assert await found(sort="created_at") == ["zoe", "amy", "bob"]
    assert await found(sort="entries_written") == ["bob", "amy", "zoe"]
    assert await found(sort="agent_id") == ["amy", "bob", "zoe"]
    assert await found(q="WRIT") == await found(q="m1") == await found(q="WEB") == ["bob"]
    assert await found(q="cLI", platform="Cli") == ["bob"]
    assert await found(platform="cli") == []
    assert await found(agent_ids=["zoe", "amy", "nobody"]) == ["zoe", "amy"]
    assert await found(agent_ids=[]) == []
    page = await adapter.list_agents_enriched(limit=1, offset=1)
    assert ([each.agent_id for each in page.agents], page.total, page.active_7d) == (["zoe"], 3, 2)
    beyond = await adapter.list_agents_enriched(limit=1, offset=9)
    assert (beyond.agents, beyond.total) == ((), 3)


@proves("agents.activity")
async def test_events_are_counted_by_days_in_utc(adapter: Whole, clock: FixedClock) -> None:
    clock.set("2026-01-10T00:00:00Z")
    for at in ("2026-01-08T23:59:59.999999Z", "2026-01-09T00:00:00Z", "2026-01-10T01:00:00+02:00"):
        await adapter.log_event(
            Event.model_validate({"agent_id": "a", "event_type": "read", "created_at": at})
        )
    await adapter.log_event(Event(agent_id="b", event_type="read"))
    await adapter.log_event(Event(agent_id="a", event_type="write"))
    assert list(await adapter.get_agent_activity_histogram("a", 3)) == [1, 2, 1]
    assert list(await adapter.get_agent_activity_histogram("a")) == [0, 0, 0, 0, 1, 2, 1]
    assert list(await adapter.get_agent_activity_histogram("a", 0)) == []
    assert list(await adapter.get_agent_activity_histogram("nobody", 2)) == [0, 0]


@proves("agents.apart")
async def test_agents_and_groups_are_their_namespaces(open_shared: AdapterOpener) -> None:
    here = await open_shared(store="one")
    there = await open_shared(store="one", namespace="other")
    assert isinstance(here, Agents)
    assert isinstance(here, Groups)
    assert isinstance(there, Agents)
    assert isinstance(there, Groups)
    await here.ensure_agent("scout")
    group = await here.create_agent_group(AgentGroup(name="g", agent_ids=("scout",)))
    assert await there.get_agent("scout") is None
    assert list(await there.list_agent_groups()) == []
    assert await there.get_agent_group(group.id) is None
    mine = await there.create_agent_group(AgentGroup(name="g", agent_ids=("scout",)))
    assert mine.namespace == "other"
    assert plain(await here.get_agent_group(group.id)) == plain(group)
