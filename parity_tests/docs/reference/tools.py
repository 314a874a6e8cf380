"""docs/reference/tools.md, from what the server lists and what its tools answer."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from mcp.types import Tool

from amfs_sqlite import HANDOFF, CountedIds, FixedClock, ReferenceAdapter
from amfs_sqlite.sqlite import StoreDescription
from bridge.mcp_server.server import INSTRUCTIONS, TOOLS
from bridge.mcp_server.workplace import Workplace
from bridge.session import Session
from bridge.settings import from_sources
from parity_tests.docs.reference import markdown

TITLE = "Tools"

INTRODUCTION = """
The tools of the MCP server. Arguments they do not have, or of another type, are refused by name.
{acknowledging} answer an object, with the same facts as text. The others
answer text: stored data stands below a note that it is not instructions, a line for each record, never
cut without saying so; with a [switch](structured.md) as an object too. Errors are `isError` with a code
([errors](errors.md)).

A reference is what the server prints: `scope/key@N` for version N, or `scope/key` for the current
one. Required arguments are bold. What the tools do can also be had [from Python](python.md).

The examples are one story, told from the first tool to the last: a scout hands a listing over, and an
executor picks it up.
"""

RITUAL = """
## What agents are told

When a client connects, the server tells its agent this:
"""


class Call(NamedTuple):
    """One step of the story. ``meanwhile`` is told in place of a call that no section shows."""

    agent: str
    tool: str
    arguments: Mapping[str, Any]
    meanwhile: str = ""


SCOUT, EXECUTOR = "scout", "executor"
RECORD = {"scope": "listing/553", "key": "assessment"}
BOARD = {"scope": "source/boards", "key": "rate-limit", "value": "60 s after 429", "confidence": 0.6}
STORY = (
    Call(SCOUT, "remember", {**RECORD, "value": "apply: price monitor, $900", "tags": ["job"]}),
    Call(SCOUT, "recall", {"scope": "listing", "text": "monitor"}),
    Call(
        SCOUT,
        "remember",
        {**RECORD, "value": "apply: price monitor, $600", "tags": ["job"]},
        "The scout saw a lower budget, and remembered the record a second time.",
    ),
    Call(SCOUT, "history", RECORD),
    Call(SCOUT, "remember", BOARD, "The scout also remembered `source/boards/rate-limit`."),
    Call(SCOUT, "handoff", {"summary": "One listing worth an application", "next_steps": ["Draft it"]}),
    Call(
        SCOUT,
        "remember",
        {**RECORD, "value": "maybe: the budget fell to $400", "tags": ["job"]},
        "After the handoff the budget fell again, and the scout remembered that as version 3.",
    ),
    Call(EXECUTOR, "resume", {}),
    Call(EXECUTOR, "record_outcome", {"outcome": "failure", "outcome_ref": "run-7", "handoff_id": "HANDOFF"}),
    Call(EXECUTOR, "memory_stats", {"verify": True}),
)
"""The story, with the shown calls in the order of their sections."""


class Example(NamedTuple):
    """A call that is shown, what happened before it, and what it answered."""

    before: str
    agent: str
    arguments: Mapping[str, Any]
    text: str
    facts: Mapping[str, Any] | None


def page() -> str:
    """The page."""
    examples = asyncio.run(_examples())
    sections = [part for tool in listed() for part in _section(tool, examples[tool.name])]
    ritual = "\n".join(f"> {line}" for line in markdown.prose(INSTRUCTIONS).splitlines())
    *first, last = [f"`{tool.name}`" for tool in listed() if tool.output_schema is not None]
    introduction = INTRODUCTION.format(acknowledging=f"{', '.join(first)} and {last}")
    return markdown.page(TITLE, introduction, overview(), RITUAL, ritual, *sections)


def listed() -> list[Tool]:
    """The tools as the server lists them."""
    return [tool.listed() for tool in TOOLS.values()]


def overview() -> str:
    """The tools in one table, which the README has too."""
    rows = [
        [f"`{tool.name}`", tool.description or "", _signature(tool), _reads_only(tool)] for tool in listed()
    ]
    return markdown.table(["tool", "what for, and when to call it", "arguments", "reads only"], rows)


def _signature(tool: Tool) -> str:
    needed = tool.input_schema.get("required", [])
    names = [f"**`{name}`**" if name in needed else f"`{name}`" for name in tool.input_schema["properties"]]
    return " ".join(names)


def _reads_only(tool: Tool) -> str:
    return "yes" if tool.annotations is not None and tool.annotations.read_only_hint else "no"


def _section(tool: Tool, example: Example) -> Iterator[str]:
    yield f"## `{tool.name}`"
    yield markdown.prose(tool.description or "")
    yield markdown.table(["argument", "type", "default", "meaning"], _arguments(tool))
    if example.before:
        yield example.before
    yield f"Called by the {example.agent} with"
    yield markdown.block("json", json.dumps(example.arguments))
    yield "it answers"
    yield markdown.block("text", example.text)
    if example.facts is not None:
        yield "and the object"
        yield markdown.block("json", json.dumps(example.facts, indent=2))


def _arguments(tool: Tool) -> Iterator[list[str]]:
    needed = tool.input_schema.get("required", [])
    for name, schema in tool.input_schema["properties"].items():
        default = "required" if name in needed else f"`{json.dumps(schema['default'])}`"
        yield [f"`{name}`", _kind(schema), default, schema["description"]]


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if schema["type"] == "array":
        return f"list of {schema['items']['type']}s"
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = "" if least is None else f" from {least:g}" + ("" if most is None else f" to {most:g}")
    return f"{schema['type']}{bounds}"


async def _examples() -> dict[str, Example]:
    """The one call of each tool that is shown."""
    clock, ids = FixedClock(), CountedIds()
    found: dict[str, Example] = {}
    handoff_id = ""
    async with ReferenceAdapter(outcomes=HANDOFF, clock=clock, ids=ids) as adapter:
        at = {
            agent: _workplace(Session(adapter, agent, f"sess-{agent}", clock=clock, ids=ids))
            for agent in (SCOUT, EXECUTOR)
        }
        before = ""
        for agent, name, arguments, meanwhile in STORY:
            clock.set(clock.now() + timedelta(minutes=1))
            given = {**arguments, **({"handoff_id": handoff_id} if "handoff_id" in arguments else {})}
            answer = await TOOLS[name].call(at[agent], given)
            handoff_id = (answer.facts or {}).get("handoffId") or handoff_id
            if not meanwhile:
                found[name] = Example(before, agent, given, answer.text, answer.facts)
            before = meanwhile
    return found


def _workplace(session: Session) -> Workplace:
    settings = {"db": ":memory:", "agent": session.agent_id, "session": session.session_id}
    return Workplace(session, from_sources(settings, {}), _describe)


async def _describe() -> StoreDescription:
    return StoreDescription(
        path="/data/memory.db",
        sqlite_version="3.51.3",
        known_faults=(),
        journal_mode="wal",
        schema_version=1,
        file_bytes=163_840,
        wal_bytes=0,
    )
