"""Callbacks that remember what they heard, and can be waited for."""

import asyncio
from collections.abc import AsyncIterator

from amfs_sqlite import MemoryEntry
from amfs_sqlite.models import ChangeEvent

WITHIN_S = 20.0


class Listener:
    """A callback that keeps every entry it is called with."""

    def __init__(self) -> None:
        self.entries: list[MemoryEntry] = []
        self._more = asyncio.Event()

    def __call__(self, entry: MemoryEntry) -> None:
        self.entries.append(entry)
        self._more.set()

    @property
    def heard(self) -> list[str]:
        """What was heard, as `key@version`."""
        return [f"{entry.key}@{entry.version}" for entry in self.entries]

    async def until(self, count: int) -> list[str]:
        """Wait until so much was heard."""
        async with asyncio.timeout(WITHIN_S):
            while len(self.entries) < count:
                self._more.clear()
                await self._more.wait()
        return self.heard


def shown(events: list[ChangeEvent]) -> list[str]:
    """Changes as `kind key@version`."""
    return [f"{event.kind} {event.entry.key}@{event.entry.version}" for event in events]


async def taken(changes: AsyncIterator[ChangeEvent], count: int) -> list[ChangeEvent]:
    """The next so many changes."""
    async with asyncio.timeout(WITHIN_S):
        return [await anext(changes) for _ in range(count)]
