"""Handing work over and picking it up, for agents of either era."""

import json
import re
from typing import Any

import pytest

from bridge.handoff import taking
from bridge.operations import entries, packets
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents, text

FEW = 5


@proves("mcp.handoff", "mcp.resume")
async def test_work_is_handed_over_with_what_it_rests_on(agents: Agents) -> None:
    scout, executor = await agents("scout"), await agents("executor")
    await scout.call("remember", scope="listing/482", key="assessment", value="apply")
    await scout.call("remember", scope="listing/553", key="assessment", value="apply")
    await scout.session.adapter.write(draft("searched", "only", 1))
    await scout.call("recall", scope="searched")
    given = await scout.facts(
        "handoff", summary="Two listings", next_steps=["Draft"], open_questions=["How long?"]
    )
    handoff_id = given["handoffId"]
    assert re.fullmatch(r"h_[0-9a-f]{8}", handoff_id)
    assert given == {
        "handoffId": handoff_id,
        "state": "open",
        "toAgent": "",
        "pinnedCount": 2,
        "pinned": ["listing/482/assessment@1", "listing/553/assessment@1"],
        "leftOutCount": 0,
        "leftOut": [],
        "olderCount": 0,
        "nothingTouched": False,
        "toAgentKnown": True,
        "redacted": [],
    }
    await scout.call("remember", scope="listing/553", key="assessment", value="maybe")

    peeked = await executor.lines("resume", peek=True)
    assert peeked[0].endswith("only looked at")
    assert executor.session.touched == ()
    taken = await executor.lines("resume")
    assert taken == [
        f"{handoff_id}  from scout to whoever comes  2026-01-01T00:00:00.000Z  claimed by executor",
        'summary: "Two listings"',
        'next: "Draft"',
        'open: "How long?"',
        "2 pinned records, as given:",
        'listing/482/assessment@1  80%  scout  2026-01-01T00:00:00.000Z  "apply"',
        'listing/553/assessment@1  80%  scout  2026-01-01T00:00:00.000Z  "apply"',
        'stale: listing/553/assessment was pinned at 1, is now at 2: "apply" -> "maybe"',
    ]
    assert peeked[1:] == taken[1:]
    assert await executor.lines("resume") == [
        "nothing waits for executor",
        f"you hold {handoff_id}; resume with handoff_id returns one",
    ]
    assert (await executor.lines("resume", handoff_id=handoff_id))[4:] == taken[4:]
    refusal = await scout.refusal("resume", handoff_id=handoff_id)
    assert refusal.startswith("packet_state: ")


@proves("mcp.handoff")
async def test_refs_pin_what_they_name_as_it_was_printed(scout: Agent) -> None:
    awkward = [("my scope", "a@1"), ("a/b", "c/d"), ("line\nbreak", 'say "hi"'), ("x", "k")]
    for scope, key in awkward:
        await scout.call("remember", scope=scope, key=key, value="1")
    await scout.call("remember", scope="x", key="k", value="2")
    lines = (await scout.lines("recall"))[:-1]
    printed = [line.split("  ")[0] for line in lines]
    assert printed == ["x/k@2", r'"line\nbreak/say \"hi\"@1"', "a/b/c/d@1", '"my scope/a@1@1"']
    # What is quoted is JSON, and goes into the arguments as the text it stands for.
    refs = [json.loads(each) if each.startswith('"') else each for each in printed]
    given = await scout.facts("handoff", summary="s", refs=[*refs, "x/k@1"])
    assert given["pinned"] == [*refs, "x/k@1"]
    current = await scout.facts("handoff", summary="s", refs=["x/k"], to_agent="executor")
    assert (current["pinned"], current["toAgent"]) == (["x/k@2"], "executor")


@proves("mcp.handoff")
async def test_a_reference_that_fits_several_records_names_them(scout: Agent) -> None:
    await scout.call("remember", scope="a", key="b/c", value="1")
    await scout.call("remember", scope="a/b", key="c", value="1")
    refusal = await scout.refusal("handoff", summary="s", refs=["a/b/c"])
    assert refusal.startswith("ambiguous_reference: ")
    assert "scope 'a' key 'b/c'" in refusal
    assert "scope 'a/b' key 'c'" in refusal


@proves("mcp.handoff")
async def test_what_is_private_is_left_out_and_said(scout: Agent) -> None:
    await entries.remember(scout.session, "a", "mine", 1, shared=False)
    await scout.call("remember", scope="a", key="ours", value="1")
    given = await scout.facts("handoff", summary="s")
    assert (given["pinned"], given["leftOut"]) == (["a/ours@1"], ["a/mine@1"])
    lines = await scout.lines("handoff", summary="s")
    assert lines[1:] == ["pinned: a/ours@1", "left out, private: a/mine@1"]
    named = await scout.lines("handoff", summary="s", refs=["a/ours"])
    assert named[1:] == ["pinned: a/ours@1"]
    assert "  private  1" in (await scout.lines("recall", scope="a", key="mine"))[0]


@proves("mcp.handoff-notes")
async def test_a_handoff_that_pins_nothing_says_why_and_what_to_do(scout: Agent) -> None:
    await scout.session.adapter.write(draft("a", "k", "v"))
    await scout.call("recall")
    answer = await scout.answer("handoff", summary="s")
    assert text(answer).split("\n")[1:] == [
        "no record was read or written in this session (searches do not count): name what matters in refs"
    ]
    assert answer.structured_content is not None
    assert answer.structured_content["nothingTouched"] is True
    named = await scout.facts("handoff", summary="s", refs=["a/k"])
    assert (named["pinnedCount"], named["nothingTouched"]) == (1, False)


@proves("mcp.handoff-notes")
async def test_a_name_under_which_nothing_was_written_is_told(agents: Agents) -> None:
    scout, executor = await agents("scout"), await agents("executor")
    await scout.call("remember", scope="a", key="k", value="v")
    to_executor = {"summary": "s", "to_agent": "executor"}
    answer = await scout.answer("handoff", **to_executor)
    told = text(answer).split("\n")[2]
    assert told == (
        "no agent named executor has written here, as far as the last 1000 changes tell:"
        " check the name (one that has only read is not known)"
    )
    assert answer.structured_content is not None
    assert answer.structured_content["toAgentKnown"] is False
    await executor.call("resume")
    known = await scout.answer("handoff", **to_executor)
    assert len(text(known).split("\n")) == 2
    assert known.structured_content is not None
    assert known.structured_content["toAgentKnown"] is True
    odd = await scout.call("handoff", summary="s", to_agent="exec utor\n")
    assert 'no agent named "exec utor\\n" has written here' in odd


@proves("mcp.handoff-notes")
async def test_touched_records_beyond_the_limits_are_counted(scout: Agent) -> None:
    drafts = [draft("a", f"k{i}", i, confidence=0.5) for i in range(1003)]
    for entry in await scout.session.adapter.write_batch(drafts):
        scout.session.touch(entry)
    given = await scout.answer("handoff", summary="s")
    assert text(given).split("\n")[-1] == (
        "left out: 3 records touched before the last 1000; name what matters in refs"
    )
    assert given.structured_content is not None
    assert (given.structured_content["pinnedCount"], given.structured_content["olderCount"]) == (1000, 3)
    reported = await scout.answer("record_outcome", outcome="success", outcome_ref="r")
    assert text(reported).split("\n")[-1] == (
        "not credited: 3 records touched before the last 1000; name them in refs"
    )
    assert reported.structured_content is not None
    assert (reported.structured_content["effectCount"], reported.structured_content["notCreditedCount"]) == (
        1000,
        3,
    )


@proves("mcp.handoff")
async def test_a_repeated_handoff_under_its_key_gives_one_packet(scout: Agent) -> None:
    first = await scout.facts("handoff", summary="s", idempotency_key="call-1")
    assert await scout.facts("handoff", summary="s", idempotency_key="call-1") == first
    refusal = await scout.refusal("handoff", summary="other", idempotency_key="call-1")
    assert refusal.startswith("idempotency_conflict: ")


@proves("mcp.resume")
async def test_a_lease_and_other_packets_held_are_told(agents: Agents) -> None:
    scout, executor = await agents("scout"), await agents("executor", lease_s=60.0)
    ids = [(await scout.facts("handoff", summary="s"))["handoffId"] for _ in range(2)]
    first = await executor.lines("resume")
    assert first[0].endswith("claimed by executor until 2026-01-01T00:01:00.000Z")
    second = await executor.lines("resume", handoff_id=ids[1])
    assert second[-1] == f"besides this one you hold {ids[0]}; resume with handoff_id returns one"
    assert "stale: none, every pinned value is still current" in second
    assert (await scout.lines("resume"))[0] == "nothing waits for scout"
    await scout.call("handoff", summary="s")
    assert (await executor.lines("resume", peek=True))[-1] == (
        f"you hold {' '.join(ids)}; resume with handoff_id returns one"
    )


@proves("mcp.resume-waiting")
async def test_how_many_other_packets_wait_is_told(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (taking, packets):
        monkeypatch.setattr(module, "MAX_WAITING_COUNTED", FEW)
    scout, executor = await agents("scout"), await agents("executor")
    for _ in range(FEW + 3):
        await scout.call("handoff", summary="s")

    async def told(**arguments: Any) -> list[str]:
        lines = await executor.lines("resume", **arguments)
        return [line for line in lines if line.endswith("for you")]

    assert await told(peek=True) == await told() == [f"{FEW} or more other packets wait for you"]
    for _ in range(FEW - 1):
        await executor.call("resume")
    assert await told(peek=True) == ["2 other packets wait for you"]
    assert [await told() for _ in range(3)] == [
        ["2 other packets wait for you"],
        ["1 other packet waits for you"],
        [],
    ]


@proves("mcp.resume-own")
async def test_what_a_session_handed_over_itself_is_told_and_not_taken(agents: Agents) -> None:
    scout = await agents("scout")
    own = (await scout.facts("handoff", summary="s"))["handoffId"]
    nothing = [
        "nothing waits for scout",
        f"given in this session, for another: {own}; resume with handoff_id takes one",
    ]
    assert await scout.lines("resume") == await scout.lines("resume", peek=True) == nothing
    assert (await scout.lines("resume", handoff_id=own))[0].endswith("claimed by scout")
    another = (await scout.facts("handoff", summary="s"))["handoffId"]
    next_run = await agents("scout")
    assert (await next_run.lines("resume"))[0].startswith(f"{another}  from scout")
