"""docs/reference/protocol.md, from the docstrings of the protocol's operations."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from amfs_sqlite import AmfsAdapter, ReferenceAdapter, SqliteAdapter
from amfs_sqlite.protocol.changes import WatchHandle
from parity_tests.docs.reference import markdown, signatures
from parity_tests.nouns import CAPABILITIES, NOUNS

TITLE = "The protocol"

INTRODUCTION = """
What an adapter owes to whoever works with it, a section for each noun: those of `AmfsAdapter`, and behind
them those that an adapter has whole, or has not. {adapters} owe all of it; their operations have no texts
of their own, and inherit these.

An adapter of your own needs no base class: whatever has these operations is one. Where they keep AMFS's
contract and where they part from it, [Deviations from AMFS 0.3](../explanation/deviations.md) tells; the
models that they take and return are in [Python](python.md#models), the errors in [Errors](errors.md).
"""

BESIDE = {"Changes": (WatchHandle,)}
"""What a noun's operations return that has operations of its own."""


def page() -> str:
    """The page."""
    adapters = " and ".join(f"`{each.__name__}`" for each in (SqliteAdapter, ReferenceAdapter))
    rows = [[f"[{noun.__name__}](#{noun.__name__.lower()})", _names(noun)] for noun in nouns()]
    return markdown.page(
        TITLE,
        INTRODUCTION.format(adapters=adapters),
        markdown.prose(inspect.getdoc(AmfsAdapter) or ""),
        markdown.prose((inspect.getdoc(AmfsAdapter) or "").partition("\n\n")[2]),
        markdown.table(["noun", "operations"], rows),
        *(part for noun in nouns() for part in _section(noun)),
    )


def nouns() -> list[type]:
    """The protocols that an adapter is the union of, then those that it has or has not."""
    return [*(each for each in AmfsAdapter.__bases__ if each.__name__ in NOUNS), *CAPABILITIES.values()]


def operations(noun: type) -> list[tuple[str, Any]]:
    """The operations and properties of a noun that have a text, by name, in order."""
    return [
        (name, member)
        for name, member in vars(noun).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    ]


def _names(noun: type) -> str:
    return ", ".join(f"`{name}`" for name, _ in operations(noun))


def _section(noun: type) -> Iterator[str]:
    module = sys.modules[noun.__module__]
    yield f"## {noun.__name__}"
    _, _, said = (inspect.getdoc(module) or "").rpartition(f"{noun.__name__}: ")
    yield markdown.prose(said[:1].upper() + said[1:])
    yield markdown.prose(inspect.getdoc(noun) or "")
    for name, member in operations(noun):
        yield from _operation(name, member)
    for name, said in signatures.constants(module).items():
        yield f"### `{name}`"
        yield markdown.prose(said)
    for kind in BESIDE.get(noun.__name__, ()):
        yield f"### `{kind.__name__}`"
        yield markdown.prose(inspect.getdoc(kind) or "")
        for name, member in operations(kind):
            yield from _operation(f"{kind.__name__}.{name}", member)


def _operation(name: str, member: Any) -> Iterator[str]:
    yield f"### `{name}`"
    if not isinstance(member, property):
        yield markdown.block("python", signatures.signature(member))
    yield markdown.prose(inspect.getdoc(member) or "")
