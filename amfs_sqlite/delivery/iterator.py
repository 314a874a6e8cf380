"""The iterator behind ``changes``: it remembers a position, and holds nothing else."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from amfs_sqlite.delivery.log import Asked, Log, Placed
from amfs_sqlite.delivery.news import News
from amfs_sqlite.errors import AdapterClosedError
from amfs_sqlite.models import ChangeEvent
from amfs_sqlite.rules.cursors import BEGINNING, ChangePosition


class ChangeIterator(AsyncIterator[ChangeEvent]):
    """One reader of changes.

    No generator: cancelling one that waits would end it, and the next change would be lost to its reader.
    """

    def __init__(self, log: Log, news: News, asked: Asked, after: str | None, *, follow: bool) -> None:
        self._log = log
        self._news = news
        self._asked = asked
        self._after = after
        self._follow = follow
        self._position: ChangePosition | None = None
        self._until: int | None = None
        self._is_at_end = False
        self._ready: deque[Placed] = deque()
        self._turn = asyncio.Lock()

    async def __anext__(self) -> ChangeEvent:
        async with self._turn:
            while True:
                if self._news.is_closed and self._follow:
                    raise StopAsyncIteration
                if self._ready:
                    return self._ready.popleft().event
                if self._is_at_end and not self._follow:
                    raise StopAsyncIteration
                await self._read_on()

    async def _read_on(self) -> None:
        """Read what comes next. Where that is nothing, a follower waits for news."""
        if self._news.is_closed:
            raise AdapterClosedError("is closed")
        seen = self._news.count
        if self._position is None:
            self._position = await self._begin()
        batch = await self._log.read(self._position, self._asked, self._until)
        self._ready.extend(batch.changes)
        self._position, self._is_at_end = batch.through, batch.is_last
        if self._follow and batch.is_last and not batch.changes:
            await self._news.wait(seen)

    async def _begin(self) -> ChangePosition:
        position = BEGINNING if self._after is None else await self._log.position(self._after)
        if not self._follow:
            self._until = (await self._log.end()).sequence
        return position
