"""How long the event loop has been kept in its present turn, so that work done in it can give way."""

import asyncio
from collections import deque

from amfs_sqlite.clock import ticks_s

TURN_LIMIT_S = 0.0005
WOKEN_A_TURN = 16


class TurnClock:
    """Stamps the time once in each turn of the loop, for all that happens in it.

    A clock of each caller's own would not do: a hundred callers would each take the whole limit, one after
    the other, in one turn. Whoever gives way waits in line, since to wake all of them in every turn would
    fill it.
    """

    def __init__(self) -> None:
        self._began_s: float | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def give_way(self) -> None:
        """Let the others have their turn, where this one has taken long enough."""
        if self._began_s is None:
            self._began_s = ticks_s()
            asyncio.get_running_loop().call_soon(self._end)
        elif self._waiting or ticks_s() - self._began_s > TURN_LIMIT_S:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting

    def _end(self) -> None:
        self._began_s = None
        if self._waiting:
            self._began_s = ticks_s()
            asyncio.get_running_loop().call_soon(self._end)
        for _ in range(min(len(self._waiting), WOKEN_A_TURN)):
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
