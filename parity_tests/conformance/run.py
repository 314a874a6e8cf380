"""Runs the contract in a pytest of its own: no settings, plugins or leftovers of the folder it is run in."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import parity_tests
from parity_tests.conformance.candidates import Candidate
from parity_tests.conformance.plugin import Suite
from parity_tests.conformance.results import SHARING

SETTINGS = Path(__file__).with_name("suite.ini")
ROOT = str(Path(parity_tests.__file__).parent)
OPTIONS = (
    *("--pyargs", "parity_tests.contract"),
    *("-c", str(SETTINGS), "--rootdir", ROOT, "--confcutdir", ROOT),
    # Nothing is captured: an adapter may close or flood what it prints to.
    *("-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture", "no"),
    *("-p", "anyio.pytest_plugin"),
)


def lacks(candidate: Candidate) -> Mapping[str, Sequence[str]]:
    """For every noun what the candidate does not implement of it. Raises CandidateError."""
    with tempfile.TemporaryDirectory() as folder:
        return candidate.lacks(Path(folder))


def claims(candidate: Candidate, missing: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What the candidate claims that lacks these operations: nouns, and that it shares."""
    nouns = [noun for noun, operations in missing.items() if not operations]
    return tuple(noun for noun in (*nouns, *[SHARING] * candidate.shares) if noun not in candidate.without)


def run(suite: Suite) -> None:
    """Run the contract on the suite's candidates; what came of it is in its results."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        code = pytest.main([*OPTIONS, "--basetemp", str(Path(folder) / "tests")], plugins=[suite])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        suite.broken.append(f"pytest ended with {code!r}")
