"""How long the event loop has been kept in its present turn, so that work done in it can give way."""

import asyncio

from amfs_sqlite.clock import ticks_s

TURN_LIMIT_S = 0.0005


class TurnClock:
    """Stamps the time once in each turn of the loop, for all that happens in it.

    A clock of each caller's own would not do: a hundred callers would each take the whole limit, one after
    the other, in one turn.
    """

    def __init__(self) -> None:
        self._began_s: float | None = None

    async def give_way(self) -> None:
        """Let the others have their turn, where this one has taken long enough."""
        if self._began_s is None:
            self._began_s = ticks_s()
            asyncio.get_running_loop().call_soon(self._end)
        elif ticks_s() - self._began_s > TURN_LIMIT_S:
            await asyncio.sleep(0)

    def _end(self) -> None:
        self._began_s = None
