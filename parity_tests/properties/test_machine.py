"""Runs drawn by chance: the reference and SQLite are told apart by nothing that is asked of them."""

import pytest
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from amfs_sqlite import AmfsAdapter, ReferenceAdapter
from parity_tests.conformance import broken
from parity_tests.ledger import proves
from parity_tests.properties.conftest import CI
from parity_tests.properties.machine import SideBySide

PARTS = 8
# What shows in few steps; all of them are shown to the contract.
BROKEN = (
    broken.ShowsTheHiddenAdapter,
    broken.SkipsAVersionAdapter,
    broken.SortsListsAdapter,
    broken.LosesChangesAdapter,
    broken.AppliesOutcomesTwiceAdapter,
    broken.MiscountsAdapter,
)


@proves("properties.side-by-side")
@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_is_done_both_answer_alike(profile: str, part: int) -> None:
    class Run(SideBySide):
        """A part of its own: what is seeded is the class."""

    machine = seed(part)(Run) if profile == CI else Run
    run_state_machine_as_test(machine, settings=settings.get_profile(profile))


@proves("properties.differences-found")
@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_an_adapter_that_answers_otherwise_is_told_apart(kind: type[ReferenceAdapter]) -> None:
    @seed(0)
    class Run(SideBySide):
        """The reference beside one that is broken, which keeps nothing that could be opened anew."""

        def _made(self) -> AmfsAdapter:
            return kind(outcomes=self.world.policy, clock=self.clock, ids=self.ids)

        def reopen(self) -> None:
            """No step: what is in memory ends when it is closed."""

    with pytest.raises(AssertionError, match=r"(?m)^--- the reference$"):
        run_state_machine_as_test(Run, settings=settings(settings.get_profile(CI), max_examples=100))
