"""Counts and summaries."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import MemoryStats, ScopeInfo


@runtime_checkable
class Statistics(Protocol):
    """What is there, in numbers. Expired entries count; hidden ones do not."""

    async def stats(self, *, include_system: bool = True, viewer: str | None = None) -> MemoryStats:
        """Counts over everything stored. ``confidence_avg`` of nothing is 0."""
        ...

    async def scopes(
        self,
        entity_path: str | None = None,
        *,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[ScopeInfo]:
        """One summary per path that holds current entries, in first-write order.

        ``entity_path`` keeps the path itself and everything below it; None or '' is everywhere.
        ``oldest`` and ``newest`` are the earliest and latest ``written_at`` of the current
        versions.
        """
        ...
