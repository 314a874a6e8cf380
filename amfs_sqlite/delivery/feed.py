"""The feed: watches and iterators of one open adapter, and what wakes them."""

from collections.abc import AsyncIterator

from amfs_sqlite.delivery.iterator import ChangeIterator
from amfs_sqlite.delivery.log import Asked, Log
from amfs_sqlite.delivery.news import News
from amfs_sqlite.delivery.watches import Watches
from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import ChangeEvent
from amfs_sqlite.protocol.changes import Callback, WatchHandle
from amfs_sqlite.rules.limits import check_flag, check_optional_text


class Feed:
    """The adapter announces what it commits. Where others commit too, it also overrides ``attend``."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._news = News(self.attend)
        self._watches = Watches(log, self._news)

    @property
    def is_attended(self) -> bool:
        """Whether somebody watches, or waits for more."""
        return bool(self._watches) or self._news.is_awaited

    @property
    def is_behind(self) -> bool:
        """Whether changes could not be read when they should have been delivered."""
        return self._watches.is_behind

    def attend(self) -> None:
        """Somebody begins to wait: from now on, announce what others commit too."""

    async def watch(self, entity_path: str | None, callback: Callback, viewer: str | None) -> WatchHandle:
        """A watch on what is committed from now on."""
        if not callable(callback):
            raise InvalidArgumentError("callback", "cannot be called; pass a function of one entry")
        check_optional_text(entity_path, "entity_path")
        check_optional_text(viewer, "viewer")
        watch = await self._watches.add(entity_path, callback, viewer)
        self.attend()
        return watch

    def changes(self, asked: Asked, after: str | None, *, follow: bool) -> AsyncIterator[ChangeEvent]:
        """An iterator over what is behind the cursor."""
        check_optional_text(asked.entity_path, "entity_path")
        check_optional_text(asked.viewer, "viewer")
        check_optional_text(after, "after")
        check_flag(follow, "follow")
        check_flag(asked.include_system, "include_system")
        return ChangeIterator(self._log, self._news, asked, after, follow=follow)

    def announce(self) -> None:
        """Something may have been committed."""
        self._news.announce()
        self._watches.wake()

    async def delivered(self, sequence: int) -> None:
        """Wait until the watches have heard of this commit."""
        await self._watches.delivered(sequence)

    async def settled(self) -> None:
        """Wait until the watches have heard of all there is."""
        await self._watches.settled()

    async def close(self) -> None:
        """Deliver what is due, then end every watch and every iterator."""
        await self._watches.close()
        self._news.close()
