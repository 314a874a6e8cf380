"""A folder in which the SDK's programs find a configuration that names a file of ours."""

from pathlib import Path

import pytest

from parity_tests.amfs.programs.processes import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A working directory with an ``amfs.yaml``, and a home in which nothing is yet."""
    return Place(tmp_path)
