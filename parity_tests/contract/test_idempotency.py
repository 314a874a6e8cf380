"""Idempotency: a call repeated after a lost answer returns the first one's result, and only that."""

from asyncio import gather
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    FixedClock,
    IdempotencyConflictError,
    InvalidArgumentError,
    Outcome,
    VersionConflictError,
    Write,
)
from amfs_sqlite.models import Change
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import refused, state, text


@proves("idempotency.first-result")
async def test_a_repeated_write_returns_the_first_result(adapter: AmfsAdapter, clock: FixedClock) -> None:
    given = draft(value={"a": [1]}, confidence=0.8, custom={"x": 1})
    first = await adapter.write(given, expected_version=0, idempotency_key="k1")
    await adapter.write(draft(value="newer"))
    before = await state(adapter)
    clock.set("2026-06-06")
    again = await adapter.write(given, expected_version=0, idempotency_key="k1")
    assert text(again) == text(first)
    clock.set("2026-01-01")
    assert await state(adapter) == before


@proves("idempotency.first-result")
async def test_a_repeated_write_tells_nothing_of_the_outcomes_since(
    handoff_adapter: AmfsAdapter, clock: FixedClock
) -> None:
    given = draft(value={"a": [1]}, confidence=0.8, custom={"x": 1})
    first = await handoff_adapter.write(given, expected_version=0, idempotency_key="k1")
    await handoff_adapter.commit_outcome(outcome("success", at()))
    await handoff_adapter.write(draft(value="newer"))
    before = await state(handoff_adapter)
    clock.set("2026-06-06")
    again = await handoff_adapter.write(given, expected_version=0, idempotency_key="k1")
    assert text(again) == text(first)
    assert (again.confidence, again.outcome_count, again.superseded_at) == (0.8, 0, None)
    clock.set("2026-01-01")
    assert await state(handoff_adapter) == before


@proves("idempotency.first-result")
async def test_a_repeated_batch_returns_the_first_result(adapter: AmfsAdapter) -> None:
    batch = [draft(key="a"), draft(key="b"), draft(key="a", value=2)]
    first = await adapter.write_batch(batch, idempotency_key="k1")
    before = await state(adapter)
    assert text(await adapter.write_batch(batch, idempotency_key="k1")) == text(first)
    assert await state(adapter) == before
    for other in (batch[:2], [*batch, batch[0]], batch[::-1]):
        attempt = adapter.write_batch(other, idempotency_key="k1")
        await refused(adapter, attempt, IdempotencyConflictError)


@proves("idempotency.first-result")
async def test_a_repeated_commit_returns_the_first_result(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(draft(key="old", confidence=0.5))
    changes: list[Change] = [
        Write(draft(confidence=0.8), 0),
        Outcome(outcome("success", at(), at(key="old"), note="n")),
    ]
    options: dict[str, Any] = {"author": "alice", "message": "m", "idempotency_key": "k1"}
    first = await handoff_adapter.commit(changes, **options)
    before = await state(handoff_adapter)
    assert text(await handoff_adapter.commit(changes, **options)) == text(first)
    assert await state(handoff_adapter) == before
    other: list[Change] = [changes[0], Outcome(outcome("success", at(), note="other"))]
    attempt = handoff_adapter.commit(other, **options)
    await refused(handoff_adapter, attempt, IdempotencyConflictError)


@proves("idempotency.payload")
@pytest.mark.parametrize(
    "change",
    [
        {"path": "svc"},
        {"key": "other"},
        {"value": 1.0},
        {"value": True},
        {"value": "1"},
        {"confidence": 0.5},
        {"tags": ("a", "b")},
        {"tags": ("b", "a", "a")},
        {"shared": False},
        {"ttl_at": "2027-01-01"},
    ],
)
async def test_the_same_key_with_another_payload_is_a_conflict(
    adapter: AmfsAdapter, change: dict[str, Any]
) -> None:
    await adapter.write(draft(tags=("b", "a")), idempotency_key="k1")
    other = draft(**{"tags": ("b", "a"), **change})
    error = await refused(adapter, adapter.write(other, idempotency_key="k1"), IdempotencyConflictError)
    assert (error.agent_id, error.idempotency_key) == ("alice", "k1")


@proves("idempotency.payload")
@pytest.mark.parametrize("expected", [None, 1])
async def test_another_expected_version_is_another_payload(
    adapter: AmfsAdapter, expected: int | None
) -> None:
    await adapter.write(draft(), expected_version=0, idempotency_key="k1")
    attempt = adapter.write(draft(), expected_version=expected, idempotency_key="k1")
    await refused(adapter, attempt, IdempotencyConflictError)


@proves("idempotency.payload")
@pytest.mark.parametrize(
    "change",
    [
        {"written_at": "2020-01-01"},
        {"session": "s-2"},
        {"outcome_count": 7},
        {"version": 5},
        {"ttl_at": "2027-01-01T09:00:00+09:00"},
        {"value": {"b": 2, "a": 1}},
    ],
)
async def test_time_session_and_spelling_are_no_part_of_the_payload(
    adapter: AmfsAdapter, change: dict[str, Any]
) -> None:
    fields: dict[str, Any] = {"value": {"a": 1, "b": 2}, "ttl_at": "2027-01-01T00:00:00Z"}
    first = await adapter.write(draft(**fields), idempotency_key="k1")
    again = await adapter.write(draft(**{**fields, **change}), idempotency_key="k1")
    assert text(again) == text(first)
    assert text(await adapter.history("svc/a", "k")) == text([first])


@proves("idempotency.scope")
async def test_keys_of_different_agents_are_different_keys(adapter: AmfsAdapter) -> None:
    for agent in ("alice", "bob", "alice"):
        await adapter.write(draft(agent=agent), idempotency_key="k1")
    assert [each.agent_id for each in await adapter.history("svc/a", "k")] == ["alice", "bob"]


@proves("idempotency.scope")
async def test_calls_without_a_key_are_never_repetitions(adapter: AmfsAdapter) -> None:
    for _ in range(3):
        await adapter.write(draft())
    assert len(await adapter.history("svc/a", "k")) == 3


@proves("idempotency.failed-calls")
async def test_a_call_that_failed_has_not_used_its_key(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    conflict = adapter.write(draft(), expected_version=0, idempotency_key="k1")
    await refused(adapter, conflict, VersionConflictError)
    invalid = adapter.write(draft(value=object()), idempotency_key="k1")
    await refused(adapter, invalid, InvalidArgumentError)
    assert (await adapter.write(draft(), idempotency_key="k1")).version == 2


@proves("idempotency.failed-calls")
async def test_of_a_call_that_failed_no_result_is_recorded(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    conflict = adapter.write(draft(), expected_version=0, idempotency_key="k1")
    await refused(adapter, conflict, VersionConflictError)
    assert await adapter.recorded_result("k1", author="alice") is None


@proves("idempotency.recorded-result")
async def test_what_the_first_call_returned_can_be_asked_for(adapter: AmfsAdapter) -> None:
    written = await adapter.write(private(), idempotency_key="k1")
    await adapter.write(draft(value="newer"))
    result = await adapter.recorded_result("k1", author="alice")
    assert result is not None
    assert text(result.entries) == text([written])
    commit = await adapter.get_commit(written.commit_id or "")
    assert text(result.commit) == text(commit)
    for key, author in (("k1", "bob"), ("k2", "alice"), ("K1", "alice"), ("", "alice")):
        assert await adapter.recorded_result(key, author=author) is None


@proves("idempotency.recorded-result")
async def test_a_later_description_does_not_change_the_recorded_result(
    adapter: AmfsAdapter,
) -> None:
    result = await adapter.commit([Write(draft())], author="alice", idempotency_key="k1")
    described = result.commit.model_copy(update={"message": "later"})
    await adapter.save_commit(described)
    assert text(await adapter.recorded_result("k1", author="alice")) == text(result)


@proves("idempotency.at-once")
async def test_of_equal_calls_at_once_one_is_made(adapter: AmfsAdapter) -> None:
    results = await gather(
        *[adapter.write(draft(), expected_version=0, idempotency_key="k1") for _ in range(8)]
    )
    assert len({text(each) for each in results}) == 1
    assert text(await adapter.history("svc/a", "k")) == text(results[:1])


@proves("idempotency.at-once")
async def test_of_equal_commits_at_once_one_is_made(adapter: AmfsAdapter) -> None:
    changes: list[Change] = [Write(draft(), 0)]
    results = await gather(*[adapter.commit(changes, author="alice", idempotency_key="k1") for _ in range(8)])
    assert len({text(each) for each in results}) == 1
    assert len(await adapter.list_commits()) == 1
