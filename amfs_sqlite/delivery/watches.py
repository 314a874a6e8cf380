"""Watches: callbacks called one after the other, in a task of their own, for change after change."""

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable
from contextvars import Context, ContextVar
from dataclasses import dataclass

from amfs_sqlite.delivery.log import Asked, Log, Placed
from amfs_sqlite.delivery.news import News
from amfs_sqlite.errors import AmfsError, quoted
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.protocol.changes import Callback
from amfs_sqlite.rules.cursors import ChangePosition
from amfs_sqlite.rules.visibility import is_visible, is_watched

GRACE_S = 1.0
"""How long a closing adapter waits for one callback."""
SLOW_CALLBACK_S = 10.0
"""After how long a callback that holds up the writers is told of."""
EVERYTHING = Asked()

_log = logging.getLogger("amfs_sqlite")


@dataclass(slots=True)
class _Call:
    """One call of a callback."""

    watches: "Watches"
    is_over: bool = False


# Inherited by the tasks a callback starts, so that their writes do not wait for it either.
_calling: ContextVar[_Call | None] = ContextVar("amfs_sqlite_calling", default=None)


def _current_call() -> _Call | None:
    """The call that this is part of, if it is still under way."""
    call = _calling.get()
    return None if call is None or call.is_over else call


class Watch:
    """One subscription. ``after`` is where the log stood when it was set up, None until that is known."""

    def __init__(
        self,
        entity_path: str | None,
        callback: Callback,
        viewer: str | None,
        forget: "Callable[[Watch], None]",
    ) -> None:
        self.entity_path = entity_path
        self.callback = callback
        self.after: ChangePosition | None = None
        self.context = contextvars.copy_context()
        self._viewer = viewer
        self._forget = forget
        self._is_cancelled = False

    def cancel(self) -> None:
        """Hear nothing more."""
        if not self._is_cancelled:
            self._is_cancelled = True
            self._forget(self)

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, or its adapter closed."""
        return self._is_cancelled

    def hears(self, change: Placed) -> bool:
        """Whether this change concerns it."""
        entry = change.event.entry
        return (
            not self._is_cancelled
            and self.after is not None
            and change.position > self.after
            and is_watched(self.entity_path, entry.entity_path)
            and is_visible(entry.shared, entry.agent_id, self._viewer)
        )


class Watches:
    """All watches of one adapter, and how far they have heard.

    The task that delivers is nobody's: neither a writer nor a callback that is cancelled takes it along.
    It runs while there is something to deliver, and then ends.
    """

    def __init__(self, log: Log, news: News) -> None:
        self._log = log
        self._news = news
        self._watches: list[Watch] = []
        self._position: ChangePosition | None = None
        self._writers: dict[asyncio.Future[None], int] = {}
        self._delivery: asyncio.Task[None] | None = None
        self._callback: asyncio.Task[None] | None = None
        self._call_count = 0
        self._until: int | None = None
        self.is_behind = False
        """Whether the last attempt to read the log failed: then it is worth another one."""

    def __bool__(self) -> bool:
        return bool(self._watches)

    async def add(self, entity_path: str | None, callback: Callback, viewer: str | None) -> Watch:
        """A watch on what is committed from now on. It is called after those that were added before."""
        watch = Watch(entity_path, callback, viewer, self._remove)
        self._watches.append(watch)
        try:
            watch.after = await self._log.end()
        except BaseException:
            watch.cancel()
            raise
        if self._position is None and self._watches:
            self._position = watch.after
        self.wake()
        return watch

    def wake(self) -> None:
        """Deliver what there is."""
        if self._position is not None and not _is_running(self._delivery):
            self._delivery = asyncio.create_task(self._deliver(), context=Context())

    async def delivered(self, sequence: int) -> None:
        """Wait until the changes of this commit were delivered, unless from within a callback."""
        if self._position is None or _current_call() is not None:
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writers[waiting] = sequence
        self.wake()
        try:
            await waiting
        finally:
            self._writers.pop(waiting, None)

    async def settled(self) -> None:
        """Wait until nothing is left to deliver."""
        while self._delivery is not None and _is_running(self._delivery):
            await asyncio.wait({self._delivery})

    async def close(self) -> None:
        """Deliver what is due, and end all watches; a callback that does not return soon is cancelled."""
        call = _current_call()
        is_within = call is not None and call.watches is self
        if not is_within and _is_running(self._delivery):
            await self._deliver_what_is_due()
        for watch in [*self._watches]:
            watch.cancel()
        if not is_within:
            for task in (self._delivery, self._callback):
                if task is not None and _is_running(task):
                    task.cancel()
            await self._ended()

    async def _deliver_what_is_due(self) -> None:
        """Up to what is committed by now, for as long as callback after callback returns."""
        try:
            self._until = (await self._log.end()).sequence
        except AmfsError as error:
            _log.warning("what was due to the watches could not be read at closing: %s", error)
            return
        heard: object = None
        while _is_running(self._delivery):
            if heard == (heard := (self._position, self._call_count)):
                _log.warning("a callback did not return within %g s of closing; it is cancelled", GRACE_S)
                return
            await self._ended()

    async def _ended(self) -> None:
        tasks = {task for task in (self._delivery, self._callback) if task is not None and _is_running(task)}
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_S)

    def _remove(self, watch: Watch) -> None:
        self._watches.remove(watch)
        if not self._watches and not _is_running(self._delivery):
            self._position = None

    async def _deliver(self) -> None:
        try:
            while self._watches and self._position is not None:
                seen = self._news.count
                batch = await self._log.read(self._position, EVERYTHING, self._until)
                self.is_behind = False
                for change in batch.changes:
                    await self._tell(change)
                    self._position = change.position
                    self._release(change.position.sequence - 1)
                self._position = batch.through
                if batch.is_last:
                    self._release(batch.through.sequence)
                    if seen == self._news.count:
                        break
        except Exception:  # noqa: BLE001 - nobody awaits this task: it tells, and stays behind
            if not self.is_behind:
                _log.exception("changes could not be read, and are delivered when they can be")
            self.is_behind = True
        finally:
            if not self._watches:
                self._position = None
            self._release(None)

    def _release(self, through: int | None) -> None:
        """Let the writers go whose commits are delivered; None is all."""
        for waiting, sequence in self._writers.items():
            if (through is None or sequence <= through) and not waiting.done():
                waiting.set_result(None)

    async def _tell(self, change: Placed) -> None:
        for watch in [*self._watches]:
            if watch.hears(change):
                await self._call(watch, change.event.entry)

    async def _call(self, watch: Watch, entry: MemoryEntry) -> None:
        call = _Call(self)
        where = "everything" if watch.entity_path is None else quoted(watch.entity_path)
        context = watch.context.copy()
        context.run(_calling.set, call)
        task = asyncio.create_task(_called(watch.callback, entry), context=context)
        self._callback = task
        try:
            await asyncio.wait({task}, timeout=SLOW_CALLBACK_S)
            if not task.done():
                _log.warning("writers wait for the callback of a watch on %s, which does not return", where)
                await asyncio.wait({task})
        finally:
            call.is_over = True
            self._call_count += 1
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            _log.error("the callback of a watch on %s failed", where, exc_info=error)


async def _called(callback: Callback, entry: MemoryEntry) -> None:
    result = callback(entry.model_copy(deep=True))
    if inspect.isawaitable(result):
        await result


def _is_running(task: asyncio.Task[None] | None) -> bool:
    """Whether it goes on; what the end of another event loop left unfinished does not."""
    return task is not None and not task.done() and task.get_loop() is asyncio.get_running_loop()
