"""Places to try out what the documents say."""

import asyncio
import shutil
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, SqliteAdapter
from bridge.operations import packets
from bridge.session import Session
from demo import executor, scout
from demo.console import Console
from parity_tests.docs.commands import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A folder and a home in which nothing is yet."""
    return Workshop(tmp_path)


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file on which the demo was played."""
    path = tmp_path_factory.mktemp("demo") / "memory.db"

    async def played() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            for agent, work in ((scout.AGENT, scout.work), (executor.AGENT, executor.work)):
                await work(Session(adapter, agent, "played"), Console())
            # So that one packet is claimed, as somebody who reads of releasing one will find it.
            await packets.take(Session(adapter, scout.AGENT, "played"))

    asyncio.run(played())
    return path


@pytest.fixture
def demo_file(demo_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that MEMORY_DB names."""
    path = tmp_path / "memory.db"
    shutil.copyfile(demo_template, path)
    path.chmod(0o600)
    monkeypatch.setenv("MEMORY_DB", str(path))
    return path
