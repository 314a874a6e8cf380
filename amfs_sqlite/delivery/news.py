"""News: that something may have been committed, for those who wait for it."""

import asyncio
from collections.abc import Callable


class News:
    """Counts announcements. Who noted the count before reading cannot miss what came after."""

    def __init__(self, attend: Callable[[], None]) -> None:
        self.count = 0
        self.is_closed = False
        self._attend = attend
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits."""
        return bool(self._waiting)

    def announce(self) -> None:
        """Wake all who wait."""
        self.count += 1
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def close(self) -> None:
        """There will be no more."""
        self.is_closed = True
        self.announce()

    async def wait(self, seen: int) -> None:
        """Wait for an announcement after this count."""
        if self.count != seen or self.is_closed:
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        self._attend()
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)
