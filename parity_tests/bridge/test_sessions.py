"""Who is at work, and what counts as touched."""

import math

import pytest

from amfs_sqlite import AMFS_0_3, HANDOFF, AmfsAdapter, EntryRef, InvalidArgumentError, ReferenceAdapter
from bridge.operations import entries, packets, search
from bridge.session import MAX_AGENT_CHARACTERS, MAX_LEASE_S, SeenVersion, Session
from parity_tests.bridge.conftest import Begin
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves


@proves("bridge.touched")
async def test_reads_and_writes_are_touched_at_the_version_last_seen(begin: Begin) -> None:
    writer, session = begin("bob"), begin("alice")
    await entries.remember(writer, "svc/a", "k", 1)
    await entries.remember(session, "svc/b", "own", 1)
    await entries.read(session, "svc/a", "k")
    await entries.remember(session, "svc/b", "own", 2)
    await entries.remember(writer, "svc/a", "k", 2)
    assert session.touched_refs() == (at("svc/b", "own", 2), at("svc/a", "k", 1))
    stored = [
        await session.adapter.read_at_version(*address)
        for address in (("svc/b", "own", 2), ("svc/a", "k", 1))
    ]
    assert [each.content_hash for each in session.touched] == [each and each.content_hash for each in stored]
    assert [(each.shared, each.agent_id) for each in session.touched] == [(True, "alice"), (True, "bob")]


@proves("bridge.touched")
async def test_finding_and_history_touch_nothing(alice: Session, bob: Session) -> None:
    await entries.remember(bob, "svc/a", "k", 1)
    await search.recall(alice, scope="svc")
    await entries.history(alice, "svc/a", "k")
    await packets.give(bob, "to do")
    await packets.peek(alice)
    assert alice.touched == ()


@proves("bridge.touched")
async def test_resumed_pins_are_touched_at_the_pinned_version(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    await packets.give(alice, "to do")
    await entries.remember(alice, "svc/a", "k", 2)
    await packets.take(bob)
    assert bob.touched_refs() == (at("svc/a", "k", 1),)


@proves("bridge.touched")
async def test_sessions_of_one_agent_touch_apart(begin: Begin) -> None:
    first, second = begin("alice"), begin("alice")
    await entries.remember(first, "svc/a", "k", 1)
    assert second.touched_refs() == ()


@proves("bridge.session-refused")
@pytest.mark.parametrize("agent_id", ["", "x" * (MAX_AGENT_CHARACTERS + 1), "\ud83d"])
async def test_an_impossible_agent_is_refused(agent_id: str) -> None:
    async with ReferenceAdapter(outcomes=HANDOFF) as adapter:
        with pytest.raises(InvalidArgumentError, match="agent_id"):
            Session(adapter, agent_id, "s")


@proves("bridge.session-refused")
@pytest.mark.parametrize("session_id", ["x" * 4097, "\ud83d"])
async def test_an_impossible_session_id_is_refused(session_id: str) -> None:
    async with ReferenceAdapter(outcomes=HANDOFF) as adapter:
        with pytest.raises(InvalidArgumentError, match="session_id"):
            Session(adapter, "alice", session_id)


@proves("bridge.session-refused")
@pytest.mark.parametrize("lease_s", [0, -1, math.nan, math.inf, MAX_LEASE_S + 1])
async def test_an_impossible_lease_is_refused(lease_s: float) -> None:
    async with ReferenceAdapter(outcomes=HANDOFF) as adapter:
        with pytest.raises(InvalidArgumentError, match="lease_s"):
            Session(adapter, "alice", "s", lease_s=lease_s)


@proves("bridge.session-refused")
async def test_another_outcome_policy_is_refused() -> None:
    async with ReferenceAdapter(outcomes=AMFS_0_3) as adapter:
        with pytest.raises(InvalidArgumentError, match="outcomes=HANDOFF"):
            Session(adapter, "alice", "s")


@proves("bridge.session-refused")
@pytest.mark.parametrize("agent", ["x" * MAX_AGENT_CHARACTERS, "*", "anyone", "../../x", "a\nb\0c"])
async def test_any_other_agent_works(begin: Begin, agent: str) -> None:
    session = begin(agent)
    await entries.remember(session, "svc/a", "k", 1)
    given = (await packets.give(session, "to do", to_agent=agent)).packet
    taken = await packets.take(session)
    assert isinstance(taken, packets.Taken)
    assert (taken.packet.id, taken.packet.claimed_by) == (given.id, agent)


@proves("bridge.packet-entry")
async def test_a_session_without_a_name_leaves_none_in_the_log(handoff_adapter: AmfsAdapter) -> None:
    session = Session(handoff_adapter, "alice", "")
    given = await packets.give(session, "to do")
    await packets.take(session, given.packet.id)
    assert [each.session_id for each in await handoff_adapter.list_commits()] == [None, None]


@proves("bridge.touched")
def test_a_session_is_an_agents_who_touched_nothing_until_it_did() -> None:
    session = Session(ReferenceAdapter(outcomes=HANDOFF), "alice", "s")
    assert (session.viewer, session.owner, session.lease_s) == ("alice", False, None)
    session.touch(draft("svc/a", "k", version=7, content_hash="0" * 64))
    assert session.touched_refs() == (EntryRef(entity_path="svc/a", key="k", version=7),)
    with pytest.raises(ValueError, match="never stored"):
        session.touch(draft("svc/a", "other"))


@proves("bridge.touched")
async def test_what_was_touched_last_is_had_in_the_order_of_first_touch(alice: Session) -> None:
    for key in "abcd":
        await entries.remember(alice, "svc", key, 1)
    await entries.read(alice, "svc", "b")
    assert [each.ref.key for each in alice.touched_last(2)] == ["b", "d"]
    assert [each.ref.key for each in alice.touched_last(3)] == ["b", "c", "d"]
    assert alice.touched_last(4) == alice.touched_last(9) == alice.touched
    assert [each.ref.key for each in alice.touched] == list("abcd")


@proves("bridge.touched")
async def test_a_session_keeps_no_value_of_what_it_touched(alice: Session) -> None:
    entry = (await entries.remember(alice, "svc/a", "k", "x" * 100_000)).entry
    assert alice.touched == (SeenVersion(entry.ref, str(entry.content_hash), True, "alice"),)
