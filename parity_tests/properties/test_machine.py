"""Runs drawn by chance: the reference and SQLite are told apart by nothing that is asked of them."""

import pytest
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from parity_tests.ledger import proves
from parity_tests.properties.conftest import CI
from parity_tests.properties.machine import SideBySide

PARTS = 8


@proves("properties.side-by-side")
@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_is_done_both_answer_alike(profile: str, part: int) -> None:
    class Run(SideBySide):
        """A part of its own: what is seeded is the class."""

    machine = seed(part)(Run) if profile == CI else Run
    run_state_machine_as_test(machine, settings=settings.get_profile(profile))
