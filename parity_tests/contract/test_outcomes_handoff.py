"""Outcomes under the handoff policy: opinions move in place, once per outcome and entry."""

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    AmfsAdapter,
    InvalidArgumentError,
    OutcomeConflictError,
    OutcomeType,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import refused, text

FAILURES = {
    "minor_failure": 0.85,
    "regression": 0.85,
    "failure": 0.65,
    "p2_incident": 0.65,
    "critical_failure": 0.40,
    "p1_incident": 0.40,
}


@proves("outcomes.handoff-arithmetic")
@pytest.mark.parametrize(
    ("kind", "before", "causal", "after"),
    [
        ("success", 0.8, 1.0, 0.84),
        ("clean_deploy", 0.8, 1.0, 0.84),
        ("success", 0.0, 1.0, 0.2),
        ("success", 1.0, 1.0, 1.0),
        ("success", 0.5, 0.5, 0.55),
        ("success", 0.5, 0.0, 0.5),
        ("failure", 0.6, 1.0, 0.39),
        ("failure", 0.6, 0.5, 0.495),
        ("failure", 0.0, 1.0, 0.0),
        *[(kind, 1.0, 1.0, scale) for kind, scale in FAILURES.items()],
    ],
)
async def test_success_closes_a_fifth_of_the_gap_and_failure_scales_down(
    handoff_adapter: AmfsAdapter, kind: str, before: float, causal: float, after: float
) -> None:
    await handoff_adapter.write(draft(confidence=before))
    record = outcome(kind, "svc/a/k", causal_confidence=causal)
    (moved,) = await handoff_adapter.commit_outcome(record)
    assert moved.confidence == after


@proves("outcomes.handoff-bounds")
@pytest.mark.parametrize("kind", OutcomeType)
def test_no_number_of_outcomes_leaves_the_bounds_or_ends_recovery(kind: OutcomeType) -> None:
    confidence = 0.5
    for _ in range(10_000):
        confidence = HANDOFF.after(confidence, kind, 1.0)
        assert 0.0 < confidence < 1.0
    assert HANDOFF.after(confidence, OutcomeType.SUCCESS, 1.0) >= min(0.2, confidence)
    assert HANDOFF.after(confidence, OutcomeType.FAILURE, 1.0) <= max(0.65, confidence)
    assert HANDOFF.after(0.0, OutcomeType.SUCCESS, 1.0) == 0.2
    assert HANDOFF.after(1.0, OutcomeType.FAILURE, 1.0) == 0.65


@proves("outcomes.handoff-bounds")
@pytest.mark.parametrize("start", [0.0, 0.1, 0.5, 0.8, 0.99, 1.0])
def test_success_never_lowers_and_failure_never_raises_a_confidence(start: float) -> None:
    for kind in OutcomeType:
        for causal in (0.0, 0.3, 1.0):
            after = HANDOFF.after(start, kind, causal)
            assert after <= start if kind in FAILURES else after >= start


@proves("outcomes.handoff-in-place")
async def test_an_opinion_moves_without_a_new_version(handoff_adapter: AmfsAdapter) -> None:
    before = await handoff_adapter.write(draft(confidence=0.8, outcome_count=2))
    (moved,) = await handoff_adapter.commit_outcome(outcome("success", "svc/a/k"))
    assert (moved.version, moved.confidence, moved.outcome_count) == (1, 0.84, 3)
    assert (moved.success_count, moved.failure_count) == (1, 0)
    own = {"confidence", "outcome_count", "success_count"}
    assert text(moved.model_dump(exclude=own)) == text(before.model_dump(exclude=own))
    (version,) = await handoff_adapter.history("svc/a", "k")
    for stored in (
        version,
        await handoff_adapter.read("svc/a", "k"),
        await handoff_adapter.read_at_version("svc/a", "k", 1),
        *await handoff_adapter.list(),
    ):
        assert text(stored) == text(moved)
    (recorded,) = await handoff_adapter.list_outcomes()
    assert recorded.effects[0].resulting_version == recorded.effects[0].version == 1


@proves("outcomes.handoff-in-place", "entries.last-opinion")
async def test_a_superseded_version_shows_its_last_opinion(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(draft(value=1, confidence=0.8))
    await handoff_adapter.commit_outcome(outcome("success", at(), outcome_ref="a"))
    await handoff_adapter.commit_outcome(outcome("failure", at(), outcome_ref="b"))
    last = await handoff_adapter.read("svc/a", "k")
    assert last is not None
    await handoff_adapter.write(draft(value=2, confidence=0.5))
    await handoff_adapter.commit_outcome(outcome("failure", at(), outcome_ref="c"))
    superseded = await handoff_adapter.read_at_version("svc/a", "k", 1)
    assert superseded is not None
    assert superseded.superseded_at is not None
    without_stamp = superseded.model_copy(update={"superseded_at": None})
    assert text(without_stamp) == text(last)
    assert superseded.confidence == 0.546
    assert (superseded.success_count, superseded.failure_count) == (1, 1)
    history = await handoff_adapter.history("svc/a", "k")
    listed = await handoff_adapter.list(include_superseded=True)
    assert text(history) == text(listed)
    assert text(history[0]) == text(superseded)


@proves("outcomes.handoff-once")
async def test_an_outcome_counts_once_however_often_it_is_reported(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft(confidence=0.8))
    await handoff_adapter.commit_outcome(outcome("success", at()))
    again = outcome("success", at(version=1), agent="bob")
    assert list(await handoff_adapter.commit_outcome(again)) == []
    newest, first = await handoff_adapter.list_outcomes()
    (effect,) = newest.effects
    assert (effect.applied, effect.reason, effect.resulting_version) == (
        False,
        "already_applied",
        None,
    )
    assert (effect.version, effect.confidence_before, effect.confidence_after) == (1, 0.84, 0.84)
    assert first.effects[0].applied
    (listed,) = await handoff_adapter.list()
    assert (listed.confidence, listed.outcome_count, listed.success_count) == (0.84, 1, 1)


@proves("outcomes.handoff-once")
async def test_an_entry_named_several_times_in_one_outcome_moves_once(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft(confidence=0.8))
    record = outcome("success", "svc/a/k", "svc/a/k", at(), at(version=1), at(version=1))
    (moved,) = await handoff_adapter.commit_outcome(record)
    assert moved.confidence == 0.84
    (recorded,) = await handoff_adapter.list_outcomes()
    first, *others = [(each.applied, each.reason) for each in recorded.effects]
    assert first == (True, None)
    assert {*others} <= {(False, "already_applied")}
    assert await is_sound(handoff_adapter)


@proves("outcomes.handoff-once")
async def test_an_outcome_stays_counted_after_the_value_is_written_again(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft(value=1, confidence=0.8))
    await handoff_adapter.commit_outcome(outcome("success", at()))
    await handoff_adapter.write(draft(value=2, confidence=0.5))
    assert list(await handoff_adapter.commit_outcome(outcome("success", at()))) == []
    newest, _ = await handoff_adapter.list_outcomes()
    assert newest.effects[0].reason == "already_applied"
    assert (newest.effects[0].version, newest.effects[0].confidence_after) == (2, 0.5)


@proves("outcomes.handoff-once")
@pytest.mark.parametrize("other", ["failure", "minor_failure", "clean_deploy"])
async def test_another_outcome_for_the_same_ref_and_entry_is_a_conflict(
    handoff_adapter: AmfsAdapter, other: str
) -> None:
    for key in ("k", "free"):
        await handoff_adapter.write(draft(key=key, confidence=0.8))
    await handoff_adapter.commit_outcome(outcome("success", at()))
    attempt = handoff_adapter.commit_outcome(outcome(other, at(key="free"), at(), agent="bob"))
    error = await refused(handoff_adapter, attempt, OutcomeConflictError)
    assert (error.outcome_ref, error.entity_path, error.key) == ("run-1", "svc/a", "k")
    assert (error.recorded, error.reported) == ("success", other)
    (moved,) = await handoff_adapter.commit_outcome(outcome(other, at(key="free")))
    assert moved.key == "free"


@proves("outcomes.handoff-stale")
@pytest.mark.parametrize("hidden", [False, True])
async def test_an_outcome_about_a_value_that_moved_on_moves_nothing(
    handoff_adapter: AmfsAdapter, hidden: bool
) -> None:
    await handoff_adapter.write(draft(value="old", confidence=0.8))
    await handoff_adapter.write(draft(value="new", confidence=0.5, agent="bob", shared=not hidden))
    assert list(await handoff_adapter.commit_outcome(outcome("success", at(version=1)))) == []
    (recorded,) = await handoff_adapter.list_outcomes()
    (effect,) = recorded.effects
    assert (effect.version, effect.applied, effect.reason) == (1, False, "stale")
    assert effect.resulting_version is None
    (old, new) = await handoff_adapter.history("svc/a", "k")
    assert (old.confidence, old.outcome_count) == (0.8, 0)
    assert (new.confidence, new.outcome_count) == (0.5, 0)
    assert await is_sound(handoff_adapter)


@proves("outcomes.handoff-stale")
async def test_a_stale_report_does_not_use_the_outcome_up(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(draft(value="old", confidence=0.8))
    await handoff_adapter.write(draft(value="new", confidence=0.8))
    await handoff_adapter.commit_outcome(outcome("success", at(version=1)))
    (moved,) = await handoff_adapter.commit_outcome(outcome("success", at(version=2)))
    assert (moved.version, moved.confidence) == (2, 0.84)
    attempt = handoff_adapter.commit_outcome(outcome("failure", at(version=1)))
    await refused(handoff_adapter, attempt, OutcomeConflictError)


@proves("outcomes.handoff-stale")
async def test_a_version_with_the_same_value_is_not_stale(handoff_adapter: AmfsAdapter) -> None:
    for value in ("a", "b", "a"):
        await handoff_adapter.write(draft(value=value, confidence=0.8, tags=(value,)))
    (moved,) = await handoff_adapter.commit_outcome(outcome("success", at(version=1)))
    assert (moved.version, moved.confidence) == (3, 0.84)
    (recorded,) = await handoff_adapter.list_outcomes()
    assert (recorded.effects[0].version, recorded.effects[0].resulting_version) == (3, 3)


@proves("outcomes.handoff-refused")
@pytest.mark.parametrize("confidence", [-0.0001, 1.0001, 1.5, -1.0, 1e308])
async def test_a_confidence_outside_0_to_1_is_not_written(
    handoff_adapter: AmfsAdapter, confidence: float
) -> None:
    attempt = handoff_adapter.write(draft(confidence=confidence))
    assert (await refused(handoff_adapter, attempt, InvalidArgumentError)).argument == "confidence"


@proves("outcomes.handoff-refused")
@pytest.mark.parametrize("confidence", [-0.0001, 1.0001, 1.5, -1.0, 1e308])
async def test_a_causal_confidence_outside_0_to_1_is_refused(
    handoff_adapter: AmfsAdapter, confidence: float
) -> None:
    await handoff_adapter.write(draft(confidence=0.0))
    record = outcome("success", at(), causal_confidence=confidence)
    attempt_outcome = handoff_adapter.commit_outcome(record)
    error = await refused(handoff_adapter, attempt_outcome, InvalidArgumentError)
    assert error.argument == "causal_confidence"


@proves("outcomes.handoff-bounds")
@pytest.mark.parametrize(
    ("found", "kind", "after"), [(1.5, "failure", 0.65), (-3.0, "success", 0.2), (7.0, "success", 1)]
)
async def test_a_confidence_found_outside_0_to_1_is_clamped_first(
    open_shared: AdapterOpener, found: float, kind: str, after: float
) -> None:
    under_amfs = await open_shared(store="one", outcomes=AMFS_0_3)
    under_handoff = await open_shared(store="one", outcomes=HANDOFF)
    await under_amfs.write(draft(confidence=found))
    (moved,) = await under_handoff.commit_outcome(outcome(kind, at()))
    assert moved.confidence == after
    (recorded,) = await under_amfs.list_outcomes()
    assert recorded.effects[0].policy == "handoff"
    assert (await under_amfs.verify()).ok


@proves("outcomes.handoff-in-place", "privacy.outcomes-apply-to-the-visible")
async def test_an_own_private_entry_moves_in_place(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(private(confidence=0.8))
    (moved,) = await handoff_adapter.commit_outcome(outcome("success", "svc/a/k"))
    assert (moved.confidence, moved.shared) == (0.84, False)
