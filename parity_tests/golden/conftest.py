"""The recorded transcripts, and the adapters they are replayed on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from parity_tests.golden import adapters, transcript
from parity_tests.golden.replay import MakeAdapter

FOLDER = Path(__file__).parent / "transcripts"
RECORDED: Sequence[transcript.Transcript] = [transcript.load(path) for path in transcript.files(FOLDER)]


def named(recorded: transcript.Transcript) -> str:
    """What a transcript is called in a test's name."""
    return recorded.name.removesuffix(".json")


@pytest.fixture(params=RECORDED, ids=named)
def recorded(request: pytest.FixtureRequest) -> transcript.Transcript:
    """Each recorded transcript."""
    found: transcript.Transcript = request.param
    return found


@pytest.fixture
def reference(tmp_path: Path) -> MakeAdapter:
    """Makes reference adapters."""
    return adapters.KINDS["reference"](tmp_path)
