"""The entries of one branch: read from what it shows, written behind it."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.delivery import Feed
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.protocol import Entries
from amfs_sqlite.reference import commits, entries
from amfs_sqlite.reference.changes import told
from amfs_sqlite.reference.store import Store, View
from amfs_sqlite.rules.limits import check_name


class ReferenceBranch(Entries):
    """What ``on_branch`` returns. Watches hear of what is written to main, and of nothing else."""

    def __init__(self, store: Store, feed: Feed, name: str) -> None:
        check_name(name, "name")
        self._store = store
        self._feed = feed
        self._name = name

    async def read(
        self,
        entity_path: str,
        key: str,
        *,
        min_confidence: float | None = None,
        include_expired: bool = False,
        viewer: str | None = None,
    ) -> MemoryEntry | None:
        return entries.read(
            View(self._store, self._name),
            entity_path,
            key,
            min_confidence=min_confidence,
            include_expired=include_expired,
            viewer=viewer,
        )

    async def write(
        self,
        entry: MemoryEntry,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryEntry:
        return await told(
            self._store,
            self._feed,
            commits.write(self._store, entry, expected_version, idempotency_key, self._name),
        )

    async def write_batch(
        self, entries: Sequence[MemoryEntry], *, idempotency_key: str | None = None
    ) -> Sequence[MemoryEntry]:
        return await told(
            self._store,
            self._feed,
            commits.write_batch(self._store, entries, idempotency_key, self._name),
        )

    async def list(
        self,
        entity_path: str | None = None,
        *,
        include_superseded: bool = False,
        descendants: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return entries.list_entries(
            View(self._store, self._name),
            entity_path,
            include_superseded=include_superseded,
            descendants=descendants,
            include_system=include_system,
            viewer=viewer,
        )

    async def history(
        self,
        entity_path: str,
        key: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        after_version: int = 0,
        limit: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return entries.history(
            View(self._store, self._name),
            entity_path,
            key,
            since=since,
            until=until,
            after_version=after_version,
            limit=limit,
            viewer=viewer,
        )

    async def read_at_version(
        self, entity_path: str, key: str, version: int, *, viewer: str | None = None
    ) -> MemoryEntry | None:
        return entries.read_at_version(View(self._store, self._name), entity_path, key, version, viewer)
