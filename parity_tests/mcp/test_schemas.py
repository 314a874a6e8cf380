"""What clients are told: small, portable, deterministic, and true."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.mcp_server.server import INSTRUCTIONS, TOOLS
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents

MAX_LISTED_TOKENS = 1_200
BYTES_PER_TOKEN = 4
CALLS: dict[str, dict[str, Any]] = {
    "remember": {"scope": "a", "key": "k", "value": "v"},
    "recall": {"scope": "a", "key": "k"},
    "history": {"scope": "a", "key": "k"},
    "handoff": {"summary": "done"},
    "resume": {},
    "record_outcome": {"outcome": "success", "outcome_ref": "run-1", "refs": ["a/k"]},
    "memory_stats": {"verify": True},
}


def subschemas(schema: Any) -> Iterator[Any]:
    yield schema
    if isinstance(schema, dict):
        for each in schema.get("properties", {}).values():
            yield from subschemas(each)
        if "items" in schema:
            yield from subschemas(schema["items"])


@proves("mcp.tools")
async def test_the_seven_tools_are_listed_with_their_arguments_and_defaults(scout: Agent) -> None:
    listed = (await scout.client.list_tools()).tools
    found = {
        tool.name: {
            name: schema.get("default", ...) for name, schema in tool.input_schema["properties"].items()
        }
        for tool in listed
    }
    none: list[str] = []
    assert found == {
        "remember": {
            "scope": ...,
            "key": ...,
            "value": "",
            "value_json": "",
            "confidence": 0.8,
            "tags": none,
            "expected_version": -1,
            "idempotency_key": "",
        },
        "recall": {
            "scope": "",
            "key": "",
            "text": "",
            "tag": "",
            "min_confidence": 0,
            "limit": 20,
            "cursor": "",
        },
        "history": {"scope": ..., "key": ..., "limit": 50, "cursor": ""},
        "handoff": {
            "summary": ...,
            "next_steps": none,
            "open_questions": none,
            "refs": none,
            "to_agent": "",
            "idempotency_key": "",
        },
        "resume": {"handoff_id": "", "peek": False},
        "record_outcome": {
            "outcome": ...,
            "outcome_ref": ...,
            "refs": none,
            "handoff_id": "",
            "note": "",
        },
        "memory_stats": {"verify": False},
    }
    assert [list(arguments) for arguments in found.values()] == [
        list(tool.arguments.model_fields) for tool in TOOLS.values()
    ]


@proves("mcp.tools")
async def test_what_is_listed_is_the_same_each_time(agents: Agents) -> None:
    one, other = await agents("one"), await agents("other")
    listed = [(await agent.client.list_tools()).model_dump_json() for agent in (one, other, one)]
    assert len(set(listed)) == 1


@proves("mcp.list-small")
async def test_listing_the_tools_costs_few_tokens(scout: Agent) -> None:
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in (await scout.client.list_tools()).tools
    ]
    size = len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode())
    assert size / BYTES_PER_TOKEN <= MAX_LISTED_TOKENS


@proves("mcp.schemas-portable")
async def test_every_schema_is_one_that_every_client_takes(scout: Agent) -> None:
    for tool in (await scout.client.list_tools()).tools:
        assert re.fullmatch(r"[a-z_]{1,24}", tool.name)
        schema = tool.input_schema
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert isinstance(schema["properties"], dict)
        assert set(schema.get("required", [])) <= set(schema["properties"])
        for each in [*subschemas(schema), *subschemas(tool.output_schema or {"type": "object"})]:
            assert isinstance(each["type"], str)
            assert set(each) <= {
                "type",
                "description",
                "default",
                "enum",
                "items",
                "minimum",
                "maximum",
                "properties",
                "required",
                "additionalProperties",
            }
            assert (each["type"] == "array") == ("items" in each)
        assert all(each["description"] for each in schema["properties"].values())


@proves("mcp.list-small")
async def test_every_description_says_when_to_call_the_tool(scout: Agent) -> None:
    for tool in (await scout.client.list_tools()).tools:
        assert tool.description is not None
        assert "Call when " in tool.description
        assert len(tool.description.encode()) < 1024
        assert tool.title
        assert tool.model_dump_json().isascii()


@proves("mcp.ritual")
async def test_a_client_is_told_the_ritual_and_who_serves(scout: Agent) -> None:
    told = scout.client.instructions
    assert told == INSTRUCTIONS
    assert len(told) < 600
    assert told.isascii()
    places = [told.index(name) for name in ("resume", "remember", "handoff", "record_outcome")]
    assert places == sorted(places)
    server = scout.client.server_info
    assert server is not None
    assert (server.name, server.icons) == ("amfs-sqlite", None)
    assert server.title
    assert re.match(r"\d+\.\d+", server.version)


@proves("mcp.tools")
async def test_acknowledgements_answer_an_object_and_readings_text_alone(scout: Agent) -> None:
    await scout.call("remember", **CALLS["remember"])
    listed = {tool.name: tool for tool in (await scout.client.list_tools()).tools}
    assert {name for name, tool in listed.items() if tool.output_schema is not None} == {
        "remember",
        "handoff",
        "record_outcome",
    }
    for name, arguments in CALLS.items():
        # The client itself holds the object to the schema that was listed.
        answer = await scout.answer(name, **arguments)
        assert not answer.is_error
        assert (answer.structured_content is None) == (listed[name].output_schema is None)


@proves("mcp.annotations-true")
@pytest.mark.parametrize("name", list(TOOLS))
async def test_the_hints_of_a_tool_are_true(scout: Agent, agents: Agents, name: str) -> None:
    async def commits() -> list[str]:
        return [each.id for each in await scout.session.adapter.list_commits()]

    await scout.call("remember", scope="a", key="k", value="before")
    other = await agents("other")
    for _ in range(2):
        await other.call("handoff", summary="for resume")
    tool = next(each for each in (await scout.client.list_tools()).tools if each.name == name)
    hints = tool.annotations
    assert hints is not None
    before = await commits()
    await scout.call(name, **CALLS[name])
    once = await commits()
    await scout.call(name, **CALLS[name])
    twice = await commits()
    assert hints.read_only_hint == (once == before)
    assert hints.idempotent_hint == (twice == once)
    # Nothing that was written is ever gone.
    assert hints.destructive_hint is False
    assert set(before) <= set(twice)
    versions = await scout.session.adapter.history("a", "k")
    assert versions[0].value == "before"
    assert hints.open_world_hint is False
