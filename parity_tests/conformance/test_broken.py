"""What breaks a promise is caught, and what breaks none is not."""

import json
from pathlib import Path

import pytest

from amfs_sqlite import ReferenceAdapter
from parity_tests import ledger
from parity_tests.conformance.broken import BROKEN
from parity_tests.conformance.conftest import Elsewhere
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS

KINDS = [kind for kind, _ in BROKEN]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """What came of every test: the adapter, the noun, and whether it holds."""
    folder: Path = tmp_path_factory.mktemp("broken")
    done = Elsewhere(folder).run("parity_tests.conformance.broken")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["broken"] == []
    return [tuple(each) for each in said["results"]]


@proves("conformance.caught")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_adapter_that_breaks_a_promise_is_caught(
    results: list[tuple[str, str, str]], kind: type[ReferenceAdapter]
) -> None:
    assert "fails" in {state for name, _, state in results if name == kind.__name__}


@proves("conformance.caught")
def test_at_every_noun_somebody_is_caught(results: list[tuple[str, str, str]]) -> None:
    assert {noun for _, noun, state in results if state == "fails"} == {*NOUNS}


@proves("conformance.caught")
def test_an_adapter_that_keeps_the_same_promises_is_not_caught(results: list[tuple[str, str, str]]) -> None:
    of_the_sound = [(noun, state) for name, noun, state in results if name == ReferenceAdapter.__name__]
    assert {noun for noun, _ in of_the_sound} == {*NOUNS}
    assert {state for _, state in of_the_sound} == {"holds"}


def test_every_promise_that_is_broken_is_in_the_ledger() -> None:
    assert {promise for _, promise in BROKEN} <= ledger.behaviours().keys()
