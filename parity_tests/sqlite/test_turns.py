"""Readers in the event loop's own thread, and everybody else's turn."""

import asyncio
from collections import Counter
from itertools import count

import pytest

from amfs_sqlite.sqlite.database import turns
from amfs_sqlite.sqlite.database.turns import WOKEN_A_TURN, TurnClock
from parity_tests.ledger import proves

CALLERS = 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> TurnClock:
    """Every look at the time finds that the turn has taken long enough."""
    seconds = count()
    monkeypatch.setattr(turns, "ticks_s", lambda: float(next(seconds)))
    return TurnClock()


@proves("grouping.turns")
async def test_those_who_give_way_come_again_in_line_a_few_in_each_turn(clock: TurnClock) -> None:
    turn, done = 0, list[tuple[int, int]]()

    async def call(number: int) -> None:
        await clock.give_way()
        done.append((turn, number))

    calls = asyncio.gather(*(call(number) for number in range(CALLERS)))
    while not calls.done():
        await asyncio.sleep(0)
        turn += 1
    assert [number for _, number in done] == list(range(CALLERS))
    assert max(Counter(turn for turn, _ in done).values()) <= WOKEN_A_TURN


@proves("grouping.turns")
async def test_one_who_no_longer_waits_holds_up_nobody(clock: TurnClock) -> None:
    calls = [asyncio.ensure_future(clock.give_way()) for _ in range(CALLERS)]
    await asyncio.sleep(0)
    for call in calls[1:-1]:
        call.cancel()
    await asyncio.gather(calls[0], calls[-1])
    assert all(call.cancelled() for call in calls[1:-1])
