"""Reading and writing as an agent."""

from typing import Any

import pytest

from amfs_sqlite import AgentMemory, AmfsAdapter, ArtifactRef, CountedIds, FixedClock, InvalidArgumentError
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.state import refused


@proves("agent.identity")
async def test_a_memory_signs_what_it_writes(adapter: AmfsAdapter) -> None:
    memory = AgentMemory("", adapter=adapter, session_id="")
    entry = await memory.write("svc", "k", 1)
    assert (memory.agent_id, memory.session_id, memory.namespace) == ("", "", adapter.namespace)
    assert (entry.provenance.agent_id, entry.provenance.session_id) == ("", "")


@proves("agent.identity")
async def test_a_session_without_an_id_is_given_one(adapter: AmfsAdapter) -> None:
    memory = AgentMemory("alice", adapter=adapter, ids=CountedIds())
    assert memory.session_id == "sess-00000001"


@proves("agent.writes")
async def test_what_an_option_leaves_out_is_the_default(alice: AgentMemory) -> None:
    await alice.write("svc", "k", 1, confidence=0.3, shared=False, pattern_refs=["t"], ttl_at="2030-01-01")
    options: dict[str, Any] = {"confidence": None, "shared": None, "pattern_refs": None, "ttl_at": None}
    entry = await alice.write("svc", "k", 2, artifact_refs=None, **options)
    assert (entry.confidence, entry.shared, entry.tags, entry.ttl_at) == (1.0, True, (), None)
    assert entry.artifact_refs is None


@proves("agent.writes")
async def test_options_are_kept_as_given(alice: AgentMemory) -> None:
    refs = [ArtifactRef(uri="file:///log")]
    options: dict[str, Any] = {"pattern_refs": ["b", "a", "b"], "artifact_refs": refs, "confidence": 0}
    entry = await alice.write("svc", "k", 1, ttl_at="2030-01-01T00:00:00+01:00", **options)
    assert (entry.tags, entry.artifact_refs, entry.confidence) == (("b", "a", "b"), (*refs,), 0.0)
    assert entry.to_wire()["ttlAt"] == "2029-12-31T23:00:00.000Z"


@proves("agent.writes")
@pytest.mark.parametrize("ttl_at", ["", "soon"])
async def test_a_ttl_that_is_no_instant_is_refused(
    alice: AgentMemory, adapter: AmfsAdapter, ttl_at: str
) -> None:
    error = await refused(adapter, alice.write("svc", "k", 1, ttl_at=ttl_at), InvalidArgumentError)
    assert error.argument == "ttl_at"


@proves("agent.outcome-count")
async def test_a_write_carries_on_the_outcome_count_and_an_adapter_takes_the_entrys(
    alice: AgentMemory, adapter: AmfsAdapter
) -> None:
    await alice.write("svc", "k", 1)
    await alice.commit_outcome("run", "success", ["svc/k"])
    assert (await alice.write("svc", "k", 2)).outcome_count == 1
    assert (await adapter.write(draft("svc", "k", 3, outcome_count=7))).outcome_count == 7
    assert (await alice.write("svc", "k", 4)).outcome_count == 7


@proves("agent.outcome-count", "agent.private")
async def test_what_is_written_over_a_hidden_version_begins_without_its_outcomes(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    await alice.write("svc", "k", 1, shared=False)
    await alice.commit_outcome("run", "success", ["svc/k"])
    entry = await bob.write("svc", "k", 2)
    assert (entry.version, entry.outcome_count) == (3, 0)


@proves("agent.reads")
async def test_reading_compares_no_confidence_with_0_and_recalling_does(alice: AgentMemory) -> None:
    await alice.write("svc", "k", 1, confidence=-0.5)
    assert await alice.read("svc", "k", min_confidence=0) is not None
    assert await alice.recall("svc", "k", min_confidence=0) is None
    assert await alice.recall("svc", "k") is None
    assert await alice.recall("svc", "k", min_confidence=-0.5) is not None


@proves("agent.recall")
async def test_an_agent_recalls_what_it_wrote_last_whoever_wrote_since(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    await alice.write("svc", "k", "mine")
    await bob.write("svc", "k", "theirs")
    await alice.write("svc/sub", "k", "below")
    recalled = await alice.recall("svc", "k")
    assert recalled is not None
    assert (recalled.value, recalled.version) == ("mine", 1)
    assert alice.read_tracker.read_version("svc/k") == 2
    assert await AgentMemory("carol", adapter=alice.adapter).recall("svc", "k") is None


@proves("agent.recall", "agent.expired")
async def test_what_has_expired_is_neither_read_nor_recalled_nor_logged(
    alice: AgentMemory, clock: FixedClock
) -> None:
    await alice.write("svc", "k", 1, ttl_at=clock.now())
    assert await alice.read("svc", "k") is None
    assert await alice.recall("svc", "k") is None
    assert await alice.read_from("alice", "svc", "k") is None
    assert await alice.search() == ()
    assert alice.read_tracker.read_count == 0
    assert [each.key for each in await alice.list()] == ["k"]
    assert len(await alice.history("svc", "k")) == 1


@proves("agent.read-from")
async def test_reading_from_an_agent_finds_its_shared_current_entry_at_exactly_that_address(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    await alice.write("svc/sub", "k", "below")
    assert await bob.read_from("alice", "svc", "k") is None
    await alice.write("svc", "k", "mine")
    assert await bob.read_from("bob", "svc", "k") is None
    for agent_id in ("alice", ""):
        found = await bob.read_from(agent_id, "svc", "k")
        assert found is not None
        assert found.value == "mine"
    await alice.write("svc", "k", "hidden", shared=False)
    assert await alice.read_from("alice", "svc", "k") is None
    assert bob.read_tracker.causal_keys == ["svc/k"]


@proves("agent.own")
async def test_an_agents_own_entries_come_without_a_limit_most_confident_first(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    for number in range(102):
        await alice.write("svc", f"k{number}", number, confidence=number / 200)
    await bob.write("svc", "k0", "taken over")
    await alice.write("other", "k", 1)
    own = [each.key for each in await alice.my_entries("svc")]
    assert own == [f"k{number}" for number in range(101, 0, -1)]
    assert len(await alice.my_entries()) == 102
    assert [each.value for each in await bob.my_entries()] == ["taken over"]


@proves("agent.lists")
async def test_lists_come_in_the_order_of_first_writes(alice: AgentMemory, bob: AgentMemory) -> None:
    for key in ("b", "a", "b"):
        await alice.write("svc", key, 1)
    await bob.write("svc", "c", 1, shared=False)
    assert [each.key for each in await alice.list("svc")] == ["b", "a"]
    assert [each.version for each in await alice.list(include_superseded=True)] == [1, 2, 1]
    assert alice.read_tracker.read_count == 0


@proves("agent.history")
async def test_history_goes_by_instants_and_by_exactly_that_address(
    alice: AgentMemory, clock: FixedClock
) -> None:
    for second in (1, 2, 3):
        clock.set(f"2026-01-01T00:00:0{second}Z")
        await alice.write("svc", "k", second)
    await alice.write("svc/sub", "k", 4)
    between = await alice.history("svc", "k", since="2026-01-01T01:00:02+01:00", until="")
    assert [each.value for each in between] == [2, 3]


@proves("agent.private")
async def test_to_another_agent_a_private_version_does_not_exist(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    await alice.write("svc", "k", "hidden", shared=False)
    await bob.watch("svc", lambda entry: pytest.fail(f"heard {entry.key}"))
    await alice.write("svc", "k", "hidden too", shared=False)
    assert await bob.read("svc", "k") is None
    assert await bob.recall("svc", "k") is None
    assert (await bob.list(), await bob.history("svc", "k"), await bob.search()) == ([], [], ())
    assert (await bob.list_scopes(), await bob.tree(), await bob.commit_log()) == ([], "", [])
    assert ((await bob.stats()).total_entries, (await bob.info("svc")).entry_count) == (0, 0)
    assert await bob.commit_outcome("run", "success", ["svc/k"]) == []
    assert bob.read_tracker.read_count == 0
    assert (await bob.verify()).total_checked == 2
