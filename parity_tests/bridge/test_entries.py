"""Remembering, reading, history."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    EntryNotFoundError,
    FixedClock,
    IdempotencyConflictError,
    InvalidArgumentError,
    MemoryEntry,
    VersionConflictError,
)
from bridge.errors import ReservedPathError
from bridge.operations import entries, outcomes, search
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.drafts import at, draft, private
from parity_tests.ledger import proves
from parity_tests.state import refused, state


@proves("bridge.remember")
async def test_a_first_belief_has_no_version_before_it(alice: Session) -> None:
    done = await entries.remember(alice, "svc/a", "k", {"v": 1}, tags=["t", "u"])
    assert (done.superseded_version, done.unchanged) == (None, False)
    entry = done.entry
    assert (entry.version, entry.value, entry.tags) == (1, {"v": 1}, ("t", "u"))
    assert (entry.agent_id, entry.provenance.session_id) == ("alice", "sess-1")
    assert (entry.confidence, entry.shared) == (0.8, True)


@proves("bridge.remember")
async def test_a_new_belief_supersedes_the_one_before(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    done = await entries.remember(bob, "svc/a", "k", 2, confidence=0.5)
    assert (done.entry.version, done.superseded_version, done.unchanged) == (2, 1, False)
    assert (done.entry.agent_id, done.entry.confidence) == ("bob", 0.5)
    assert done.superseded is not None
    assert (done.superseded.value, done.superseded.agent_id) == (1, "alice")


@proves("bridge.remember")
async def test_a_new_belief_takes_nothing_over_and_tells_what_it_replaced(alice: Session) -> None:
    first = await entries.remember(alice, "svc/a", "k", 1, tags=["t"], confidence=0.3)
    await outcomes.record_outcome(alice, "failure", "RUN-1")
    done = await entries.remember(alice, "svc/a", "k", 2)
    assert first.superseded is None
    assert (done.entry.tags, done.entry.confidence) == ((), 0.8)
    assert done.superseded is not None
    assert (done.superseded.tags, done.superseded.confidence) == (("t",), 0.195)


@proves("bridge.remember-unchanged")
@pytest.mark.parametrize("value", [None, "", 0, [], {"b": [1.0, {"c": None}], "a": "é"}])
async def test_the_same_belief_again_makes_no_version(alice: Session, bob: Session, value: Any) -> None:
    first = await entries.remember(alice, "svc/a", "k", value, tags=["t"])
    before = await state(alice.adapter)
    again = await entries.remember(bob, "svc/a", "k", value, tags=["t"], confidence=0.1)
    assert (again.unchanged, again.superseded_version) == (True, None)
    assert again.entry == first.entry
    assert await state(alice.adapter) == before
    assert bob.touched_refs() == (first.entry.ref,)


@proves("bridge.remember-unchanged")
async def test_the_same_belief_again_keeps_what_outcomes_taught(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await outcomes.record_outcome(alice, "success", "RUN-1")
    again = await entries.remember(alice, "svc/a", "k", 1)
    assert (again.unchanged, again.entry.version, again.entry.confidence) == (True, 1, 0.84)


@proves("bridge.remember-unchanged")
@pytest.mark.parametrize(
    ("value", "options"),
    [
        (1.0, {}),
        (True, {}),
        ("1", {}),
        (1, {"tags": ["t"]}),
        (1, {"shared": False}),
    ],
)
async def test_what_differs_in_value_tags_or_sharing_is_a_new_version(
    alice: Session, value: Any, options: dict[str, Any]
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    done = await entries.remember(alice, "svc/a", "k", value, **options)
    assert (done.entry.version, done.unchanged) == (2, False)


@proves("bridge.remember-unchanged")
async def test_the_same_value_after_another_is_a_new_version(alice: Session) -> None:
    for value in (1, 2):
        await entries.remember(alice, "svc/a", "k", value)
    done = await entries.remember(alice, "svc/a", "k", 1)
    assert (done.entry.version, done.superseded_version) == (3, 2)


@proves("bridge.remember-unchanged")
async def test_a_belief_that_would_have_expired_is_written_anew(alice: Session) -> None:
    await alice.adapter.write(draft("svc/a", "k", 1, ttl_at="2026-06-01T00:00:00Z"))
    done = await entries.remember(alice, "svc/a", "k", 1)
    assert (done.entry.version, done.entry.ttl_at) == (2, None)


@proves("bridge.remember-expected")
async def test_an_expected_version_is_compared_before_anything_is_unchanged(
    alice: Session,
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    for expected in (0, 2):
        error = await refused(
            alice.adapter,
            entries.remember(alice, "svc/a", "k", 1, expected_version=expected),
            VersionConflictError,
        )
        assert (error.expected, error.actual, error.actual_agent_id) == (expected, 1, "alice")
    same = await entries.remember(alice, "svc/a", "k", 1, expected_version=1)
    assert same.unchanged
    other = await entries.remember(alice, "svc/a", "k", 2, expected_version=1)
    assert other.entry.version == 2


@proves("bridge.remember-idempotent")
async def test_a_repeated_call_returns_the_first_result_whatever_came_between(
    alice: Session, bob: Session
) -> None:
    first = await entries.remember(alice, "svc/a", "k", 1, idempotency_key="once")
    again = await entries.remember(alice, "svc/a", "k", 1, idempotency_key="once")
    await entries.remember(bob, "svc/a", "k", 2)
    later = await entries.remember(alice, "svc/a", "k", 1, idempotency_key="once")
    assert first == again == later
    assert len(await entries.history(alice, "svc/a", "k")) == 2
    third = await entries.remember(alice, "svc/a", "k", 3, idempotency_key="twice")
    await entries.remember(bob, "svc/a", "k", 4)
    assert await entries.remember(alice, "svc/a", "k", 3, idempotency_key="twice") == third
    assert (third.superseded_version, third.superseded and third.superseded.value) == (2, 2)


@proves("bridge.remember-again")
async def test_a_repeated_call_never_puts_an_old_belief_back(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", "one")
    first = await entries.remember(alice, "svc/a", "k", "one", idempotency_key="K")
    await entries.remember(bob, "svc/a", "k", "two")
    again = await entries.remember(alice, "svc/a", "k", "one", idempotency_key="K")
    assert again.entry == first.entry
    current = await alice.adapter.read("svc/a", "k")
    assert current is not None
    assert current.value == "two"


@proves("bridge.remember-idempotent")
async def test_a_used_key_for_another_belief_is_a_conflict(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1, idempotency_key="once")
    await refused(
        alice.adapter,
        entries.remember(alice, "svc/a", "k", 2, idempotency_key="once"),
        IdempotencyConflictError,
    )
    assert (await entries.remember(bob, "svc/a", "k", 2, idempotency_key="once")).entry.version == 2


@proves("bridge.remember-idempotent")
async def test_a_used_key_is_a_conflict_even_where_the_belief_stands_already(
    alice: Session,
) -> None:
    await entries.remember(alice, "svc/a", "k", 1, idempotency_key="once")
    await entries.remember(alice, "svc/b", "k", 1)
    with pytest.raises(IdempotencyConflictError):
        await entries.remember(alice, "svc/b", "k", 1, idempotency_key="once")


@proves("bridge.remember")
async def test_a_new_version_carries_the_outcome_count_on(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    for run in ("RUN-1", "RUN-2"):
        await outcomes.record_outcome(alice, "failure", run)
    done = await entries.remember(alice, "svc/a", "k", 2)
    assert (done.entry.outcome_count, done.entry.confidence) == (2, 0.8)
    assert (done.entry.success_count, done.entry.failure_count) == (0, 0)


def _before_the_next_write(
    session: Session, monkeypatch: pytest.MonkeyPatch, event: Callable[[], Awaitable[None]]
) -> None:
    """Let something happen between what is read next and what is then written, once."""
    write, events = session.adapter.write, [event]

    async def interrupted(entry: MemoryEntry, **options: Any) -> MemoryEntry:
        while events:
            await events.pop()()
        return await write(entry, **options)

    monkeypatch.setattr(session.adapter, "write", interrupted)


@proves("bridge.remember-race")
@pytest.mark.parametrize("standing", [False, True])
async def test_a_version_made_while_it_was_remembered_is_the_one_superseded(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch, standing: bool
) -> None:
    if standing:
        await entries.remember(bob, "svc/a", "k", "before")

    async def faster() -> None:
        await entries.remember(bob, "svc/a", "k", "faster")
        await outcomes.record_outcome(bob, "failure", "RUN-1", refs=[at("svc/a", "k")])

    _before_the_next_write(alice, monkeypatch, faster)
    done = await entries.remember(alice, "svc/a", "k", "after")
    assert done.superseded is not None
    assert (done.superseded.value, done.superseded_version) == ("faster", done.entry.version - 1)
    assert (done.entry.version, done.entry.outcome_count) == (3 if standing else 2, 1)


@proves("bridge.remember-race")
async def test_the_same_belief_remembered_at_the_same_time_is_one_version(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def faster() -> None:
        await entries.remember(bob, "svc/a", "k", "same")

    _before_the_next_write(alice, monkeypatch, faster)
    done = await entries.remember(alice, "svc/a", "k", "same")
    assert (done.unchanged, done.entry.version, done.entry.agent_id) == (True, 1, "bob")


@proves("bridge.remember-race")
async def test_private_versions_made_meanwhile_are_written_over_and_stay_unknown(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await entries.remember(bob, "svc/a", "k", 1, shared=False)

    async def faster() -> None:
        await entries.remember(bob, "svc/a", "k", 2, shared=False)

    _before_the_next_write(alice, monkeypatch, faster)
    done = await entries.remember(alice, "svc/a", "k", 3)
    assert (done.entry.version, done.superseded_version, done.superseded) == (3, 2, None)


@proves("bridge.remember-race")
async def test_an_expired_version_is_superseded_with_its_outcome_count(
    alice: Session, clock: FixedClock
) -> None:
    await alice.adapter.write(draft("svc/a", "k", 1, ttl_at="2026-06-01T00:00:00Z"))
    await outcomes.record_outcome(alice, "failure", "RUN-1", refs=[at("svc/a", "k")])
    clock.set("2026-07-01T00:00:00Z")
    done = await entries.remember(alice, "svc/a", "k", 1)
    assert (done.entry.version, done.unchanged, done.entry.outcome_count) == (2, False, 1)


@proves("bridge.remember-race")
async def test_of_many_who_remember_at_the_same_time_each_makes_a_version(begin: Begin) -> None:
    sessions = [begin(f"agent-{number}") for number in range(8)]
    done = await asyncio.gather(
        *(
            entries.remember(each, "svc/a", "k", each.agent_id, shared=number % 3 > 0)
            for number, each in enumerate(sessions)
        )
    )
    assert sorted(each.entry.version for each in done) == list(range(1, 9))
    assert all(each.superseded_version == (each.entry.version - 1 or None) for each in done)


@proves("bridge.scopes-plain")
@pytest.mark.parametrize("scope", ["/", "/svc/a", "svc/a/", "svc//a"])
async def test_a_scope_with_an_empty_part_is_not_remembered_but_what_is_there_is_read(
    alice: Session, scope: str
) -> None:
    attempt = entries.remember(alice, scope, "k", 1)
    error = await refused(alice.adapter, attempt, InvalidArgumentError)
    assert error.problem == (f"is '{scope}'; write it without '/' at its ends and without empty parts")
    await alice.adapter.write(draft(scope, "k", 1))
    assert (await entries.read(alice, scope, "k")).value == 1
    assert len(await entries.history(alice, scope, "k")) == 1
    assert [each.entity_path for each in (await search.recall(alice, scope=scope)).entries] == [scope]


@proves("bridge.remember-refused")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": 1.1}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"tags": "abc"}, "tags"),
        ({"tags": [1]}, "tags"),
        ({"value": math.inf}, "value"),
        ({"value": {1: 2}}, "value"),
        ({"value": "\ud83d"}, "value"),
        ({"scope": ""}, "entity_path"),
        ({"scope": "/"}, "entity_path"),
        ({"scope": "/svc/a"}, "entity_path"),
        ({"scope": "svc/a/"}, "entity_path"),
        ({"scope": "svc//a"}, "entity_path"),
        ({"key": ""}, "key"),
        ({"key": "\ud83d"}, "key"),
        ({"key": 1}, "key"),
        ({"expected_version": -1}, "expected_version"),
        ({"expected_version": True}, "expected_version"),
    ],
)
@pytest.mark.parametrize("standing", [False, True])
async def test_bad_input_is_named_and_nothing_is_stored(
    alice: Session, bob: Session, change: dict[str, Any], named: str, standing: bool
) -> None:
    wanted: dict[str, Any] = {"scope": "svc/a", "key": "k", "value": 1} | change
    if standing:
        await entries.remember(bob, "svc/a", "k", 1)
    error = await refused(alice.adapter, entries.remember(alice, **wanted), InvalidArgumentError)
    assert error.argument.startswith(named)
    assert alice.touched == ()


@proves("bridge.remember")
@pytest.mark.parametrize("confidence", [0, 0.0, 1, 1.0])
async def test_both_ends_of_confidence_are_kept(alice: Session, confidence: float) -> None:
    done = await entries.remember(alice, "svc/a", "k", 1, confidence=confidence)
    assert done.entry.confidence == confidence


@proves("bridge.reserved")
@pytest.mark.parametrize("scope", ["_system", "_system/handoff", "_system/x/y"])
async def test_the_systems_paths_are_neither_written_nor_read(alice: Session, scope: str) -> None:
    await refused(alice.adapter, entries.remember(alice, scope, "k", 1), ReservedPathError)
    with pytest.raises(ReservedPathError):
        await entries.read(alice, scope, "k")


@proves("bridge.reserved")
@pytest.mark.parametrize("scope", ["_systems", "_system2/x", "x/_system"])
async def test_paths_that_only_look_like_the_systems_are_anyones(alice: Session, scope: str) -> None:
    await entries.remember(alice, scope, "k", 1)
    assert (await entries.read(alice, scope, "k")).value == 1


@proves("bridge.read")
async def test_reading_what_is_not_there_says_so(alice: Session) -> None:
    for scope, key in (("svc/a", "k"), ("", ""), ("x" * 5000, "k")):
        with pytest.raises(EntryNotFoundError):
            await entries.read(alice, scope, key)
    assert alice.touched == ()


@proves("bridge.read")
async def test_a_private_record_of_another_does_not_exist(
    alice: Session, handoff_adapter: AmfsAdapter
) -> None:
    await handoff_adapter.write(private("svc/a", "k", agent="bob"))
    with pytest.raises(EntryNotFoundError):
        await entries.read(alice, "svc/a", "k")
    with pytest.raises(EntryNotFoundError):
        await entries.history(alice, "svc/a", "k")


@proves("bridge.remember")
async def test_writing_over_a_private_record_of_another_tells_nothing_of_it(
    alice: Session, bob: Session
) -> None:
    await entries.remember(bob, "svc/a", "k", 1, shared=False)
    await outcomes.record_outcome(bob, "success", "RUN-1")
    done = await entries.remember(alice, "svc/a", "k", 1)
    assert (done.entry.version, done.unchanged, done.entry.outcome_count) == (2, False, 0)
    assert (done.superseded_version, done.superseded) == (1, None)
    assert [each.version for each in await entries.history(alice, "svc/a", "k")] == [2]


@proves("bridge.history")
async def test_history_is_every_belief_and_no_outcome(alice: Session) -> None:
    for value in (1, 2, 3):
        await entries.remember(alice, "svc/a", "k", value)
        await outcomes.record_outcome(alice, "success", f"RUN-{value}")
    versions = await entries.history(alice, "svc/a", "k")
    assert [(each.version, each.value) for each in versions] == [(1, 1), (2, 2), (3, 3)]
    assert [each.superseded_at is None for each in versions] == [False, False, True]


@proves("bridge.history")
async def test_history_pages_and_its_end_is_empty(alice: Session) -> None:
    for value in range(5):
        await entries.remember(alice, "svc/a", "k", value)
    first = await entries.history(alice, "svc/a", "k", limit=3)
    rest = await entries.history(alice, "svc/a", "k", after_version=3, limit=3)
    assert [each.version for each in (*first, *rest)] == [1, 2, 3, 4, 5]
    assert list(await entries.history(alice, "svc/a", "k", after_version=5)) == []
    with pytest.raises(EntryNotFoundError):
        await entries.history(alice, "svc/a", "other", after_version=5)
