"""Watches: callbacks called one after the other, in a task of their own, for change after change."""

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable, Iterable
from contextvars import Context, ContextVar
from dataclasses import dataclass, field

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


@dataclass(slots=True, eq=False)
class _Call:
    """One call of a callback. It is over when it has returned, or was left."""

    watches: "Watches"
    task: asyncio.Task[None] | None = None
    is_over: bool = False
    left: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def leave(self) -> None:
        """Wait for it no longer."""
        if not self.left.done() and not self.left.get_loop().is_closed():
            self.left.set_result(None)


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
        self.call: _Call | None = None
        self.context = contextvars.copy_context()
        self._viewer = viewer
        self._forget = forget
        self._is_cancelled = False

    def cancel(self) -> None:
        """Hear nothing more. A call that is under way is left, unless this is part of it."""
        if not self._is_cancelled:
            self._is_cancelled = True
            self._forget(self)
        if self.call is not None and self.call is not _current_call():
            self.call.leave()

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, or its adapter closed."""
        return self._is_cancelled

    @property
    def where(self) -> str:
        """What it is on, as it may stand in a message."""
        return "everything" if self.entity_path is None else quoted(self.entity_path)

    def tell_failure(self, task: asyncio.Task[None]) -> None:
        """Log what its callback raised."""
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            _log.error("the callback of a watch on %s failed", self.where, exc_info=error)

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
        self._left: set[asyncio.Task[None]] = set()
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
        await self._end(self._left, grace_s=GRACE_S)
        if not is_within:
            await self._end({self._delivery, self._callback} | self._left)

    async def _end(self, tasks: Iterable[asyncio.Task[None] | None], grace_s: float = 0) -> None:
        """Cancel what does not return within the grace, but for the callback that this is part of."""
        call = _calling.get()
        own = None if call is None else call.task
        running = {task for task in tasks if task is not None and task is not own and _is_running(task)}
        if running and grace_s:
            _, running = await asyncio.wait(running, timeout=grace_s)
            if running:
                self._tell_of_end()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=GRACE_S)

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
                self._tell_of_end()
                return
            await self._ended()

    def _tell_of_end(self) -> None:
        _log.warning("a callback did not return within %g s of closing; it is cancelled", GRACE_S)

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
        watch.call = call = _Call(self)
        context = watch.context.copy()
        context.run(_calling.set, call)
        call.task = self._callback = task = asyncio.create_task(
            _called(watch.callback, entry), context=context
        )
        try:
            if not await _returned_or_left(call, task, SLOW_CALLBACK_S):
                _log.warning(
                    "writers wait for the callback of a watch on %s, which does not return", watch.where
                )
                await _returned_or_left(call, task)
        finally:
            watch.call = None
            call.is_over = True
            self._call_count += 1
            if not task.done():
                self._leave(watch, task)
        if task.done():
            watch.tell_failure(task)

    def _leave(self, watch: Watch, task: asyncio.Task[None]) -> None:
        """Let a call go on by itself. One that closing cancels has not failed."""

        def returned(task: asyncio.Task[None]) -> None:
            self._left.discard(task)
            if not task.cancelled():
                watch.tell_failure(task)

        self._left.add(task)
        task.add_done_callback(returned)


async def _returned_or_left(call: _Call, task: asyncio.Task[None], timeout_s: float | None = None) -> bool:
    """Wait for a call; whether there is nothing to wait for any more."""
    done, _ = await asyncio.wait({task, call.left}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


async def _called(callback: Callback, entry: MemoryEntry) -> None:
    result = callback(entry.model_copy(deep=True))
    if inspect.isawaitable(result):
        await result


def _is_running(task: asyncio.Task[None] | None) -> bool:
    """Whether it goes on; what the end of another event loop left unfinished does not."""
    return task is not None and not task.done() and task.get_loop() is asyncio.get_running_loop()
