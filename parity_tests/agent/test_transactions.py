"""Transactions: several writes, one commit."""

import asyncio

import pytest

from amfs_sqlite import AgentMemory, AmfsAdapter, FixedClock, InvalidArgumentError
from parity_tests.ledger import proves
from parity_tests.state import refused, state


@proves("agent.transactions")
async def test_a_transaction_is_one_commit_with_its_message(alice: AgentMemory, clock: FixedClock) -> None:
    transaction = alice.transaction("first")
    transaction.write("svc", "a", 1)
    transaction.write("svc", "b", 2, confidence=0.4, pattern_refs=["t"], shared=False)
    transaction.write("svc", "a", 3)
    assert (transaction.pending_count, await alice.list()) == (3, [])
    transaction.set_message("changed")
    clock.set("2026-02-01")
    commit = await transaction.commit()
    assert commit is not None
    assert (commit.message, commit.author_agent_id, commit.session_id) == ("changed", "alice", "s-alice")
    assert [(each.key, each.version) for each in commit.entries] == [("a", 1), ("b", 1), ("a", 2)]
    stored = await alice.list(include_superseded=True)
    assert {each.commit_id for each in stored} == {commit.id}
    assert {each.written_at for each in stored} == {clock.now()}
    assert await alice.commit_log() == [commit]


@proves("agent.transactions")
async def test_a_transaction_commits_once_and_goes_on(alice: AgentMemory) -> None:
    transaction = alice.transaction()
    assert await transaction.commit() is None
    transaction.write("svc", "a", 1)
    assert await transaction.commit() is not None
    assert (transaction.pending_count, await transaction.commit()) == (0, None)
    transaction.write("svc", "a", 2)
    await transaction.commit()
    assert [each.value for each in await alice.history("svc", "a")] == [1, 2]


@proves("agent.transactions")
async def test_a_failing_transaction_leaves_nothing(adapter: AmfsAdapter, alice: AgentMemory) -> None:
    await alice.write("svc", "a", 1)
    transaction = alice.transaction("x" * 100_000)
    transaction.write("svc", "a", 2)
    transaction.write("svc", "b", 2)
    await refused(adapter, transaction.commit(), InvalidArgumentError)
    assert transaction.pending_count == 2
    transaction.set_message("short")
    assert await transaction.commit() is not None
    assert [each.value for each in await alice.list()] == [2, 2]


@proves("agent.transactions")
@pytest.mark.parametrize(("path", "value"), [("", 1), ("svc", float("nan")), ("svc", "\ud800")])
async def test_what_cannot_be_stored_never_comes_into_a_transaction(
    adapter: AmfsAdapter, alice: AgentMemory, path: str, value: object
) -> None:
    before = await state(adapter)
    transaction = alice.transaction()
    with pytest.raises(InvalidArgumentError):
        transaction.write(path, "k", value)
    assert (transaction.pending_count, await transaction.commit()) == (0, None)
    assert await state(adapter) == before


@proves("agent.transactions")
async def test_a_transaction_holds_copies(alice: AgentMemory) -> None:
    value = {"n": 1}
    transaction = alice.transaction()
    transaction.write("svc", "a", value)
    value["n"] = 2
    await transaction.commit()
    assert [each.value for each in await alice.list()] == [{"n": 1}]


@proves("agent.transaction-block")
async def test_a_block_commits_once_at_its_end(alice: AgentMemory) -> None:
    async with alice.transaction("two") as transaction:
        transaction.write("svc", "a", 1)
        transaction.write("svc", "b", 2)
        assert await alice.list() == []
    assert [(commit.message, len(commit.entries)) for commit in await alice.commit_log()] == [("two", 2)]
    async with transaction:
        transaction.write("svc", "a", 3)
    async with transaction:
        assert transaction.pending_count == 0
    assert [each.version for each in await alice.list()] == [2, 1]
    assert [commit.message for commit in await alice.commit_log()] == ["two", "two"]


@proves("agent.transaction-block")
@pytest.mark.parametrize("raised", [LookupError("no"), asyncio.CancelledError()], ids=repr)
async def test_a_block_that_raises_stores_nothing_and_leaves_nothing_waiting(
    adapter: AmfsAdapter, alice: AgentMemory, raised: BaseException
) -> None:
    await alice.write("svc", "a", 1)
    transaction = alice.transaction()

    async def block() -> None:
        async with transaction:
            transaction.write("svc", "a", 2)
            raise raised

    assert await refused(adapter, block(), type(raised)) is raised
    assert (transaction.pending_count, await transaction.commit()) == (0, None)
    assert [each.value for each in await alice.list()] == [1]


@proves("agent.transaction-block")
async def test_a_block_whose_commit_is_refused_raises_and_keeps_its_writes(
    adapter: AmfsAdapter, alice: AgentMemory
) -> None:
    transaction = alice.transaction("x" * 100_000)

    async def block() -> None:
        async with transaction:
            transaction.write("svc", "a", 1)

    await refused(adapter, block(), InvalidArgumentError)
    transaction.set_message("short")
    assert await transaction.commit() is not None


@proves("agent.transactions", "agent.outcome-count")
async def test_the_last_transaction_wins_and_outcome_counts_go_on(alice: AgentMemory) -> None:
    await alice.write("svc", "a", 0)
    await alice.commit_outcome("run", "failure", ["svc/a"])
    first, second = alice.transaction(), alice.transaction()
    first.write("svc", "a", "first")
    first.write("svc", "a", "again")
    second.write("svc", "a", "second")
    await second.commit()
    await first.commit()
    history = await alice.history("svc", "a")
    assert [each.value for each in history] == [0, 0, "second", "first", "again"]
    assert [each.outcome_count for each in history] == [0, 1, 1, 1, 1]


@proves("agent.outcome-count")
async def test_the_count_carried_on_is_the_one_at_the_moment_of_the_commit(
    handoff_adapter: AmfsAdapter,
) -> None:
    alice, bob = [AgentMemory(name, adapter=handoff_adapter) for name in ("alice", "bob")]
    transaction = alice.transaction()
    for value in (1, 2):
        transaction.write("svc", "new", value)
    await bob.write("svc", "new", 0, confidence=0.5)
    await bob.commit_outcome("run", "success", ["svc/new"])
    await transaction.commit()
    assert [each.outcome_count for each in await alice.history("svc", "new")] == [1, 1, 1]
    await bob.write("svc", "hidden", 0, shared=False)
    await bob.commit_outcome("other run", "success", ["svc/hidden"])
    assert (await alice.write("svc", "hidden", 1)).outcome_count == 0
