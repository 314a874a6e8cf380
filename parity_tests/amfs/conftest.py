"""Adapters as the AMFS Python SDK takes them. This folder is left out where the SDK is not installed."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from amfs_sqlite.sync import SyncSqliteAdapter

MISSING = find_spec("amfs_core") is None
collect_ignore_glob = ["*"] if MISSING else []


def pytest_report_header() -> str | None:
    """Say why nothing of it runs."""
    left_out = "parity_tests/amfs is left out: pip install 'amfs-sqlite[amfs]' to run it"
    return left_out if MISSING else None


@pytest.fixture
def sdk_adapter(tmp_path: Path) -> "Iterator[SyncSqliteAdapter]":
    """An adapter on a file of its own, ``memory.db`` under ``tmp_path``."""
    from amfs_sqlite.sync import SyncSqliteAdapter  # noqa: PLC0415 - needs the SDK

    with SyncSqliteAdapter(tmp_path / "memory.db") as adapter:
        yield adapter
