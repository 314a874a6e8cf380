"""A server that was asked for structured answers gives an object with every reading, too."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import HANDOFF, EntryRef, FixedClock, MemoryEntry, ReferenceAdapter
from bridge.mcp_server import readings, records
from bridge.mcp_server.main import main
from bridge.mcp_server.server import TOOLS
from bridge.settings import from_sources
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents, after, text
from parity_tests.mcp.processes import server
from parity_tests.mcp.test_schemas import CALLS, subschemas

READING = ("recall", "history", "resume", "memory_stats")
MAX_ANSWER_BYTES = 60_000
HELD_TO = {"type", "description", "items", "properties", "required", "additionalProperties"}


@pytest.fixture
async def structured(era: str, clock: FixedClock) -> AsyncIterator[Agents]:
    """Lets agents in whose servers give structured answers."""
    async with ReferenceAdapter(outcomes=HANDOFF, clock=clock) as adapter:
        agents = Agents(adapter, clock, era, settings={"structured": "on"})
        async with agents.clients:
            yield agents


@pytest.fixture
async def reader(structured: Agents) -> Agent:
    """One agent of such a server."""
    return await structured("reader")


async def both(agent: Agent, tool: str, **arguments: Any) -> tuple[list[str], dict[str, Any]]:
    """The lines of an answer, and its object, which the client has held to the schema listed."""
    answer = await agent.answer(tool, **arguments)
    assert not answer.is_error, text(answer)
    made = answer.structured_content
    assert isinstance(made, dict)
    assert len(text(answer).encode()) + readings.size(made) <= MAX_ANSWER_BYTES
    return text(answer).split("\n"), made


async def store(agent: Agent, scope: str, key: str, value: Any, **options: Any) -> None:
    await agent.session.adapter.write(MemoryEntry.draft(scope, key, value, agent_id="writer", **options))


@proves("mcp.structured")
async def test_every_tool_lists_what_its_object_has_and_each_call_fits(reader: Agent) -> None:
    listed = {tool.name: tool for tool in (await reader.client.list_tools()).tools}
    assert list(listed) == list(TOOLS)
    for name, arguments in CALLS.items():
        answer = await reader.answer(name, **arguments)
        schema = listed[name].output_schema
        assert schema is not None
        assert isinstance(answer.structured_content, dict)
        assert list(schema["properties"]) == schema["required"]
        assert set(answer.structured_content) == set(schema["required"])
        for each in subschemas(schema):
            assert isinstance(each["type"], str)
            assert set(each) <= HELD_TO
            assert (each["type"] == "array") == ("items" in each)
            assert each["type"] != "object" or each["additionalProperties"] is False


@proves("mcp.structured")
async def test_without_the_switch_nothing_of_it_is_listed_or_answered(scout: Agent, reader: Agent) -> None:
    plain = {tool.name: tool for tool in (await scout.client.list_tools()).tools}
    for tool in (await reader.client.list_tools()).tools:
        before = plain[tool.name]
        if tool.name in READING:
            assert before.output_schema is None
        assert tool.model_copy(update={"output_schema": None}) == before.model_copy(
            update={"output_schema": None}
        )
    for agent in (scout, reader):
        await agent.call("remember", **CALLS["remember"])
    for name in READING:
        without, answer = [await agent.answer(name, **CALLS[name]) for agent in (scout, reader)]
        assert without.structured_content is None
        assert text(without).replace("scout", "reader") == text(answer)


@proves("mcp.structured")
async def test_a_search_answers_the_records_of_its_lines(reader: Agent) -> None:
    await store(reader, "listing/482", "assessment", {"verdict": "apply"}, tags=["job"], confidence=0.8)
    await store(reader, "listing/553", "note", "line one\nline two", confidence=0.9)
    await store(reader, "listing/553", "guess", "weak", confidence=0.1)
    lines, made = await both(reader, "recall", scope="listing", min_confidence=0.5)
    assert made["note"] == records.STORED == lines[0]
    assert [line.split("  ")[0] for line in lines[1:3]] == [each["ref"] for each in made["records"]]
    note, assessment = made["records"]
    assert (note["valueKind"], note["value"]) == ("text", "line one\nline two")
    assert assessment == {
        "ref": "listing/482/assessment@1",
        "version": 1,
        "confidence": 0.8,
        "agentId": "writer",
        "writtenAt": "2026-01-01T00:00:00.000Z",
        "tagCount": 1,
        "tags": ["job"],
        "shared": True,
        "expiresAt": "",
        "withdrawn": "",
        "valueKind": "JSON",
        "value": '{"verdict":"apply"}',
        "valueStart": 0,
        "valueEnd": 19,
        "valueLength": 19,
    }
    assert (made["belowConfidenceCount"], made["expiredCount"], made["nextCursor"]) == (1, 0, "")


@proves("mcp.structured")
async def test_the_objects_of_all_pages_hold_every_record_once(reader: Agent) -> None:
    for i in range(250):
        await store(reader, f"scope/{i % 7}", f"key-{i}", '\u202e"é' * 300)
    found: list[str] = []
    cursor = ""
    while True:
        lines, made = await both(reader, "recall", limit=100, cursor=cursor)
        shown = [line.split("  ")[0] for line in lines if line.startswith("scope/")]
        assert shown == [each["ref"] for each in made["records"]]
        assert all(each["valueEnd"] <= each["valueLength"] == 900 for each in made["records"])
        found += shown
        cursor = made["nextCursor"]
        assert lines[-1] == (f"next cursor: {cursor}" if cursor else lines[-1])
        if not cursor:
            break
    assert sorted(found) == sorted(f"scope/{i % 7}/key-{i}@1" for i in range(250))


@proves("mcp.structured")
@pytest.mark.parametrize("tool", ["recall", "history"])
async def test_a_large_value_comes_whole_in_the_pieces_of_its_objects(reader: Agent, tool: str) -> None:
    value = "".join(f"{i:06}\n\u202e" for i in range(10_000))
    await store(reader, "a", "k", value)
    pieces, cursor = "", ""
    limit = {"limit": 1} if tool == "history" else {}
    while True:
        _, made = await both(reader, tool, scope="a", key="k", cursor=cursor, **limit)
        (part,) = made["records" if tool == "recall" else "versions"]
        assert (part["valueStart"], part["valueLength"]) == (len(pieces), len(value))
        pieces += part["value"]
        assert part["valueEnd"] == len(pieces)
        cursor = made["nextCursor"]
        if not cursor:
            break
    assert pieces == value


@proves("mcp.structured")
async def test_a_history_answers_each_version_with_its_hashes(reader: Agent) -> None:
    for value in ("one", "two"):
        await store(reader, "a", "k", value)
    lines, made = await both(reader, "history", scope="a", key="k")
    stored = await reader.session.adapter.history("a", "k")
    assert [(each["value"], each["contentHash"], each["integrityChain"]) for each in made["versions"]] == [
        (entry.value, entry.content_hash, entry.integrity_chain) for entry in stored
    ]
    assert [line.split("  ")[0] for line in lines[1:]] == ["a/k@1", "a/k@2"]
    _, behind = await both(reader, "history", scope="a", key="k", cursor="2")
    assert (behind["versions"], behind["nextCursor"]) == ([], "")


@proves("mcp.structured")
async def test_resuming_answers_the_packet_its_records_and_its_warnings(structured: Agents) -> None:
    scout, executor = await structured("scout"), await structured("executor")
    await scout.call("remember", scope="a", key="k", value="before")
    given = await scout.facts("handoff", summary="one record", next_steps=["use it"], to_agent="executor")
    await scout.call("remember", scope="a", key="k", value="after")
    lines, made = await both(executor, "resume", peek=True)
    assert (made["claimedBy"], "only looked at" in lines[1]) == ("", True)
    lines, made = await both(executor, "resume")
    assert (made["waits"], made["handoffId"]) == (True, given["handoffId"])
    assert (made["fromAgent"], made["toAgent"], made["claimedBy"]) == ("scout", "executor", "executor")
    assert (made["summary"], made["nextSteps"], made["openQuestions"]) == ("one record", ["use it"], [])
    assert [each["ref"] for each in made["records"]] == ["a/k@1"]
    (warned,) = made["stale"]
    assert (warned["ref"], warned["pinnedVersion"], warned["currentVersion"]) == ("a/k", 1, 2)
    assert lines[-1].endswith(warned["change"])
    _, nothing = await both(executor, "resume")
    assert (nothing["waits"], nothing["handoffId"], nothing["records"]) == (False, "", [])
    assert nothing["held"] == [given["handoffId"]]


@proves("mcp.structured")
async def test_a_packet_at_all_its_limits_is_cut_alike_in_both(structured: Agents) -> None:
    scout, executor = await structured("scout"), await structured("executor")
    for i in range(200):
        await scout.call("remember", scope=f"s/{i}", key="k" * 50, value="\u202e" * 500)
    await scout.call("handoff", summary="\u202e" * 10_000, next_steps=["é" * 3_000] * 50)
    for i in range(200):
        await scout.call("remember", scope=f"s/{i}", key="k" * 50, value="other")
    lines, made = await both(executor, "resume")
    assert made["recordCount"] == made["staleCount"] == 200
    for begin, member in (("next: ", "nextSteps"), ("s/", "records"), ("stale: ", "stale")):
        told = [line for line in lines if line.startswith(begin) and " more; " not in line[:40]]
        assert 0 < len(made[member]) == len(told)
    assert 0 < len(made["summary"]) < 10_000


@proves("mcp.structured")
async def test_the_stats_answer_the_numbers_of_their_lines(reader: Agent) -> None:
    await reader.call("remember", scope="a", key="k", value="v")
    await reader.call("handoff", summary="done")
    lines, made = await both(reader, "memory_stats", verify=True)
    assert (made["file"], made["agent"]) == (after(lines, "file:"), after(lines, "agent:"))
    assert (made["recordCount"], made["averageConfidence"]) == (1, 0.8)
    assert made["packets"] == {"open": 1, "claimed": 0, "closed": 0, "cancelled": 0}
    assert made["verified"]
    assert made["checked"] == {"keys": 2, "versions": 2, "commits": 2, "outcomes": 0}
    assert (made["findingCount"], made["findings"]) == (0, [])
    _, unasked = await both(reader, "memory_stats")
    assert (unasked["verified"], set(unasked["checked"].values())) == (False, {0})


@proves("mcp.structured")
async def test_a_refusal_has_no_object(reader: Agent) -> None:
    assert "not_found" in await reader.refusal("recall", scope="no", key="such")


@proves("mcp.structured")
async def test_the_switch_is_an_argument_or_a_variable(tmp_path: Path) -> None:
    for options, variables, expected in (
        (["--structured"], {}, True),
        (["--structured", "off"], {"MEMORY_STRUCTURED": "on"}, False),
        ([], {"MEMORY_STRUCTURED": "on"}, True),
        ([], {}, False),
    ):
        async with server(tmp_path / "m.db", *options, variables=variables) as served:
            answer = await served.answer(await served.ask("memory_stats"))
            assert ("structuredContent" in answer["result"]) == expected


@proves("mcp.structured")
def test_anything_but_on_and_off_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--structured", "yes"]) == 2
    assert "--structured is 'yes'; it must be on or off" in capsys.readouterr().err
    assert not from_sources({}, {"MEMORY_STRUCTURED": "off"}).structured


@proves("mcp.withdrawn")
async def test_what_was_erased_is_told_as_that_in_text_and_object_alike(reader: Agent) -> None:
    given = {"scope": "a", "key": "k", "value": "60", "idempotency_key": "once"}
    first = await reader.facts("remember", **given)
    assert (first["withdrawn"], first["version"]) == ("", 1)
    await reader.call("remember", scope="a", key="k", value="90")
    ref = EntryRef(entity_path="a", key="k", version=1)
    await reader.session.adapter.erase([ref], author="owner")
    lines, made = await both(reader, "remember", **given)
    assert "wrote nothing: an earlier call with this key wrote it, erased since" in lines[0]
    assert (made["withdrawn"], made["version"]) == ("erased", 1)
    for cut in ({}, {"limit": 1}):
        lines, made = await both(reader, "history", scope="a", key="k", **cut)
        assert lines[1].startswith("a/k@1 ")
        assert "erased: its value was removed" in lines[1]
        assert "null" not in lines[1]
        erased = made["versions"][0]
        assert (erased["withdrawn"], erased["valueKind"], erased["value"]) == ("erased", "text", "")
        assert (erased["valueEnd"], erased["valueLength"]) == (0, 0)
    assert [
        each["withdrawn"] for each in (await both(reader, "history", scope="a", key="k"))[1]["versions"]
    ] == [
        "erased",
        "",
    ]
    await reader.session.adapter.erase([ref.model_copy(update={"version": 2})], author="owner")
    refused = await reader.refusal("recall", scope="a", key="k")
    assert refused == "not_found: no record 'k' under 'a'; it was erased: history of it shows what is left"
    assert "it was erased" in await reader.refusal("handoff", summary="s", refs=["a/k"])


@proves("mcp.redaction-told")
@pytest.mark.parametrize("switch", ["on", "off"])
async def test_the_stats_tell_whether_secrets_are_redacted(structured: Agents, switch: str) -> None:
    structured.settings["redact_secrets"] = switch
    lines, made = await both(await structured("reader"), "memory_stats")
    assert f"redaction of secrets: {switch}" in lines
    assert made["redactSecrets"] is (switch == "on")
