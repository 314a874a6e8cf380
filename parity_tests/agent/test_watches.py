"""Callbacks that do not return: whoever cancels their watch leaves them, and disturbs nobody."""

import asyncio
from collections.abc import Callable

import pytest

from amfs_sqlite import AgentMemory, MemoryEntry
from amfs_sqlite.protocol.changes import WatchHandle
from parity_tests.ledger import proves
from parity_tests.listeners import WITHIN_S, Listener


class Hanging:
    """A callback that does not return before it is told to; ``body`` is what it does first, ``end`` last."""

    def __init__(self) -> None:
        self.entered, self.go, self.has_returned = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.body: Callable[[], object] = lambda: None

    async def __call__(self, _entry: MemoryEntry) -> None:
        self.body()
        self.entered.set()
        await self.go.wait()
        await self.end()
        self.has_returned.set()

    async def end(self) -> None:
        """Nothing."""


async def held_up(alice: AgentMemory, hanging: Hanging) -> tuple[WatchHandle, asyncio.Task[MemoryEntry]]:
    """A watch whose callback is under way, and the writer that waits for it."""
    handle = await alice.watch(None, hanging)
    writer = asyncio.ensure_future(alice.write("p", "first", 1))
    async with asyncio.timeout(WITHIN_S):
        await hanging.entered.wait()
    for _ in range(3):
        await alice.read("p", "first")
    assert not writer.done()
    return handle, writer


@proves("watching.left")
async def test_cancelling_a_watch_lets_those_go_who_wait_for_its_callback(alice: AgentMemory) -> None:
    hanging, listener = Hanging(), Listener()
    handle, writer = await held_up(alice, hanging)
    await alice.watch(None, listener)
    others = [asyncio.ensure_future(alice.write("p", key, 1)) for key in ("second", "third")]
    handle.cancel()
    async with asyncio.timeout(WITHIN_S):
        assert [(await each).version for each in (writer, *others)] == [1, 1, 1]
        await alice.write("p", "fourth", 1)
    assert listener.heard == ["second@1", "third@1", "fourth@1"]
    assert not hanging.has_returned.is_set()
    hanging.go.set()
    async with asyncio.timeout(WITHIN_S):
        await hanging.has_returned.wait()


@proves("watching.left")
async def test_what_a_callback_writes_once_it_is_left_is_delivered_before_it_goes_on(
    alice: AgentMemory,
) -> None:
    listener, heard = Listener(), list[str]()

    class Writing(Hanging):
        async def end(self) -> None:
            await alice.write("p", "late", 1)
            heard.extend(listener.heard)

    hanging = Writing()
    handle, writer = await held_up(alice, hanging)
    await alice.watch(None, listener)
    handle.cancel()
    async with asyncio.timeout(WITHIN_S):
        await writer
        hanging.go.set()
        await hanging.has_returned.wait()
    assert heard == ["late@1"]


@proves("watching.left")
@pytest.mark.parametrize("is_left", [False, True], ids=["waited for", "left"])
@pytest.mark.parametrize("is_by_a_task", [False, True], ids=["itself", "by a task of its own"])
async def test_a_callback_that_cancels_its_own_watch_is_waited_for_unless_others_cancel_it_too(
    alice: AgentMemory, is_by_a_task: bool, is_left: bool
) -> None:
    hanging, handles, tasks = Hanging(), list[WatchHandle](), list[asyncio.Task[None]]()

    async def cancel() -> None:
        handles[0].cancel()

    def cancel_itself() -> None:
        if is_by_a_task:
            tasks.append(asyncio.ensure_future(cancel()))
        else:
            handles[0].cancel()

    hanging.body = cancel_itself
    handles.append(await alice.watch(None, hanging))
    writer = asyncio.ensure_future(alice.write("p", "k", 1))
    async with asyncio.timeout(WITHIN_S):
        await hanging.entered.wait()
    for _ in range(3):
        await alice.read("p", "k")
    assert (handles[0].cancelled, writer.done()) == (True, False)
    if is_left:
        handles[0].cancel()
    else:
        hanging.go.set()
    async with asyncio.timeout(WITHIN_S):
        await writer
        assert hanging.has_returned.is_set() is not is_left
        hanging.go.set()
        await hanging.has_returned.wait()


@proves("watching.left")
async def test_what_a_callback_raises_after_it_was_left_is_logged(
    alice: AgentMemory, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Hanging):
        async def end(self) -> None:
            self.has_returned.set()
            raise LookupError("too late")

    hanging = Failing()
    handle, writer = await held_up(alice, hanging)
    handle.cancel()
    await writer
    assert caplog.records == []
    hanging.go.set()
    async with asyncio.timeout(WITHIN_S):
        await hanging.has_returned.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert [str(each.exc_info and each.exc_info[1]) for each in caplog.records] == ["too late"]
