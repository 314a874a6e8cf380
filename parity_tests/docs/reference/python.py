"""docs/reference/python.md, from the public names and their docstrings."""

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from types import FunctionType
from typing import Any

from pydantic import BaseModel

import amfs_sqlite
from amfs_sqlite import AmfsError, OutcomePolicy, agent, clock, models
from amfs_sqlite.agent import propagator
from amfs_sqlite.protocol.transfer import Transfer
from amfs_sqlite.rules import anchors, confidence, redaction
from amfs_sqlite.sqlite import StoreDescription
from bridge import operations
from bridge.mcp_server.server import TOOLS
from bridge.operations import entries, outcomes, packets, statistics
from bridge.session import Session
from parity_tests.docs.reference import markdown, signatures

TITLE = "Python"

INTRODUCTION = """
`amfs_sqlite` is the store, and all its public names are imported from there. `bridge` is what agents do
with it: remember, recall, hand over, report. The [README](../../README.md#use-it-from-python) has an
example of each.
"""

TOOLS_HEAD = """
## Tools and operations

A [tool](tools.md) of the MCP server parses its arguments, calls operations, and renders what they
return. These are the same as functions:
"""

SESSION_HEAD = """
## `bridge.session`

Who is at work.
"""

OPERATIONS_HEAD = """
## `bridge.operations`

What agents do: functions on a session, a module for each noun.

A packet is a record under `_system/handoff/`. The operations keep everybody else from that path; an adapter
and `AgentMemory` do not. Write nothing there yourself: what is no packet any more cannot be taken, and
answers [`packet_unreadable`](errors.md#packet_unreadable). How long a summary may be, and what else is
limited, stands in [Limits](limits.md#handing-over).
"""

ADAPTERS_HEAD = """
## The adapters

Both do all that [the protocol](protocol.md) says, between `open` and `close`; `async with` does both.
Beyond it, and unlike an adapter of others perhaps, both of ours keep to this:

- A page has a `next_cursor` only where something follows it. The cursor is for the same query and the same
  viewer: with another it is refused.
- An iterator of `changes` goes on after a task that waited for it was cancelled. Tasks that share one
  share the changes: each gets every change that no other got.
- A callback of `watch` runs in the context (`contextvars`) in which it was set up, not in the writer's.
- `verify` counts descriptions, which `save_commit` adds to commits, among the commits.

`SqliteAdapter` reads single entries in the event loop's own thread, where that is quicker than handing them
over. With `inline_reads=False` every read goes to another thread, for file systems that may stall
([decision 0010](../decisions/0010-speed.md)).
"""

AGENT_HEAD = """
## Agent memory

What an agent holds in its hand: AMFS's `AgentMemory`, async, over any adapter. Where it
[deviates from AMFS](../explanation/deviations.md) it does so on purpose. What stands behind `async` is
awaited.
"""

POLICIES_HEAD = """
## Outcome policies

[What they do, and which one to choose](../explanation/outcomes.md).
"""

WIRE = """
`to_wire()` gives the wire form of each, and `from_wire(fields)` makes one from it. `Change` is `Write` or
`Outcome`.
"""

NOUNS = (
    "packets",
    "entries",
    "search",
    "references",
    "outcomes",
    "commits",
    "integrity",
    "statistics",
    "retention",
    "transfer",
)
"""The modules of operations."""

RETURNED: dict[str, tuple[type, ...]] = {
    "packets": (
        packets.Given,
        packets.Taken,
        packets.NothingWaiting,
        packets.Packet,
        packets.Pin,
        packets.Stale,
    ),
    "entries": (entries.Remembered,),
    "outcomes": (outcomes.OutcomeReport,),
    "statistics": (statistics.StoreSummary,),
    "transfer": (
        Transfer,
        amfs_sqlite.ExportReader,
        amfs_sqlite.ExportReport,
        amfs_sqlite.ImportReport,
        amfs_sqlite.ImportConflict,
    ),
}
"""What only operations return."""


_LIMIT = re.compile(r"\bMAX_[A-Z_]+\b")

ANCHORING = (anchors.text_of, anchors.parsed, anchors.signed, anchors.signature_problem)
"""What is done with anchors beyond taking and holding them."""


def page() -> str:
    """The page."""
    return markdown.page(
        TITLE,
        INTRODUCTION,
        TOOLS_HEAD,
        markdown.table(["tool", "operations"], tool_rows()),
        SESSION_HEAD,
        *_class(Session),
        OPERATIONS_HEAD,
        *(part for noun in NOUNS for part in _operations(noun)),
        ADAPTERS_HEAD,
        *(part for kind in public_classes("adapter") for part in _class(kind)),
        *_class(StoreDescription),
        *_class(amfs_sqlite.BackupReport),
        *_function("restore", amfs_sqlite.restore),
        *_class(amfs_sqlite.RestoreReport),
        AGENT_HEAD,
        *(part for name in agent.__all__ if name[1].islower() for part in _class(getattr(agent, name))),
        POLICIES_HEAD,
        "\n".join(_policies()),
        *_class(OutcomePolicy),
        "## Models",
        markdown.prose(models.__doc__ or ""),
        WIRE,
        *(part for kind in public_classes("models") for part in _class(kind)),
        "## Anchors",
        markdown.prose(anchors.__doc__ or ""),
        *(part for kind in public_classes("anchors") for part in _class(kind)),
        *(part for each in ANCHORING for part in _function(f"rules.anchors.{each.__name__}", each)),
        "## Redaction",
        markdown.prose(redaction.__doc__ or ""),
        *_function("redact", redaction.redact),
        *(part for kind in public_classes("redaction") for part in _class(kind)),
        "## Time and identifiers",
        markdown.prose(clock.__doc__ or ""),
        *(part for kind in public_classes("clock") for part in _class(kind)),
        "## Errors",
        f"[Each with its code and its message](errors.md): {_errors()}.",
    )


def tool_rows() -> Iterator[list[str]]:
    """Each tool with the operations that its code names."""
    for tool in TOOLS.values():
        found = signatures.named_functions(tool.run, operations.__name__)
        names = [f"`{each.__module__.rpartition('.')[2]}.{each.__name__}`" for each in found]
        yield [f"`{tool.name}`", ", ".join(dict.fromkeys(names))]


def public_classes(module: str) -> list[type]:
    """The public classes that a module of this name defines."""
    found = [getattr(amfs_sqlite, name) for name in amfs_sqlite.__all__]
    return [each for each in found if inspect.isclass(each) and each.__module__.endswith(f".{module}")]


def _operations(noun: str) -> Iterator[str]:
    module = importlib.import_module(f"{operations.__name__}.{noun}")
    yield f"### `{noun}`"
    yield markdown.prose(module.__doc__ or "")
    for name, function in vars(module).items():
        if inspect.iscoroutinefunction(function) and not name.startswith("_"):
            yield from _function(f"{noun}.{name}", function)
    for kind in RETURNED.get(noun, ()):
        yield from _class(kind)


def _function(name: str, function: Any) -> Iterator[str]:
    yield f"#### `{name}`"
    yield markdown.block("python", signatures.signature(function))
    yield markdown.prose(_said(function))


def _class(kind: type) -> Iterator[str]:
    yield f"#### `{kind.__name__}`"
    has_fields = dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel | tuple)
    made = vars(kind).get("__init__")
    if not has_fields and inspect.isfunction(made) and made.__module__ == kind.__module__:
        yield markdown.block("python", signatures.construction(kind))
    yield markdown.prose(_said(kind))
    if has_fields:
        yield markdown.table(["field", "type", "default", "meaning"], _field_rows(kind))
    if issubclass(kind, Enum):
        yield ", ".join(f"`{each.value}`" for each in kind)
    yield from _members(kind)


def _said(told: Any) -> str:
    """What the docstring says, with the numbers that names of limits stand for in its module."""
    known = vars(sys.modules[told.__module__])
    return _LIMIT.sub(lambda found: f"{known[found[0]]:,}", inspect.getdoc(told) or "")


def _field_rows(kind: type) -> Iterator[list[str]]:
    for each in signatures.fields(kind):
        default = markdown.code(each.default or "")
        yield [f"`{each.name}`", f"`{each.kind}`", default, _on_one_line(each.meaning)]


def _members(kind: type) -> Iterator[str]:
    """Methods and properties with a text of their own; the others do what a protocol says of them."""
    told = []
    for name, member in vars(kind).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(function, FunctionType | property) and function.__doc__ and not name.startswith("_"):
            shown = name if isinstance(function, property) else signatures.call(function)
            told.append(f"- `{shown}`: {_paragraphs(inspect.getdoc(function) or '')}")
    if told:
        yield "\n".join(told)


def _paragraphs(said: str) -> str:
    """What a text says, below the first paragraph indented as a list has it; without its examples."""
    told = [_on_one_line(part) for part in said.split("\n\n") if not part.startswith(">>>")]
    return "\n\n  ".join(told)


def _policies() -> Iterator[str]:
    said = signatures.constants(confidence) | signatures.constants(propagator)
    for name in amfs_sqlite.__all__:
        if name in said:
            yield f"- `{name}`: {_on_one_line(said[name])}"


def _on_one_line(said: str) -> str:
    return " ".join(markdown.prose(said).split())


def _errors() -> str:
    return ", ".join(f"`{each.__name__}`" for each in public_classes("errors") if issubclass(each, AmfsError))
