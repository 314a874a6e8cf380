"""`python -m parity_tests.golden DIR`: what it prints, and how it ends."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from parity_tests.golden.__main__ import main
from parity_tests.golden.conftest import FOLDER
from parity_tests.ledger import proves

SMALL = "adapter-write-read-versions.json"


def copied(folder: Path) -> Path:
    shutil.copyfile(FOLDER / SMALL, folder / SMALL)
    return folder / SMALL


@proves("golden.command")
def test_a_folder_that_is_met_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copied(tmp_path)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{SMALL}: 14 steps, rows hashes\n"


@proves("golden.command")
def test_the_first_unexplained_difference_ends_with_1_and_is_shown(tmp_path: Path) -> None:
    path = copied(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["steps"][4]["result"]["version"] = 7
    path.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-m", "parity_tests.golden", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    first, expected, got = done.stdout.splitlines()
    assert (
        first
        == f"reference: {SMALL} step 5: adapter.write: no row makes the SDK answer so: $.version: 7 is not 2"
    )
    assert "'version': 7" in expected
    assert "'version': 2" in got


@proves("golden.command")
@pytest.mark.parametrize("content", [None, "", "{}", '{"steps": 1, "clockStart": "now"}'])
def test_where_there_is_nothing_to_replay_it_ends_with_2(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "it.json").write_text(content, encoding="utf-8")
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@proves("golden.command")
def test_without_a_folder_it_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == "usage: python -m parity_tests.golden DIR\n"
