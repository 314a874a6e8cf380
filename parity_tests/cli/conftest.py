"""The command in this process, on stores of its own."""

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from amfs_sqlite import HANDOFF, SqliteAdapter
from bridge.cli.main import main
from parity_tests.cli import stories

T = TypeVar("T")

# What a user's environment may hold and what would bend what is shown here.
DROPPED = ("AGENT_ID", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES")


@dataclass(frozen=True)
class Ran:
    """What a run of the command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output, and nothing beside it."""
        assert (self.code in (0, 1), self.err) == (True, "")
        assert self.out.isascii()
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*DROPPED, *(each for each in os.environ if each.startswith("MEMORY_"))]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="session")
def handover_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("handover") / "memory.db"
    asyncio.run(stories.handover(path))
    return path


@pytest.fixture(scope="session")
def hostile_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "memory.db"
    asyncio.run(stories.hostile(path))
    return path


@pytest.fixture
def store(handover_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file on which work was handed over; MEMORY_DB names it."""
    return _placed(handover_template, tmp_path, monkeypatch)


@pytest.fixture
def hostile_store(hostile_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file full of hostile text; MEMORY_DB names it."""
    return _placed(hostile_template, tmp_path, monkeypatch)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in this process."""

    def ran(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return ran


def looked(path: Path, question: Callable[[SqliteAdapter], Awaitable[T]]) -> T:
    """What an adapter on the file answers."""

    async def asked() -> T:
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            return await question(adapter)

    return asyncio.run(asked())


def _placed(template: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = folder / "memory.db"
    shutil.copyfile(template, path)
    path.chmod(0o600)
    monkeypatch.setenv("MEMORY_DB", str(path))
    return path
