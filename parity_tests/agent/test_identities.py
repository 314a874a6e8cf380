"""Two identities at work at once on one adapter: to each what is its own."""

import asyncio

from amfs_sqlite import AgentMemory, MemoryEntry
from parity_tests.ledger import proves
from parity_tests.listeners import Listener

ROUNDS = 25


async def at_once(*memories: AgentMemory) -> list[Listener]:
    """What each heard while all of them wrote and read: a key of all, and a private one of its own."""
    listeners = [Listener() for _ in memories]
    for memory, listener in zip(memories, listeners, strict=True):
        await memory.watch("svc", listener)
    names = [memory.agent_id for memory in memories]
    await asyncio.gather(*(work(memory, names) for memory in memories))
    return listeners


async def work(memory: AgentMemory, names: list[str]) -> None:
    for number in range(ROUNDS):
        await memory.write("svc", "shared", [memory.agent_id, number])
        await memory.write("svc", memory.agent_id, number, shared=False)
        for name in names:
            await memory.read("svc", name)


async def log_of(memory: AgentMemory) -> list[MemoryEntry]:
    """Everything that was written, in order."""
    return [event.entry async for event in memory.adapter.changes(follow=False)]


@proves("agent.identities")
async def test_what_two_agents_write_at_once_is_signed_by_its_writer_and_in_its_order(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    await at_once(alice, bob)
    log = await log_of(alice)
    assert len(log) == 4 * ROUNDS
    assert {entry.agent_id for entry in log[: 2 * ROUNDS]} == {"alice", "bob"}
    for memory in (alice, bob):
        own = [entry for entry in log if entry.agent_id == memory.agent_id]
        assert {entry.provenance.session_id for entry in own} == {memory.session_id}
        shared = [entry.value for entry in own if entry.shared]
        assert shared == [[memory.agent_id, number] for number in range(ROUNDS)]
        private = [(entry.key, entry.value, entry.version) for entry in own if not entry.shared]
        assert private == [(memory.agent_id, number, number + 1) for number in range(ROUNDS)]


@proves("agent.identities")
async def test_each_of_two_agents_logs_what_it_read_itself(alice: AgentMemory, bob: AgentMemory) -> None:
    await at_once(alice, bob)
    for memory in (alice, bob):
        assert memory.read_tracker.causal_keys == [f"svc/{memory.agent_id}"]
        assert memory.read_tracker.read_version(f"svc/{memory.agent_id}") == ROUNDS
    moved = await asyncio.gather(*(memory.commit_outcome("run", "success") for memory in (alice, bob)))
    assert [[entry.key for entry in entries] for entries in moved] == [["alice"], ["bob"]]


@proves("agent.identities")
async def test_each_of_two_agents_hears_what_it_may_see_in_the_order_of_the_log(
    alice: AgentMemory, bob: AgentMemory
) -> None:
    heard = await at_once(alice, bob)
    log = await log_of(alice)
    for memory, listener in zip((alice, bob), heard, strict=True):
        visible = [entry for entry in log if entry.shared or entry.agent_id == memory.agent_id]
        assert len(visible) == 3 * ROUNDS
        assert listener.entries == visible
