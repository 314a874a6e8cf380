"""Outcomes under any policy: what they name, what is recorded, and how the log is read."""

from typing import Any

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    AmfsAdapter,
    AmfsError,
    EntryNotFoundError,
    EntryRef,
    FixedClock,
    InvalidArgumentError,
    OutcomePolicy,
)
from amfs_sqlite.rules.limits import MAX_OUTCOME_COUNT
from parity_tests.adapters import AdapterOpener
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import refused, state, text


@pytest.fixture(params=[AMFS_0_3, HANDOFF], ids=lambda policy: policy.name)
async def either(open_adapter: AdapterOpener, request: pytest.FixtureRequest) -> AmfsAdapter:
    """An adapter of each kind under each policy."""
    policy: OutcomePolicy = request.param
    return await open_adapter(outcomes=policy)


@proves("outcomes.references")
@pytest.mark.parametrize(
    ("named", "credited"),
    [
        ("a/b/c", ("a/b", "c")),
        ("a/x/y", ("a", "x/y")),
        ("z/1", ("z", "1")),
        ("//", None),
        ("a/b/", ("a/b", "")),
        ("/c", None),
        ("a", None),
        ("", None),
        ("none/such", None),
        ("A/B/C", None),
        ("z/1@1", None),
    ],
)
async def test_a_text_is_tried_at_every_slash_and_passed_over_where_nothing_fits(
    either: AmfsAdapter, named: str, credited: tuple[str, str] | None
) -> None:
    for path, key in (("a/b", "c"), ("a", "b/c"), ("a", "x/y"), ("z", "1")):
        await either.write(draft(path, key, confidence=0.5))
    await either.commit_outcome(outcome("failure", named))
    (recorded,) = await either.list_outcomes()
    moved = [(each.entity_path, each.key) for each in recorded.effects]
    assert moved == ([credited] if credited and credited[1] else [])
    assert recorded.record.causal_entry_keys == (named,)


@proves("outcomes.references")
async def test_texts_come_before_addresses_and_both_in_order(either: AmfsAdapter) -> None:
    for key in "abcd":
        await either.write(draft("p", key, confidence=0.5))
    record = outcome("success", at("p", "b"), "p/d", at("p", "a"), "p/c")
    moved = await either.commit_outcome(record)
    assert [each.key for each in moved] == ["d", "c", "b", "a"]
    (recorded,) = await either.list_outcomes()
    assert [each.key for each in recorded.effects] == ["d", "c", "b", "a"]


@proves("outcomes.unknown-address")
@pytest.mark.parametrize(
    "ref",
    [
        *[at("p", "x"), at("x", "k"), at("p", "k", 3), at("p", "k", 0), at("p", "k", -1)],
        *[at("p", "k", 2**70), at("", "k"), at("p", ""), at("p", "x" * 5000)],
    ],
    ids=lambda ref: str(ref)[:20],
)
async def test_an_address_that_is_not_stored_fails_the_whole_outcome(
    either: AmfsAdapter, ref: EntryRef
) -> None:
    for _ in range(2):
        await either.write(draft("p", "k", confidence=0.5))
    for place in range(3):
        refs = [at("p", "k"), at("p", "k", 2)]
        refs.insert(place, ref)
        attempt = either.commit_outcome(outcome("success", "p/k", *refs))
        error = await refused(either, attempt, EntryNotFoundError)
        assert (error.entity_path, error.key, error.version) == (ref.entity_path, ref.key, ref.version)


@proves("outcomes.refused")
@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"outcome_type": "great"}, "outcome_type"),
        ({"outcome_type": "SUCCESS"}, "outcome_type"),
        ({"outcome_type": ""}, "outcome_type"),
        ({"causal_confidence": float("nan")}, "causal_confidence"),
        ({"causal_confidence": float("inf")}, "causal_confidence"),
        ({"outcome_ref": "x" * 4097}, "outcome_ref"),
        ({"note": "x" * 65_537}, "note"),
        ({"causal_entry_keys": ["x" * 8194]}, "causal_entry_keys"),
    ],
)
async def test_an_outcome_that_cannot_be_accepted_is_refused_by_name(
    either: AmfsAdapter, fields: dict[str, Any], argument: str
) -> None:
    await either.write(draft(confidence=0.5))
    record = outcome(**{"outcome_type": "success", **fields}).model_copy(update={"refs": (at(),)})
    error = await refused(either, either.commit_outcome(record), InvalidArgumentError)
    assert error.argument == argument


@proves("outcomes.recorded-whole")
async def test_a_record_is_stored_whole_whatever_it_moved(either: AmfsAdapter, clock: FixedClock) -> None:
    await either.write(draft(confidence=0.5))
    given = outcome(
        "p1_incident",
        "svc/a/k",
        "no/such",
        at(version=1),
        note="a\0b é",
        session_id="s-1",
        causal_confidence=0.25,
        committed_at="2020-02-02T02:02:02.000002+02:00",
        sessionMetadata={"z": [1.0, None], "a": 1},
    )
    await either.commit_outcome(given)
    await either.commit_outcome(outcome("success", outcome_ref="bare"))
    bare, whole = await either.list_outcomes()
    assert text(whole.record) == text(given)
    assert bare.record.committed_at == clock.now()
    assert bare.effects == ()


@proves("outcomes.one-commit")
async def test_each_outcome_is_recorded_with_a_commit_of_its_own(either: AmfsAdapter) -> None:
    for key in "ab":
        await either.write(draft("p", key, confidence=0.5))
    for ref in ("one", "two"):
        await either.commit_outcome(outcome("success", "p/a", "p/b", outcome_ref=ref))
    second, first = await either.list_outcomes()
    assert "" not in (first.commit_id, second.commit_id)
    assert first.commit_id != second.commit_id
    assert second.sequence == first.sequence + 1


@proves("outcomes.copies")
async def test_no_entry_that_an_outcome_moved_and_no_record_is_the_stored_object(
    either: AmfsAdapter,
) -> None:
    await either.write(draft(value=[1], confidence=0.5))
    given = outcome("success", at(), custom=[1])
    moved = await either.commit_outcome(given)
    before = await state(either)
    for entry in moved:
        entry.value.append("changed")
    for recorded in await either.list_outcomes():
        (recorded.record.model_extra or {})["custom"].append("changed")
    assert given.model_extra == {"custom": [1]}
    (given.model_extra or {})["custom"].append("changed")
    assert await state(either) == before


@proves("outcomes.one-commit")
async def test_an_outcome_is_one_commit(either: AmfsAdapter) -> None:
    for key in "ab":
        await either.write(draft("p", key, confidence=0.5))
    record = outcome("success", "p/a", "p/b", agent="bob", session_id="s-2")
    moved = await either.commit_outcome(record)
    (recorded,) = await either.list_outcomes()
    commit, *_ = await either.list_commits()
    assert (commit.kind, commit.author_agent_id, commit.session_id) == ("outcome", "bob", "s-2")
    assert (recorded.commit_id, recorded.sequence) == (commit.id, commit.sequence)
    assert commit.effects == recorded.effects
    written = [(each.key, each.version) for each in commit.entries]
    assert written == [(each.key, each.version) for each in moved if each.version == 2]


@proves("outcomes.empty")
async def test_an_outcome_without_references_is_recorded(either: AmfsAdapter) -> None:
    assert list(await either.commit_outcome(outcome("failure"))) == []
    (recorded,) = await either.list_outcomes()
    assert recorded.effects == ()
    assert await is_sound(either)


@proves("outcomes.effects")
async def test_an_effect_tells_before_and_after(either: AmfsAdapter) -> None:
    await either.write(draft(confidence=0.6))
    (moved,) = await either.commit_outcome(outcome("failure", at()))
    (recorded,) = await either.list_outcomes()
    (effect,) = recorded.effects
    assert (effect.entity_path, effect.key, effect.version) == ("svc/a", "k", 1)
    assert (effect.confidence_before, effect.confidence_after) == (0.6, moved.confidence)
    assert effect.policy == either.policy_name
    assert (effect.applied, effect.reason) == (True, None)
    assert effect.resulting_version == moved.version
    read = await either.read("svc/a", "k")
    assert read is not None
    assert read.confidence == moved.confidence != 0.6


@proves("outcomes.counts")
async def test_outcomes_are_counted_until_the_value_is_written_again(either: AmfsAdapter) -> None:
    await either.write(draft(confidence=0.5, outcome_count=10))
    for n, kind in enumerate(["success", "clean_deploy", "failure", "minor_failure", "success"]):
        await either.commit_outcome(outcome(kind, at(), outcome_ref=str(n)))
    read = await either.read("svc/a", "k")
    assert read is not None
    assert (read.outcome_count, read.success_count, read.failure_count) == (15, 3, 2)
    fresh = await either.write(draft(confidence=0.5, outcome_count=15))
    assert (fresh.outcome_count, fresh.success_count, fresh.failure_count) == (15, 0, 0)


@proves("privacy.outcomes-apply-to-the-visible")
async def test_to_other_agents_private_entries_nothing_happens(either: AmfsAdapter) -> None:
    await either.write(private(agent="bob", confidence=0.5))
    await either.commit_outcome(outcome("failure", "svc/a/k", agent="alice"))
    (recorded,) = await either.list_outcomes()
    assert recorded.effects == ()
    for version in (None, 1):
        attempt = either.commit_outcome(outcome("failure", at(version=version), agent="alice"))
        await refused(either, attempt, EntryNotFoundError)
    await either.commit_outcome(outcome("failure", "svc/a/k", agent="bob", outcome_ref="own"))
    newest, _ = await either.list_outcomes()
    assert len(newest.effects) == 1


@proves("privacy.outcomes-apply-to-the-visible", "outcomes.references")
async def test_a_hidden_entry_does_not_make_a_text_ambiguous(either: AmfsAdapter) -> None:
    await either.write(private("a/b", "c", agent="bob", confidence=0.5))
    await either.write(draft("a", "b/c", confidence=0.5))
    await either.commit_outcome(outcome("failure", "a/b/c", agent="alice"))
    (recorded,) = await either.list_outcomes()
    assert [(each.entity_path, each.key) for each in recorded.effects] == [("a", "b/c")]


@proves("outcomes.refused")
async def test_a_refused_outcome_does_not_stand_in_the_way_of_the_right_one(
    either: AmfsAdapter,
) -> None:
    await either.write(draft(confidence=0.5))
    for bad in (outcome("great", at()), outcome("success", at(), at(key="none"))):
        await refused(either, either.commit_outcome(bad), AmfsError)
    assert len(await either.commit_outcome(outcome("failure", at()))) == 1


@proves("privacy.outcomes-apply-to-the-visible")
async def test_an_outcome_about_a_visible_version_does_not_move_a_hidden_one(
    either: AmfsAdapter,
) -> None:
    await either.write(draft(value="open", agent="alice", confidence=0.5))
    await either.write(private(value="hidden", agent="bob", confidence=0.25))
    assert list(await either.commit_outcome(outcome("failure", at(version=1)))) == []
    (recorded,) = await either.list_outcomes(viewer="alice")
    (effect,) = recorded.effects
    assert (effect.version, effect.applied, effect.resulting_version) == (1, False, None)
    assert (effect.confidence_before, effect.confidence_after) == (0.5, 0.5)
    current = await either.read("svc/a", "k")
    assert current is not None
    assert (current.version, current.confidence, current.outcome_count) == (2, 0.25, 0)


@proves("outcomes.refused")
async def test_an_entry_with_the_largest_outcome_count_takes_no_more(either: AmfsAdapter) -> None:
    await either.write(draft(key="last", confidence=0.5, outcome_count=MAX_OUTCOME_COUNT - 1))
    (moved,) = await either.commit_outcome(outcome("failure", at(key="last")))
    assert moved.outcome_count == MAX_OUTCOME_COUNT
    attempt = either.commit_outcome(outcome("failure", at(key="last"), outcome_ref="run-2"))
    assert (await refused(either, attempt, InvalidArgumentError)).argument == "outcome_count"
