"""Outcomes under AMFS 0.3's policy: each naming makes the next version of the current entry."""

from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import refused, text

MULTIPLIERS = {
    "success": 0.97,
    "clean_deploy": 0.97,
    "minor_failure": 1.08,
    "regression": 1.08,
    "failure": 1.10,
    "p2_incident": 1.10,
    "critical_failure": 1.15,
    "p1_incident": 1.15,
}


@proves("outcomes.amfs-arithmetic")
@pytest.mark.parametrize("kind", MULTIPLIERS)
async def test_confidence_is_multiplied_and_never_clamped(adapter: AmfsAdapter, kind: str) -> None:
    for before, causal in ((0.8, 1.0), (1.0, 0.5), (-2.0, -3.0), (0.0, 1.0)):
        await adapter.write(draft(confidence=before))
        record = outcome(kind, "svc/a/k", causal_confidence=causal)
        (moved,) = await adapter.commit_outcome(record)
        assert text(moved.confidence) == text(before * MULTIPLIERS[kind] * causal)


@proves("outcomes.amfs-makes-versions")
async def test_an_outcome_makes_a_version_that_copies_the_rest(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    given = draft(
        value={"b": 1, "a": 2},
        agent="bob",
        session="s",
        tags=("t", "t"),
        ttl_at="2030-01-01",
        shared=True,
        artifact_refs=[{"uri": "u"}],
        amfs_version="0.2.0",
        custom={"x": 1},
        outcome_count=4,
    )
    before = await adapter.write(given)
    clock.set("2026-06-01")
    (moved,) = await adapter.commit_outcome(outcome("failure", "svc/a/k"))
    assert (moved.version, moved.outcome_count) == (2, 5)
    assert (moved.success_count, moved.failure_count) == (0, 1)
    own = {"version", "confidence", "outcome_count", "failure_count", "integrity_chain", "commit_id"}
    assert text(moved.model_dump(exclude=own)) == text(before.model_dump(exclude=own))
    assert moved.integrity_chain != before.integrity_chain
    assert moved.commit_id != before.commit_id
    old = await adapter.read_at_version("svc/a", "k", 1)
    assert old is not None
    assert (old.confidence, old.outcome_count, old.superseded_at) == (1.0, 4, moved.written_at)
    assert text(await adapter.read("svc/a", "k")) == text(moved)


@proves("outcomes.amfs-as-often-as-named")
async def test_an_outcome_counts_as_often_as_it_is_named_or_reported(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(confidence=1.0))
    record = outcome("success", "svc/a/k", "svc/a/k", at(), at(version=1), at(version=1))
    moved = await adapter.commit_outcome(record)
    assert [each.version for each in moved] == [2, 3, 4, 5, 6]
    assert len(await adapter.commit_outcome(record)) == 5
    newest, _ = await adapter.list_outcomes()
    assert [each.version for each in newest.effects] == [6, 7, 8, 9, 10]
    assert [each.resulting_version for each in newest.effects] == [7, 8, 9, 10, 11]
    assert all(each.applied for each in newest.effects)
    assert await is_sound(adapter)


@proves("outcomes.amfs-as-often-as-named")
async def test_another_outcome_under_the_same_ref_counts_too(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(confidence=1.0))
    await adapter.commit_outcome(outcome("success", "svc/a/k", outcome_ref="same"))
    (moved,) = await adapter.commit_outcome(outcome("failure", "svc/a/k", outcome_ref="same"))
    assert moved.confidence == 1.0 * 0.97 * 1.10


@proves("outcomes.amfs-current-version")
@pytest.mark.parametrize("version", [1, 2, None])
async def test_an_outcome_about_an_older_version_moves_the_current_one(
    adapter: AmfsAdapter, version: int | None
) -> None:
    await adapter.write(draft(value="old", confidence=0.2))
    await adapter.write(draft(value="new", confidence=0.5))
    (moved,) = await adapter.commit_outcome(outcome("failure", at(version=version)))
    assert (moved.version, moved.value, moved.confidence) == (3, "new", 0.5 * 1.10)
    (recorded,) = await adapter.list_outcomes()
    assert (recorded.effects[0].version, recorded.effects[0].resulting_version) == (2, 3)


@proves("outcomes.amfs-arithmetic", "outcomes.refused")
@pytest.mark.parametrize(
    ("before", "causal"), [(1.7e308, 1.0), (1e300, 1e300), (-1.7e308, 1.0), (1.7e308, -1.0)]
)
async def test_a_result_beyond_all_numbers_is_refused(
    adapter: AmfsAdapter, before: float, causal: float
) -> None:
    await adapter.write(draft(key="fine"))
    await adapter.write(draft(confidence=before))
    record = outcome("critical_failure", "svc/a/fine", "svc/a/k", causal_confidence=causal)
    error = await refused(adapter, adapter.commit_outcome(record), InvalidArgumentError)
    assert error.argument == "confidence"


@proves("outcomes.amfs-makes-versions", "privacy.outcomes-apply-to-the-visible")
async def test_a_private_entry_stays_private_after_an_outcome(adapter: AmfsAdapter) -> None:
    await adapter.write(private(agent="bob"))
    (moved,) = await adapter.commit_outcome(outcome("success", "svc/a/k", agent="bob"))
    assert (moved.shared, moved.agent_id) == (False, "bob")
    assert await adapter.read("svc/a", "k", viewer="alice") is None


@proves("outcomes.amfs-makes-versions")
@pytest.mark.parametrize("now", ["2026-01-01", "2027-01-01"])
async def test_an_expired_entry_is_credited_like_any_other(
    adapter: AmfsAdapter, clock: FixedClock, now: str
) -> None:
    stored: dict[str, Any] = {"ttl_at": "2026-06-01"}
    await adapter.write(draft(**stored))
    clock.set(now)
    assert len(await adapter.commit_outcome(outcome("success", "svc/a/k"))) == 1
