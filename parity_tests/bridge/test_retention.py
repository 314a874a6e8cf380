"""Letting go beside packets: what they pin is kept from pruning, and an erasure is told to who takes them."""

import pytest

from amfs_sqlite import EntryNotFoundError, EntryRef, FixedClock, InvalidArgumentError, SearchQuery
from bridge.operations import entries, outcomes, packets, retention
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.ledger import proves


async def remembered(session: Session, count: int) -> None:
    for n in range(1, count + 1):
        await entries.remember(session, "svc", "limit", f"belief {n}")


@proves("retention.pins-kept")
async def test_a_pruning_keeps_what_an_unfinished_packet_pins(
    begin: Begin, alice: Session, bob: Session
) -> None:
    owner = begin("owner", owner=True)
    await remembered(alice, 4)
    await packets.give(alice, "go on", refs=[EntryRef(entity_path="svc", key="limit", version=2)])
    assert [each.version for each in (await retention.prune(owner, keep_last=1)).versions] == [1, 3]
    taken = await packets.take(bob)
    assert isinstance(taken, packets.Taken)
    assert [record.value for record in taken.records] == ["belief 2"]
    await outcomes.record_outcome(bob, "success", "run", handoff_id=taken.packet.id)
    assert [each.version for each in (await retention.prune(owner, keep_last=1)).versions] == [2]


@proves("retention.pins-told")
async def test_who_takes_a_packet_is_told_what_was_erased(begin: Begin, alice: Session, bob: Session) -> None:
    owner = begin("owner", owner=True)
    await remembered(alice, 2)
    pinned = [EntryRef(entity_path="svc", key="limit", version=n) for n in (1, 2)]
    await packets.give(alice, "go on", refs=pinned)
    await retention.erase(owner, [pinned[1]])
    taken = await packets.take(bob)
    assert isinstance(taken, packets.Taken)
    assert [record.version for record in taken.records] == [1]
    told = {each.pinned_version: (each.current_version, each.change) for each in taken.stale}
    assert told == {1: (2, "it was erased"), 2: (None, "version 2 was erased")}
    with pytest.raises(EntryNotFoundError):
        await packets.give(alice, "again", refs=[pinned[1]])


@proves("retention.pins-told")
async def test_who_takes_a_packet_is_told_what_was_archived(
    begin: Begin, alice: Session, bob: Session, clock: FixedClock
) -> None:
    await remembered(alice, 1)
    (entry,) = await alice.adapter.list()
    await alice.adapter.write(entry.model_copy(update={"ttl_at": clock.now()}))
    await packets.give(alice, "go on", refs=[EntryRef(entity_path="svc", key="limit", version=2)])
    assert len((await retention.archive(begin("owner", owner=True))).versions) == 1
    taken = await packets.take(bob)
    assert isinstance(taken, packets.Taken)
    assert [(each.pinned_version, each.change) for each in taken.stale] == [(2, "it was archived")]


@proves("retention.owner")
async def test_letting_go_is_for_the_owner(begin: Begin, alice: Session) -> None:
    await remembered(alice, 2)
    for attempt in (
        retention.erase(alice, written_by="alice"),
        retention.prune(alice, keep_last=1),
        retention.archive(alice),
    ):
        with pytest.raises(InvalidArgumentError, match="owner"):
            await attempt
    report = await retention.erase(begin("owner", owner=True), written_by="alice", message="asked to")
    commit = await alice.adapter.get_commit(report.commit_ids[0])
    assert commit is not None
    assert (commit.author_agent_id, commit.message, commit.kind) == ("owner", "asked to", "erase")


@proves("retention.packets-kept")
async def test_packets_are_neither_pruned_nor_archived(begin: Begin, alice: Session, bob: Session) -> None:
    owner = begin("owner", owner=True)
    given = await packets.give(alice, "go on", idempotency_key="once")
    await packets.take(bob)
    before = await alice.adapter.search(SearchQuery(limit=None))
    assert (await retention.prune(owner, keep_last=1)).versions == ()
    assert (await retention.archive(owner)).versions == ()
    assert await alice.adapter.search(SearchQuery(limit=None)) == before
    assert (await packets.give(alice, "go on", idempotency_key="once")).packet == given.packet


@proves("retention.remembered-again")
async def test_what_was_erased_can_be_remembered_again(begin: Begin, alice: Session) -> None:
    await remembered(alice, 1)
    await retention.erase(begin("owner", owner=True), [EntryRef(entity_path="svc", key="limit")])
    with pytest.raises(EntryNotFoundError):
        await entries.read(alice, "svc", "limit")
    again = await entries.remember(alice, "svc", "limit", "belief 1", expected_version=0)
    assert (again.entry.version, again.unchanged, again.superseded) == (2, False, None)
