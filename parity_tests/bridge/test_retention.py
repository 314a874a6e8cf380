"""Letting go beside packets: what they pin is kept from pruning, and an erasure is told to who takes them."""

import pytest

from amfs_sqlite import (
    AmbiguousReferenceError,
    EntryNotFoundError,
    EntryRef,
    FixedClock,
    InvalidArgumentError,
    SearchQuery,
)
from bridge.operations import commits, entries, outcomes, packets, references, retention
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


@proves("retention.packets-erased")
async def test_with_an_agent_go_the_packets_it_gave_whoever_holds_them(
    begin: Begin, alice: Session, bob: Session
) -> None:
    await remembered(alice, 1)
    await packets.give(alice, "alice's words")
    await packets.take(bob)
    await packets.give(bob, "bob's own")
    await retention.erase(begin("owner", owner=True), written_by="alice")
    left = [str(each.value) for each in await alice.adapter.list(include_superseded=True)]
    assert not any("alice's words" in value for value in left)
    assert any("bob's own" in value for value in left)
    assert (await alice.adapter.verify()).ok


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


@proves("retention.retried")
async def test_a_repeated_request_tells_that_what_it_wrote_was_erased_since(
    begin: Begin, alice: Session
) -> None:
    first = await entries.remember(alice, "svc", "limit", "60", idempotency_key="once")
    assert first.entry.withdrawn is None
    await retention.erase(begin("owner", owner=True), [EntryRef(entity_path="svc", key="limit")])
    later = begin("alice")
    again = await entries.remember(later, "svc", "limit", "60", idempotency_key="once")
    assert (again.entry.version, again.entry.value, again.entry.withdrawn) == (1, None, "erased")
    assert later.touched == ()


@proves("retention.told")
async def test_who_reads_what_is_gone_is_told_why(begin: Begin, alice: Session, clock: FixedClock) -> None:
    owner = begin("owner", owner=True)
    await remembered(alice, 1)
    await entries.remember(alice, "svc", "secret", "mine", shared=False)
    await entries.remember(alice, "svc", "old", "short-lived")
    (old,) = [each for each in await alice.adapter.list() if each.key == "old"]
    await alice.adapter.write(old.model_copy(update={"ttl_at": clock.now()}))
    with pytest.raises(EntryNotFoundError) as expired:
        await entries.read(alice, "svc", "old")
    assert expired.value.withdrawn is None
    await retention.archive(owner)
    await retention.erase(owner, written_by="alice")
    for key, why in (("limit", "erased"), ("secret", "erased"), ("old", "archived"), ("never", None)):
        with pytest.raises(EntryNotFoundError) as refused:
            await entries.read(alice, "svc", key)
        assert refused.value.withdrawn == why
        with pytest.raises(EntryNotFoundError) as refused:
            await references.resolve(alice, f"svc/{key}")
        assert (refused.value.entity_path, refused.value.key) == ("svc", key)
        assert refused.value.withdrawn == why
    with pytest.raises(EntryNotFoundError) as hidden:
        await entries.read(begin("bob"), "svc", "secret")
    assert hidden.value.withdrawn is None


@proves("retention.told")
async def test_a_reference_that_fits_several_records_that_are_gone_is_ambiguous(
    begin: Begin, alice: Session
) -> None:
    await entries.remember(alice, "a", "b/c", 1)
    await entries.remember(alice, "a/b", "c", 2)
    await retention.erase(begin("owner", owner=True), written_by="alice")
    with pytest.raises(AmbiguousReferenceError):
        await references.resolve(alice, "a/b/c")


@proves("retention.has-written")
async def test_whoever_wrote_anything_has_written_whatever_became_of_it(begin: Begin, alice: Session) -> None:
    owner = begin("owner", owner=True)
    await remembered(alice, 1)
    await retention.erase(owner, written_by="alice")
    assert await retention.has_written(owner, "alice")
    assert not await retention.has_written(owner, "owner")
    assert not await retention.has_written(owner, "bob")


@proves("retention.archivings")
async def test_commits_that_archived_something_are_told_from_those_that_wrote_null(
    begin: Begin, alice: Session, clock: FixedClock
) -> None:
    owner = begin("owner", owner=True)
    await entries.remember(alice, "svc", "null", None)
    (null,) = await alice.adapter.list()
    await alice.adapter.write(null.model_copy(update={"ttl_at": clock.now()}))
    (archived,) = (await retention.archive(owner)).commit_ids
    log = await commits.log(owner)
    assert len(log) == 3
    assert await commits.archiving(owner, log) == {archived}
