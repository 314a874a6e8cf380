"""Watches: what they hear, when, in which order, and what cannot disturb them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from amfs_sqlite import (
    AdapterClosedError,
    AmfsAdapter,
    InvalidArgumentError,
    MemoryEntry,
    Outcome,
    Write,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.listeners import WITHIN_S, Listener

WRITING: dict[str, Callable[[AmfsAdapter], Awaitable[object]]] = {
    "write": lambda adapter: adapter.write(draft(key="new")),
    "write_batch": lambda adapter: adapter.write_batch([draft(key="new"), draft(key="newer")]),
    "commit": lambda adapter: adapter.commit(
        [Write(draft(key="new")), Outcome(outcome("failure", at(key="old")))], author="alice"
    ),
    "commit_outcome": lambda adapter: adapter.commit_outcome(outcome("failure", at(key="old"))),
}
HEARD = {
    "write": ["new@1"],
    "write_batch": ["new@1", "newer@1"],
    "commit": ["new@1", "old@2"],
    "commit_outcome": ["old@2"],
}


@proves("watch.from-now-on")
async def test_a_watch_hears_every_change_from_now_on_until_it_is_cancelled(adapter: AmfsAdapter) -> None:
    listener = Listener()
    await adapter.write(draft(key="before"))
    handle = await adapter.watch(None, listener)
    written = [await adapter.write(draft(key=key)) for key in "aab"]
    cancelled = [handle.cancelled]
    for _ in range(2):
        handle.cancel()
        cancelled.append(handle.cancelled)
    assert cancelled == [False, True, True]
    await adapter.write(draft(key="after"))
    assert listener.entries == written


@proves("watch.from-now-on")
async def test_a_watch_set_up_after_another_was_cancelled_hears_nothing_from_between(
    adapter: AmfsAdapter,
) -> None:
    early, late = Listener(), Listener()
    (await adapter.watch(None, early)).cancel()
    await adapter.write(draft(key="between"))
    await adapter.watch(None, late)
    await adapter.write(draft(key="after"))
    assert (early.heard, late.heard) == ([], ["after@1"])


@proves("watch.paths")
@pytest.mark.parametrize(
    ("watched", "expected"),
    [
        (None, "abcdefg"),
        ("p", "abc"),
        ("p/", "c"),
        ("p/q", "b"),
        ("P", ""),
        ("p%", ""),
        ("p_", ""),
        ("", "fg"),
        ("/", "g"),
        ("_system", "e"),
    ],
)
async def test_a_watched_path_is_taken_as_it_is(
    adapter: AmfsAdapter, watched: str | None, expected: str
) -> None:
    listener = Listener()
    await adapter.watch(watched, listener)
    paths = ["p", "p/q", "p//q", "pq", "_system/x", "/p", "//p"]
    await adapter.write_batch([draft(path, key) for path, key in zip(paths, "abcdefg", strict=True)])
    assert "".join(entry.key for entry in listener.entries) == expected


@proves("watch.before-it-returns")
@pytest.mark.parametrize("operation", WRITING)
async def test_what_is_written_is_delivered_before_its_writer_goes_on(
    adapter: AmfsAdapter, operation: str
) -> None:
    listener = Listener()
    await adapter.write(draft(key="old"))
    await adapter.watch(None, listener)
    await WRITING[operation](adapter)
    assert listener.heard == HEARD[operation]


@proves("watch.before-it-returns")
@pytest.mark.parametrize("operation", WRITING)
async def test_it_is_delivered_after_all_earlier_writes_of_others(
    open_shared: AdapterOpener, operation: str
) -> None:
    here, there = await open_shared(store="one"), await open_shared(store="one")
    listener = Listener()
    await here.write(draft(key="old"))
    await here.watch(None, listener)
    for key in "abc":
        await there.write(draft(key=key))
    await WRITING[operation](here)
    assert listener.heard == ["a@1", "b@1", "c@1", *HEARD[operation]]


@proves("watch.others")
async def test_what_others_write_is_heard_without_any_doing_here(open_shared: AdapterOpener) -> None:
    here, there = await open_shared(store="one"), await open_shared(store="one")
    listener = Listener()
    await here.watch(None, listener)
    for number, key in enumerate("ab", 1):
        await there.write(draft(key=key))
        await listener.until(number)
    assert listener.heard == ["a@1", "b@1"]


@proves("watch.once-each")
async def test_every_watch_hears_the_writes_of_many_tasks_once_in_the_order_of_the_log(
    adapter: AmfsAdapter,
) -> None:
    listeners = [Listener() for _ in range(3)]
    for listener in listeners:
        await adapter.watch(None, listener)
    await asyncio.gather(*(adapter.write(draft(key=f"k{number % 7}")) for number in range(120)))
    log = [event.entry async for event in adapter.changes(follow=False)]
    assert len(log) == 120
    assert all(listener.entries == log for listener in listeners)


@proves("watch.one-by-one")
async def test_callbacks_run_one_after_the_other_in_the_order_they_were_set_up(adapter: AmfsAdapter) -> None:
    order: list[str] = []

    def named(name: str) -> Callable[[MemoryEntry], Awaitable[None]]:
        async def callback(entry: MemoryEntry) -> None:
            order.append(f"{name} begins {entry.key}")
            for _ in range(3):
                await asyncio.sleep(0)
            order.append(f"{name} ends {entry.key}")

        return callback

    for name in "xyz":
        await adapter.watch("svc", named(name))
    await asyncio.gather(*(adapter.write(draft(key=key)) for key in "ab"))
    log = [event.entry.key async for event in adapter.changes(follow=False)]
    assert sorted(log) == ["a", "b"]
    assert order == [f"{name} {what} {key}" for key in log for name in "xyz" for what in ("begins", "ends")]


@proves("watch.one-by-one")
async def test_one_callback_set_up_twice_is_two_watches(adapter: AmfsAdapter) -> None:
    listener = Listener()
    first = await adapter.watch("svc/a", listener)
    await adapter.watch("svc/a", listener)
    await adapter.write(draft(key="a"))
    first.cancel()
    await adapter.write(draft(key="b"))
    assert listener.heard == ["a@1", "a@1", "b@1"]


class NoPlaceError(Exception):
    """What a callback raises."""


def fails(entry: MemoryEntry) -> None:
    raise NoPlaceError(entry.key)


async def fails_later(entry: MemoryEntry) -> None:
    await asyncio.sleep(0)
    fails(entry)


async def is_cancelled(entry: MemoryEntry) -> None:
    raise asyncio.CancelledError(entry.key)


async def cancels_itself(entry: MemoryEntry) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


@proves("watch.failures")
@pytest.mark.parametrize(
    ("callback", "error"),
    [
        (fails, NoPlaceError),
        (fails_later, NoPlaceError),
        (is_cancelled, asyncio.CancelledError),
        (cancels_itself, asyncio.CancelledError),
    ],
)
async def test_a_callback_that_fails_is_logged_and_disturbs_nobody(
    adapter: AmfsAdapter,
    caplog: pytest.LogCaptureFixture,
    callback: Callable[[MemoryEntry], Awaitable[None] | None],
    error: type[BaseException],
) -> None:
    before, after = Listener(), Listener()
    await adapter.watch(None, before)
    handle = await adapter.watch("svc/a", callback)
    await adapter.watch(None, after)
    assert [(await adapter.write(draft(key=key))).key for key in "ab"] == ["a", "b"]
    assert before.heard == after.heard == ["a@1", "b@1"]
    assert not handle.cancelled
    told = [each.exc_info[1] for each in caplog.records if each.levelno == logging.ERROR and each.exc_info]
    logged = [each for each in told if isinstance(each, error)]
    assert len(logged) >= 2
    if error is NoPlaceError:
        assert [each.args for each in logged] == [("a",), ("b",)]


@proves("watch.nested")
@pytest.mark.parametrize("operation", WRITING)
async def test_a_write_within_a_callback_is_delivered_when_the_callback_has_returned(
    adapter: AmfsAdapter, operation: str
) -> None:
    order: list[str] = []
    last = HEARD[operation][-1]
    done = asyncio.Event()

    async def callback(entry: MemoryEntry) -> None:
        order.append(f"begins {entry.key}@{entry.version}")
        if entry.key == "set off":
            await WRITING[operation](adapter)
        order.append(f"ends {entry.key}@{entry.version}")
        if f"{entry.key}@{entry.version}" == last:
            done.set()

    await adapter.write(draft(key="old"))
    await adapter.watch(None, callback)
    async with asyncio.timeout(WITHIN_S):
        await adapter.write(draft(key="set off"))
        await done.wait()
    expected = ["set off@1", *HEARD[operation]]
    assert order == [f"{what} {each}" for each in expected for what in ("begins", "ends")]


@proves("watch.nested")
async def test_neither_do_the_tasks_wait_that_a_callback_starts_and_waits_for(adapter: AmfsAdapter) -> None:
    listener = Listener()

    async def callback(entry: MemoryEntry) -> None:
        if entry.key == "set off":
            await asyncio.gather(*(adapter.write(draft(key=key)) for key in "ab"))

    await adapter.watch(None, callback)
    await adapter.watch(None, listener)
    async with asyncio.timeout(WITHIN_S):
        await adapter.write(draft(key="set off"))
    first, *others = await listener.until(3)
    assert (first, sorted(others)) == ("set off@1", ["a@1", "b@1"])


@proves("watch.nested")
async def test_a_task_that_outlives_its_callback_waits_like_everybody(adapter: AmfsAdapter) -> None:
    listener = Listener()
    go = asyncio.Event()
    tasks: list[asyncio.Task[list[str]]] = []

    async def writes_later() -> list[str]:
        await go.wait()
        await adapter.write(draft(key="later"))
        return listener.heard

    def callback(entry: MemoryEntry) -> None:
        if entry.key == "set off":
            tasks.append(asyncio.get_running_loop().create_task(writes_later()))

    await adapter.watch(None, callback)
    await adapter.watch(None, listener)
    await adapter.write(draft(key="set off"))
    go.set()
    async with asyncio.timeout(WITHIN_S):
        assert await tasks[0] == ["set off@1", "later@1"]


@proves("watch.nested")
async def test_callbacks_of_two_adapters_that_write_to_each_other_do_not_block(
    open_adapter: AdapterOpener,
) -> None:
    one, other = await open_adapter(), await open_adapter()
    listeners = [Listener(), Listener()]

    async def to_other(entry: MemoryEntry) -> None:
        listeners[0](entry)
        if entry.value:
            await other.write(draft(value=entry.value - 1))

    async def to_one(entry: MemoryEntry) -> None:
        listeners[1](entry)
        if entry.value:
            await one.write(draft(value=entry.value - 1))

    await one.watch(None, to_other)
    await other.watch(None, to_one)
    async with asyncio.timeout(WITHIN_S):
        await one.write(draft(value=6))
    await listeners[0].until(4)
    await listeners[1].until(3)
    assert [entry.value for entry in listeners[0].entries] == [6, 4, 2, 0]
    assert [entry.value for entry in listeners[1].entries] == [5, 3, 1]


@proves("watch.cancelled-within")
async def test_cancelling_within_a_delivery_stops_that_watch_and_no_other(adapter: AmfsAdapter) -> None:
    second, third = Listener(), Listener()

    def cancels(entry: MemoryEntry) -> None:
        handles[1].cancel()

    handles = [await adapter.watch(None, each) for each in (cancels, second, third)]
    await adapter.write_batch([draft(key="a"), draft(key="b")])
    assert (second.heard, third.heard) == ([], ["a@1", "b@1"])


@proves("watch.cancelled-within")
async def test_a_watch_that_cancels_itself_hears_no_more_of_the_same_commit(adapter: AmfsAdapter) -> None:
    listener = Listener()

    def once(entry: MemoryEntry) -> None:
        listener(entry)
        handle.cancel()

    handle = await adapter.watch(None, once)
    async with asyncio.timeout(WITHIN_S):
        await adapter.write_batch([draft(key="a"), draft(key="b")])
        await adapter.write(draft(key="c"))
    assert listener.heard == ["a@1"]


@proves("watch.from-now-on")
async def test_a_watch_set_up_within_a_callback_hears_what_is_committed_afterwards(
    adapter: AmfsAdapter,
) -> None:
    listener = Listener()

    async def sets_up(entry: MemoryEntry) -> None:
        if entry.key == "a":
            await adapter.watch(None, listener)

    await adapter.watch(None, sets_up)
    async with asyncio.timeout(WITHIN_S):
        await adapter.write_batch([draft(key="a"), draft(key="b")])
        await adapter.write(draft(key="c"))
    assert listener.heard == ["c@1"]


@proves("watch.cancelled-writer")
async def test_a_writer_that_is_cancelled_takes_no_delivery_along(adapter: AmfsAdapter) -> None:
    listener = Listener()
    entered, go = asyncio.Event(), asyncio.Event()

    async def slow(entry: MemoryEntry) -> None:
        entered.set()
        await go.wait()

    await adapter.watch(None, slow)
    await adapter.watch(None, listener)
    writers = [asyncio.ensure_future(adapter.write(draft(key=key))) for key in "abc"]
    async with asyncio.timeout(WITHIN_S):
        await entered.wait()
        for _ in range(5):  # Time for the others to be stored, with those that do not wait their turn.
            await adapter.list()
        writers[0].cancel()
        writers[1].cancel()
        go.set()
        await writers[2]
    log = [event.entry async for event in adapter.changes(follow=False)]
    await listener.until(len(log))
    assert listener.entries == log
    assert {"a", "c"} <= {entry.key for entry in log}


@proves("watch.closing")
async def test_closing_delivers_what_was_written_before_and_ends_every_watch(
    open_adapter: AdapterOpener,
) -> None:
    adapter = open_adapter.closed()
    listener = Listener()
    await adapter.open()
    handles = [await adapter.watch(None, listener) for _ in range(2)]
    write = asyncio.ensure_future(adapter.write(draft()))
    await asyncio.sleep(0)
    await adapter.close()
    assert (await write).version == 1
    assert listener.heard == ["k@1", "k@1"]
    assert all(handle.cancelled for handle in handles)


@proves("watch.closing")
async def test_a_callback_may_close_its_adapter(open_adapter: AdapterOpener) -> None:
    adapter = open_adapter.closed()
    listener = Listener()

    async def closes(entry: MemoryEntry) -> None:
        listener(entry)
        await adapter.close()

    await adapter.open()
    handle = await adapter.watch(None, closes)
    async with asyncio.timeout(WITHIN_S):
        await adapter.write_batch([draft(key="a"), draft(key="b")])
    assert listener.heard == ["a@1"]
    assert handle.cancelled
    with pytest.raises(AdapterClosedError):
        await adapter.list()


@proves("watch.refused")
@pytest.mark.parametrize("callback", [None, "print", 1])
async def test_what_cannot_be_called_is_refused(adapter: AmfsAdapter, callback: object) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await adapter.watch(None, callback)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.argument == "callback"
