"""Clocks that jump, loops that are closed, processes that fork."""

import asyncio
from datetime import UTC, datetime, timedelta
from random import Random

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.torture import visitors
from benchmarks.torture.checking import settle
from benchmarks.torture.crew import at_work
from benchmarks.torture.rounds import Round, Scenario, repeatable
from benchmarks.torture.work import attempt, client_of

REQUESTS = 30
JUMPS = (timedelta(0), timedelta(0), timedelta(microseconds=1), timedelta(days=-2), timedelta(days=400))


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
    Scenario("loop: closed", "End the event loop under requests that are under way.", 40, 2, closed_loop),
    Scenario("loop: forks", "Fork with an open adapter.", 30, 2, forks),
)
