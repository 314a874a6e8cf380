"""The adapters that transcripts are replayed on."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from amfs_sqlite import AmfsAdapter, CountedIds, FixedClock, ReferenceAdapter, SqliteAdapter
from parity_tests.golden.replay import MakeAdapter


class MakesAdapters(Protocol):
    """Makes the adapters of one transcript; those that keep files keep them in this folder."""

    def __call__(self, folder: Path) -> MakeAdapter: ...


def _reference(folder: Path) -> MakeAdapter:
    def make(clock: FixedClock, name: str, namespace: str) -> AbstractAsyncContextManager[AmfsAdapter]:
        return ReferenceAdapter(namespace=namespace, clock=clock, ids=CountedIds())

    return make


def _sqlite(folder: Path) -> MakeAdapter:
    def make(clock: FixedClock, name: str, namespace: str) -> AbstractAsyncContextManager[AmfsAdapter]:
        path = folder / f"{len(list(folder.iterdir()))}.db"
        # A replay asks what is answered, and not what survives a power cut.
        return SqliteAdapter(path, namespace=namespace, durability="normal", clock=clock, ids=CountedIds())

    return make


KINDS: Mapping[str, MakesAdapters] = {"reference": _reference, "sqlite": _sqlite}
"""Each kind by name."""
