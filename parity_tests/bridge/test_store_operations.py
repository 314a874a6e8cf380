"""The log, the numbers and the check, as an agent and as the owner sees them."""

from bridge.operations import commits, entries, integrity, outcomes, packets, statistics
from bridge.session import Session
from parity_tests.bridge.conftest import Begin
from parity_tests.ledger import proves


async def _fill(alice: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await entries.remember(alice, "svc/a", "secret", 1, shared=False, confidence=0.2)
    await packets.give(alice, "to do", to_agent="alice")
    await outcomes.record_outcome(alice, "success", "RUN-1")


@proves("bridge.log")
async def test_the_log_is_newest_first_page_by_page(alice: Session) -> None:
    await _fill(alice)
    first = await commits.log(alice, limit=3)
    rest = await commits.log(alice, before=first[-1].sequence)
    assert [each.sequence for each in (*first, *rest)] == [4, 3, 2, 1]
    assert [each.kind for each in first] == ["outcome", "write", "write"]


@proves("bridge.log", "bridge.owner")
async def test_each_sees_the_part_of_the_log_that_is_theirs(begin: Begin) -> None:
    await _fill(begin("alice"))
    seen = {
        name: [each.sequence for each in await commits.log(begin(name, owner=name == "desk"))]
        for name in ("alice", "bob", "desk")
    }
    assert seen == {"alice": [4, 3, 2, 1], "bob": [4, 1], "desk": [4, 3, 2, 1]}


@proves("bridge.stats", "bridge.owner")
async def test_numbers_count_what_can_be_seen_and_packets_apart(begin: Begin) -> None:
    await _fill(begin("alice"))
    bob = await statistics.stats(begin("bob"))
    assert (bob.stats.total_entries, bob.stats.entities) == (1, {"svc/a": 1})
    assert (bob.stats.confidence_avg, bob.packets["open"]) == (0.84, 0)
    for session in (begin("alice"), begin("desk", owner=True)):
        mine = await statistics.stats(session)
        assert (mine.stats.total_entries, mine.stats.total_agents) == (2, 1)
        assert (mine.stats.version_count, mine.packets["open"]) == (2, 1)


@proves("bridge.owner")
async def test_the_owner_reads_everything(begin: Begin) -> None:
    await _fill(begin("alice"))
    owner = begin("desk", owner=True)
    assert (await entries.read(owner, "svc/a", "secret")).value == 1
    (packet,) = await packets.list_packets(owner)
    assert (await packets.show(owner, packet.id)).summary == "to do"


@proves("bridge.verify")
async def test_a_store_after_all_this_verifies(alice: Session, bob: Session) -> None:
    await _fill(alice)
    packet_id = (await packets.give(alice, "to do")).packet.id
    await packets.take(bob)
    await packets.release(bob, packet_id)
    await packets.cancel(alice, packet_id)
    report = await integrity.verify(bob)
    assert report.ok
    assert (report.key_count, report.version_count, report.outcome_count) == (4, 7, 1)
