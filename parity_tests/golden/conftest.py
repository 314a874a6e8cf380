"""The recorded transcripts, and the adapters they are replayed on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from parity_tests.golden import adapters, recordings
from parity_tests.golden.replay import MakeAdapter
from parity_tests.golden.transcript import Transcript

FOLDER = Path(__file__).parent / "transcripts"
RECORDED: Sequence[Transcript] = [recordings.load(path) for path in recordings.files(FOLDER)]


def named(recorded: Transcript) -> str:
    """What a transcript is called in a test's name."""
    return recorded.name.removesuffix(".json")


@pytest.fixture(params=RECORDED, ids=named)
def recorded(request: pytest.FixtureRequest) -> Transcript:
    """Each recorded transcript."""
    found: Transcript = request.param
    return found


@pytest.fixture
def reference(tmp_path: Path) -> MakeAdapter:
    """Makes reference adapters."""
    return adapters.KINDS["reference"](tmp_path)
