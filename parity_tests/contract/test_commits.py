"""Commits: several changes as one, all or nothing, and the log of everything that ever changed."""

import asyncio
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    AmfsError,
    EntryNotFoundError,
    FixedClock,
    InvalidArgumentError,
    Outcome,
    VersionConflictError,
    Write,
)
from amfs_sqlite.models import Change
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import refused, state, text


@proves("commits.several-changes")
async def test_changes_of_all_kinds_are_applied_in_order(
    handoff_adapter: AmfsAdapter, clock: FixedClock
) -> None:
    changes: list[Change] = [
        Write(draft(key="a", confidence=0.8), 0),
        Outcome(outcome("success", at(key="a"))),
        Write(draft(key="b", agent="bob")),
        Write(draft(key="a", value=2, confidence=0.5), 1),
        Outcome(outcome("failure", "svc/a/a", at(key="b"), outcome_ref="run-2")),
    ]
    result = await handoff_adapter.commit(changes, author="carol", message="all of it", session_id="s")
    commit = result.commit
    assert (commit.author_agent_id, commit.message, commit.session_id) == ("carol", "all of it", "s")
    assert (commit.kind, commit.namespace, commit.branch) == ("write", "default", "main")
    assert (commit.sequence, commit.parent_ids, commit.created_at) == (1, (), clock.now())
    assert [(each.key, each.version) for each in commit.entries] == [("a", 1), ("b", 1), ("a", 2)]
    moved = [(each.key, each.version, each.confidence) for each in result.entries]
    assert moved == [
        ("a", 1, 0.8),
        ("a", 1, 0.84),
        ("b", 1, 1.0),
        ("a", 2, 0.5),
        ("a", 2, 0.325),
        ("b", 1, 0.65),
    ]
    assert result.effects == commit.effects
    assert [(each.key, each.version) for each in result.effects] == [("a", 1), ("a", 2), ("b", 1)]
    assert {each.commit_id for each in await handoff_adapter.list()} == {commit.id}
    assert text(await handoff_adapter.list_commits()) == text([commit])
    assert await is_sound(handoff_adapter)


@proves("commits.several-changes")
@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ([Write(draft())], "write"),
        ([Outcome(outcome())], "outcome"),
        ([Outcome(outcome()), Write(draft())], "write"),
        ([Outcome(outcome()), Outcome(outcome(outcome_ref="2"))], "outcome"),
    ],
    ids=["write", "outcome", "both", "outcomes"],
)
async def test_a_commit_is_a_write_if_it_writes_anything(
    adapter: AmfsAdapter, changes: list[Change], kind: str
) -> None:
    assert (await adapter.commit(changes, author="a")).commit.kind == kind
    assert [each.kind for each in await adapter.list_commits()] == [kind]


BAD_CHANGES: dict[str, tuple[Change, type[AmfsError]]] = {
    "value": (Write(draft(value=object())), InvalidArgumentError),
    "address": (Write(draft("")), InvalidArgumentError),
    "conflict": (Write(draft(key="kept"), 5), VersionConflictError),
    "not new": (Write(draft(key="kept"), 0), VersionConflictError),
    "conflict within": (Write(draft(key="fresh"), 3), VersionConflictError),
    "outcome type": (Outcome(outcome("great")), InvalidArgumentError),
    "reference": (Outcome(outcome("success", at(key="none"))), EntryNotFoundError),
}


@proves("commits.all-or-nothing")
@pytest.mark.parametrize("fault", BAD_CHANGES)
async def test_a_commit_with_a_bad_change_does_nothing(handoff_adapter: AmfsAdapter, fault: str) -> None:
    await handoff_adapter.write(draft(key="kept", confidence=0.5))
    good: list[Change] = [Write(draft(key="fresh")), Outcome(outcome("success", at(key="kept")))]
    bad, error = BAD_CHANGES[fault]
    for place in range(3):
        changes = [*good[:place], bad, *good[place:]]
        await refused(handoff_adapter, handoff_adapter.commit(changes, author="a"), error)
    await handoff_adapter.commit(good, author="a")
    assert len(await handoff_adapter.list_commits()) == 2
    assert await is_sound(handoff_adapter)


@proves("commits.all-or-nothing")
@pytest.mark.parametrize("count", [0, 10_001])
async def test_a_commit_of_no_change_or_too_many_is_refused(adapter: AmfsAdapter, count: int) -> None:
    attempt = adapter.commit([Write(draft())] * count, author="a")
    await refused(adapter, attempt, InvalidArgumentError)


@proves("commits.log")
async def test_every_write_batch_and_outcome_is_in_the_log_newest_first(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await adapter.write(draft(agent="a", session="s"))
    clock.set("2026-01-02")
    await adapter.write_batch([draft(key="b", agent="b"), draft(key="c", agent="c", session="t")])
    clock.set("2026-01-03")
    await adapter.commit_outcome(outcome("success", "svc/a/b", agent="d", session_id="u"))
    log = await adapter.list_commits()
    assert [each.author_agent_id for each in log] == ["d", "b", "a"]
    assert [each.session_id or "" for each in log] == ["u", "", "s"]
    assert [each.kind for each in log] == ["outcome", "write", "write"]
    assert [each.sequence for each in log] == [3, 2, 1]
    assert [each.created_at.day for each in log] == [3, 2, 1]
    assert [len(each.entries) for each in log] == [1, 2, 1]
    assert [each.parent_ids for each in log] == [(log[1].id,), (log[2].id,), ()]
    assert len({each.id for each in log}) == 3


@proves("commits.log")
async def test_every_commit_follows_the_one_before(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await adapter.write(draft(agent="a", session="s"))
    clock.set("2026-01-02")
    await adapter.commit([Write(draft(key="b", agent="b"))], author="c", session_id="t")
    newest, first = await adapter.list_commits()
    assert [(each.author_agent_id, each.session_id) for each in (first, newest)] == [("a", "s"), ("c", "t")]
    assert [(each.sequence, each.created_at.day) for each in (first, newest)] == [(1, 1), (2, 2)]
    assert (first.parent_ids, newest.parent_ids) == ((), (first.id,))


@proves("commits.log")
@pytest.mark.parametrize(
    ("asked", "sequences"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"limit": 2}, [5, 4]),
        ({"limit": 0}, []),
        ({"limit": 99}, [5, 4, 3, 2, 1]),
        ({"before": 4}, [3, 2, 1]),
        ({"before": 4, "limit": 2}, [3, 2]),
        ({"before": 1}, []),
        ({"before": 2**62}, [5, 4, 3, 2, 1]),
    ],
    ids=str,
)
async def test_the_log_comes_in_pages(
    adapter: AmfsAdapter, asked: dict[str, Any], sequences: list[int]
) -> None:
    for _ in range(5):
        await adapter.write(draft())
    assert [each.sequence for each in await adapter.list_commits(**asked)] == sequences


@proves("commits.get")
async def test_one_commit_is_found_by_its_id(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key="a"), draft(key="b")])
    await adapter.commit([Outcome(outcome("success", "svc/a/a"))], author="alice")
    for listed in await adapter.list_commits():
        assert text(await adapter.get_commit(listed.id)) == text(listed)
    for unknown in ("", "0", "none", "\ud83d", "x" * 5000, "%"):
        assert await adapter.get_commit(unknown) is None


@proves("commits.result-recorded")
async def test_the_result_of_a_commit_can_be_asked_for_again(handoff_adapter: AmfsAdapter) -> None:
    changes: list[Change] = [Write(draft(confidence=0.8)), Outcome(outcome("success", at()))]
    result = await handoff_adapter.commit(changes, author="alice", idempotency_key="k1")
    await handoff_adapter.write(draft(value=2))
    recorded = await handoff_adapter.recorded_result("k1", author="alice")
    assert text(recorded) == text(result)
    assert await handoff_adapter.recorded_result("k1", author="bob") is None
    assert await handoff_adapter.recorded_result("K1", author="alice") is None


@proves("commits.as-asked")
async def test_a_commit_is_what_was_asked_whatever_becomes_of_the_callers_objects(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft(confidence=0.5))
    value: dict[str, Any] = {"a": [1]}
    changes: list[Change] = [Write(draft(key="new", value=value)), Outcome(outcome("success", at()))]
    asked = asyncio.ensure_future(handoff_adapter.commit(changes, author="alice"))
    # One turn of the loop, so that it has begun.
    await asyncio.sleep(0)
    value["a"].append(float("nan"))
    changes.append(Write(draft(key="late")))
    result = await asked
    assert [entry.key for entry in result.entries] == ["new", "k"]
    assert result.entries[0].value == {"a": [1]}
    assert len(await handoff_adapter.list()) == 2
    assert await is_sound(handoff_adapter)


@proves("commits.as-asked")
async def test_an_outcome_of_a_commit_is_what_was_asked(handoff_adapter: AmfsAdapter) -> None:
    note: dict[str, Any] = {"n": [1]}
    changes: list[Change] = [Outcome(outcome("success", custom=note))]
    asked = asyncio.ensure_future(handoff_adapter.commit(changes, author="alice"))
    # One turn of the loop, so that it has begun.
    await asyncio.sleep(0)
    note["n"].append(2)
    await asked
    (recorded,) = await handoff_adapter.list_outcomes()
    assert recorded.record.model_extra == {"custom": {"n": [1]}}


@proves("commits.copies")
async def test_no_entry_that_a_commit_returns_is_the_stored_object(adapter: AmfsAdapter) -> None:
    result = await adapter.commit([Write(draft(value=[1]))], author="alice", idempotency_key="once")
    before, first = await state(adapter), text(result)
    result.entries[0].value.append("changed")
    recorded = await adapter.recorded_result("once", author="alice")
    assert recorded is not None
    assert text(recorded) == first
    recorded.entries[0].value.append("changed")
    assert text(await adapter.recorded_result("once", author="alice")) == first
    assert await state(adapter) == before
