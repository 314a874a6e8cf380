"""Arguments are taken exactly as they are, and a wrong one is named in our own words."""

import logging
from typing import Any

import pytest
from mcp import MCPError

from amfs_sqlite import MemoryEntry, StoreBusyError
from bridge.operations import entries
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents, RefusedError

RECORD = {"scope": "a", "key": "k", "value": "v"}


async def stored(agent: Agent) -> int:
    return len(await agent.session.adapter.list_commits())


@proves("mcp.arguments-exact", "mcp.errors-coded")
@pytest.mark.parametrize(
    ("tool", "wrong", "says"),
    [
        ("remember", {"confidence": "high"}, 'confidence is "high"; it must be a number from 0 to 1'),
        ("remember", {"confidence": "0.5"}, 'confidence is "0.5"; it must be a number from 0 to 1'),
        ("remember", {"confidence": True}, "confidence is true; it must be a number from 0 to 1"),
        ("remember", {"confidence": 1.5}, "confidence is 1.5; it must be a number from 0 to 1"),
        ("remember", {"confidence": -0.1}, "confidence is -0.1; it must be a number from 0 to 1"),
        ("remember", {"confidence": [1]}, "confidence is a list; it must be a number from 0 to 1"),
        (
            "remember",
            {"confidence": 10**400},
            "confidence is a number beyond all bounds; it must be a number from 0 to 1",
        ),
        ("remember", {"value": 5}, "value is 5; it must be text, or send it as JSON text in value_json"),
        (
            "remember",
            {"value": {"a": 1}},
            "value is an object; it must be text, or send it as JSON text in value_json",
        ),
        (
            "remember",
            {"value": "", "value_json": {"a": 1}},
            "value_json is an object; it must be JSON written as text",
        ),
        ("remember", {"value": None}, "value and value_json are both empty"),
        ("remember", {"scope": None}, "scope is null, and it is required; give text"),
        ("history", {"key": None}, "key is null, and it is required; give text"),
        ("remember", {"other": None}, "other is no argument of this tool"),
        ("remember", {"scope": "/a/"}, "scope is '/a/'; write it without '/' at its ends and without empty"),
        (
            "remember",
            {"scope": "a//b"},
            "scope is 'a//b'; write it without '/' at its ends and without empty",
        ),
        ("handoff", {"summary": "s", "refs": ["a/k", "b"]}, "refs[1] is 'b'; write it as scope/key"),
        ("handoff", {"summary": "s", "refs": ["b"]}, "refs[0] is 'b'; write it as scope/key"),
        ("remember", {"key": 1.0}, "key is 1.0; it must be text"),
        ("remember", {"tags": "urgent"}, 'tags is "urgent"; it must be a list of texts'),
        ("remember", {"tags": '{"a": 1}'}, 'tags is "{\\"a\\": 1}"; it must be a list of texts'),
        ("remember", {"tags": ["a", 1]}, "tags[1] is 1; it must be text"),
        ("remember", {"tags": '["a", null]'}, "tags[1] is null; it must be text"),
        ("remember", {"expected_version": 1.0}, "expected_version is 1.0; it must be a whole number"),
        ("remember", {"expected_version": -2}, "expected_version is -2; it must be a whole number"),
        ("remember", {"expected_version": "1"}, 'expected_version is "1"; it must be a whole number'),
        ("remember", {"scope": "\ud83d"}, "scope has a lone surrogate at character 0; send well-formed"),
        ("remember", {"tags": ["\ud83d"]}, "tags has a lone surrogate at character 0; send well-formed"),
        ("remember", {"shared": False}, "shared is no argument of this tool; it takes scope, key,"),
        ("remember", {"Value": "x"}, "Value is no argument of this tool"),
        ("remember", {"a\nb": "x"}, '"a\\nb" is no argument of this tool'),
        ("remember", {"x" * 500: "x"}, "of 500 characters) is no argument of this tool"),
        ("remember", {"value": ""}, "value and value_json are both empty"),
        ("remember", {"value_json": "1"}, "value and value_json are both given"),
        ("recall", {"limit": 0}, "limit is 0; it must be a whole number from 1 to 100"),
        ("recall", {"limit": 101}, "limit is 101; it must be a whole number from 1 to 100"),
        ("recall", {"limit": True}, "limit is true; it must be a whole number from 1 to 100"),
        ("recall", {"tag": ["a"]}, "tag is a list; it must be text"),
        ("recall", {"text": "word"}, "text does not go with both scope and key"),
        ("recall", {"min_confidence": 0.5}, "min_confidence does not go with both scope and key"),
        ("history", {"limit": 2**70}, "it must be a whole number from 1 to 200"),
    ],
)
async def test_a_wrong_argument_is_named_and_nothing_is_stored(
    scout: Agent, tool: str, wrong: dict[str, Any], says: str
) -> None:
    await entries.remember(scout.session, "a", "k", "stored")
    given = {"remember": RECORD, "handoff": {}}.get(tool, {"scope": "a", "key": "k"})
    before = await stored(scout)
    refusal = await scout.refusal(tool, **given | wrong)
    assert refusal.startswith("invalid_argument: ")
    assert says in refusal
    assert "\n" not in refusal
    assert len(refusal) < 400
    assert "pydantic" not in refusal
    assert await stored(scout) == before


@proves("mcp.arguments-exact")
@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("resume", {"peek": "yes"}, 'peek is "yes"; it must be true or false'),
        ("resume", {"peek": 1}, "peek is 1; it must be true or false"),
        ("memory_stats", {"verify": "true"}, 'verify is "true"; it must be true or false'),
        ("handoff", {}, "summary is missing; give text"),
        ("handoff", {"summary": " "}, "summary is empty"),
        (
            "record_outcome",
            {"outcome": "win", "outcome_ref": "r"},
            'outcome is "win"; it must be one of success, minor_failure, failure, critical_failure',
        ),
        ("record_outcome", {"outcome": "success"}, "outcome_ref is missing; give text"),
        ("record_outcome", {"outcome": 1, "outcome_ref": "r"}, "outcome is 1; it must be one of"),
        ("record_outcome", {"outcome": "success", "outcome_ref": ""}, "outcome_ref is empty"),
    ],
)
async def test_a_wrong_argument_of_any_tool_is_named(
    scout: Agent, tool: str, given: dict[str, Any], says: str
) -> None:
    assert says in await scout.refusal(tool, **given)


@proves("mcp.null-left-out")
async def test_null_for_an_argument_that_has_a_default_is_that_it_was_left_out(scout: Agent) -> None:
    nothing = dict.fromkeys(("value_json", "confidence", "tags", "expected_version", "idempotency_key"))
    facts = await scout.facts("remember", scope="a", key="k", value="v", **nothing)
    assert (facts["confidence"], facts["tags"], facts["version"]) == (0.8, [], 1)
    found = dict.fromkeys(("text", "tag", "min_confidence", "limit", "cursor"))
    assert (await scout.lines("recall", scope="a", key="k", **found))[0].startswith("a/k@1")
    given = await scout.facts("handoff", summary="s", refs=None, next_steps=None, to_agent=None)
    assert (given["pinned"], given["toAgent"]) == (["a/k@1"], "")
    assert (await scout.lines("resume", handoff_id=None, peek=None))[0] == "nothing waits for scout"


@proves("mcp.arguments-exact")
async def test_every_wrong_argument_is_named_at_once(scout: Agent) -> None:
    refusal = await scout.refusal("remember", key=1, confidence="high", nope=1)
    assert refusal == (
        "invalid_argument: scope is missing; give text; key is 1; it must be text;"
        ' confidence is "high"; it must be a number from 0 to 1; nope is no argument of this tool;'
        " it takes scope, key, value, value_json, confidence, tags, expected_version,"
        " idempotency_key"
    )
    many = await scout.refusal("resume", **{f"wrong_{i}": i for i in range(1000)})
    assert "and 995 more" in many
    assert len(many) < 400


@proves("mcp.arrays-as-text")
@pytest.mark.parametrize("tags", [["b", "a"], '["b", "a"]', ' ["b","a"] '])
async def test_a_list_may_come_as_the_json_text_of_it(scout: Agent, agents: Agents, tags: Any) -> None:
    ref = (await scout.facts("remember", scope="a", key="k", value="v", tags=tags))["ref"]
    as_text = isinstance(tags, str)
    await scout.facts(
        "handoff",
        summary="s",
        next_steps='["one", "two"]' if as_text else ["one", "two"],
        open_questions='["why?"]' if as_text else ["why?"],
        refs=f'["{ref}"]' if as_text else [ref],
    )
    executor = await agents("executor")
    lines = await executor.lines("resume")
    assert 'next: "two"' in lines
    assert 'open: "why?"' in lines
    assert any(line.startswith("a/k@1  80%  scout") and "[b, a]" in line for line in lines)


@proves("mcp.arguments-exact")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is no JSON: Expecting property name enclosed in double quotes at character 2"),
        ("word", "is no JSON"),
        ("1 2", "is no JSON"),
        ("NaN", "holds NaN, which JSON does not have"),
        ("[-Infinity]", "holds -Infinity, which JSON does not have"),
        ("9" * 4301, "more than 4300 digits"),
        ("[" * 130 + "]" * 130, "nests deeper than 128 levels"),
        ("[" * 100_000, "nests deeper than 128 levels"),
        ('{"a": 1, "b": {"x": 1, "x": 2}}', "has the member x twice in one object"),
        (r'"\ud83d"', "lone surrogate"),
        ("1e999", "which JSON does not have"),
    ],
)
async def test_what_is_no_json_value_is_refused_by_name(scout: Agent, text: str, says: str) -> None:
    refusal = await scout.refusal("remember", scope="a", key="k", value_json=text)
    assert refusal.startswith("invalid_argument: value")
    assert says in refusal
    assert await stored(scout) == 0


@proves("mcp.errors-coded")
@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("recall", {"scope": "no", "key": "such"}, "not_found"),
        ("history", {"scope": "no", "key": "such"}, "not_found"),
        ("recall", {"cursor": "nonsense"}, "invalid_cursor"),
        ("recall", {"scope": "a", "key": "k", "cursor": "x"}, "invalid_cursor"),
        ("recall", {"scope": "a", "key": "k", "cursor": "9+1"}, "invalid_cursor"),
        ("recall", {"scope": "a", "key": "k", "cursor": "1+99"}, "invalid_cursor"),
        ("history", {"scope": "a", "key": "k", "cursor": "-1"}, "invalid_cursor"),
        ("history", {"scope": "a", "key": "k", "cursor": "9" * 30}, "invalid_cursor"),
        ("remember", {**RECORD, "expected_version": 0}, "version_conflict"),
        ("remember", {**RECORD, "value": "w", "expected_version": 7}, "version_conflict"),
        ("remember", {**RECORD, "scope": "_system/handoff"}, "reserved_path"),
        ("remember", {**RECORD, "scope": ""}, "invalid_argument"),
        ("remember", {**RECORD, "key": "k" * 4097}, "invalid_argument"),
        ("recall", {"scope": "_system"}, "reserved_path"),
        ("handoff", {"summary": "s", "refs": ["no/such"]}, "not_found"),
        ("handoff", {"summary": "s", "refs": ["a/k@2"]}, "not_found"),
        ("handoff", {"summary": "s", "refs": ["word"]}, "invalid_argument"),
        ("resume", {"handoff_id": "h_00000000"}, "packet_not_found"),
        ("record_outcome", {"outcome": "success", "outcome_ref": "r"}, "nothing_touched"),
        (
            "record_outcome",
            {"outcome": "success", "outcome_ref": "r", "handoff_id": "h_00000000"},
            "packet_not_found",
        ),
    ],
)
async def test_an_error_has_its_code_and_is_one_line(
    scout: Agent, tool: str, given: dict[str, Any], code: str
) -> None:
    await scout.session.adapter.write(MemoryEntry.draft("a", "k", "v", agent_id="somebody", confidence=0.8))
    before = await stored(scout)
    refusal = await scout.refusal(tool, **given)
    assert refusal.startswith(f"{code}: ")
    assert "\n" not in refusal
    assert "entity_path" not in refusal
    assert await stored(scout) == before


@proves("mcp.errors-coded")
async def test_a_busy_store_is_said_to_be_worth_another_try(
    scout: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object, **__: object) -> None:
        raise StoreBusyError("/data/memory.db", "another process held the write lock")

    monkeypatch.setattr(entries, "remember", busy)
    refusal = await scout.refusal("remember", **RECORD)
    assert refusal.startswith("busy: ")
    assert "retryable: the same call may succeed later" in refusal


@proves("mcp.internal-error")
async def test_an_unexpected_failure_is_masked_and_logged(
    scout: Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(entries, "remember", broken)
    with caplog.at_level(logging.ERROR):
        refusal = await scout.refusal("remember", **RECORD)
    assert refusal.startswith("internal_error: ")
    assert "secret" not in refusal
    assert "a secret of ours" in caplog.text
    monkeypatch.undo()
    assert await scout.call("remember", **RECORD)


@proves("mcp.unknown-tool")
@pytest.mark.parametrize("name", ["nope", "Remember", "", "a\nb", "x" * 500])
async def test_an_unknown_tool_is_an_error_of_the_protocol(scout: Agent, name: str) -> None:
    with pytest.raises(MCPError) as refused:
        await scout.client.call_tool(name, {})
    assert refused.value.code == -32602
    assert "remember, recall, history" in refused.value.message
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 250


async def test_an_error_leaves_the_session_working(scout: Agent) -> None:
    with pytest.raises(RefusedError):
        await scout.call("remember", scope="a", key="k")
    assert (await scout.facts("remember", **RECORD))["version"] == 1
