"""Which adapters the suite is run on: the one place that names them.

An adapter enters the suite with one more `AdapterKind` in `KINDS`. All tests ask for the fixtures
of `conftest.py`, which open what stands here; nothing else knows any adapter by name.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from amfs_sqlite import (
    AMFS_0_3,
    AmfsAdapter,
    Clock,
    CountedIds,
    IdSource,
    OutcomePolicy,
    ReferenceAdapter,
    SqliteAdapter,
)

ORACLE = "reference"
"""The kind that snapshots are taken from, and that all others are compared with."""


class AdapterFactory(Protocol):
    """Makes a closed adapter; `path` is the file to use, for kinds that have one."""

    def __call__(
        self,
        path: Path,
        *,
        namespace: str,
        outcomes: OutcomePolicy,
        clock: Clock,
        ids: IdSource,
    ) -> AmfsAdapter: ...


@dataclass(frozen=True)
class AdapterKind:
    """One kind of adapter. `shares`: several may be open on the same path, and see one store."""

    name: str
    make: AdapterFactory
    shares: bool = False


def _reference(
    path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
) -> AmfsAdapter:
    return ReferenceAdapter(namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)


def _sqlite_memory(
    path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
) -> AmfsAdapter:
    return SqliteAdapter(":memory:", namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)


def _sqlite_disk(
    path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
) -> AmfsAdapter:
    return SqliteAdapter(path, namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)


KINDS = [
    AdapterKind(ORACLE, _reference),
    AdapterKind("sqlite-memory", _sqlite_memory),
    AdapterKind("sqlite-disk", _sqlite_disk, shares=True),
]


def oracle() -> AdapterKind:
    """The kind the others are compared with."""
    return next(kind for kind in KINDS if kind.name == ORACLE)


@dataclass
class AdapterOpener:
    """Opens adapters of one kind below one folder, and closes them all at the end.

    Every call opens a store of its own, unless it names one; what is opened on the same `store`
    sees the same data where the kind shares. Ids count per store.
    """

    kind: AdapterKind
    folder: Path
    clock: Clock
    opened: AsyncExitStack = field(default_factory=AsyncExitStack)
    ids: dict[str, IdSource] = field(default_factory=dict)

    async def __call__(
        self,
        *,
        store: str | None = None,
        namespace: str = "default",
        outcomes: OutcomePolicy = AMFS_0_3,
        clock: Clock | None = None,
        ids: IdSource | None = None,
    ) -> AmfsAdapter:
        return await self.opened.enter_async_context(
            self.closed(store=store, namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)
        )

    def closed(
        self,
        *,
        store: str | None = None,
        namespace: str = "default",
        outcomes: OutcomePolicy = AMFS_0_3,
        clock: Clock | None = None,
        ids: IdSource | None = None,
    ) -> AmfsAdapter:
        """An adapter that nobody opened yet, and that nobody here will close."""
        name = store or f"store-{len(self.ids) + 1}"
        counted = self.ids.setdefault(name, CountedIds())
        return self.kind.make(
            self.folder / f"{name}.db",
            namespace=namespace,
            outcomes=outcomes,
            clock=clock or self.clock,
            ids=ids or counted,
        )
