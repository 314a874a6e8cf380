"""Cancelled at any moment, an operation is done as a whole or not at all, and leaves nothing behind."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import Coroutine, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import AdapterClosedError, SqliteAdapter
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import lanes_of, left_running, settled

WRITES = 500
AT_ONCE = 25
BATCH_SIZE = 1000
UNTIL_DONE = 10**9


def growing(first: int, factor: int) -> Iterator[int]:
    """Turns of the loop: each of the first, then ever longer, until an operation is done within them."""
    yield from range(first)
    yield from (first * factor**power for power in count())


async def after_turns(turns: int, operation: Coroutine[Any, Any, Any]) -> bool:
    """Cancel an operation after so many turns of the loop; whether it was done before that."""
    task = asyncio.ensure_future(operation)
    for _ in range(turns):
        if task.done():
            break
        await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return not task.cancelled()


def may_write(path: str) -> bool:
    """Whether another connection gets the write lock at once."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        return True


def open_files(path: str) -> list[str]:
    """What this process has open of a store, where the system tells."""
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        return []
    links = []
    for each in descriptors.iterdir():
        with suppress(FileNotFoundError):
            links.append(str(each.readlink()))
    return [link for link in links if link.startswith(path)]


def delete(path: str) -> None:
    Path(path).unlink(missing_ok=True)


@pytest.fixture
def nothing_left(path: str) -> Iterator[None]:
    """Afterwards no thread and no handle of an adapter is left, and the file can be deleted."""
    before = set(threading.enumerate())
    yield
    assert left_running(before) == []
    assert open_files(path) == []
    delete(path)


async def nothing_is_open(adapter: SqliteAdapter) -> bool:
    """Whether, once nothing is under way any more, neither connection is within a transaction."""
    await settled(adapter)
    connections = [lane.connection for lane in lanes_of(adapter)]
    return not any(each is not None and each.in_transaction for each in connections)


@proves("cancellation.writes")
@pytest.mark.usefixtures("nothing_left")
async def test_writes_cancelled_at_random_are_stored_whole_or_not_at_all(path: str) -> None:
    chance = random.Random(1)  # noqa: S311 - to be repeated, not to be secret
    async with SqliteAdapter(path) as adapter:
        done: list[bool] = []
        while len(done) < WRITES:
            writes = [adapter.write(draft(key=str(len(done) + each), value=each)) for each in range(AT_ONCE)]
            turns = [UNTIL_DONE, *(int(2 ** chance.uniform(0, 9)) for _ in writes[1:])]
            done += await asyncio.gather(*map(after_turns, turns, writes))
        stored = {entry.key: entry.value for entry in await adapter.list()}
        assert {str(each) for each, was_done in enumerate(done) if was_done} <= stored.keys()
        assert (await adapter.verify()).findings == ()
        assert await nothing_is_open(adapter)
        assert may_write(path)


@proves("cancellation.writes", "cancellation.batches")
@pytest.mark.usefixtures("nothing_left")
async def test_a_batch_cancelled_at_any_moment_is_stored_whole_or_not_at_all(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        for turns in growing(3, 8):
            batch = [draft(f"batch/{turns}", str(row)) for row in range(BATCH_SIZE)]
            done = await after_turns(turns, adapter.write_batch(batch))
            await adapter.write(draft(key=str(turns)))
            stored = await adapter.list(f"batch/{turns}")
            assert len(stored) in ([BATCH_SIZE] if done else [0, BATCH_SIZE])
            assert await nothing_is_open(adapter)
            assert may_write(path)
            if done:
                break
        assert (await adapter.verify()).findings == ()


@proves("cancellation.opening")
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "existing"])
async def test_an_opening_cancelled_at_any_moment_leaves_it_closed(path: str, is_new: bool) -> None:
    if not is_new:
        async with SqliteAdapter(path) as adapter:
            await adapter.write(draft())
    for turns in growing(12, 2):
        before = set(threading.enumerate())
        adapter = SqliteAdapter(path)
        opened = await after_turns(turns, adapter.open())
        if opened:
            await adapter.close()
        with pytest.raises(AdapterClosedError):
            await adapter.stats()
        assert left_running(before) == []
        assert open_files(path) == []
        if opened:
            break
        if is_new:
            delete(path)
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.stats()).total_entries == (0 if is_new else 1)
        assert may_write(path)


@proves("cancellation.closing")
@pytest.mark.usefixtures("nothing_left")
async def test_a_closing_cancelled_at_any_moment_still_closes(path: str) -> None:
    for number, turns in enumerate(growing(12, 2), 1):
        adapter = SqliteAdapter(path)
        await adapter.open()
        writing = asyncio.ensure_future(adapter.write(draft(key=str(number))))
        await asyncio.sleep(0)
        closed = await after_turns(turns, adapter.close())
        if turns == 0:  # It never began.
            await adapter.close()
        assert (await writing).version == 1
        with pytest.raises(AdapterClosedError):
            await adapter.stats()
        if closed:
            break
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.stats()).total_entries == number


@proves("cancellation.loop-ends")
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("turns", [1, 4, 16, 64, 256])
def test_a_loop_that_ends_while_writes_are_pending_leaves_no_half_transaction(path: str, turns: int) -> None:
    adapter = SqliteAdapter(path)

    async def leave_in_the_middle() -> None:
        await adapter.open()
        writes = [adapter.write_batch([draft(str(each), key) for key in "abc"]) for each in range(50)]
        running = [asyncio.ensure_future(write) for write in writes]
        for _ in range(turns):
            await asyncio.sleep(0)
        assert len(running) == 50

    asyncio.run(leave_in_the_middle())
    assert may_write(path)
    asyncio.run(adapter.close())

    async def look() -> None:
        async with adapter:
            paths = [entry.entity_path for entry in await adapter.list()]
            assert all(paths.count(each) == 3 for each in set(paths))
            assert (await adapter.verify()).findings == ()

    asyncio.run(look())
