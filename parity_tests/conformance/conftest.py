"""A folder of somebody else's, in which the suite is run on what they made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import parity_tests

SOURCES = str(Path(parity_tests.__file__).parents[1])


class Elsewhere:
    """Runs a module of ours from another folder, as somebody does who has only installed it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, module: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What it prints, and its exit code."""
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": SOURCES, "PYTHONDONTWRITEBYTECODE": "1"} | variables,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)
