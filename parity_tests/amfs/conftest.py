"""Adapters as the AMFS Python SDK takes them. All of this folder needs the SDK."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("amfs_core", reason="the AMFS Python SDK is not installed: pip install 'amfs-sqlite[amfs]'")

if TYPE_CHECKING:
    from amfs_sqlite.sync import SyncSqliteAdapter


@pytest.fixture
def sdk_adapter(tmp_path: Path) -> "Iterator[SyncSqliteAdapter]":
    """An adapter on a file of its own, ``memory.db`` under ``tmp_path``."""
    from amfs_sqlite.sync import SyncSqliteAdapter

    with SyncSqliteAdapter(tmp_path / "memory.db") as adapter:
        yield adapter
