"""The life of a packet: open, claimed, closed; release, lease, cancel."""

import asyncio

import pytest

from amfs_sqlite import FixedClock, InvalidArgumentError
from bridge.errors import PacketNotFoundError, PacketNotYoursError, PacketStateError
from bridge.operations import entries, outcomes, packets, statistics
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.ledger import proves
from parity_tests.state import refused

START = "2026-01-01T00:00:00Z"
BEFORE_THE_END = "2026-01-01T00:09:59.999Z"
AT_THE_END = "2026-01-01T00:10:00Z"


async def _give(session: Session, *, to: str | None = None) -> str:
    return (await packets.give(session, "to do", to_agent=to)).packet.id


async def _close(session: Session, packet_id: str) -> None:
    await outcomes.record_outcome(session, "success", "RUN-1", refs=[], handoff_id=packet_id)


@proves("bridge.release")
async def test_a_released_packet_is_open_again_in_its_old_place(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob", lease_s=600)
    first, second = await _give(alice), await _give(alice)
    given = await packets.show(alice, first)
    await packets.take(bob, first)
    assert await packets.release(bob, first) == given
    carol = begin("carol")
    taken = [await packets.take(carol), await packets.take(carol)]
    assert [each.packet.id for each in taken if isinstance(each, packets.Taken)] == [first, second]


@proves("bridge.release")
async def test_only_the_holder_and_the_owner_release(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    packet_id = await _give(alice)
    await packets.take(bob)
    for other in (alice, begin("carol")):
        attempt = packets.release(other, packet_id)
        error = await refused(alice.adapter, attempt, PacketNotYoursError)
        assert (error.agent_id, error.wanted) == ("bob", "released")
    assert (await packets.release(begin("desk", owner=True), packet_id)).state == "open"
    await packets.take(bob)
    assert (await packets.release(begin("bob"), packet_id)).state == "open"


@proves("bridge.cancel")
async def test_only_the_sender_and_the_owner_cancel(begin: Begin, clock: FixedClock) -> None:
    alice, bob = begin("alice"), begin("bob")
    first, second = await _give(alice, to="bob"), await _give(alice)
    for packet_id in (first, second):
        attempt = packets.cancel(bob, packet_id)
        error = await refused(alice.adapter, attempt, PacketNotYoursError)
        assert (error.agent_id, error.wanted) == ("alice", "cancelled")
    clock.set("2026-02-01T00:00:00Z")
    for session, packet_id in ((begin("alice"), first), (begin("desk", owner=True), second)):
        packet = await packets.cancel(session, packet_id)
        assert (packet.state, packet.closed_at) == ("cancelled", clock.now())
    assert await packets.take(bob) == packets.NothingWaiting(())


@proves("bridge.final")
async def test_what_is_final_stays_as_it_is(begin: Begin) -> None:
    alice, bob, owner = begin("alice"), begin("bob"), begin("desk", owner=True)
    closed, cancelled = await _give(alice), await _give(alice)
    await packets.take(bob, closed)
    await _close(bob, closed)
    await packets.cancel(alice, cancelled)
    for packet_id, state in ((closed, "closed"), (cancelled, "cancelled")):
        for attempt in (
            packets.release(bob, packet_id),
            packets.release(owner, packet_id),
            packets.cancel(alice, packet_id),
            packets.cancel(owner, packet_id),
            outcomes.record_outcome(bob, "success", "RUN-2", refs=[], handoff_id=packet_id),
            packets.take(bob, packet_id),
        ):
            error = await refused(alice.adapter, attempt, PacketStateError)
            assert error.state == state
            assert "final" in str(error)


@proves("bridge.moves-refused")
async def test_a_move_that_the_state_does_not_allow_says_what_to_do(begin: Begin) -> None:
    alice, bob, owner = begin("alice"), begin("bob"), begin("desk", owner=True)
    packet_id = await _give(alice)
    for attempt, advice in (
        (packets.release(bob, packet_id), "only a claimed packet"),
        (packets.release(owner, packet_id), "only a claimed packet"),
        (
            outcomes.record_outcome(bob, "success", "RUN-1", refs=[], handoff_id=packet_id),
            "take it first",
        ),
    ):
        error = await refused(alice.adapter, attempt, PacketStateError)
        assert (error.state, advice in str(error)) == ("open", True)
    await packets.take(bob)
    for attempt in (packets.cancel(alice, packet_id), packets.cancel(owner, packet_id)):
        error = await refused(alice.adapter, attempt, PacketStateError)
        assert (error.state, error.claimed_by) == ("claimed", "bob")
        assert "released first" in str(error)


@proves("bridge.moves-refused")
async def test_what_a_packet_is_already_it_is_told_once(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    cancelled, closed, claimed = [await _give(alice) for _ in range(3)]
    await packets.cancel(alice, cancelled)
    await packets.take(bob, closed)
    await _close(bob, closed)
    await packets.take(bob, claimed)
    final = "that is final: give a new packet for more work"
    for attempt, said in (
        (packets.cancel(alice, cancelled), f"packet '{cancelled}' is cancelled already; {final}"),
        (
            outcomes.record_outcome(bob, "success", "RUN-2", refs=[], handoff_id=closed),
            f"packet '{closed}' is closed by 'bob' already; {final}",
        ),
        (
            packets.take(alice, claimed),
            f"packet '{claimed}' is claimed by 'bob' already; wait until it is released, or take another",
        ),
    ):
        assert str(await refused(alice.adapter, attempt, PacketStateError)) == said


@proves("bridge.moves-refused")
async def test_an_unknown_packet_is_named(alice: Session) -> None:
    for operation in (packets.show, packets.release, packets.cancel):
        error = await refused(alice.adapter, operation(alice, "h_0"), PacketNotFoundError)
        assert error.handoff_id == "h_0"


@proves("bridge.lease")
async def test_a_claim_holds_until_its_lease_has_run_out(begin: Begin, clock: FixedClock) -> None:
    packet_id = await _give(begin("alice"))
    taken = await packets.take(begin("bob", lease_s=600))
    assert isinstance(taken, packets.Taken)
    clock.set(AT_THE_END)
    assert taken.packet.lease_until == clock.now()
    clock.set(BEFORE_THE_END)
    assert await packets.take(begin("carol")) == packets.NothingWaiting(())
    with pytest.raises(PacketStateError):
        await packets.take(begin("carol"), packet_id)
    clock.set(AT_THE_END)
    again = await packets.take(begin("carol"))
    assert isinstance(again, packets.Taken)
    packet = again.packet
    assert (packet.id, packet.claimed_by, packet.claimed_at) == (packet_id, "carol", clock.now())
    assert packet.lease_until is None


@proves("bridge.lease")
async def test_a_packet_whose_lease_has_run_out_keeps_its_place_and_its_addressee(
    begin: Begin, clock: FixedClock
) -> None:
    alice = begin("alice")
    first, second = await _give(alice, to="bob"), await _give(alice)
    await packets.take(begin("bob", lease_s=600), first)
    clock.set(AT_THE_END)
    taken = await packets.take(begin("carol"))
    assert isinstance(taken, packets.Taken)
    assert taken.packet.id == second
    assert await packets.peek(begin("carol")) == packets.NothingWaiting((second,))
    taken = await packets.take(begin("bob"))
    assert isinstance(taken, packets.Taken)
    assert taken.packet.id == first


@proves("bridge.lease")
async def test_of_eight_takers_of_a_run_out_packet_one_gets_it(begin: Begin, clock: FixedClock) -> None:
    await _give(begin("alice"))
    await packets.take(begin("bob", lease_s=600))
    clock.set(AT_THE_END)
    taken = await asyncio.gather(*(packets.take(begin("bob", lease_s=600)) for _ in range(8)))
    assert [type(each) for each in taken].count(packets.Taken) == 1


@proves("bridge.lease")
async def test_taking_ones_own_packet_again_renews_its_lease(begin: Begin, clock: FixedClock) -> None:
    packet_id = await _give(begin("alice"))
    bob = begin("bob", lease_s=600)
    await packets.take(bob)
    clock.set(BEFORE_THE_END)
    await packets.take(bob, packet_id)
    clock.set(AT_THE_END)
    assert await packets.take(begin("carol")) == packets.NothingWaiting(())
    packet = await packets.show(bob, packet_id)
    assert str(packet.claimed_at) < str(clock.now()) < str(packet.lease_until)


@proves("bridge.lease")
async def test_a_late_holder_still_closes_what_nobody_took(begin: Begin, clock: FixedClock) -> None:
    packet_id = await _give(begin("alice"))
    bob = begin("bob", lease_s=600)
    await packets.take(bob)
    clock.set(AT_THE_END)
    await _close(bob, packet_id)
    assert (await packets.show(bob, packet_id)).state == "closed"


@proves("bridge.lease")
async def test_a_late_holder_does_not_close_what_another_took(begin: Begin, clock: FixedClock) -> None:
    alice, bob, carol = begin("alice"), begin("bob", lease_s=600), begin("carol")
    await entries.remember(alice, "svc/a", "k", 1)
    packet_id = await _give(alice)
    await packets.take(bob)
    clock.set(AT_THE_END)
    await packets.take(carol)
    attempt = outcomes.record_outcome(bob, "failure", "RUN-1", handoff_id=packet_id)
    error = await refused(alice.adapter, attempt, PacketStateError)
    assert error.claimed_by == "carol"
    await refused(alice.adapter, packets.release(bob, packet_id), PacketNotYoursError)


@proves("bridge.lease")
async def test_a_run_out_packet_can_be_cancelled_and_counts_as_claimed_until_then(
    begin: Begin, clock: FixedClock
) -> None:
    alice = begin("alice")
    packet_id = await _give(alice)
    await packets.take(begin("bob", lease_s=600))
    clock.set(AT_THE_END)
    assert (await statistics.stats(alice)).packets["claimed"] == 1
    packet = await packets.cancel(alice, packet_id)
    assert (packet.state, packet.claimed_by, packet.lease_until) == ("cancelled", None, None)


@proves("bridge.races")
async def test_of_a_claim_and_a_cancellation_at_once_one_wins(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")
    for _ in range(10):
        packet_id = await _give(alice)
        taken, cancelled = await asyncio.gather(
            packets.take(bob, packet_id), packets.cancel(alice, packet_id), return_exceptions=True
        )
        assert isinstance(taken, PacketStateError) != isinstance(cancelled, PacketStateError)
        packet = await packets.show(alice, packet_id)
        assert packet.state == ("claimed" if isinstance(taken, packets.Taken) else "cancelled")


@proves("bridge.races")
async def test_of_a_closing_and_a_release_at_once_one_wins(begin: Begin) -> None:
    alice, bob, owner = begin("alice"), begin("bob"), begin("desk", owner=True)
    await entries.remember(alice, "svc/a", "k", 1)
    for number in range(10):
        packet_id = await _give(alice)
        await packets.take(bob, packet_id)
        report, released = await asyncio.gather(
            outcomes.record_outcome(bob, "success", f"RUN-{number}", handoff_id=packet_id),
            packets.release(owner, packet_id),
            return_exceptions=True,
        )
        assert isinstance(report, PacketStateError) != isinstance(released, PacketStateError)
        moved = await outcomes.list_outcomes(alice, outcome_ref=f"RUN-{number}")
        assert len(moved) == (0 if isinstance(report, PacketStateError) else 1)
        if isinstance(report, PacketStateError):
            await packets.cancel(alice, packet_id)


@proves("bridge.list-packets")
async def test_packets_are_listed_by_state_in_the_order_they_were_given(
    begin: Begin,
) -> None:
    alice, bob = begin("alice"), begin("bob")
    ids = [await _give(alice) for _ in range(4)]
    await packets.take(bob, ids[2])
    await packets.take(bob, ids[0])
    await _close(bob, ids[0])
    await packets.cancel(alice, ids[3])

    async def listed(**options: object) -> list[str]:
        found = await packets.list_packets(alice, **options)  # type: ignore[arg-type]  # wrong on purpose
        return [each.id for each in found]

    assert await listed() == ids
    assert await listed(state="open") == [ids[1]]
    assert await listed(state="claimed") == [ids[2]]
    assert await listed(state="closed") == [ids[0]]
    assert await listed(state="cancelled") == [ids[3]]
    assert await listed(limit=2) == ids[:2]
    assert await listed(limit=0) == []
    assert await listed(order="newest") == [ids[3], ids[0], ids[2], ids[1]]
    assert await listed(order="newest", limit=1) == [ids[3]]


@proves("bridge.list-packets")
async def test_long_lists_are_whole(alice: Session) -> None:
    ids = [await _give(alice) for _ in range(120)]
    assert [each.id for each in await packets.list_packets(alice, limit=None)] == ids
    assert [each.id for each in await packets.list_packets(alice, limit=51)] == ids[:51]


@proves("bridge.list-packets")
async def test_an_unknown_state_and_an_impossible_limit_are_named(alice: Session) -> None:
    with pytest.raises(InvalidArgumentError, match="open, claimed, closed, cancelled"):
        await packets.list_packets(alice, state="lost")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InvalidArgumentError, match="limit"):
        await packets.list_packets(alice, limit=-1)


@proves("bridge.list-packets")
async def test_looking_changes_nothing(alice: Session, bob: Session) -> None:
    packet_id = await _give(alice)
    await packets.list_packets(bob)
    await packets.show(bob, packet_id)
    await statistics.stats(bob)
    assert len(await bob.adapter.list_commits()) == 1


@proves("bridge.packets-counted")
async def test_packets_are_counted_by_state_after_each_step(begin: Begin) -> None:
    alice, bob = begin("alice"), begin("bob")

    async def counted() -> list[int]:
        return list((await statistics.stats(alice)).packets.values())

    assert list((await statistics.stats(alice)).packets) == list(packets.PACKET_STATES)
    assert await counted() == [0, 0, 0, 0]
    first, second = await _give(alice), await _give(alice)
    assert await counted() == [2, 0, 0, 0]
    await packets.take(bob, first)
    assert await counted() == [1, 1, 0, 0]
    await packets.release(bob, first)
    assert await counted() == [2, 0, 0, 0]
    await packets.take(bob, first)
    await _close(bob, first)
    await packets.cancel(alice, second)
    assert await counted() == [0, 0, 1, 1]
