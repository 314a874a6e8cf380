"""Clocks that jump, operations cancelled wherever they wait, loops that are closed, processes that fork."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from amfs_sqlite import HANDOFF, SearchQuery, SqliteAdapter
from benchmarks.torture import visitors
from benchmarks.torture.checking import settle
from benchmarks.torture.crew import at_work
from benchmarks.torture.rounds import Round, Scenario, repeatable
from benchmarks.torture.work import attempt, client_of

REQUESTS = 30
MOST_STEPS = 60
JUMPS = (timedelta(0), timedelta(0), timedelta(microseconds=1), timedelta(days=-2), timedelta(days=400))

Operation = Callable[[SqliteAdapter], Coroutine[Any, Any, Any]]


class JumpingClock:
    """A clock that stands still, goes back, and goes forward by more than a year."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._at = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        """The next instant, which may be an earlier one."""
        self._at += self._chance.choice(JUMPS)
        return self._at


def clocks(round_: Round) -> None:
    """Two write at once, each with a clock of its own that jumps: order goes by the store, not by time."""
    asyncio.run(_write_by_two_clocks(round_))
    round_.tally.rounds += 1
    settle(round_)


async def _write_by_two_clocks(round_: Round) -> None:
    async def write(client: str) -> None:
        working = client_of(round_, client)
        journal, planned = working.journal(), working.works()
        clock = JumpingClock(repeatable(working.seed))
        async with SqliteAdapter(round_.path, outcomes=HANDOFF, clock=clock) as store:
            for _ in range(REQUESTS):
                await attempt(store, journal, *next(planned))
        journal.close()

    await asyncio.gather(write("a"), write("b"))
    async with SqliteAdapter(round_.path, outcomes=HANDOFF) as store:
        sequences = [each.sequence for each in await store.list_commits()]
        events = [each async for each in store.changes(follow=False)]
    if sequences != sorted(set(sequences), reverse=True):
        round_.fault("the log is not in the order of its commits")
    newest: dict[tuple[str, str], int] = {}
    for event in events:
        at = (event.entry.entity_path, event.entry.key)
        if event.kind == "write" and event.entry.version != newest.get(at, 0) + 1:
            round_.fault(f"the changes tell version {event.entry.version} of {at} out of order")
        newest[at] = event.entry.version


class Stepping:
    """Awaits something and counts where it waits; cancels its own task at the place it is told to."""

    def __init__(self, awaited: Coroutine[Any, Any, Any], cancelled_at: int) -> None:
        self._awaited = awaited
        self._cancelled_at = cancelled_at
        self.steps = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        """Pass on what is waited for; the cancellation comes while that is so, as any other would."""
        task = asyncio.current_task()
        inner = self._awaited.__await__()
        resume: Callable[[], Any] = partial(inner.send, None)
        while True:
            try:
                waited_for = resume()
            except StopIteration as done:
                return done.value
            self.steps += 1
            if self.steps == self._cancelled_at and task is not None:
                asyncio.get_running_loop().call_soon(task.cancel)
            try:
                resume = partial(inner.send, (yield waited_for))
            except BaseException as raised:  # noqa: BLE001 - whatever it is, it is passed on
                resume = partial(inner.throw, raised)


def cancelled(round_: Round) -> None:
    """Cancel each operation at the first place where it waits, at the second, and so on until it is done."""
    asyncio.run(_cancel_everything(round_))
    settle(round_)


async def _cancel_everything(round_: Round) -> None:
    working = client_of(round_, "c")
    journal, planned = working.journal(), working.works()

    async def work(store: SqliteAdapter) -> None:
        await attempt(store, journal, *next(planned))

    operations: Mapping[str, Operation] = {"work": work, **READING}
    async with SqliteAdapter(round_.path, outcomes=HANDOFF) as store:
        for name, operation in operations.items():
            await _cancel_step_by_step(round_, name, lambda each=operation: each(store))  # type: ignore[misc]
            await work(store)
            if not _may_write(round_.path):
                round_.fault(f"{name}, cancelled, left the file locked")
    await _cancel_step_by_step(round_, "open", lambda: _open_and_close(round_.path))
    await _cancel_step_by_step(round_, "abandon", lambda: _abandon_changes(round_.path))
    journal.close()


async def _cancel_step_by_step(
    round_: Round, name: str, operation: Callable[[], Coroutine[Any, Any, Any]]
) -> None:
    for step in range(1, MOST_STEPS + 1):
        stepping = Stepping(operation(), step)
        task = asyncio.ensure_future(_awaited(stepping))
        await asyncio.wait({task})
        round_.tally.rounds += 1
        if not task.cancelled() and (error := task.exception()) is not None:
            round_.fault(f"{name}, cancelled at step {step}, raised {type(error).__name__}: {error}")
        if stepping.steps < step:
            return
    round_.fault(f"{name} still waits after {MOST_STEPS} steps")


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _open_and_close(path: Path) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        await store.stats()


async def _abandon_changes(path: Path) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as store, _first_change(store):
        await store.stats()


@asynccontextmanager
async def _first_change(store: SqliteAdapter) -> AsyncIterator[None]:
    changes = store.changes()
    await anext(changes)
    yield


READING: Mapping[str, Operation] = {
    "read": lambda store: store.read("shared", "k1"),
    "list": lambda store: store.list(include_superseded=True),
    "history": lambda store: store.history("shared", "k1"),
    "search": lambda store: store.search(SearchQuery(text="lorem")),
    "list_outcomes": lambda store: store.list_outcomes(),
    "list_commits": lambda store: store.list_commits(),
    "stats": lambda store: store.stats(),
    "scopes": lambda store: store.scopes(),
    "verify": lambda store: store.verify(),
    "watch": lambda store: store.watch("shared", lambda _: None),
}


def _may_write(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        other.execute("ROLLBACK")
        return True


def closed_loop(round_: Round) -> None:
    """End the event loop while requests are under way, without a word to the adapter: the process ends."""
    answers = round_.chance.randint(0, visitors.TASKS_LEFT - 1)
    with at_work(visitors.leave_the_loop, [(client_of(round_, "l"), answers)]) as (worker,):
        worker.see_through()
    round_.tally.rounds += 1
    settle(round_)


def forks(round_: Round) -> None:
    """Fork with an open adapter: the child is refused and ends, the parent goes on."""
    ends_at_once = round_.chance.random() < 0.5
    with at_work(visitors.fork_in_the_middle, [(client_of(round_, "f"), ends_at_once)]) as (worker,):
        words = worker.see_through()
    round_.tally.rounds += 1
    if words[-1:] != ["the child was refused"]:
        round_.fault(f"the child of a fork was not refused: {words[-1:]}")
    settle(round_)


SCENARIOS = (
    Scenario("time: clocks", "Two write with clocks that stand, go back, and jump ahead.", 40, 2, clocks),
    Scenario("loop: cancelled", "Cancel each operation wherever it waits, in turn.", 10, 1, cancelled),
    Scenario("loop: closed", "End the event loop under requests that are under way.", 40, 2, closed_loop),
    Scenario("loop: forks", "Fork with an open adapter.", 30, 2, forks),
)
