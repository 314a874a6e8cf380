"""Transactions: several writes, one commit."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from amfs_sqlite import (
    AgentMemory,
    AmfsAdapter,
    CommitResult,
    CountedIds,
    FixedClock,
    InvalidArgumentError,
    StoreBusyError,
)
from amfs_sqlite.agent.session import OPERATIONS
from parity_tests.concurrency.test_cancellation import after_turns, growing
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


LOST = {
    "cancelled": asyncio.CancelledError(),
    "failed": StoreBusyError("m.db", "was locked by another process for 15 s"),
    "gone": ConnectionError("no answer"),
}


def unanswered(adapter: AmfsAdapter, lost: BaseException, *, is_stored: bool) -> AmfsAdapter:
    """The adapter, whose first commit gets no answer, whether it is stored or not."""
    is_first = iter([True])

    async def commit(*args: Any, **options: Any) -> CommitResult:
        if not next(is_first, False):
            return await adapter.commit(*args, **options)
        if is_stored:
            await adapter.commit(*args, **options)
        raise lost

    able = {name: getattr(adapter, name) for name in OPERATIONS}
    return cast(AmfsAdapter, SimpleNamespace(**able | {"commit": commit}))


@proves("agent.transaction-once")
@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("lost", LOST)
async def test_what_was_committed_without_an_answer_and_is_committed_again_stands_once(
    adapter: AmfsAdapter, lost: str, is_stored: bool
) -> None:
    memory = AgentMemory("alice", adapter=unanswered(adapter, LOST[lost], is_stored=is_stored))
    transaction = memory.transaction("both")
    transaction.write("svc", "a", 1)
    transaction.write("svc", "b", 1)
    with pytest.raises(type(LOST[lost])):
        await transaction.commit()
    assert transaction.pending_count == 2
    commit = await transaction.commit()
    assert commit is not None
    assert [(each.key, each.version) for each in commit.entries] == [("a", 1), ("b", 1)]
    assert (transaction.pending_count, await transaction.commit()) == (0, None)
    assert await memory.commit_log() == [commit]


@proves("agent.transaction-once")
@pytest.mark.parametrize("is_stored", [True, False])
async def test_what_is_buffered_behind_a_commit_without_an_answer_is_a_commit_of_its_own(
    adapter: AmfsAdapter, is_stored: bool
) -> None:
    memory = AgentMemory("alice", adapter=unanswered(adapter, LOST["failed"], is_stored=is_stored))
    transaction = memory.transaction()
    transaction.write("svc", "a", 1)
    with pytest.raises(StoreBusyError):
        await transaction.commit()
    transaction.write("svc", "a", 2)
    transaction.write("svc", "b", 2)
    assert transaction.pending_count == 3
    newest = await transaction.commit()
    log = await memory.commit_log()
    assert log[0] == newest
    stored = [[(each.key, each.version) for each in commit.entries] for commit in log]
    assert stored == [[("a", 2), ("b", 1)], [("a", 1)]]
    assert transaction.pending_count == 0


@proves("agent.transaction-once", "agent.transaction-block")
async def test_a_block_that_raises_forgets_what_was_tried_in_it(adapter: AmfsAdapter) -> None:
    memory = AgentMemory("alice", adapter=unanswered(adapter, LOST["failed"], is_stored=False))
    transaction = memory.transaction()

    async def block() -> None:
        async with transaction:
            transaction.write("svc", "a", 1)
            await transaction.commit()

    await refused(adapter, block(), StoreBusyError)
    assert (transaction.pending_count, await transaction.commit()) == (0, None)


@proves("agent.transaction-once")
async def test_a_commit_cancelled_at_any_moment_and_tried_again_stands_once(
    adapter: AmfsAdapter, alice: AgentMemory
) -> None:
    cancelled = 0
    for attempt, turns in enumerate(growing(8, 4)):
        transaction = alice.transaction()
        transaction.write("svc", f"k{attempt}", 1)
        is_done = await after_turns(turns, transaction.commit())
        cancelled += not is_done
        await transaction.commit()
        assert [each.version for each in await alice.history("svc", f"k{attempt}")] == [1]
        if is_done:
            break
    assert cancelled
    assert len(await alice.commit_log()) == len(await alice.list())


@proves("agent.transaction-turns")
async def test_commits_of_one_transaction_at_once_take_turns_and_lose_nothing(alice: AgentMemory) -> None:
    await alice.write("svc", "a", 0)
    transaction = alice.transaction()
    transaction.write("svc", "a", 1)
    first, second = [asyncio.ensure_future(transaction.commit()) for _ in range(2)]
    assert await first is not None
    transaction.write("svc", "b", 2)
    await second
    await transaction.commit()
    assert transaction.pending_count == 0
    assert [each.value for each in await alice.history("svc", "a")] == [0, 1]
    assert [each.value for each in await alice.history("svc", "b")] == [2]


@proves("agent.transaction-turns")
async def test_what_is_written_while_a_commit_is_under_way_waits_for_the_next(adapter: AmfsAdapter) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def commit(*args: Any, **options: Any) -> CommitResult:
        begun.set()
        await may_end.wait()
        return await adapter.commit(*args, **options)

    able = {name: getattr(adapter, name) for name in OPERATIONS}
    slow = cast(AmfsAdapter, SimpleNamespace(**able | {"commit": commit}))
    transaction = AgentMemory("alice", adapter=slow).transaction()
    transaction.write("svc", "a", 1)
    first = asyncio.ensure_future(transaction.commit())
    await begun.wait()
    transaction.write("svc", "b", 1)
    assert transaction.pending_count == 2
    may_end.set()
    await first
    assert (transaction.pending_count, [each.key for each in await adapter.list()]) == (1, ["a"])
    await transaction.commit()
    assert [each.key for each in await adapter.list()] == ["a", "b"]


@proves("agent.transaction-once")
async def test_only_what_is_committed_draws_an_id_and_only_one(adapter: AmfsAdapter) -> None:
    ids = CountedIds()
    lossy = unanswered(adapter, LOST["failed"], is_stored=True)
    transaction = AgentMemory("alice", adapter=lossy, session_id="s", ids=ids).transaction()
    assert await transaction.commit() is None
    transaction.write("svc", "a", 1)
    assert ids.count == 0
    with pytest.raises(StoreBusyError):
        await transaction.commit()
    await transaction.commit()
    assert ids.count == 1
