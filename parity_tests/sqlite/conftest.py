"""A file for each test."""

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the store of this test is, or will be."""
    return str(tmp_path / "store.db")
