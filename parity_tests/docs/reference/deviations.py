"""docs/explanation/deviations.md, from the ledger of deviations."""

from collections.abc import Iterator

from parity_tests.docs.reference import markdown
from parity_tests.golden.deviations import ROWS, Row

TITLE = "Deviations from AMFS 0.3"

INTRODUCTION = """
An agent written for AMFS 0.3, the TypeScript SDK `@senselab-ai/amfs`, finds the same operations here under
their Python names, and the same answers: stories recorded from the real SDK are replayed on every adapter,
and compared step by step. Where that SDK loses data, shows what is private, or is plainly wrong, we answer
otherwise on purpose. These are all the places.
"""

HELD = """
## How this is held

Each deviation is a row in `parity_tests/golden/deviations.py`. A step of a recorded story must be answered as
recorded, or rows must say why not: then the recorded answer must be exactly what the rows say of the SDK,
ours exactly what follows from the calls so far, and the rows that concern the call enough to turn the one
into the other. After every step, everything that is stored and logged must be exactly what the calls ask for.
Without any one of the rows a recorded story is not met; an answer altered in one place, and an adapter that
stores something else, are noticed.

`python -m parity_tests.golden DIR` replays a folder of such recordings; the format is told in
`parity_tests/golden/transcripts/README.md`.
"""


def page() -> str:
    """The page."""
    return markdown.page(TITLE, INTRODUCTION, *(part for row in ROWS for part in _section(row)), HELD)


def _section(row: Row) -> Iterator[str]:
    yield f"## {row.id.replace('-', ' ').capitalize()}"
    yield f"**AMFS**: {markdown.prose(row.sdk)}"
    yield f"**Here**: {markdown.prose(row.ours)}"
    yield f"**Why**: {markdown.prose(row.why)}"
