"""Events: what happened to agents."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.events import Event


@runtime_checkable
class Events(Protocol):
    """The timeline of each agent, which whoever works with the adapter writes himself.

    It is no part of the log that ``verify`` checks; what the store itself did stands in ``list_commits``.
    """

    async def log_event(self, event: Event) -> Event:
        """Store an event under a new id, and return it as stored: with its id, namespace and time.

        Raises InvalidArgumentError for a name of more than 4,096 characters, an empty ``event_type``, and for
        what JSON cannot hold.
        """
        ...

    async def list_events(
        self,
        agent_id: str,
        *,
        branch: str | None = None,
        event_type: str | None = None,
        since: datetime | str | None = None,
        limit: int | None = 100,
        offset: int = 0,
        cursor: str | None = None,
        until: datetime | str | None = None,
    ) -> Sequence[Event]:
        """An agent's events by ``created_at``, then id, the newest first.

        ``branch`` and ``event_type`` are exact, None is any; ``since`` is inclusive, ``until`` exclusive.
        ``cursor`` continues behind an event and takes the place of ``offset``:
        ``keyset_cursor(event.created_at, event.id)``. Raises InvalidCursorError for what is none.
        """
        ...

    async def get_event(self, event_id: str) -> Event | None:
        """The event of this id, or None."""
        ...
