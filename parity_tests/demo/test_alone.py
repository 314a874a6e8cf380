"""Each agent alone, in a terminal of its own."""

import shutil
from pathlib import Path

import pytest

from parity_tests.demo.processes import started


@pytest.mark.parametrize("agent", ["demo.scout", "demo.executor"])
@pytest.mark.parametrize("memory_db", [None, ""])
def test_an_agent_without_a_file_asks_for_one_in_one_line(agent: str, memory_db: str | None) -> None:
    done = started(agent, memory_db=memory_db)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"MEMORY_DB names no file; say which one to share: MEMORY_DB=shared.db python -m {agent}"
    ]


@pytest.mark.parametrize("agent", ["demo.scout", "demo.executor"])
def test_an_agent_that_cannot_use_the_file_says_so_in_one_line(agent: str, tmp_path: Path) -> None:
    done = started(agent, memory_db=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "is a folder" in done.stderr


def test_the_executor_finds_nothing_waiting_in_a_new_file(tmp_path: Path) -> None:
    done = started("demo.executor", memory_db=tmp_path / "shared.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  . nothing is waiting for executor-agent" in done.stdout.splitlines()


def test_all_that_reaches_the_executor_is_the_file(tmp_path: Path) -> None:
    written, carried = tmp_path / "written.db", tmp_path / "elsewhere" / "carried.db"
    carried.parent.mkdir()
    scout = started("demo.scout", memory_db=written)
    assert (scout.returncode, scout.stderr) == (0, "")
    shutil.move(written, carried)
    executor = started("demo.executor", memory_db=carried)
    assert (executor.returncode, executor.stderr) == (0, "")
    assert "4 pinned record versions arrived with the packet" in executor.stdout
    assert "nothing is waiting" in started("demo.executor", memory_db=written).stdout
