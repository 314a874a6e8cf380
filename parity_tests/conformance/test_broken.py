"""What breaks a promise is caught, also where nothing else is claimed, and what breaks none is not."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from amfs_sqlite import ReferenceAdapter
from parity_tests import ledger
from parity_tests.conformance.broken import BROKEN, SOUND
from parity_tests.conformance.concerns import noun_of_promise
from parity_tests.conformance.conftest import Elsewhere
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS

KINDS = [kind for kind, _ in BROKEN]
# What is promised of what two nouns do together.
NEEDS_ANOTHER = {
    "Changes": {"watch.in-place"},
    "Agents": {"agents.activity", "agents.enriched"},
    "Branches": {f"branches.{name}" for name in ("erased", "heard", "logged", "recorded")},
    "Traces": {"traces.erased"},
    "Pulls": {"pulls.unmerged"},
    "Retention": {f"retention.{name}" for name in ("heard", "logged", "not-found", "outcomes", "results")},
}

# The suite itself is run once for all of these, over every broken adapter.
pytestmark = pytest.mark.timeout(300)

Results = list[tuple[str, str, list[str], str]]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What came of every test: the candidate, the noun, the promises, and whether they hold."""
    folder: Path = tmp_path_factory.mktemp("broken")
    done = Elsewhere(folder).run("parity_tests.conformance.broken")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["broken"] == []
    return [tuple(each) for each in said["results"]]


@proves("conformance.caught")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_adapter_that_breaks_a_promise_is_caught_though_it_claims_no_other_noun(
    results: Results, kind: type[ReferenceAdapter]
) -> None:
    assert "fails" in {state for name, _, _, state in results if name == kind.__name__}


@proves("conformance.caught")
def test_at_every_noun_somebody_is_caught(results: Results) -> None:
    assert {noun for _, noun, _, state in results if state == "fails"} == {*NOUNS}


@proves("conformance.caught")
def test_an_adapter_that_keeps_the_same_promises_is_not_caught(results: Results) -> None:
    of_the_sound = [(noun, state) for name, noun, _, state in results if name == SOUND]
    assert {noun for noun, _ in of_the_sound} == {*NOUNS}
    assert {state for _, state in of_the_sound} == {"holds"}


@proves("conformance.alone-nouns")
@pytest.mark.parametrize("noun", NOUNS)
def test_every_promise_of_a_noun_is_tried_where_it_alone_is_claimed(results: Results, noun: str) -> None:
    states = defaultdict(set)
    behaviours = ledger.behaviours()
    for name, of_noun, promises, state in results:
        if (name, of_noun) == (f"{noun} alone", noun):
            for promise in promises:
                if noun_of_promise(behaviours[promise]) == noun:
                    states[promise].add(state)
    assert len(states) >= 4
    untried = {promise for promise, found in states.items() if "holds" not in found}
    assert untried == NEEDS_ANOTHER.get(noun, set())
    assert {state for found in states.values() for state in found} <= {"holds", "not run"}


def test_every_promise_that_is_broken_is_in_the_ledger() -> None:
    assert {promise for _, promise in BROKEN} <= ledger.behaviours().keys()
