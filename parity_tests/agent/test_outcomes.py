"""Outcomes of what a session read, and its explanation."""

import math

import pytest

from amfs_sqlite import (
    OUTCOME_MULTIPLIERS,
    AgentMemory,
    AmfsAdapter,
    FixedClock,
    InvalidArgumentError,
    OutcomeBackPropagator,
    OutcomeType,
)
from amfs_sqlite.rules.hashing import content_hash
from parity_tests.ledger import proves
from parity_tests.state import refused


@proves("agent.outcomes")
async def test_an_outcome_without_keys_is_about_all_the_session_read(
    alice: AgentMemory, bob: AgentMemory, clock: FixedClock
) -> None:
    for path, key in (("a", "b/c"), ("a/b", "c"), ("svc", "other")):
        await alice.write(path, key, 1)
    assert await alice.commit_outcome("none", "success") == []
    for second, (path, key) in enumerate((("a/b", "c"), ("a", "b/c"), ("a/b", "c"))):
        clock.set(f"2026-01-01T00:00:0{second}Z")
        await alice.read(path, key)
    moved = await alice.commit_outcome("run", "failure", causal_confidence=0.5)
    assert [(each.entity_path, each.confidence) for each in moved] == [("a", 0.55), ("a/b", 0.55)]
    assert await alice.commit_outcome("run", "failure", []) == []
    assert alice.read_tracker.read_count == 2
    assert await bob.commit_outcome("run", "failure") == []


@proves("agent.outcomes")
async def test_what_was_read_and_is_hidden_by_now_is_passed_over(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    for key in ("a", "b"):
        await alice.write("svc", key, 1)
        await bob.read("svc", key)
    await alice.write("svc", "a", 2, shared=False)
    assert [each.key for each in await bob.commit_outcome("run", "success")] == ["b"]


@proves("agent.outcomes")
async def test_an_unknown_outcome_is_refused(alice: AgentMemory, adapter: AmfsAdapter) -> None:
    await alice.write("svc", "k", 1)
    error = await refused(
        adapter, alice.commit_outcome("run", "constructor", ["svc/k"]), InvalidArgumentError
    )
    assert error.argument == "outcome_type"


@proves("agent.explains")
async def test_an_explanation_shows_the_entries_as_they_are_with_the_versions_read(
    alice: AgentMemory, bob: AgentMemory, clock: FixedClock
) -> None:
    await alice.write("svc", "k", 1)
    await bob.write("svc", "gone", 1, ttl_at="2026-01-01T00:00:01Z")
    await alice.read("svc", "gone")
    clock.set("2026-01-01T00:00:02Z")
    await alice.read("svc", "k")
    await bob.write("svc", "k", 2)
    alice.record_context("pager", "3 incidents", source="")
    told = await alice.explain("run")
    assert [(each.entry.key, each.entry.version, each.read_version) for each in told.causal_entries] == [
        ("gone", 1, 1),
        ("k", 2, 1),
    ]
    assert (told.outcome_ref, told.agent_id, told.session_id) == ("run", "alice", "s-alice")
    (context,) = told.external_contexts
    assert (context.label, context.source, context.recorded_at) == ("pager", "", clock.now())
    await bob.write("svc", "k", 3, shared=False)
    assert (await alice.explain()).causal_chain_length == 1


@proves("agent.read-log")
async def test_the_read_log_goes_by_the_time_of_the_last_reading(
    alice: AgentMemory, clock: FixedClock
) -> None:
    for key in ("a", "b", "c"):
        await alice.write("svc", key, 1)
    log = alice.read_tracker
    for at, key in (("02", "a"), ("02", "b"), ("02", "a"), ("03", "c"), ("01", "b")):
        clock.set(f"2026-01-{at}")
        await alice.read("svc", key)
    await alice.read("svc", "missing")
    await alice.read("svc", "c", min_confidence=2)
    assert log.causal_keys == ["svc/b", "svc/a", "svc/c"]
    assert (log.read_count, log.read_version("svc/a"), log.read_version("svc/x")) == (3, 1, None)
    assert (log.contains("svc/c"), log.contains("svc/missing")) == (True, False)
    alice.record_context("pager", "3 incidents")
    alice.clear_read_log()
    assert (log.read_count, log.external_contexts) == (0, ())


@proves("agent.arithmetic")
def test_the_arithmetic_is_amfs_s() -> None:
    assert set(OUTCOME_MULTIPLIERS) == set(OutcomeType)
    compute = OutcomeBackPropagator.compute_new_confidence
    assert compute(0.7, "failure", 0.3) == pytest.approx(0.231)
    assert compute(1.0, "critical_failure") == 1.15
    assert math.isinf(compute(1e308, "critical_failure", 1e9))
    with pytest.raises(InvalidArgumentError, match="outcome_type"):
        compute(1.0, "nope")


@proves("agent.arithmetic")
async def test_records_are_propagated_in_order(
    alice: AgentMemory, adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await alice.write("svc", "a", 1)
    await alice.write("svc", "b", 1)
    propagator = OutcomeBackPropagator(adapter)
    records = [
        OutcomeBackPropagator.make_record(f"run-{kind}", kind, [f"svc/{key}"], "judge", clock=clock)
        for kind, key in (("success", "b"), ("failure", "a"), ("success", "b"))
    ]
    assert records[0].committed_at == clock.now()
    moved = await propagator.propagate_batch(records)
    assert [(each.key, each.confidence) for each in moved] == [("b", 0.97), ("a", 1.1), ("b", 0.9409)]
    assert [each.content_hash for each in await propagator.propagate(records[1])] == [content_hash(1)]
    assert [each.record.outcome_ref for each in await adapter.list_outcomes(limit=2)] == [
        "run-failure",
        "run-success",
    ]
    with pytest.raises(InvalidArgumentError, match="outcome_type"):
        OutcomeBackPropagator.make_record("run", "nope", [], "judge")


@proves("agent.outcomes")
async def test_what_has_changed_since_it_was_read_is_not_credited(
    handoff_adapter: AmfsAdapter, clock: FixedClock
) -> None:
    alice, bob = [AgentMemory(name, adapter=handoff_adapter, clock=clock) for name in ("alice", "bob")]
    for key in ("moved", "same"):
        await alice.write("svc", key, 1, confidence=0.5)
        await alice.read("svc", key)
        await bob.write("svc", key, 2 if key == "moved" else 1, confidence=0.5)
    moved = await alice.commit_outcome("run", "success")
    assert [(each.key, each.version, each.confidence) for each in moved] == [("same", 2, 0.6)]
    [recorded] = await handoff_adapter.list_outcomes()
    assert [(each.key, each.reason) for each in recorded.effects] == [("moved", "stale"), ("same", None)]


@proves("agent.newest-read")
async def test_of_more_reads_than_an_outcome_holds_the_newest_are_credited(
    alice: AgentMemory, adapter: AmfsAdapter, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("amfs_sqlite.agent.outcomes", "amfs_sqlite.rules.limits"):
        monkeypatch.setattr(f"{module}.MAX_REFERENCES", 2)
    for key in ("a", "b", "c", "d"):
        await alice.write("svc", key, 1)
    for second, key in enumerate("abcda"):
        clock.set(f"2026-01-01T00:00:0{second}Z")
        await alice.read("svc", key)
    moved = await alice.commit_outcome("run", "failure")
    assert [each.key for each in moved] == ["d", "a"]
    assert alice.read_tracker.read_count == 4
    attempt = alice.commit_outcome("run", "failure", ["svc/a", "svc/b", "svc/c"])
    assert (await refused(adapter, attempt, InvalidArgumentError)).argument == "refs"
