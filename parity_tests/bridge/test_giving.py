"""Giving: what a packet holds, what it pins, and that it is given once."""

import asyncio
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    CountedIds,
    EntryNotFoundError,
    EntryRef,
    FixedClock,
    IdempotencyConflictError,
    IdSource,
    InvalidArgumentError,
)
from bridge.errors import PrivatePinError, ReservedPathError
from bridge.handoff import addressees, giving, requests
from bridge.operations import entries, packets, search
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves
from parity_tests.state import refused, state


@proves("bridge.packet-content")
async def test_all_that_was_said_comes_back_from_taking(
    alice: Session, bob: Session, clock: FixedClock
) -> None:
    entry = (await entries.remember(alice, "svc/a", "k", {"v": [1, "é"]})).entry
    given = await packets.give(
        alice,
        "Done\nhalf of it",
        next_steps=["first", "then"],
        open_questions=["why?", "路径"],
        to_agent="bob",
    )
    taken = await packets.take(bob)
    assert isinstance(taken, packets.Taken)
    packet = taken.packet
    assert packet.id == given.packet.id
    assert (packet.summary, packet.next_steps) == ("Done\nhalf of it", ("first", "then"))
    assert packet.open_questions == ("why?", "路径")
    assert (packet.from_agent, packet.to_agent) == ("alice", "bob")
    assert (packet.session_id, packet.created_at) == ("sess-1", clock.now())
    (pin,) = packet.pins
    assert (pin.ref, pin.content_hash) == (entry.ref, entry.content_hash)
    assert taken.records == (entry,)


@proves("bridge.packet-entry")
@pytest.mark.parametrize(("to_agent", "tag"), [(None, "to-anyone"), ("bob", "to:bob")])
async def test_a_packet_is_an_entry_with_its_changes_as_versions(
    alice: Session, bob: Session, to_agent: str | None, tag: str
) -> None:
    given = (await packets.give(alice, "to do", to_agent=to_agent)).packet
    assert given.id == "h_00000001"
    await packets.take(bob)
    versions = await alice.adapter.history("_system/handoff", given.id)
    assert [each.value["state"] for each in versions] == ["open", "claimed"]
    assert [each.tags for each in versions] == [
        ("state:open", "unfinished", tag),
        ("state:claimed", "unfinished", tag, "claimed-by:bob"),
    ]
    assert [each.agent_id for each in versions] == ["alice", "bob"]
    assert [each.shared for each in versions] == [True, True]
    log = await alice.adapter.list_commits()
    assert [each.message for each in log] == [f"packet {given.id} {x}" for x in ("claimed", "given")]
    assert [each.author_agent_id for each in log] == ["bob", "alice"]
    assert [each.session_id for each in log] == [bob.session_id, alice.session_id]
    assert (await alice.adapter.verify()).ok


@proves("bridge.pins-touched")
async def test_without_refs_everything_touched_is_pinned_as_it_was_seen(begin: Begin) -> None:
    other, session = begin("bob"), begin("alice")
    await entries.remember(other, "svc/a", "read", 1)
    await entries.remember(other, "svc/a", "unseen", 1)
    await entries.read(session, "svc/a", "read")
    await entries.remember(session, "svc/a", "written", 1)
    await entries.remember(other, "svc/a", "read", 2)
    given = await packets.give(session, "to do")
    assert [pin.ref for pin in given.packet.pins] == [
        at("svc/a", "read", 1),
        at("svc/a", "written", 1),
    ]
    assert given.left_out == ()


@proves("bridge.pins-touched")
async def test_with_nothing_touched_a_packet_is_given_without_pins(alice: Session) -> None:
    given = await packets.give(alice, "to do")
    assert (given.packet.pins, given.nothing_touched) == ((), True)
    await entries.remember(alice, "svc/a", "k", 1, shared=False)
    private = await packets.give(alice, "to do")
    assert (private.packet.pins, private.nothing_touched, len(private.left_out)) == ((), False, 1)


@proves("bridge.pins-touched")
async def test_an_empty_list_of_refs_pins_nothing(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    given = await packets.give(alice, "to do", refs=[])
    assert (given.packet.pins, given.nothing_touched) == ((), False)


@proves("bridge.pins-named")
async def test_a_ref_pins_its_version_and_without_one_the_current(alice: Session) -> None:
    for value in (1, 2):
        await entries.remember(alice, "svc/a", "k", value)
    given = await packets.give(alice, "to do", refs=[at("svc/a", "k", 1), at("svc/a", "k")])
    assert [pin.version for pin in given.packet.pins] == [1, 2]


@proves("bridge.pins-named")
async def test_the_same_version_twice_is_pinned_once(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await entries.remember(alice, "svc", "a/k", 1)
    refs = [at("svc/a", "k"), at("svc", "a/k"), at("svc/a", "k", 1), at("svc/a", "k")]
    given = await packets.give(alice, "to do", refs=refs)
    assert [(pin.entity_path, pin.key) for pin in given.packet.pins] == [
        ("svc/a", "k"),
        ("svc", "a/k"),
    ]


@proves("bridge.pins-named")
@pytest.mark.parametrize("ref", [at("svc/a", "q"), at("svc/a", "k", 2), at("svc/b", "k", 1)])
async def test_an_unknown_ref_fails_the_whole_call(alice: Session, ref: EntryRef) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    attempt = packets.give(alice, "to do", refs=[at("svc/a", "k"), ref])
    error = await refused(alice.adapter, attempt, EntryNotFoundError)
    assert (error.entity_path, error.key, error.version) == (ref.entity_path, ref.key, ref.version)


@proves("bridge.reserved")
async def test_the_systems_records_cannot_be_pinned(alice: Session) -> None:
    packet = (await packets.give(alice, "to do")).packet
    attempt = packets.give(alice, "more", refs=[at("_system/handoff", packet.id)])
    await refused(alice.adapter, attempt, ReservedPathError)


@proves("bridge.private-pins")
@pytest.mark.parametrize("to_agent", [None, "bob", "Alice", "anyone", "*"])
async def test_a_private_record_is_not_pinned_for_another(alice: Session, to_agent: str | None) -> None:
    await entries.remember(alice, "svc/a", "secret", 1, shared=False)
    await entries.remember(alice, "svc/a", "open", 1)
    for ref in (at("svc/a", "secret"), at("svc/a", "secret", 1)):
        attempt = packets.give(alice, "to do", refs=[at("svc/a", "open"), ref], to_agent=to_agent)
        error = await refused(alice.adapter, attempt, PrivatePinError)
        assert (error.entity_path, error.key) == ("svc/a", "secret")
    given = await packets.give(alice, "to do", to_agent=to_agent)
    assert [pin.key for pin in given.packet.pins] == ["open"]
    assert given.left_out == (at("svc/a", "secret", 1),)


@proves("bridge.private-pins")
async def test_a_private_version_is_not_pinned_though_the_current_one_is_shared(
    alice: Session,
) -> None:
    await entries.remember(alice, "svc/a", "k", 1, shared=False)
    await entries.remember(alice, "svc/a", "k", 2)
    attempt = packets.give(alice, "to do", refs=[at("svc/a", "k", 1)])
    await refused(alice.adapter, attempt, PrivatePinError)
    assert (await packets.give(alice, "to do", refs=[at("svc/a", "k")])).packet.pins[0].version == 2


@proves("bridge.private-pins")
async def test_a_packet_for_oneself_may_pin_private_records_and_is_private_itself(
    begin: Begin, alice: Session, bob: Session
) -> None:
    await entries.remember(alice, "svc/a", "secret", 1, shared=False)
    given = await packets.give(alice, "to do", to_agent="alice")
    assert (len(given.packet.pins), given.left_out) == (1, ())
    assert list(await packets.list_packets(bob)) == []
    assert await packets.take(bob) == packets.NothingWaiting(())
    taken = await packets.take(begin("alice"))
    assert isinstance(taken, packets.Taken)
    assert [each.value for each in taken.records] == [1]
    assert list(await packets.list_packets(bob)) == []


@proves("bridge.private-pins")
async def test_the_owner_releases_a_private_packet_and_its_agent_still_sees_it(
    begin: Begin, alice: Session, bob: Session
) -> None:
    await entries.remember(alice, "svc/a", "secret", 1, shared=False)
    packet = (await packets.give(alice, "to do", to_agent="alice")).packet
    await packets.take(alice)
    await packets.release(begin("desk", owner=True), packet.id)
    assert (await packets.show(alice, packet.id)).state == "open"
    assert list(await packets.list_packets(bob)) == []


@proves("bridge.private-pins")
async def test_a_record_of_another_that_is_private_is_unknown(alice: Session, bob: Session) -> None:
    await entries.remember(bob, "svc/a", "secret", 1, shared=False)
    attempt = packets.give(alice, "to do", refs=[at("svc/a", "secret")], to_agent="bob")
    await refused(alice.adapter, attempt, EntryNotFoundError)


@proves("bridge.packet-limits")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"summary": ""}, "summary"),
        ({"summary": " \n"}, "summary"),
        ({"summary": "x" * (requests.MAX_SUMMARY_CHARACTERS + 1)}, "summary"),
        ({"summary": "\ud83d"}, "summary"),
        ({"next_steps": "one text"}, "next_steps"),
        ({"next_steps": [""]}, "next_steps"),
        ({"next_steps": ["x"] * (requests.MAX_STEPS + 1)}, "next_steps"),
        ({"next_steps": ["x" * (requests.MAX_STEP_CHARACTERS + 1)]}, "next_steps"),
        ({"next_steps": [1]}, "next_steps"),
        ({"open_questions": ["x"] * (requests.MAX_QUESTIONS + 1)}, "open_questions"),
        ({"open_questions": ["\ud83d"]}, "open_questions"),
        ({"to_agent": ""}, "to_agent"),
        ({"to_agent": "x" * 1001}, "to_agent"),
        ({"refs": [at("svc/a", "k")] * (requests.MAX_PINS + 1)}, "refs"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"idempotency_key": "x" * 1001}, "idempotency_key"),
    ],
)
async def test_what_is_empty_or_over_a_limit_is_named_and_nothing_is_given(
    alice: Session, change: dict[str, Any], named: str
) -> None:
    wanted = {"summary": "to do"} | change
    error = await refused(alice.adapter, packets.give(alice, **wanted), InvalidArgumentError)
    assert error.argument == named


@proves("bridge.packet-limits")
async def test_what_reaches_its_limits_is_given(alice: Session) -> None:
    step = "x" * requests.MAX_STEP_CHARACTERS
    given = await packets.give(
        alice,
        "x" * requests.MAX_SUMMARY_CHARACTERS,
        next_steps=[step] * requests.MAX_STEPS,
        open_questions=[step] * requests.MAX_QUESTIONS,
    )
    assert (await packets.show(alice, given.packet.id)).next_steps[-1] == step


@proves("bridge.pins-last")
async def test_of_more_touched_records_than_there_is_room_for_the_last_ones_are_pinned(
    alice: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(giving, "MAX_PINS", 2)
    for key in ("a", "b"):
        await entries.remember(alice, "svc", key, 1)
    fitting = await packets.give(alice, "to do")
    assert (len(fitting.packet.pins), fitting.older_count) == (2, 0)
    await entries.remember(alice, "svc", "c", 1)
    await entries.read(alice, "svc", "a")
    given = await packets.give(alice, "to do")
    assert [pin.key for pin in given.packet.pins] == ["a", "c"]
    assert given.older_count == 1


@proves("bridge.pins-last")
async def test_as_many_touched_records_as_there_is_room_for_are_pinned_and_one_more_is_told(
    alice: Session, bob: Session
) -> None:
    stored = await bob.adapter.write_batch([draft("svc", f"k{i}") for i in range(requests.MAX_PINS + 1)])
    for entry in stored:
        alice.touch(entry)
    given = await packets.give(alice, "to do")
    assert [pin.key for pin in given.packet.pins] == [f"k{i}" for i in range(1, requests.MAX_PINS + 1)]
    assert given.older_count == 1
    named = await packets.give(alice, "to do", refs=[at("svc", "k0")])
    assert (len(named.packet.pins), named.older_count) == (1, 0)


@proves("bridge.addressee-known")
async def test_an_addressee_is_known_once_it_has_changed_anything(
    begin: Begin, alice: Session, bob: Session
) -> None:
    async def is_known(name: str) -> bool:
        return (await packets.give(alice, "to do", to_agent=name)).addressee_known

    assert not await is_known("bob")
    await search.recall(bob)
    assert not await is_known("bob")
    assert not await is_known("Alice")
    await packets.take(bob)
    assert await is_known("bob")
    assert await is_known("alice")
    await entries.remember(begin("carol"), "svc/a", "k", 1, shared=False)
    assert not await is_known("carol")
    assert (await packets.give(alice, "to do")).addressee_known


@proves("bridge.addressee-known")
async def test_an_addressee_is_looked_for_among_the_last_changes_alone(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addressees, "RECENT_CHANGES", 6)
    monkeypatch.setattr(addressees, "PAGE_CHANGES", 2)
    await entries.remember(bob, "svc/a", "k", 0)
    for value in range(1, 6):
        await entries.remember(alice, "svc/a", "k", value)
    assert await addressees.is_known(alice, "bob")
    assert not await addressees.is_known(alice, "carol")
    await entries.remember(alice, "svc/a", "k", 6)
    assert not await addressees.is_known(alice, "bob")


@proves("bridge.give-idempotent")
async def test_a_repeated_giving_returns_the_first_packet_whatever_came_between(
    begin: Begin, bob: Session
) -> None:
    session = begin("alice")
    await entries.remember(session, "svc/a", "k", 1)

    async def attempt(giver: Session) -> packets.Given:
        return await packets.give(giver, "to do", next_steps=["x"], to_agent="bob", idempotency_key="once")

    first = await attempt(session)
    before = await state(session.adapter)
    assert await attempt(session) == first
    assert await state(session.adapter) == before
    await entries.remember(session, "svc/a", "k", 2)
    await entries.remember(session, "svc/a", "more", 1)
    await packets.take(bob)
    assert (await attempt(session)).packet == first.packet
    assert (await attempt(begin("alice"))).packet == first.packet
    assert len(await packets.list_packets(bob)) == 1


@proves("bridge.give-idempotent")
async def test_a_repeated_giving_by_refs_keeps_the_versions_first_pinned(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    refs = [at("svc/a", "k")]
    first = await packets.give(alice, "to do", refs=refs, idempotency_key="once")
    await entries.remember(alice, "svc/a", "k", 2)
    assert await packets.give(alice, "to do", refs=refs, idempotency_key="once") == first


@proves("bridge.give-idempotent")
@pytest.mark.parametrize(
    "change",
    [
        {"summary": "other"},
        {"next_steps": ["x", "y"]},
        {"next_steps": ["x,y"]},
        {"next_steps": [], "open_questions": ["x"]},
        {"to_agent": "bob"},
        {"refs": []},
        {"refs": [at("svc/a", "k")]},
    ],
)
async def test_another_request_under_the_same_key_is_a_conflict(
    alice: Session, change: dict[str, Any]
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    wanted: dict[str, Any] = {
        "summary": "to do",
        "next_steps": ["x"],
        "idempotency_key": "once",
    }
    await packets.give(alice, **wanted)
    attempt = packets.give(alice, **wanted | change)
    error = await refused(alice.adapter, attempt, IdempotencyConflictError)
    assert (error.agent_id, error.idempotency_key) == ("alice", "once")


@proves("bridge.give-idempotent")
async def test_a_key_is_its_agents_own(alice: Session, bob: Session) -> None:
    first = await packets.give(alice, "to do", idempotency_key="once")
    other = await packets.give(bob, "to do", idempotency_key="once")
    assert first.packet.id != other.packet.id


@proves("bridge.give-idempotent")
async def test_a_failed_giving_leaves_its_key_unused(alice: Session) -> None:
    with pytest.raises(EntryNotFoundError):
        await packets.give(alice, "to do", refs=[at("svc/a", "k")], idempotency_key="once")
    given = await packets.give(alice, "to do", idempotency_key="once")
    assert given.packet.summary == "to do"


@proves("bridge.give-idempotent")
async def test_repetitions_at_the_same_time_give_one_packet(begin: Begin) -> None:
    sessions = [begin("alice") for _ in range(8)]
    given = await asyncio.gather(*(packets.give(each, "to do", idempotency_key="once") for each in sessions))
    assert len({each.packet.id for each in given}) == 1
    assert len(await packets.list_packets(sessions[0])) == 1


@proves("bridge.give-idempotent")
async def test_keys_that_lead_to_one_id_still_give_packets_apart(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With ids of one digit almost every key meets another's packet.
    monkeypatch.setattr(giving, "ID_DIGITS", 1)
    given = [
        (await packets.give(each, key, idempotency_key=key)).packet
        for each in (alice, bob)
        for key in "abcdef"
    ]
    again = [
        (await packets.give(each, key, idempotency_key=key)).packet
        for each in (alice, bob)
        for key in "abcdef"
    ]
    assert len({each.id for each in given}) == 12
    assert again == given


@proves("bridge.give-idempotent")
async def test_an_id_under_which_another_agents_private_packet_lies_is_passed_over(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(giving, "ID_DIGITS", 1)
    await entries.remember(alice, "svc/a", "secret", 1, shared=False)
    for key in "abcdefgh":
        await packets.give(alice, "mine", to_agent="alice", idempotency_key=key)
    given = [await packets.give(bob, "to do", idempotency_key=key) for key in "abcd"]
    assert {each.packet.from_agent for each in given} == {"bob"}
    assert len({each.packet.id for each in given}) == 4


class _RepeatingIds:
    """Draws each id three times."""

    def __init__(self) -> None:
        self.ids: IdSource = CountedIds()
        self.drawn: list[str] = []

    def hex(self, digits: int) -> str:
        if not self.drawn:
            self.drawn = [self.ids.hex(digits)] * 3
        return self.drawn.pop()


@proves("bridge.packet-entry")
async def test_an_id_that_is_taken_is_drawn_again(handoff_adapter: AmfsAdapter, clock: FixedClock) -> None:
    session = Session(handoff_adapter, "alice", "s", clock=clock, ids=_RepeatingIds())
    given = [(await packets.give(session, f"number {number}")).packet for number in range(3)]
    assert [each.id for each in given] == ["h_00000001", "h_00000002", "h_00000003"]
