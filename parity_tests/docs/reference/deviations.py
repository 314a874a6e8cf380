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

Not compared are:

- the text of a `TypeError`, which is the JavaScript engine's; of any other error of the SDK its type and its
  text are compared with what is known of the SDK. Our errors are our own: where the SDK raises, ours must
  raise anything, and where a row says that we refuse an argument, the error must name it;
- what calls give back that return nothing (`undefined`); that such a call is none that answers, is compared;
- what making an adapter, a propagator or a callback gives back, and what `js.probe` asks of JavaScript;
- the last digits of fractions (1e-12 of the number), and the spelling of instants;
- what `name`, `description`, `kind` and `note` say;
- members and arguments that the format does not have: they are passed over, as JavaScript does, and told.

`python -m parity_tests.golden PATH` replays one such recording or a folder of them; the format is told in
`parity_tests/golden/transcripts/README.md`. What is not of the format is refused, in one line that names
file, step and place, before anything of the file is replayed.
"""


def page() -> str:
    """The page."""
    return markdown.page(TITLE, INTRODUCTION, *(part for row in ROWS for part in _section(row)), HELD)


def _section(row: Row) -> Iterator[str]:
    yield f"## {row.id.replace('-', ' ').capitalize()}"
    yield f"**AMFS**: {markdown.prose(row.sdk)}"
    yield f"**Here**: {markdown.prose(row.ours)}"
    yield f"**Why**: {markdown.prose(row.why)}"
