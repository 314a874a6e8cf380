"""Watching a file that others write: all of it, once, in order, whatever the watcher does meanwhile."""

import asyncio
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import HANDOFF, MemoryEntry, SqliteAdapter
from amfs_sqlite.delivery import watches
from amfs_sqlite.sqlite import changes, watching
from amfs_sqlite.sqlite.database.lanes import hop
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import Crew, received, started
from parity_tests.concurrency.test_endings import run
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.listeners import WITHIN_S, Listener, taken
from parity_tests.sqlite.internals import lanes_of, left_running, settled

WRITES_EACH = 12
CHANGES_EACH = 3 * WRITES_EACH
WATCHED_EACH = 6
QUESTIONS = 20


async def log_of(adapter: SqliteAdapter, path: str | None = None) -> list[MemoryEntry]:
    """The entries of all changes, in the order of their commits."""
    return [event.entry async for event in adapter.changes(follow=False, entity_path=path)]


def never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nobody look for what others commit: what is heard now is what was announced."""
    monkeypatch.setattr(watching, "LOOK_EVERY_S", 10**6)


@proves("watching.processes")
async def test_watches_and_followers_hear_all_of_many_processes_once_in_the_order_of_the_log(
    crew: Crew, path: str
) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await adapter.write(draft(key="own", confidence=0.5))
        listener, follower = Listener(), adapter.changes()
        await adapter.watch(None, listener)
        writing = asyncio.create_task(
            asyncio.to_thread(crew.together, jobs.write_own_keys, path, WRITES_EACH)
        )
        for number in range(WRITES_EACH):
            reported = outcome("success", at(key="own"), outcome_ref=f"own-{number}")
            [moved] = await adapter.commit_outcome(reported)
            assert listener.entries.count(moved) == 1
        await writing
        count = crew.size * CHANGES_EACH + WRITES_EACH
        await listener.until(count)
        followed = [event.entry for event in await taken(follower, count + 1)]
        log = await log_of(adapter)
        assert followed == log
        assert listener.entries == log[1:]
        assert len(log) == count + 1


@proves("watching.processes")
async def test_many_processes_that_watch_and_write_hear_the_same_in_the_same_order(
    crew: Crew, path: str
) -> None:
    heard = crew.together(jobs.watch_and_write, path, crew.size, WATCHED_EACH)
    async with SqliteAdapter(path) as adapter:
        log = [str(entry.commit_id) for entry in await log_of(adapter, "all")]
    assert len(set(log)) == crew.size * WATCHED_EACH
    assert all(each == log for each in heard)


@proves("watching.slow")
async def test_a_watcher_that_is_slow_holds_nobody_else_up_and_hears_all(crew: Crew, path: str) -> None:
    entered, go = asyncio.Event(), asyncio.Event()
    listener = Listener()

    async def slow(entry: MemoryEntry) -> None:
        entered.set()
        await go.wait()
        listener(entry)

    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await adapter.watch(None, slow)
        await asyncio.to_thread(crew.together, jobs.write_own_keys, path, WRITES_EACH)
        async with asyncio.timeout(WITHIN_S):
            await entered.wait()
        assert listener.entries == []
        log = await log_of(adapter)
        go.set()
        await listener.until(len(log))
        assert listener.entries == log
        assert len(log) == crew.size * CHANGES_EACH


@proves("watching.failing")
async def test_a_watcher_that_fails_now_and_then_hears_all_and_costs_nobody_anything(
    crew: Crew, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    failing, other = Listener(), Listener()

    def fails(entry: MemoryEntry) -> None:
        failing(entry)
        if len(failing.entries) % 3 == 0:
            raise LookupError(entry.key)

    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await adapter.watch(None, fails)
        await adapter.watch(None, other)
        await asyncio.to_thread(crew.together, jobs.write_own_keys, path, WRITES_EACH)
        count = crew.size * CHANGES_EACH
        await other.until(count)
        assert failing.entries == other.entries == await log_of(adapter)
    assert len([each for each in caplog.records if each.name == "amfs_sqlite"]) == count // 3


@proves("watching.writing")
async def test_a_watcher_that_writes_answers_another_process_once_for_each(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        answers = Listener()
        await adapter.watch("echo", answers)
        with started(jobs.echo_until_told, path, QUESTIONS) as (_, pipe):
            assert await asyncio.to_thread(received, pipe) == "watching"
            asked = [
                await adapter.write(draft("question", f"q{number % 4}", number))
                for number in range(QUESTIONS)
            ]
            await answers.until(QUESTIONS)
            assert await asyncio.to_thread(received, pipe) == "done"
        assert [entry.value for entry in answers.entries] == [entry.value for entry in asked]
        assert (await adapter.verify()).findings == ()


@proves("watching.left-alone")
@pytest.mark.parametrize(
    "listening",
    [
        "await adapter.watch(None, print)",
        "held.append(asyncio.ensure_future(anext(adapter.changes(after=None, entity_path='x'))))",
        "await anext(adapter.changes())",
    ],
    ids=["watch", "follower", "iterator"],
)
@pytest.mark.parametrize("is_held", [True, False], ids=["held", "dropped"])
def test_an_adapter_left_alone_with_who_listens_ends_with_its_process(
    path: str, listening: str, is_held: bool
) -> None:
    script = f"""
async def main():
    adapter = await opened()
    {listening}
    await adapter.write(draft(key="last"))
    {"" if is_held else "held.clear()"}

asyncio.run(main())
print("ended")
"""
    done = run(script, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("ended\n")
    assert "Traceback" not in done.stderr


@proves("watching.left-alone")
async def test_iterators_that_are_left_cost_nothing(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        before = asyncio.all_tasks()
        for _ in range(100):
            await taken(adapter.changes(), 1)
        await settled(adapter)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before


@proves("watching.looks")
async def test_nobody_looks_for_others_unless_somebody_listens(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_EVERY_S", 0.001)
    looks: list[str] = []
    looked = threading.Event()

    def tell(statement: str) -> None:
        if "data_version" in statement:
            looks.append(statement)
            looked.set()

    async with SqliteAdapter(path) as adapter:
        _, reader = lanes_of(adapter)
        await hop(await reader.connected(), lambda connection: connection.set_trace_callback(tell))
        before = asyncio.all_tasks()
        await adapter.write(draft())
        await taken(adapter.changes(), 1)
        assert asyncio.all_tasks() == before
        assert looks == []
        handle = await adapter.watch(None, Listener())
        assert await asyncio.to_thread(looked.wait, WITHIN_S)
        handle.cancel()
        await asyncio.wait(asyncio.all_tasks() - before, timeout=WITHIN_S)
        assert asyncio.all_tasks() == before
        looks.clear()
        await adapter.write(draft())
        assert asyncio.all_tasks() == before
        assert looks == []


@proves("watching.own-writes-announced")
async def test_own_writes_wake_who_listens_without_any_look(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    never(monkeypatch)
    async with SqliteAdapter(path) as adapter:
        followers = [adapter.changes() for _ in range(3)]
        for number in range(30):
            reading = [asyncio.ensure_future(taken(each, 4)) for each in followers]
            await asyncio.gather(*(adapter.write(draft(key=f"{number}-{each}")) for each in range(4)))
            events = await asyncio.gather(*reading)
            assert events[0] == events[1] == events[2]


@proves("watching.cancelled")
@pytest.mark.parametrize("target", ["file", "memory"])
async def test_writers_cancelled_at_random_leave_every_event_heard_once(
    path: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    never(monkeypatch)
    chance = random.Random(1)  # noqa: S311 - to be repeated, not to be secret
    async with SqliteAdapter(path if target == "file" else ":memory:") as adapter:
        quick, slow = Listener(), Listener()

        async def takes_turns(entry: MemoryEntry) -> None:
            await asyncio.sleep(0)
            slow(entry)

        await adapter.watch(None, takes_turns)
        await adapter.watch(None, quick)
        for number in range(20):
            writers = [
                asyncio.ensure_future(adapter.write(draft(key=f"{number}-{each}"))) for each in range(10)
            ]
            for writer in writers[1:]:
                for _ in range(int(2 ** chance.uniform(0, 5))):
                    await asyncio.sleep(0)
                writer.cancel()
            await asyncio.wait(writers)
        await settled(adapter)
        log = await log_of(adapter)
        assert 20 <= len(log) < 200
        await quick.until(len(log))
        assert quick.entries == slow.entries == log


@proves("watching.cancelled")
async def test_followers_cancelled_at_random_get_every_change_once(path: str) -> None:
    chance = random.Random(2)  # noqa: S311 - to be repeated, not to be secret
    async with SqliteAdapter(path) as adapter:
        follower = adapter.changes()
        keys: list[str] = []
        writing = asyncio.ensure_future(
            asyncio.gather(*(adapter.write(draft(key=str(each))) for each in range(150)))
        )
        async with asyncio.timeout(WITHIN_S):
            while len(keys) < 150:
                step = asyncio.ensure_future(anext(follower))
                if chance.random() < 0.6:  # the others come through, however quick the loop turns
                    for _ in range(int(2 ** chance.uniform(0, 5))):
                        await asyncio.sleep(0)
                    step.cancel()
                await asyncio.wait({step})
                keys += [] if step.cancelled() else [step.result().entry.key]
        await writing
        assert keys == [entry.key for entry in await log_of(adapter)]


@proves("watching.cancelled")
async def test_a_watch_whose_setting_up_is_cancelled_is_none(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        listener = Listener()
        for turns in range(6):
            task = asyncio.ensure_future(adapter.watch(None, listener))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.result().cancel()
        await adapter.write(draft())
        assert listener.entries == []


@proves("watching.closing")
@pytest.mark.parametrize("target", ["file", "memory"])
async def test_closing_ends_a_callback_that_does_not_return_and_lets_its_writer_go(
    path: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "GRACE_S", 0.01)
    threads, tasks = set(threading.enumerate()), asyncio.all_tasks()
    entered = asyncio.Event()

    async def waits_for_ever(entry: MemoryEntry) -> None:
        entered.set()
        await asyncio.Event().wait()

    adapter = SqliteAdapter(path if target == "file" else ":memory:")
    await adapter.open()
    handle = await adapter.watch(None, waits_for_ever)
    follower = asyncio.ensure_future(anext(adapter.changes(entity_path="nothing"), None))
    writer = asyncio.ensure_future(adapter.write(draft()))
    async with asyncio.timeout(WITHIN_S):
        await entered.wait()
        await adapter.close()
        assert (await writer).version == 1
        assert await follower is None
    assert handle.cancelled
    assert asyncio.all_tasks() == tasks
    assert left_running(threads) == []


@proves("watching.backlog")
@pytest.mark.parametrize("target", ["file", "memory"])
async def test_closing_delivers_all_that_is_due_as_long_as_callbacks_return(
    path: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "GRACE_S", 0.2)
    gate, waited_for_the_end = asyncio.Semaphore(0), watches.Watches._ended
    listener = Listener()

    async def returns_in_its_turn(entry: MemoryEntry) -> None:
        await gate.acquire()
        listener(entry)

    async def one_more_returns(self: watches.Watches) -> None:
        gate.release()
        await waited_for_the_end(self)

    monkeypatch.setattr(watches.Watches, "_ended", one_more_returns)
    adapter = SqliteAdapter(path if target == "file" else ":memory:")
    await adapter.open()
    await adapter.watch(None, returns_in_its_turn)
    writers = [asyncio.ensure_future(adapter.write(draft())) for _ in range(4)]
    async with asyncio.timeout(WITHIN_S):
        await adapter.close()
        await asyncio.wait(writers)
    assert listener.heard == [f"k@{number}" for number in range(1, 5)]


@proves("watching.left-closing")
@pytest.mark.parametrize("target", ["file", "memory"])
@pytest.mark.parametrize("end", ["returns", "does not return", "closes", "watched by who closes"])
async def test_closing_ends_a_callback_that_was_left_and_leaves_no_task_or_thread(
    path: str, target: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "GRACE_S", WITHIN_S if end in ("returns", "closes") else 0.01)
    threads, tasks = set(threading.enumerate()), asyncio.all_tasks()
    entered, go = asyncio.Event(), asyncio.Event()
    ended: list[str] = []
    adapter = SqliteAdapter(path if target == "file" else ":memory:")

    async def hangs(entry: MemoryEntry) -> None:
        entered.set()
        try:
            await go.wait()
            if end == "closes":
                await adapter.close()
            ended.append("returned")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def closes(entry: MemoryEntry) -> None:
        await adapter.close()

    await adapter.open()
    handle = await adapter.watch(None, hangs)
    writer = asyncio.ensure_future(adapter.write(draft()))
    async with asyncio.timeout(WITHIN_S):
        await entered.wait()
        handle.cancel()
        await writer
        if end == "watched by who closes":
            await adapter.watch(None, closes)
            await adapter.write(draft())
        elif end == "closes":
            go.set()
        else:
            closing = asyncio.ensure_future(adapter.close())
            if end == "returns":
                go.set()
            await closing
        while asyncio.all_tasks() != tasks:
            await asyncio.wait(asyncio.all_tasks() - tasks)
    assert ended == ["returned" if end in ("returns", "closes") else "cancelled"]
    assert left_running(threads) == []


@proves("watching.held-up")
async def test_a_callback_that_holds_up_the_writers_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watches, "SLOW_CALLBACK_S", 0)
    told = asyncio.Event()
    monkeypatch.setattr(watches._log, "warning", lambda *_said: told.set())

    async def waits_until_it_is_told_of(entry: MemoryEntry) -> None:
        await told.wait()

    async with SqliteAdapter(":memory:") as adapter, asyncio.timeout(WITHIN_S):
        await adapter.watch(None, waits_until_it_is_told_of)
        assert (await adapter.write(draft())).version == 1


@proves("watching.closing")
def test_what_the_end_of_a_loop_left_behind_does_not_hinder_closing_or_listening_again(path: str) -> None:
    adapter = SqliteAdapter(path)

    def in_a_loop(body: Callable[[], Any]) -> None:
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(body())
        finally:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    async def listen_and_leave() -> None:
        await adapter.open()
        await adapter.watch(None, Listener())

    async def close_and_listen_again() -> None:
        await adapter.close()
        async with adapter:
            listener = Listener()
            await adapter.watch(None, listener)
            await adapter.write(draft())
            assert listener.heard == ["k@1"]

    in_a_loop(listen_and_leave)
    in_a_loop(close_and_listen_again)


@proves("watching.cursors")
async def test_a_cursor_of_a_killed_process_is_taken_up_by_the_next(path: str, tmp_path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        keys = [f"k{number}" for number in range(9)]
        for key in keys[:5]:
            await adapter.write(draft(key=key))
        cursor, read = None, []
        for count in (2, 3, 4):
            with started(jobs.read_changes, path, cursor, count) as (_, pipe):
                if count == 4:
                    await adapter.write_batch([draft(key=key) for key in keys[5:]])
                more, cursor = await asyncio.to_thread(received, pipe)
                read += more
        assert read == keys


@proves("watching.behind")
async def test_changes_that_could_not_be_read_are_delivered_when_they_can_be(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watching, "LOOK_EVERY_S", 0.01)
    async with SqliteAdapter(path) as adapter:
        listener = Listener()
        await adapter.watch(None, listener)
        with monkeypatch.context() as broken:
            broken.setattr(changes, "read", None)
            assert (await adapter.write(draft())).version == 1
            assert listener.entries == []
        assert await listener.until(1) == ["k@1"]
    assert any("could not be read" in each.getMessage() for each in caplog.records)
