"""Taking: who gets which packet, and that one gets it."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from amfs_sqlite import AmfsAdapter, EntryRef, FixedClock, MemoryEntry, Write
from bridge.errors import (
    PacketNotFoundError,
    PacketNotYoursError,
    PacketStateError,
    PacketUnreadableError,
)
from bridge.handoff import filing, taking
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.ledger import proves
from parity_tests.state import refused, state


async def _give(session: Session, *, to: str | None = None) -> str:
    return (await packets.give(session, "to do", to_agent=to)).packet.id


async def _taken(session: Session, handoff_id: str | None = None) -> packets.Taken:
    taken = await packets.take(session, handoff_id)
    assert isinstance(taken, packets.Taken)
    return taken


async def _peeked(session: Session, handoff_id: str | None = None) -> packets.Taken:
    peeked = await packets.peek(session, handoff_id)
    assert isinstance(peeked, packets.Taken)
    return peeked


@proves("bridge.take-oldest")
async def test_first_in_is_first_out_and_what_is_for_others_stays(alice: Session, bob: Session) -> None:
    first = await _give(alice)
    for_carol = await _give(alice, to="carol")
    second = await _give(alice, to="bob")
    third = await _give(alice)
    assert [(await _taken(bob)).packet.id for _ in range(3)] == [first, second, third]
    assert await packets.take(bob) == packets.NothingWaiting((first, second, third))
    assert (await packets.show(bob, for_carol)).state == "open"


@proves("bridge.take-oldest")
async def test_the_oldest_is_found_behind_many_that_are_for_others(alice: Session, bob: Session) -> None:
    for _ in range(2 * filing.PAGE_PACKETS + 1):
        await _give(alice, to="carol")
    mine = await _give(alice, to="bob")
    assert (await _taken(bob)).packet.id == mine


@proves("bridge.claim")
async def test_a_claimed_packet_is_not_offered_again(begin: Begin, clock: FixedClock) -> None:
    alice = begin("alice")
    packet_id = await _give(alice)
    clock.set("2026-01-02T00:00:00Z")
    packet = (await _taken(begin("bob"))).packet
    assert (packet.state, packet.claimed_by, packet.claimed_at) == ("claimed", "bob", clock.now())
    assert packet.lease_until is None
    clock.set("2036-01-02T00:00:00Z")
    assert await packets.take(begin("bob")) == packets.NothingWaiting((packet_id,))
    assert await packets.take(begin("carol")) == packets.NothingWaiting(())


@proves("bridge.claim")
async def test_the_giver_may_take_what_is_for_whoever_comes(begin: Begin) -> None:
    session = begin("alice")
    packet_id = await _give(session)
    assert (await _taken(begin("alice"))).packet.id == packet_id
    another = await _give(session)
    assert (await _taken(session, another)).packet.id == another


@proves("bridge.take-own")
async def test_a_session_is_not_offered_what_it_gave_to_whoever_comes(begin: Begin, bob: Session) -> None:
    session = begin("alice")
    before, own, for_alice = await _give(bob), await _give(session), await _give(session, to="alice")
    for look in (packets.peek, packets.take):
        found = await look(session)
        assert isinstance(found, packets.Taken)
        assert (found.packet.id, found.waiting_count) == (before, 1)
    # Who names itself means itself.
    assert (await _taken(session)).packet.id == for_alice
    nothing = packets.NothingWaiting((before, for_alice), own=(own,))
    assert await packets.peek(session) == await packets.take(session) == nothing
    assert (await packets.show(session, own)).state == "open"
    assert (await _taken(begin("alice"))).packet.id == own


@proves("bridge.take-own")
async def test_what_was_given_again_under_its_key_is_a_sessions_own_too(begin: Begin) -> None:
    first, second = begin("alice"), begin("alice")
    given = [
        (await packets.give(each, "to do", idempotency_key="once")).packet.id for each in (first, second)
    ]
    for each in (first, second):
        assert await packets.take(each) == packets.NothingWaiting((), own=(given[0],))
    assert (await _taken(begin("alice"))).packet.id == given[0] == given[1]


@proves("bridge.waiting")
async def test_how_many_more_wait_is_told(begin: Begin, alice: Session, bob: Session) -> None:
    ids = [await _give(alice) for _ in range(3)]
    await _give(alice, to="carol")
    await _give(bob)
    assert [(await _peeked(bob, each)).waiting_count for each in ids] == [2, 2, 2]
    assert [(await _taken(bob)).waiting_count for _ in ids] == [2, 1, 0]
    assert (await _taken(bob, ids[0])).waiting_count == 0
    assert (await _peeked(begin("bob"))).waiting_count == 0


@proves("bridge.waiting")
async def test_those_that_wait_are_counted_up_to_a_limit(
    alice: Session, bob: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "MAX_WAITING_COUNTED", 2)
    for _ in range(5):
        await _give(alice)
    assert [(await _taken(bob)).waiting_count for _ in range(5)] == [2, 2, 2, 1, 0]


@proves("bridge.claim")
@pytest.mark.parametrize("names", [["alice"] * 8, [f"agent-{number}" for number in range(8)]])
async def test_of_eight_takers_at_once_one_gets_the_packet(
    begin: Begin, handoff_adapter: AmfsAdapter, names: list[str]
) -> None:
    packet_id = await _give(begin("giver"))
    taken = await asyncio.gather(*(packets.take(begin(name)) for name in names))
    winners = [each for each in taken if isinstance(each, packets.Taken)]
    assert [each.packet.id for each in winners] == [packet_id]
    versions = await handoff_adapter.history(filing.HANDOFF_PATH, packet_id)
    assert [each.value["state"] for each in versions] == ["open", "claimed"]


@proves("bridge.claim")
async def test_of_many_takers_at_once_each_gets_a_packet_of_its_own(begin: Begin) -> None:
    giver = begin("giver")
    given = [await _give(giver) for _ in range(5)]
    taken = await asyncio.gather(*(packets.take(begin("alice")) for _ in range(8)))
    ids = [each.packet.id for each in taken if isinstance(each, packets.Taken)]
    assert sorted(ids) == given


@proves("bridge.claim")
async def test_of_eight_takers_by_id_at_once_one_gets_the_packet(begin: Begin) -> None:
    packet_id = await _give(begin("giver"))
    sessions = [begin(f"agent-{number}") for number in range(8)]
    results = await asyncio.gather(
        *(packets.take(each, packet_id) for each in sessions), return_exceptions=True
    )
    winners = [each for each in results if isinstance(each, packets.Taken)]
    losers = [each for each in results if isinstance(each, PacketStateError)]
    assert (len(winners), len(losers)) == (1, 7)
    assert {each.claimed_by for each in losers} == {winners[0].packet.claimed_by}


@proves("bridge.claim")
async def test_a_packet_released_while_it_was_looked_at_is_still_taken(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob, carol = begin("alice"), begin("bob"), begin("carol")
    packet_id = await _give(alice)
    looked_at = filing.look_through

    async def then_others_are_faster(session: Session, tag: str | None) -> AsyncGenerator[filing.Filed, None]:
        async for filed in looked_at(session, tag):
            if session is bob and tag == filing.UNFINISHED_TAG and filed.packet.state == "open":
                await packets.take(carol, packet_id)
                await packets.release(carol, packet_id)
            yield filed

    monkeypatch.setattr(filing, "look_through", then_others_are_faster)
    assert (await _taken(bob)).packet.id == packet_id


@proves("bridge.take-this")
async def test_ones_own_packet_is_returned_again_with_fresh_warnings(begin: Begin, clock: FixedClock) -> None:
    alice, bob = begin("alice"), begin("bob")
    await entries.remember(alice, "svc/a", "k", 1)
    packet_id = await _give(alice)
    first = await _taken(bob)
    assert first.stale == ()
    await entries.remember(alice, "svc/a", "k", 2)
    clock.set("2026-01-02T00:00:00Z")
    before = await state(bob.adapter)
    again = await _taken(begin("bob"), packet_id)
    assert again.packet == first.packet
    assert [each.value for each in again.records] == [1]
    assert [each.current_version for each in again.stale] == [2]
    assert await state(bob.adapter) == before


@proves("bridge.take-this")
async def test_a_waiting_packet_is_claimed_by_its_id_out_of_turn(alice: Session, bob: Session) -> None:
    first, second = await _give(alice), await _give(alice, to="bob")
    taken = await _taken(bob, second)
    assert (taken.packet.id, taken.packet.state, taken.held) == (second, "claimed", ())
    assert (await _taken(bob)).held == (second,)
    assert (await packets.show(alice, first)).claimed_by == "bob"


@proves("bridge.take-this")
async def test_what_cannot_be_taken_by_id_says_why(begin: Begin) -> None:
    alice, bob, carol = begin("alice"), begin("bob"), begin("carol")
    for_carol, held, closed, cancelled = [
        await _give(alice, to="carol"),
        await _give(alice),
        await _give(alice),
        await _give(alice),
    ]
    await packets.take(carol, held)
    await packets.take(bob, closed)
    await outcomes.record_outcome(bob, "success", "RUN-1", refs=[], handoff_id=closed)
    await packets.cancel(alice, cancelled)

    for look in (packets.take, packets.peek):
        not_mine = await refused(bob.adapter, look(bob, for_carol), PacketNotYoursError)
        assert not_mine.agent_id == "carol"
        by_carol = await refused(bob.adapter, look(bob, held), PacketStateError)
        assert (by_carol.state, by_carol.claimed_by) == ("claimed", "carol")
        for final, name in ((closed, "closed"), (cancelled, "cancelled")):
            error = await refused(bob.adapter, look(bob, final), PacketStateError)
            assert (error.state, error.wanted) == (name, "claimed")
            assert "final" in str(error)
        for unknown in ("h_ffffffff", "", "%", "h_0000000*", "x" * 5000):
            missing = await refused(bob.adapter, look(bob, unknown), PacketNotFoundError)
            assert missing.handoff_id == unknown


@proves("bridge.peek")
async def test_peeking_shows_what_taking_would_and_claims_nothing(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    for_carol, mine = await _give(alice, to="carol"), await _give(alice)
    await entries.remember(alice, "svc/a", "k", 2)
    before = await state(bob.adapter)
    peeked = [await packets.peek(bob), await packets.peek(bob, mine)]
    assert await state(bob.adapter) == before
    assert bob.touched == ()
    taken = await _taken(bob)
    for each in peeked:
        assert isinstance(each, packets.Taken)
        assert each.packet.id == taken.packet.id == mine != for_carol
        assert each.packet.state == "open"
        assert (each.records, each.stale) == (taken.records, taken.stale)


@proves("bridge.peek")
async def test_peeking_with_nothing_waiting_names_what_is_held(alice: Session, bob: Session) -> None:
    assert await packets.peek(bob) == packets.NothingWaiting(())
    packet_id = await _give(alice)
    await packets.take(bob)
    assert await packets.peek(bob) == packets.NothingWaiting((packet_id,))


@proves("bridge.held")
async def test_what_an_agent_holds_is_named_until_it_is_closed_or_released(
    begin: Begin, bob: Session
) -> None:
    alice = begin("alice")
    first, second, third = [await _give(alice) for _ in range(3)]
    assert (await _taken(bob)).held == ()
    assert (await _taken(bob)).held == (first,)
    assert (await _taken(begin("bob"))).held == (first, second)
    await packets.release(bob, second)
    await outcomes.record_outcome(bob, "success", "RUN-1", refs=[], handoff_id=first)
    await packets.take(begin("carol"), second)
    assert await packets.take(bob) == packets.NothingWaiting((third,))


@proves("bridge.addressee")
@pytest.mark.parametrize(
    "name", ["*", "anyone", "to-anyone", "to:bob", "bob,carol", "state:open", "bo%", "", " bob"]
)
async def test_no_name_makes_an_agent_another_or_everybody(begin: Begin, name: str) -> None:
    alice, bob = begin("alice"), begin("bob")
    if not name:
        name = "\0"
    for_odd = await _give(alice, to=name)
    assert await packets.take(bob) == packets.NothingWaiting(())
    for_bob = await _give(alice, to="bob")
    odd = begin(name)
    assert (await _taken(odd)).packet.id == for_odd
    assert await packets.take(odd) == packets.NothingWaiting((for_odd,))
    assert (await _taken(bob)).packet.id == for_bob
    assert await packets.take(bob) == packets.NothingWaiting((for_bob,))


@proves("bridge.unreadable")
async def test_what_is_no_packet_keeps_nobody_from_taking(
    alice: Session, bob: Session, caplog: pytest.LogCaptureFixture
) -> None:
    for key, value in {
        "h_bad": {"id": "h_bad", "summary": 1},
        "h_text": "no packet",
        "h_moved": {**(await packets.give(alice, "x", to_agent="carol")).packet.to_wire()},
    }.items():
        entry = MemoryEntry.draft(
            filing.HANDOFF_PATH, key, value, agent_id="x", tags=["unfinished", "state:open"]
        )
        await alice.adapter.commit([Write(entry)], author="x")
    mine = await _give(alice)
    assert (await _taken(bob)).packet.id == mine
    assert {record.message.split("'")[1] for record in caplog.records} == {
        "h_bad",
        "h_text",
        "h_moved",
    }


@proves("bridge.take-oldest")
async def test_records_below_the_packets_own_path_are_no_packets(alice: Session, bob: Session) -> None:
    packet = (await packets.give(alice, "to do", to_agent="carol")).packet
    copied = packet.model_copy(update={"to_agent": None}).to_wire()
    entry = MemoryEntry.draft(
        f"{filing.HANDOFF_PATH}/deeper", packet.id, copied, agent_id="x", tags=["unfinished"]
    )
    await alice.adapter.write(entry)
    assert await packets.take(bob) == packets.NothingWaiting(())


@proves("bridge.claim")
async def test_a_packet_is_taken_with_its_pins_in_their_order(alice: Session, bob: Session) -> None:
    for key in "cab":
        await entries.remember(alice, "svc", key, key)
    refs = [EntryRef(entity_path="svc", key=key) for key in "bca"]
    await packets.give(alice, "to do", refs=refs)
    taken = await _taken(bob)
    assert [each.key for each in taken.records] == list("bca")
    assert [each.ref.key for each in bob.touched] == list("bca")


@proves("bridge.unreadable-named")
@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("no packet", "value"),
        (None, "value"),
        ({"id": "h_bad"}, "summary"),
        ({"id": "h_bad", "summary": 1}, "summary"),
    ],
)
async def test_what_is_asked_for_by_id_and_is_no_packet_is_an_error(
    alice: Session, value: object, part: str
) -> None:
    await alice.adapter.write(MemoryEntry.draft(filing.HANDOFF_PATH, "h_bad", value, agent_id="x"))
    for operation in (packets.show, packets.take, packets.peek, packets.release, packets.cancel):
        error = await refused(alice.adapter, operation(alice, "h_bad"), PacketUnreadableError)
        assert (error.handoff_id, error.problem) == ("h_bad", f"its {part} is not a packet's")
