"""The snapshots' own proof: adapters that disagree fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import parity_tests
from parity_tests.ledger import proves

ADAPTERS = """
from types import SimpleNamespace
import pytest
{import_snapshot}

@pytest.fixture(params=["reference", "other"])
def adapter_kind(request):
    return SimpleNamespace(name=request.param)
"""
ONE_FOR_ALL = "from parity_tests.snapshots.one_for_all import snapshot"
TEST = """
ANSWERS = {answers!r}

def test_they_answer_alike(adapter_kind, snapshot):
    assert ANSWERS[adapter_kind.name] == snapshot(name="story")
"""
AGREE = {"reference": "yes", "other": "yes"}
DISAGREE = {"reference": "yes", "other": "no"}


class Suite:
    """A made-up suite of one story and two adapters, run by a pytest of its own."""

    def __init__(self, folder: Path, import_snapshot: str = ONE_FOR_ALL) -> None:
        self.folder = folder
        (folder / "conftest.py").write_text(ADAPTERS.format(import_snapshot=import_snapshot))

    def run(self, answers: dict[str, str], *options: str, ci: str = "") -> dict[str, int]:
        """How many tests passed, failed, and so on."""
        (self.folder / "test_made_up.py").write_text(TEST.format(answers=answers))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "syrupy", *options]
        there = {
            "CI": ci,
            "PYTHONPATH": str(Path(parity_tests.__file__).parents[1]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | there,
            capture_output=True,
            text=True,
            check=False,
        )
        summary = done.stdout.strip().splitlines()[-1].partition(" in ")[0]
        counted = (part.split() for part in summary.split(", "))
        return {what: int(count) for count, what in counted}

    def kept(self) -> str:
        return (self.folder / "__snapshots__" / "test_made_up.ambr").read_text()


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


@proves("scenarios.disagreement-fails")
def test_adapters_that_disagree_fail(suite: Suite) -> None:
    assert suite.run(DISAGREE, "--snapshot-update") == {"passed": 1, "skipped": 1}
    assert suite.run(DISAGREE) == {"passed": 1, "failed": 1}
    assert suite.run(AGREE) == {"passed": 2}
    assert suite.kept().count("# name:") == 1


@proves("scenarios.disagreement-fails")
def test_left_to_itself_syrupy_lets_adapters_disagree(tmp_path: Path) -> None:
    trapped = Suite(tmp_path, import_snapshot="")
    assert trapped.run(DISAGREE, "--snapshot-update") == {"passed": 2}
    assert trapped.run(DISAGREE) == {"passed": 2}
    assert trapped.kept().count("# name:") == 2


@proves("scenarios.disagreement-fails")
@pytest.mark.parametrize("option", ["--snapshot-update", "--snapshot-update-new-only"])
def test_an_update_never_comes_from_another_adapter(suite: Suite, option: str) -> None:
    suite.run(AGREE, "--snapshot-update")
    before = suite.kept()
    assert suite.run(DISAGREE, option, "-k", "other") == {"skipped": 1, "deselected": 1}
    assert suite.kept() == before


@proves("scenarios.disagreement-fails")
def test_nothing_is_updated_in_ci(suite: Suite) -> None:
    assert suite.run(AGREE, "--snapshot-update", ci="true") == {"errors": 2}
    assert not (suite.folder / "__snapshots__").exists()
