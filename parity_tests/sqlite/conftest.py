"""A file for each test."""

import asyncio
import shutil
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from parity_tests.drafts import draft


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the store of this test is, or will be."""
    return str(tmp_path / "store.db")


async def fill(path: Path) -> None:
    """Some entries, indexed; every other one has a word that is not in ASCII."""
    async with SqliteAdapter(path) as adapter:
        for number in range(20):
            tags = ("even",) if number % 2 == 0 else ("odd", "bright")
            word = "over" if number % 2 == 0 else "\u00fcber"
            await adapter.write(draft("svc", f"k{number}", f"word w{number} {word}", tags=tags))
        await adapter.write(draft("svc", "k0", "changed", tags=("even", "new")))


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "store.db"
    asyncio.run(fill(path))
    return path


@pytest.fixture
def store(template: Path, path: str) -> str:
    """A closed store with some entries."""
    shutil.copyfile(template, path)
    Path(path).chmod(0o600)
    return path
