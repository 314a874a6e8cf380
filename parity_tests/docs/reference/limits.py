"""docs/reference/limits.md, from the limits that the code names."""

from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from amfs_sqlite.rules import limits, ranking, text, values
from bridge import session
from bridge.handoff import requests
from bridge.operations import references
from parity_tests.docs.reference import markdown

TITLE = "Limits"

INTRODUCTION = """
How much one call may store or ask for. Over a limit it raises `InvalidArgumentError`
([`invalid_argument`](errors.md#invalid_argument)), which names the argument, and nothing is stored. How many
records, versions and commits a file holds is not limited, but by SQLite and the disk.
"""

SEARCHING = """
A confidence is any finite number, or, where the adapter was opened with `HANDOFF`, one from 0 to 1.

What a search does beyond a limit is no error: words are told apart by their first {word} characters; of a
text that more than {ranked:,} entries hold, the order by relevance is that of first writes, and the page says
so (`ranked`); and of more than {terms} words or phrases the first ones decide on the order.
"""

HANDOFF_HEAD = """
## Handing over

The operations of `bridge`, the tools and the command have these as well:
"""

MIB = 2**20
SECONDS_PER_DAY = 24 * 3600


class Limit(NamedTuple):
    """One limit: the module and the name it has there, what it is of, and its unit."""

    module: ModuleType
    name: str
    of: str
    unit: str


STORE = (
    Limit(
        limits, "MAX_ADDRESS_CHARACTERS", "a path, and a key; to be written, neither is empty", "characters"
    ),
    Limit(values, "MAX_VALUE_BYTES", "a value as JSON", "bytes"),
    Limit(values, "MAX_DEPTH", "lists and objects in each other, in a value", "levels"),
    Limit(values, "MAX_MEMBERS", "a value: all members and items in it", "members"),
    Limit(values, "MAX_INTEGER_DIGITS", "a whole number in a value", "digits"),
    Limit(limits, "MAX_TAGS", "the tags (`pattern_refs`) of a version", "tags"),
    Limit(limits, "MAX_TAG_CHARACTERS", "a tag", "characters"),
    Limit(
        limits,
        "MAX_NAME_CHARACTERS",
        "the name of an agent, session or branch, an `outcome_ref`, an `idempotency_key`, the id of a commit",
        "characters",
    ),
    Limit(limits, "MAX_NOTE_CHARACTERS", "the message of a commit, the note of an outcome", "characters"),
    Limit(limits, "MAX_CHANGES", "the changes of a commit, batch or transaction", "changes"),
    Limit(
        limits, "MAX_REFERENCES", "the `causal_entry_keys` and `refs` of an outcome together", "references"
    ),
    Limit(
        limits,
        "MAX_REFERENCE_SLASHES",
        "one of the `causal_entry_keys`, which is as long as a path and a key can be",
        "slashes",
    ),
    Limit(limits, "MAX_PATHS", "the `entity_paths` of a search", "paths"),
    Limit(text, "MAX_QUERY_CHARACTERS", "the `text` or `contains` of a search", "characters"),
    Limit(
        limits,
        "MAX_OUTCOME_COUNT",
        "a whole number from 0: `limit`, `before`, `after_version`, `expected_version`, an outcome count",
        "",
    ),
)
HANDOFF = (
    Limit(requests, "MAX_SUMMARY_CHARACTERS", "the summary of a packet; not empty", "characters"),
    Limit(requests, "MAX_STEPS", "the next steps of a packet", "texts"),
    Limit(requests, "MAX_QUESTIONS", "the open questions of a packet", "texts"),
    Limit(requests, "MAX_STEP_CHARACTERS", "a next step, an open question; not empty", "characters"),
    Limit(requests, "MAX_PINS", "the records that a packet pins", "records"),
    Limit(requests, "MAX_IDEMPOTENCY_KEY_CHARACTERS", "an `idempotency_key`; not empty", "characters"),
    Limit(session, "MAX_AGENT_CHARACTERS", "the name of an agent; not empty", "characters"),
    Limit(session, "MAX_LEASE_S", "a lease", "seconds"),
    Limit(references, "MAX_REFERENCE_CHARACTERS", "a reference as text: `scope/key@N`", "characters"),
    Limit(references, "MAX_REFERENCE_SLASHES", "a reference as text", "slashes"),
)


def page() -> str:
    """The page."""
    searching = SEARCHING.format(
        word=text.MAX_TOKEN_CHARACTERS, ranked=ranking.MAX_RANKED, terms=ranking.MAX_RANKED_TERMS
    )
    return markdown.page(
        TITLE,
        INTRODUCTION,
        markdown.table(["of", "at most"], _rows(STORE)),
        markdown.prose(searching),
        HANDOFF_HEAD,
        markdown.table(["of", "at most"], _rows(HANDOFF)),
    )


def _rows(told: tuple[Limit, ...]) -> Iterator[list[str]]:
    for each in told:
        yield [each.of, _figure(getattr(each.module, each.name), each.unit)]


def _figure(most: float, unit: str) -> str:
    """How much is the most, in a unit that suits it.

    >>> _figure(16 * 2**20, "bytes"), _figure(10_000, "changes"), _figure(7200.0, "seconds")
    ('16 MiB', '10,000 changes', '7,200 seconds')
    """
    if unit == "bytes" and most % MIB == 0:
        return f"{most // MIB:,.0f} MiB"
    if unit == "seconds" and most % SECONDS_PER_DAY == 0:
        return f"{most // SECONDS_PER_DAY:,.0f} days"
    return f"{int(most):,} {unit}".rstrip()
