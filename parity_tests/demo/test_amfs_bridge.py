"""`python -m demo.amfs_bridge`: one handoff in AMFS's manner, on two adapters side by side."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from amfs_sqlite import AMFS_0_3, AgentMemory, ReferenceAdapter, SqliteAdapter
from demo import amfs_agents, amfs_bridge
from parity_tests.demo.processes import started


@pytest.fixture(scope="module")
def output() -> str:
    done = started("demo.amfs_bridge")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_prints_the_same_every_time(output: str, snapshot: SnapshotAssertion) -> None:
    assert output == snapshot


def test_every_rule_is_67_characters_wide_and_no_line_wider_than_100(output: str) -> None:
    assert {len(line) for line in output.splitlines() if line.startswith("---")} == {67}
    assert [line for line in output.splitlines() if len(line) > 100] == []


def test_both_adapters_tell_the_same_story(output: str) -> None:
    told = [line for line in output.splitlines() if line.startswith(("  . reference ", "  . SQLite  "))]
    assert told == []
    assert "  . both      success on listing/482/assessment: confidence 0.80 -> 0.776, now v2" in output
    assert "  . 14 of 14 rows agree" in output


def test_what_only_one_of_them_says_is_marked_as_its_own() -> None:
    told = amfs_bridge.side_by_side(["one", "two"], ["one", "three", "four"])
    assert list(told) == ["both      one", "reference two", "SQLite    three", "SQLite    four"]


async def test_rows_that_differ_are_not_counted_as_agreeing(tmp_path: Path) -> None:
    async with ReferenceAdapter(outcomes=AMFS_0_3) as one, SqliteAdapter(tmp_path / "m.db") as other:
        for name in amfs_agents.AGENTS:
            for adapter in (one, other):
                await amfs_bridge.in_this_process(name, adapter)
        await AgentMemory("late", adapter=other).write(*amfs_bridge.FAILED, "something else")
        rows = amfs_bridge.compared(*[await amfs_bridge.look_into(each) for each in (one, other)])
        told = list(rows)
    assert [line.split() for line in told if line.startswith("commits")] == [["commits", "6", "7"]]
    assert told[-1] == "12 of 17 rows agree"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    assert started("demo.amfs_bridge", temporary=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_the_second_agent_is_told_nothing_but_the_file(tmp_path: Path) -> None:
    done = started("demo.amfs_agents", "executor", memory_db=tmp_path / "shared.db")
    assert (done.returncode, done.stdout) == (1, "")
    assert "run the scout on the same memory first" in done.stderr
    assert started("demo.amfs_agents", "scout", memory_db=tmp_path / "shared.db").returncode == 0
    done = started("demo.amfs_agents", "executor", memory_db=tmp_path / "shared.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert "applied for listing/482, receipt A-9071" in done.stdout.splitlines()


@pytest.mark.parametrize("words", [(), ("nobody",), ("scout", "executor")])
def test_an_agent_that_is_not_named_is_asked_for_in_one_line(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMORY_DB", str(tmp_path / "shared.db"))
    assert amfs_agents.main(words) == 2
    said = capsys.readouterr().err
    assert said == "usage: MEMORY_DB=shared.db python -m demo.amfs_agents scout|executor\n"
    assert not (tmp_path / "shared.db").exists()


def test_without_a_file_an_agent_does_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MEMORY_DB", raising=False)
    assert amfs_agents.main(["scout"]) == 2
    assert "usage: MEMORY_DB=shared.db" in capsys.readouterr().err


def test_it_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert amfs_bridge.main(["--db"]) == 2
    assert capsys.readouterr().err == "usage: python -m demo.amfs_bridge\n"
