"""Reporting what happened."""

import asyncio
from typing import Any

import pytest

from amfs_sqlite import (
    EntryNotFoundError,
    EntryRef,
    InvalidArgumentError,
    OutcomeConflictError,
)
from amfs_sqlite.rules.limits import MAX_REFERENCES
from bridge.errors import (
    NothingTouchedError,
    PacketNotFoundError,
    PacketStateError,
    ReservedPathError,
)
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves
from parity_tests.state import refused, state


async def _confidence(session: Session, key: str) -> float:
    entry = await session.adapter.read("svc/a", key)
    assert entry is not None
    return entry.confidence


async def _handed_over(alice: Session, bob: Session, *keys: str) -> str:
    """The id of a packet that pins these records, given by alice and taken by bob."""
    for key in keys:
        await entries.remember(alice, "svc/a", key, 1)
    packet = (await packets.give(alice, "to do", refs=[at("svc/a", key) for key in keys])).packet
    await packets.take(bob, packet.id)
    return packet.id


@proves("bridge.outcome-confidence")
@pytest.mark.parametrize(
    ("outcome", "before", "after"),
    [
        ("success", 0.8, 0.84),
        ("failure", 0.6, 0.39),
        ("minor_failure", 0.8, 0.68),
        ("critical_failure", 0.8, 0.32),
        ("success", 1.0, 1.0),
        ("failure", 0.0, 0.0),
    ],
)
async def test_an_outcome_moves_confidence_and_makes_no_version(
    alice: Session, outcome: str, before: float, after: float
) -> None:
    await entries.remember(alice, "svc/a", "k", 1, confidence=before)
    report = await outcomes.record_outcome(alice, outcome, "RUN-1", note="as seen")
    (effect,) = report.effects
    assert (effect.confidence_before, effect.confidence_after) == (before, after)
    assert (effect.applied, effect.version, effect.resulting_version) == (True, 1, 1)
    assert report.packet is None
    (version,) = await entries.history(alice, "svc/a", "k")
    assert (version.confidence, version.outcome_count) == (after, 1)
    (recorded,) = await outcomes.list_outcomes(alice)
    assert (recorded.record.outcome_ref, recorded.record.note) == ("RUN-1", "as seen")
    assert (recorded.record.agent_id, recorded.record.session_id) == ("alice", "sess-1")
    assert recorded.effects == report.effects


@proves("bridge.outcome-confidence")
async def test_confidence_never_leaves_its_range_and_can_recover(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    for outcome in ("success", "failure", "success"):
        for number in range(60):
            await outcomes.record_outcome(alice, outcome, f"{outcome}-{number}")
            assert 0.0 <= await _confidence(alice, "k") <= 1.0
        await entries.read(alice, "svc/a", "k")
    assert await _confidence(alice, "k") < 0.9


@proves("bridge.outcome-touched")
async def test_without_refs_exactly_what_was_touched_is_credited(begin: Begin) -> None:
    other, session = begin("bob"), begin("alice")
    for key in ("read", "unseen"):
        await entries.remember(other, "svc/a", key, 1)
    await entries.read(session, "svc/a", "read")
    await entries.remember(session, "svc/a", "written", 1, shared=False)
    report = await outcomes.record_outcome(session, "success", "RUN-1")
    assert [each.key for each in report.effects] == ["read", "written"]
    assert await _confidence(other, "unseen") == 0.8
    assert await _confidence(other, "written") == 0.84


@proves("bridge.outcome-touched")
async def test_what_was_superseded_since_it_was_touched_is_reported_and_not_moved(
    alice: Session, bob: Session
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await entries.remember(alice, "svc/a", "same", 1)
    await entries.remember(bob, "svc/a", "k", 2)
    await entries.remember(bob, "svc/a", "same", 1, tags=["new"])
    report = await outcomes.record_outcome(alice, "failure", "RUN-1")
    stale, same = report.effects
    assert (stale.version, stale.applied, stale.reason) == (1, False, "stale")
    assert await _confidence(alice, "k") == 0.8
    assert (same.applied, same.confidence_after) == (True, 0.52)


@proves("bridge.outcome-last")
@pytest.mark.parametrize("closing", [False, True])
async def test_of_more_touched_records_than_an_outcome_has_room_for_the_last_ones_are_credited(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch, closing: bool
) -> None:
    monkeypatch.setattr(outcomes, "MAX_REFERENCES", 2)
    packet_id = await _handed_over(alice, bob) if closing else None
    for key in "abc":
        await entries.remember(bob, "svc/a", key, 1)
    await entries.read(bob, "svc/a", "a")
    report = await outcomes.record_outcome(bob, "success", "RUN-1", handoff_id=packet_id)
    assert ([each.key for each in report.effects], report.older_count) == (["a", "c"], 1)
    named = await outcomes.record_outcome(bob, "success", "RUN-2", refs=[at("svc/a", "b")])
    assert ([each.key for each in named.effects], named.older_count) == (["b"], 0)


@proves("bridge.outcome-last")
async def test_as_many_touched_records_as_an_outcome_takes_are_credited(alice: Session) -> None:
    drafts = [draft("svc", f"k{i}", confidence=0.5) for i in range(MAX_REFERENCES + 1)]
    for entry in await alice.adapter.write_batch(drafts):
        alice.touch(entry)
    report = await outcomes.record_outcome(alice, "success", "RUN-1")
    assert (len(report.effects), report.older_count) == (MAX_REFERENCES, 1)


@proves("bridge.outcome-touched")
async def test_with_nothing_to_credit_it_says_what_to_do(begin: Begin) -> None:
    session = begin("alice")
    await entries.remember(begin("bob"), "svc/a", "k", 1)
    for refs in (None, ()):
        attempt = outcomes.record_outcome(session, "success", "RUN-1", refs=refs)
        error = await refused(session.adapter, attempt, NothingTouchedError)
        assert "name the records" in str(error)


@proves("bridge.outcome-once")
async def test_the_same_outcome_again_moves_nothing_and_another_is_a_conflict(
    alice: Session,
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await outcomes.record_outcome(alice, "success", "RUN-1")
    (again,) = (await outcomes.record_outcome(alice, "success", "RUN-1")).effects
    assert (again.applied, again.reason) == (False, "already_applied")
    assert (again.confidence_before, again.confidence_after) == (0.84, 0.84)
    attempt = outcomes.record_outcome(alice, "failure", "RUN-1")
    await refused(alice.adapter, attempt, OutcomeConflictError)
    await outcomes.record_outcome(alice, "failure", "RUN-2")
    assert await _confidence(alice, "k") == 0.546


@proves("bridge.outcome-refused")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"outcome": "partial"}, "outcome_type"),
        ({"outcome": ""}, "outcome_type"),
        ({"outcome_ref": ""}, "outcome_ref"),
        ({"outcome_ref": "\ud83d"}, "outcome_ref"),
        ({"note": "x" * 70_000}, "note"),
        ({"note": "\ud83d"}, "note"),
        ({"refs": [at("svc/a", "k")] * (MAX_REFERENCES + 1)}, "refs"),
    ],
)
async def test_bad_input_is_named_and_nothing_moves(
    alice: Session, bob: Session, change: dict[str, Any], named: str
) -> None:
    packet_id = await _handed_over(alice, bob, "k")
    wanted = {"outcome": "success", "outcome_ref": "RUN-1", "handoff_id": packet_id} | change
    attempt = outcomes.record_outcome(bob, **wanted)
    assert (await refused(bob.adapter, attempt, InvalidArgumentError)).argument == named


@proves("bridge.outcome-refused")
@pytest.mark.parametrize(
    ("ref", "error"),
    [
        (at("svc/a", "never"), EntryNotFoundError),
        (at("svc/a", "k", 9), EntryNotFoundError),
        (at("svc/a", "secret"), EntryNotFoundError),
        (at("_system/handoff", "h_00000001"), ReservedPathError),
    ],
)
async def test_a_bad_ref_leaves_the_packet_claimed_and_moves_nothing(
    alice: Session, bob: Session, ref: EntryRef, error: type[Exception]
) -> None:
    await entries.remember(alice, "svc/a", "secret", 1, shared=False)
    packet_id = await _handed_over(alice, bob, "k")
    attempt = outcomes.record_outcome(
        bob, "success", "RUN-1", refs=[at("svc/a", "k"), ref], handoff_id=packet_id
    )
    await refused(bob.adapter, attempt, error)
    assert (await packets.show(bob, packet_id)).state == "claimed"


@proves("bridge.outcome-closes")
async def test_the_outcome_and_the_closing_are_one_commit(alice: Session, bob: Session) -> None:
    packet_id = await _handed_over(alice, bob, "a", "b")
    before = len(await bob.adapter.list_commits())
    report = await outcomes.record_outcome(bob, "success", "RUN-1", handoff_id=packet_id)
    assert [each.key for each in report.effects] == ["a", "b"]
    assert report.packet is not None
    assert report.packet == await packets.show(alice, packet_id)
    assert (report.packet.state, report.packet.outcome_ref) == ("closed", "RUN-1")
    assert (report.packet.claimed_by, report.packet.closed_at) == ("bob", bob.clock.now())
    log = await bob.adapter.list_commits()
    assert len(log) == before + 1
    assert [each.key for each in log[0].entries] == [packet_id]
    assert log[0].effects == report.effects
    assert (await bob.adapter.verify()).ok


@proves("bridge.outcome-closes")
async def test_a_session_that_touched_nothing_credits_what_the_packet_pins(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    packet_id = await _handed_over(alice, bob, "a")
    await entries.remember(alice, "svc/a", "a", 2)
    await entries.remember(alice, "svc/a", "other", 2)
    report = await outcomes.record_outcome(begin("bob"), "success", "RUN-1", handoff_id=packet_id)
    assert [(each.key, each.version, each.reason) for each in report.effects] == [("a", 1, "stale")]


@proves("bridge.outcome-closes")
async def test_a_packet_without_pins_is_closed_by_a_session_that_touched_nothing(
    alice: Session, bob: Session
) -> None:
    packet_id = await _handed_over(alice, bob)
    report = await outcomes.record_outcome(bob, "success", "RUN-1", handoff_id=packet_id)
    assert report.effects == ()
    assert report.packet is not None
    assert report.packet.state == "closed"
    assert [each.record.outcome_ref for each in await outcomes.list_outcomes(bob)] == ["RUN-1"]


@proves("bridge.outcome-closes")
async def test_only_the_holder_closes(begin: Begin) -> None:
    alice, bob, owner = begin("alice"), begin("bob"), begin("desk", owner=True)
    packet_id = await _handed_over(alice, bob, "k")
    for session in (alice, begin("carol"), owner):
        attempt = outcomes.record_outcome(
            session, "success", "RUN-1", refs=[at("svc/a", "k")], handoff_id=packet_id
        )
        error = await refused(bob.adapter, attempt, PacketStateError)
        assert (error.claimed_by, error.wanted) == ("bob", "closed")
    attempt = outcomes.record_outcome(bob, "success", "RUN-1", handoff_id="h_0")
    await refused(bob.adapter, attempt, PacketNotFoundError)
    report = await outcomes.record_outcome(begin("bob"), "success", "RUN-1", handoff_id=packet_id)
    assert report.packet is not None


@proves("bridge.outcome-closes")
async def test_a_conflicting_outcome_leaves_the_packet_claimed(alice: Session, bob: Session) -> None:
    packet_id = await _handed_over(alice, bob, "k")
    await outcomes.record_outcome(alice, "failure", "RUN-1")
    attempt = outcomes.record_outcome(bob, "success", "RUN-1", handoff_id=packet_id)
    await refused(bob.adapter, attempt, OutcomeConflictError)
    report = await outcomes.record_outcome(bob, "failure", "RUN-1", handoff_id=packet_id)
    assert [each.reason for each in report.effects] == ["already_applied"]
    assert report.packet is not None


@proves("bridge.outcome-retry")
async def test_a_call_whose_answer_was_lost_can_be_repeated(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    packet_id = await _handed_over(alice, bob, "a", "b")
    first = await outcomes.record_outcome(bob, "success", "RUN-1", handoff_id=packet_id)
    for session in (bob, begin("bob")):
        again = await outcomes.record_outcome(session, "success", "RUN-1", handoff_id=packet_id)
        assert again.packet == first.packet
        assert [each.key for each in again.effects] == ["a", "b"]
        assert {each.reason for each in again.effects} == {"already_applied"}
    assert await _confidence(alice, "a") == 0.84
    for outcome, run in (("success", "RUN-2"), ("failure", "RUN-1")):
        with pytest.raises((PacketStateError, OutcomeConflictError)):
            await outcomes.record_outcome(bob, outcome, run, handoff_id=packet_id)


@proves("bridge.outcomes-listed")
async def test_outcomes_are_listed_newest_first_page_by_page(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    for number in range(5):
        await outcomes.record_outcome(alice, "success", f"RUN-{number}")
    first = await outcomes.list_outcomes(bob, limit=2)
    rest = await outcomes.list_outcomes(bob, before=first[-1].sequence)
    listed = [each.record.outcome_ref for each in (*first, *rest)]
    assert listed == ["RUN-4", "RUN-3", "RUN-2", "RUN-1", "RUN-0"]
    (one,) = await outcomes.list_outcomes(bob, outcome_ref="RUN-3")
    assert one.record.outcome_ref == "RUN-3"


@proves("bridge.outcomes-listed")
async def test_outcomes_of_private_records_are_their_agents_own(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    await entries.remember(alice, "svc/a", "secret", 1, shared=False)
    await outcomes.record_outcome(alice, "success", "RUN-1")
    assert len(await outcomes.list_outcomes(alice)) == 1
    assert list(await outcomes.list_outcomes(bob)) == []
    assert len(await outcomes.list_outcomes(begin("desk", owner=True))) == 1
    before = await state(bob.adapter, "bob")
    assert "secret" not in before


@proves("bridge.outcome-retry")
async def test_two_reports_of_one_outcome_at_once_apply_once(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    packet_id = await _handed_over(alice, bob, "k")
    reports = await asyncio.gather(
        *(outcomes.record_outcome(begin("bob"), "success", "RUN-1", handoff_id=packet_id) for _ in range(4))
    )
    applied = [each.applied for report in reports for each in report.effects]
    assert sorted(applied) == [False, False, False, True]
    assert await _confidence(alice, "k") == 0.84
    assert len(await bob.adapter.history("_system/handoff", packet_id)) == 3


@proves("bridge.outcome-repeated-close")
async def test_a_repeated_close_by_another_session_moves_what_the_first_one_named(
    begin: Begin, alice: Session, bob: Session
) -> None:
    handoff_id = await _handed_over(alice, bob, "x", "y")
    await outcomes.record_outcome(bob, "failure", "R", refs=[at("svc/a", "x", 1)], handoff_id=handoff_id)
    later = begin("bob")
    report = await outcomes.record_outcome(later, "failure", "R", handoff_id=handoff_id)
    assert [(each.key, each.reason) for each in report.effects] == [("x", "already_applied")]
    assert await _confidence(alice, "y") == 0.8
