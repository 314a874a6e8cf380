"""Changes: hearing of what is written, as it is written or afterwards."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import ChangeEvent, MemoryEntry

Callback = Callable[[MemoryEntry], Awaitable[None] | None]
"""What a watch calls: a function of the entry that was written, or a coroutine function."""


class WatchHandle(Protocol):
    """One subscription."""

    def cancel(self) -> None:
        """Hear nothing more, even of what is being delivered. Cancelling twice is cancelling once."""
        ...

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, or its adapter closed."""
        ...


@runtime_checkable
class Changes(Protocol):
    """What counts as a change: each version written, and each outcome that moves an entry in place.

    They come in the order of their commits, and within one in the order of its changes; none is lost
    and none comes twice. Writes of other processes are heard within a second.
    """

    async def watch(
        self, entity_path: str | None, callback: Callback, *, viewer: str | None = None
    ) -> WatchHandle:
        """Call back with the entry of every change from now on, until the handle is cancelled.

        ``entity_path`` is taken as it is: the path itself and everything below ``path/`` ('' is no path
        that can be written, so it covers paths that begin with '/'); None is everywhere. A private
        version is not heard by another viewer.

        A write is delivered before it returns to its caller, after all earlier ones of others. Callbacks
        run one after the other in the order they were set up, and may be coroutine functions; one that
        raises is logged, and touches neither the writer nor the others. A write made inside a callback is
        delivered when that callback has returned. The same callback twice is two subscriptions.

        A callback must not wait for anything that itself waits for a write of this adapter: writers wait
        for callbacks, so both would wait for ever. Read ``changes`` instead, or hand the entry on to a
        queue without a limit. Raises InvalidArgumentError where an argument is of another type.
        """
        ...

    def changes(
        self,
        *,
        after: str | None = None,
        entity_path: str | None = None,
        follow: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> AsyncIterator[ChangeEvent]:
        """Every change behind the cursor ``after``, from the first one on when it is None.

        ``entity_path`` covers the path and everything below it; None or '' is everywhere. With ``follow``
        it waits for more and ends when the adapter is closed; without, it ends at the present. A cursor
        outlives the process. Between two events nothing is held: the consumer may write, take its time, or
        walk away. The first step raises InvalidCursorError for a cursor that is none of this store's.
        """
        ...
