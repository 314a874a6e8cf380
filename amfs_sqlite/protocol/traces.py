"""Traces: what stood behind decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.traces import DecisionTrace, ShareStats


@runtime_checkable
class Traces(Protocol):
    """Saving decision traces, finding them, and counting what they read.

    A trace is for the file's owner: it shows what its agent read, private entries included, and is shown
    whole to whoever asks. It is no part of the log that ``verify`` checks. Erasing a version takes the copies
    of its value out of every trace, and a trace saved later does not bring them back; what an agent put into
    words of its own stays.
    """

    async def save_trace(self, trace: DecisionTrace) -> DecisionTrace:
        """Store a trace under a new id, and return it as stored: with its id, namespace and time.

        Raises InvalidArgumentError for a name of more than 4,096 characters, and for what JSON cannot hold.
        """
        ...

    async def get_trace(self, trace_id: str) -> DecisionTrace | None:
        """The trace of this id, or None."""
        ...

    async def list_traces(
        self,
        *,
        entity_path: str | None = None,
        agent_id: str | None = None,
        outcome_type: str | None = None,
        limit: int | None = 100,
        offset: int = 0,
        cursor: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Sequence[DecisionTrace]:
        """Traces by ``created_at``, then id, the newest first.

        ``entity_path`` keeps those that read any entry at exactly that path; ``agent_id`` and
        ``outcome_type`` are exact; ``since`` is inclusive, ``until`` exclusive. ``cursor`` continues behind a
        trace and takes the place of ``offset``: ``keyset_cursor(trace.created_at, trace.id)``. Raises
        InvalidCursorError for what is none.
        """
        ...

    async def count_traces(
        self,
        *,
        entity_path: str | None = None,
        agent_id: str | None = None,
        outcome_type: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> int:
        """How many traces these filters keep, all of them counted."""
        ...

    async def trace_read_counts(self, agent_id: str) -> Mapping[str, Mapping[str, int]]:
        """How often the agent's traces read each entry, by path and key, both in order."""
        ...

    async def list_traces_for_entry(
        self,
        *,
        agent_id: str,
        session_id: str | None,
        written_at: datetime | str | None = None,
        limit: int | None = 5,
    ) -> Sequence[DecisionTrace]:
        """The agent's traces of a session in which it wrote an entry, the likeliest for that write first.

        That is the first one from ``written_at`` on, then what came later, then what came before, the
        nearest first; without ``written_at`` the newest first. Without a session there are none.
        """
        ...

    async def share_stats(
        self,
        *,
        since: datetime | str | None = None,
        pair_limit: int = 20,
        agent_ids: Sequence[str] | None = None,
    ) -> ShareStats:
        """How often traces read what another agent had written.

        ``agent_ids`` keeps what both reader and author are among; ``since`` is about the trace. ``pairs``
        are cut at ``pair_limit``, ``total`` is not; they come by count, the highest first, then by name.
        """
        ...
