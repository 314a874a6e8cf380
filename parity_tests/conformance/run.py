"""Runs the contract in a pytest of its own: no settings, plugins or leftovers of the folder it is run in."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import parity_tests
from parity_tests.conformance.candidates import Candidate
from parity_tests.conformance.plugin import SHARING, Suite

SETTINGS = Path(__file__).with_name("suite.ini")
ROOT = str(Path(parity_tests.__file__).parent)
TIMEOUT_S = 60
OPTIONS = (
    *("--pyargs", "parity_tests.contract"),
    *("-c", str(SETTINGS), "--rootdir", ROOT, "--confcutdir", ROOT),
    *("-p", "no:terminal", "-p", "no:cacheprovider"),
    *("-p", "anyio.pytest_plugin", "-p", "pytest_timeout", "--timeout", str(TIMEOUT_S)),
)


def lacks(candidate: Candidate) -> Mapping[str, Sequence[str]]:
    """For every noun what the candidate does not implement of it. Raises CandidateError."""
    with tempfile.TemporaryDirectory() as folder:
        return candidate.lacks(Path(folder))


def claims(candidate: Candidate) -> tuple[str, ...]:
    """What the candidate claims: nouns, and that it shares. Raises CandidateError."""
    nouns = [noun for noun, missing in lacks(candidate).items() if not missing]
    return (*nouns, SHARING) if candidate.shares else tuple(nouns)


def run(candidates: Sequence[Candidate]) -> Suite:
    """Run the contract on candidates; what came of it is in the suite's results."""
    claimed = {each.name: claims(each) for each in candidates}
    suite = Suite(candidates, claimed)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        code = pytest.main([*OPTIONS, "--basetemp", str(Path(folder) / "tests")], plugins=[suite])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        suite.broken.append(f"pytest ended with {code!r}")
    return suite
