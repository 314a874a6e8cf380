"""docs/explanation/deviations-sdk.md, from the ledger of deviations from the SDK's file adapter."""

from collections.abc import Iterator

from parity_tests.amfs.sessions.comparison import Row, rows
from parity_tests.docs.reference import markdown

TITLE = "Deviations from the AMFS Python SDK"

INTRODUCTION = """
An agent written for the AMFS Python SDK (`amfs` on PyPI) finds on a file of ours what it finds on the SDK's
own file adapter: sessions of agents are played through the SDK's `AgentMemory` on both, under one clock, and
every answer is compared, member by member. Where the file adapter loses data, finds fault with what is sound,
or keeps nothing, we answer otherwise on purpose. These are all the places that the sessions show.
"""

HELD = """
## How this is held

Each deviation is a row in `parity_tests/amfs/deviations.toml`, which names the sessions, calls and places in
answers it is about. A difference that no row is about fails the tests, and so does a row of which nothing is
seen any more. Not compared are identities drawn at random (but for which step they first came up in),
measured durations, and the text of errors.
"""


def page() -> str:
    """The page."""
    return markdown.page(TITLE, INTRODUCTION, *(part for row in rows() for part in _section(row)), HELD)


def _section(row: Row) -> Iterator[str]:
    yield f"## {row.id.replace('-', ' ').capitalize()}"
    yield f"**On files**: {markdown.prose(row.amfs)}"
    yield f"**Here**: {markdown.prose(row.here)}"
    yield f"**Why**: {markdown.prose(row.why)}"
