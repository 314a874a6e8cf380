"""The entries of one branch: as the adapter's own, each in a transaction that is about the branch."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.protocol import Entries
from amfs_sqlite.rules.limits import check_name
from amfs_sqlite.sqlite import commits, entries, overlays
from amfs_sqlite.sqlite.database.connection import Database
from amfs_sqlite.sqlite.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")
Body = Callable[Concatenate[Transaction, P], T]


class SqliteBranch(Entries):
    """What ``on_branch`` returns. Watches hear of what is written to main, and of nothing else."""

    def __init__(self, database: Database, name: str) -> None:
        check_name(name, "name")
        self._database = database
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
        return await self._database.read(
            self._here(entries.read),
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
        return await self._database.write(
            self._here(commits.commit_entry),
            commits.write_request(self._database.policy, entry, expected_version, idempotency_key),
        )

    async def write_batch(
        self, entries: Sequence[MemoryEntry], *, idempotency_key: str | None = None
    ) -> Sequence[MemoryEntry]:
        return await self._database.write(
            self._here(commits.commit_entries),
            commits.batch_request(self._database.policy, entries, idempotency_key),
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
        return await self._database.read(
            self._here(entries.list_entries),
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
        return await self._database.read(
            self._here(entries.history),
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
        return await self._database.read(
            self._here(entries.read_at_version), entity_path, key, version, viewer=viewer
        )

    def _here(self, body: Body[P, T]) -> Body[P, T]:
        """The function, about this branch; it raises InvalidArgumentError where that was never made."""

        @wraps(body)
        def here(tx: Transaction, /, *args: P.args, **kwargs: P.kwargs) -> T:
            with tx.elsewhere(branch=self._name):
                overlays.here(tx)
                return body(tx, *args, **kwargs)

        return here
