"""Exactly the pinned versions, and a warning for each that has moved on."""

from typing import Any

import pytest

from amfs_sqlite import FixedClock
from bridge.handoff.packet import Pin
from bridge.handoff.staleness import resolve
from bridge.operations import entries, outcomes, packets
from bridge.session import SeenVersion, Session
from parity_tests.bridge.conftest import Begin
from parity_tests.drafts import draft, private
from parity_tests.ledger import proves


async def _taken(session: Session) -> packets.Taken:
    taken = await packets.peek(session)
    assert isinstance(taken, packets.Taken)
    return taken


@proves("bridge.resolved", "bridge.stale")
async def test_the_pinned_version_comes_back_though_a_newer_one_exists(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "listing/553", "assessment", {"verdict": "apply", "fee": 600})
    await entries.remember(alice, "listing/482", "assessment", {"verdict": "apply"})
    await packets.give(alice, "to do")
    await entries.remember(alice, "listing/553", "assessment", {"verdict": "maybe", "fee": 400})
    await entries.remember(alice, "listing/553", "assessment", {"verdict": "no", "fee": 400})
    taken = await _taken(bob)
    assert [(each.key, each.version) for each in taken.records] == [("assessment", 1)] * 2
    assert taken.records[0].value == {"verdict": "apply", "fee": 600}
    assert taken.stale == (
        packets.Stale(
            entity_path="listing/553",
            key="assessment",
            pinned_version=1,
            current_version=3,
            change='verdict: "apply" -> "no"; fee: 600 -> 400',
        ),
    )


@proves("bridge.stale-by-value")
async def test_a_record_whose_confidence_moved_is_not_stale(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await packets.give(alice, "to do")
    await outcomes.record_outcome(alice, "failure", "RUN-1")
    taken = await _taken(bob)
    assert taken.stale == ()
    assert taken.records[0].confidence == 0.52


@proves("bridge.stale-by-value")
async def test_a_record_whose_value_came_back_is_not_stale(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", {"a": 1, "b": 2})
    await packets.give(alice, "to do")
    await entries.remember(alice, "svc/a", "k", 2)
    await entries.remember(alice, "svc/a", "k", {"b": 2, "a": 1})
    taken = await _taken(bob)
    assert (taken.stale, taken.records[0].version) == ((), 1)


@proves("bridge.stale-by-value")
@pytest.mark.parametrize(("old", "new"), [(1, 1.0), (1, True), (0, False), ("1", 1), ([], {})])
async def test_a_value_that_only_looks_equal_is_stale(
    alice: Session, bob: Session, old: Any, new: Any
) -> None:
    await entries.remember(alice, "svc/a", "k", old)
    await packets.give(alice, "to do")
    await entries.remember(alice, "svc/a", "k", new)
    (stale,) = (await _taken(bob)).stale
    before, after = stale.change.split(" -> ")
    assert before != after


@proves("bridge.stale")
async def test_a_current_version_that_is_hidden_is_not_named(
    begin: Begin, alice: Session, bob: Session
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await packets.give(alice, "to do")
    await entries.remember(alice, "svc/a", "k", "secret", shared=False)
    taken = await _taken(bob)
    (stale,) = taken.stale
    assert (stale.pinned_version, stale.current_version) == (1, None)
    assert stale.change == "its current version is not visible to you"
    assert [each.value for each in taken.records] == [1]
    (own,) = (await _taken(begin("alice"))).stale
    assert (own.current_version, own.change) == (2, '1 -> "secret"')


@proves("bridge.stale")
async def test_an_expired_record_comes_back_with_a_warning(begin: Begin, clock: FixedClock) -> None:
    alice, bob = begin("alice"), begin("bob")
    for key, ends in (("pinned", "2026-02-01T00:00:00Z"), ("later", None)):
        entry = await alice.adapter.write(draft("svc/a", key, 1, ttl_at=ends))
        alice.touch(entry)
    await packets.give(alice, "to do")
    assert (await _taken(bob)).stale == ()
    await alice.adapter.write(draft("svc/a", "later", 2, ttl_at="2026-02-01T00:00:00Z"))
    clock.set("2026-02-01T00:00:00Z")
    taken = await _taken(bob)
    assert [each.value for each in taken.records] == [1, 1]
    assert [(each.key, each.current_version, each.change) for each in taken.stale] == [
        ("pinned", 1, "it expired at 2026-02-01T00:00:00.000Z"),
        ("later", 2, "it expired at 2026-02-01T00:00:00.000Z"),
    ]


@proves("bridge.resolved")
async def test_what_is_not_as_it_was_pinned_is_left_out_and_told(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    entry = (await entries.remember(alice, "svc/a", "k", 1)).entry
    await entries.remember(alice, "svc/a", "k", 2)
    await alice.adapter.write(private("svc/a", "secret", agent="alice"))
    pin = Pin.of(SeenVersion.of(entry))
    pins = [
        pin.model_copy(update={"content_hash": "0" * 64}),
        pin.model_copy(update={"version": 9}),
        pin.model_copy(update={"key": "secret"}),
        pin.model_copy(update={"key": "never"}),
        pin,
    ]
    resolved = await resolve(bob, pins)
    assert [(each.key, each.value) for each in resolved.records] == [("k", 1)]
    assert [(each.key, each.current_version, each.change) for each in resolved.stale] == [
        ("k", 2, "version 1 does not hold what was pinned; verify the file"),
        ("k", 2, "version 9 is gone, or not visible to you"),
        ("secret", None, "version 1 is gone, or not visible to you"),
        ("never", None, "version 1 is gone, or not visible to you"),
        ("k", 2, "1 -> 2"),
    ]


@proves("bridge.resolved")
def test_what_was_never_stored_cannot_be_pinned() -> None:
    with pytest.raises(ValueError, match="never stored"):
        SeenVersion.of(draft())
