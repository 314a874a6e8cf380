"""A file for each test, and stores to be copied."""

from pathlib import Path

import pytest

from parity_tests.tampering.edited import erase, fill


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the store of this test is, or will be."""
    return str(tmp_path / "store.db")


@pytest.fixture(scope="module")
async def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as it was closed, to be copied."""
    path = tmp_path_factory.mktemp("untouched") / "store.db"
    await fill(path)
    return path


@pytest.fixture(scope="module")
async def erased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the second version of `a` and all of `b` erased, and a third key that was archived."""
    path = tmp_path_factory.mktemp("erased") / "store.db"
    await fill(path)
    await erase(path)
    return path
