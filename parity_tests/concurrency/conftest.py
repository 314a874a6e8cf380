"""A file for each test, a crew of processes for all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from parity_tests.concurrency.crew import Crew

CREW = 8


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the store of this test is, or will be."""
    return str(tmp_path / "store.db")


@pytest.fixture(scope="session")
def crew() -> Iterator[Crew]:
    """Processes that are reused by all tests: each job opens what it needs and leaves nothing open."""
    together = Crew(CREW)
    yield together
    together.dismiss()
