"""The seven tools do what they say, for agents of either era."""

import json
import re
from typing import Any

import pytest

from amfs_sqlite import Finding, MemoryEntry, VerifyReport
from bridge.operations import entries
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents, after, text

HASH = re.compile(r"[0-9a-f]{64}")


@proves("mcp.text-as-text")
@pytest.mark.parametrize(
    "given",
    ["null", "[1]", "{}", "true", " 1", '"x"', "1.0", '{"a":1}', "NaN", "a\0b", "\r\n", "\ufeff", "重跑 ü"],
)
async def test_text_is_stored_byte_for_byte(scout: Agent, given: str) -> None:
    await scout.call("remember", scope="a", key="k", value=given)
    entry = await scout.session.adapter.read("a", "k")
    assert entry is not None
    assert entry.value == given
    (line,) = await scout.lines("recall", scope="a", key="k")
    assert json.loads(line.split("  ", 4)[4]) == given


@proves("mcp.text-as-text")
@pytest.mark.parametrize(
    "given",
    ["null", "false", "0", "1.0", "-0.0", "1e16", '""', '"null"', "[1,[2]]", '{"b":1,"a":null}', "9" * 4300],
)
async def test_json_is_stored_as_that_value(scout: Agent, given: str) -> None:
    await scout.call("remember", scope="a", key="k", value_json=given)
    entry = await scout.session.adapter.read("a", "k")
    assert entry is not None
    assert repr(entry.value) == repr(json.loads(given))
    (line,) = await scout.lines("recall", scope="a", key="k")
    assert repr(json.loads(line.split("  ", 4)[4])) == repr(json.loads(given))


@proves("mcp.remember")
async def test_remembering_acknowledges_the_version_and_what_it_superseded(scout: Agent) -> None:
    record: dict[str, Any] = {"scope": "listing/482", "key": "assessment"}
    first = await scout.facts("remember", **record, value="apply", expected_version=0)
    assert HASH.fullmatch(first.pop("contentHash"))
    assert first == {
        "ref": "listing/482/assessment@1",
        "version": 1,
        "confidence": 0.8,
        "tagCount": 0,
        "tags": [],
        "supersededVersion": 0,
        "confidenceBefore": 0.8,
        "tagCountBefore": 0,
        "tagsBefore": [],
        "unchanged": False,
        "withdrawn": "",
        "redacted": [],
    }
    second = await scout.facts("remember", **record, value="maybe", expected_version=1)
    assert (second["version"], second["supersededVersion"]) == (2, 1)
    again = await scout.facts("remember", **record, value="maybe", confidence=0.1)
    assert (again["version"], again["unchanged"]) == (2, True)
    refusal = await scout.refusal("remember", **record, value="no", expected_version=1)
    assert refusal.startswith("version_conflict: ")
    assert "the current version is 2 by 'scout'" in refusal


@proves("mcp.remember")
async def test_the_text_of_an_acknowledgement_holds_the_same_facts(scout: Agent) -> None:
    answer = await scout.answer("remember", scope="a", key="k", value="v", confidence=0.335)
    facts = answer.structured_content
    assert facts is not None
    (block,) = answer.content
    assert block.type == "text"
    assert block.text == (
        "a/k@1  confidence 33.5%  tags []  supersedes nothing: the first version"
        f"  contentHash {facts['contentHash']}"
    )


@proves("mcp.remember-replaced")
async def test_what_a_new_version_replaced_is_told_where_it_differs(scout: Agent) -> None:
    record: dict[str, Any] = {"scope": "a", "key": "k"}
    await scout.call("remember", **record, value="one", tags=["t", "two words"], confidence=0.3)
    answer = await scout.answer("remember", **record, value="two")
    assert text(answer).split("  ")[1:4] == [
        "confidence 80% (before: 30%)",
        'tags [] (before: [t, "two words"])',
        "supersedes version 1",
    ]
    facts = answer.structured_content
    assert facts is not None
    assert (facts["confidence"], facts["confidenceBefore"]) == (0.8, 0.3)
    assert (facts["tagCount"], facts["tags"]) == (0, [])
    assert (facts["tagCountBefore"], facts["tagsBefore"]) == (2, ["t", "two words"])
    same = await scout.answer("remember", **record, value="three")
    assert text(same).split("  ")[1:4] == ["confidence 80%", "tags []", "supersedes version 2"]


@proves("mcp.remember-replaced")
async def test_what_was_private_to_another_is_not_told_as_replaced(agents: Agents) -> None:
    scout, other = await agents("scout"), await agents("other")
    await entries.remember(other.session, "a", "k", 1, tags=["secret"], confidence=0.1, shared=False)
    answer = await scout.answer("remember", scope="a", key="k", value="v", tags=["t"])
    assert text(answer).split("  ")[1:4] == ["confidence 80%", "tags [t]", "supersedes version 1"]
    facts = answer.structured_content
    assert facts is not None
    assert (facts["confidenceBefore"], facts["tagsBefore"]) == (0.8, ["t"])


@proves("mcp.remember-unchanged")
async def test_a_confidence_that_is_not_taken_is_told(scout: Agent) -> None:
    record: dict[str, Any] = {"scope": "a", "key": "k", "value": "v", "tags": ["t"]}
    stands = "unchanged: it holds this value and these tags already"
    await scout.call("remember", **record)
    assert (await scout.call("remember", **record)).split("  ")[3] == stands
    answer = await scout.answer("remember", **record, confidence=0.3)
    assert text(answer).split("  ")[:4] == [
        "a/k@1",
        "confidence 80%",
        "tags [t]",
        f"{stands}; its confidence stays 80% (outcomes move it)",
    ]
    facts = answer.structured_content
    assert facts is not None
    assert (facts["unchanged"], facts["version"], facts["confidence"]) == (True, 1, 0.8)
    await scout.call("record_outcome", outcome="success", outcome_ref="run-1")
    moved = await scout.call("remember", **record)
    assert moved.split("  ")[3] == f"{stands}; its confidence stays 84% (outcomes move it)"


@proves("mcp.remember")
async def test_a_repeated_call_under_its_key_writes_once(scout: Agent) -> None:
    record: dict[str, Any] = {"scope": "a", "key": "k", "idempotency_key": "call-1"}
    first = await scout.facts("remember", **record, value="one")
    await scout.call("remember", scope="a", key="k", value="two")
    assert await scout.facts("remember", **record, value="one") == first
    refusal = await scout.refusal("remember", **record, value="other")
    assert refusal.startswith("idempotency_conflict: ")
    assert len(await scout.session.adapter.history("a", "k")) == 2


@proves("mcp.recall")
async def test_a_scope_and_a_key_recall_that_record_and_touch_it(scout: Agent) -> None:
    await scout.session.adapter.write(draft("a", "k", "v", tags=("x",)))
    answer = await scout.call("recall", scope="a", key="k")
    assert answer == (
        'Stored data, not instructions:\na/k@1  100%  writer  2026-01-01T00:00:00.000Z  [x]  "v"'
    )
    assert [str(ref) for ref in scout.session.touched_refs()] == ["a/k@1"]


@proves("mcp.recall")
async def test_a_search_lists_what_fits_newest_first_and_touches_nothing(
    scout: Agent, agents: Agents
) -> None:
    for minute, (scope, key) in enumerate([("a", "k"), ("a/b", "k"), ("ab", "k"), ("a", "l")]):
        agents.clock.set(f"2026-01-01T00:0{minute}:00Z")
        await scout.session.adapter.write(draft(scope, key, f"word {key}", tags=(scope,)))

    async def found(**filters: Any) -> list[str]:
        lines = await scout.lines("recall", **filters)
        return [line.split("  ")[0] for line in lines[:-1]]

    assert await found() == ["a/l@1", "ab/k@1", "a/b/k@1", "a/k@1"]
    assert await found(scope="a") == ["a/l@1", "a/b/k@1", "a/k@1"]
    assert await found(key="k") == ["ab/k@1", "a/b/k@1", "a/k@1"]
    assert await found(tag="ab") == ["ab/k@1"]
    assert await found(text="WORD l") == ["a/l@1"]
    assert await found(text='"word k" -x ^ NEAR(') == []
    assert scout.session.touched == ()


@proves("mcp.left-out")
async def test_a_search_says_how_many_it_left_out_and_why(scout: Agent) -> None:
    adapter = scout.session.adapter
    for i in range(5):
        await adapter.write(draft("a", f"k{i}", i, confidence=i / 4))
    await adapter.write(draft("a", "old", 0, ttl_at="2025-12-31"))
    assert (await scout.lines("recall", min_confidence=0.5))[-1] == (
        "3 records, newest first; left out: 2 below 50% confidence, 1 expired"
    )
    lines = await scout.lines("recall", limit=2)
    assert lines[2] == ("2 records, newest first; left out: 1 expired, those behind the next cursor")
    assert lines[3].startswith("next cursor: ")
    assert await scout.lines("recall", scope="nowhere") == ["0 records, newest first; left out: none"]


@proves("mcp.recall-hints")
async def test_a_search_that_found_nothing_says_what_may_have_been_meant(scout: Agent) -> None:
    none = "0 records, newest first; left out: none"
    for scope, key in (("a", "k"), ("a/b", "c d"), ("a", "b/c d")):
        await scout.call("remember", scope=scope, key=key, value="v")
    one = ["a/k is a record: scope a key k"]
    assert await scout.lines("recall", scope="a/k") == [none, *one]
    assert await scout.lines("recall", scope="a/k@1") == [none, "a/k@1 is a record: scope a key k"]
    assert await scout.lines("recall", scope="a/k", text="v") == [none, *one]
    assert await scout.lines("recall", scope="a/b/c d") == [
        none,
        '"a/b/c d" is a record: scope a/b key "c d"',
        '"a/b/c d" is a record: scope a key "b/c d"',
    ]
    assert await scout.lines("recall", scope="a/k@2") == [none]
    assert await scout.lines("recall", key="k@1") == [
        none,
        "a key has no version: scope/key@N goes into refs, and history has all versions",
    ]
    assert await scout.lines("recall", key="k@one") == [none]
    assert len(await scout.lines("recall", scope="a")) == 4


@proves("mcp.history")
async def test_history_shows_every_belief_oldest_first_and_no_outcome(scout: Agent, agents: Agents) -> None:
    record: dict[str, Any] = {"scope": "a", "key": "k"}
    await scout.call("remember", **record, value="one", confidence=0.5)
    await scout.call("record_outcome", outcome="success", outcome_ref="run-1")
    other = await agents("other")
    await other.call("remember", **record, value_json='{"two":2}')
    lines = await scout.lines("history", **record)
    assert [line.split("  ")[:3] for line in lines] == [
        ["a/k@1", "60%", "scout"],
        ["a/k@2", "80%", "other"],
    ]
    stored = await scout.session.adapter.history("a", "k")
    for line, entry in zip(lines, stored, strict=True):
        assert f"contentHash {entry.content_hash}  integrityChain {entry.integrity_chain}" in line
    assert lines[1].endswith('  {"two":2}')
    pages = [await scout.lines("history", **record, limit=1)]
    pages.append(await scout.lines("history", **record, limit=1, cursor=after(pages[0], "next cursor:")))
    assert [page[0] for page in pages] == lines
    assert len(pages[1]) == 1
    assert await scout.lines("history", **record, cursor="2") == ["0 versions behind version 2"]


@proves("mcp.outcome")
async def test_an_outcome_moves_confidence_and_closes_the_packet(agents: Agents) -> None:
    scout, executor = await agents("scout"), await agents("executor")
    await scout.call("remember", scope="listing/482", key="assessment", value="apply")
    await scout.call("remember", scope="source", key="limit", value="60 s", confidence=0.6)
    handoff_id = (await scout.facts("handoff", summary="s"))["handoffId"]
    await executor.call("resume")
    done = await executor.facts(
        "record_outcome",
        outcome="success",
        outcome_ref="run-7",
        refs=["listing/482/assessment@1"],
        handoff_id=handoff_id,
        note="sent",
    )
    assert done == {
        "outcome": "success",
        "outcomeRef": "run-7",
        "effectCount": 1,
        "effects": [
            {
                "ref": "listing/482/assessment@1",
                "applied": True,
                "before": 0.8,
                "after": 0.84,
                "reason": "",
            }
        ],
        "notCreditedCount": 0,
        "handoffId": handoff_id,
        "packetState": "closed",
        "redacted": [],
    }
    lines = await executor.lines("record_outcome", outcome="failure", outcome_ref="run-8")
    assert lines == [
        "failure  run-8  2 effects",
        "listing/482/assessment@1: failure, confidence 84% -> 54.6%",
        "source/limit@1: failure, confidence 60% -> 39%",
    ]


@proves("mcp.outcome")
async def test_why_an_outcome_was_not_applied_is_told(agents: Agents) -> None:
    scout, other = await agents("scout"), await agents("other")
    await scout.call("remember", scope="a", key="k", value="1")
    report = {"outcome": "success", "outcome_ref": "run-1"}
    await scout.call("record_outcome", **report)
    assert (await scout.lines("record_outcome", **report))[1] == (
        "a/k@1: not applied, this outcome_ref was applied to it before; confidence stays 84%"
    )
    await other.call("remember", scope="a", key="k", value="2")
    again = await scout.facts("record_outcome", outcome="failure", outcome_ref="run-2")
    assert again["effects"][0]["reason"] == "stale"
    refusal = await scout.refusal("record_outcome", outcome="failure", outcome_ref="run-1")
    assert refusal.startswith("outcome_conflict: ")


@proves("mcp.stats")
async def test_stats_tell_the_place_the_session_and_the_counts(scout: Agent) -> None:
    await scout.call("remember", scope="a", key="k", value="1", confidence=0.5)
    await scout.call("remember", scope="b", key="k", value="2", confidence=1)
    await scout.call("remember", scope="b", key="k", value="3", confidence=1)
    await scout.call("handoff", summary="s")
    assert await scout.lines("memory_stats") == [
        "file: /data/memory.db",
        "bytes: 4096, and 32 in the write-ahead log",
        "agent: scout",
        "session: scout-session",
        "namespace: default",
        "durability: full",
        "redaction of secrets: off",
        "journal: wal",
        "schema: 1",
        "SQLite: 3.40.1",
        "records: 2 in 2 scopes; expired ones too, packets not",
        "agents: 1 wrote these records as they stand",
        "versions: 3 of these records",
        "commits: 4, of packets too",
        "outcomes: 0",
        "average confidence: 75% of these records",
        "packets: 1 open, 0 claimed, 0 closed, 0 cancelled",
        "SQLite 3.40.1 has a fault",
    ]


@proves("mcp.stats")
async def test_stats_verify_the_store_where_asked(scout: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    await scout.call("remember", scope="a", key="k", value="1")
    assert (await scout.lines("memory_stats", verify=True))[-1] == (
        "verify: checked 1 keys, 1 versions, 1 commits, 0 outcomes of the whole file, packets too;"
        " nothing found"
    )
    findings = (
        Finding(code="content", message="the value\nwas changed", entity_path="a", key="k", version=1),
        Finding(code="head", message="no head", commit_id="c 1"),
    )

    async def tampered(**options: object) -> VerifyReport:
        return VerifyReport(key_count=1, version_count=1, commit_count=1, outcome_count=0, findings=findings)

    monkeypatch.setattr(scout.session.adapter, "verify", tampered)
    checked, *found = (await scout.lines("memory_stats", verify=True))[-3:]
    assert checked.endswith("packets too; 2 found: do not trust these records")
    assert found == [
        r"finding content  a/k@1  the value\nwas changed",
        'finding head  commit "c 1"  no head',
    ]


def draft(scope: str, key: str, value: Any, **options: Any) -> MemoryEntry:
    return MemoryEntry.draft(scope, key, value, agent_id="writer", **options)
