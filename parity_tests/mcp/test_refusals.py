"""An error names what its reader can do: with these tools, and with nothing else."""

import re
from typing import Any

import pytest

from amfs_sqlite import AmfsError, EntryNotFoundError, StoreError, VersionConflictError
from bridge.errors import PacketStateError, PacketUnreadableError
from bridge.mcp_server import refusals
from bridge.operations import entries, packets
from parity_tests.docs.reference.errors import EXAMPLES
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents

# Operations and commands that agents do not have.
ELSEWHERE = re.compile(
    r"\blist\b|\bsearch to\b|\btake it\b|operations|run verify|\brelease|\bread it\b|\bgive a\b"
)


@proves("mcp.errors-own-words")
@pytest.mark.parametrize(
    "error", [each for each in EXAMPLES if each.code != "no_store"], ids=lambda each: each.code
)
def test_an_error_names_no_operation_that_agents_do_not_have(error: AmfsError) -> None:
    said = refusals.said(error)
    assert said.startswith(f"{error.code}: ")
    assert said.isprintable()
    assert not ELSEWHERE.search(said)


@proves("mcp.errors-own-words")
@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (VersionConflictError("a", "k", 2, 0, None), "but it has no version yet; recall it and decide"),
        (PacketUnreadableError("h_1", "its summary is not a packet's"), "memory_stats with verify tells"),
        (
            StoreError("/m.db", "SQLite says: no"),
            "'/m.db': SQLite says: no; memory_stats with verify checks the file",
        ),
        (
            PacketStateError("h_1", "closed", "claimed", "", "bob"),
            "packet 'h_1' is closed by 'bob'; that is final: hand over anew for more work",
        ),
        (PacketStateError("h_1", "cancelled", "closed", ""), "packet 'h_1' is cancelled; that is final"),
        (
            EntryNotFoundError("a", "k", 3),
            "no record 'k' under 'a' at version 3; recall finds what is stored",
        ),
    ],
)
def test_what_cannot_be_brought_about_by_calls_alone_is_worded_too(error: AmfsError, advice: str) -> None:
    assert advice in refusals.said(error)


@proves("mcp.errors-own-words")
async def test_what_is_not_there_is_to_be_recalled(scout: Agent) -> None:
    await scout.call("remember", scope="a", key="k", value="v")
    gone = "not_found: no record 'q' under 'a'; recall finds what is stored"
    assert await scout.refusal("recall", scope="a", key="q") == gone
    assert await scout.refusal("history", scope="a", key="q") == gone
    assert await scout.refusal("handoff", summary="s", refs=["a/q"]) == gone


@proves("mcp.errors-own-words")
@pytest.mark.parametrize(
    ("tool", "given", "hint"),
    [
        ("handoff", {"summary": "s", "refs": ["a/k@one"]}, "what follows its last '@' is no version number"),
        ("handoff", {"summary": "s", "refs": ["a/k@0"]}, "what follows its last '@' is no version number"),
        ("handoff", {"summary": "s", "refs": ["a/k@"]}, "what follows its last '@' is no version number"),
        ("handoff", {"summary": "s", "refs": ["a/k@" + "9" * 20]}, "what follows its last '@' is no version"),
        (
            "recall",
            {"scope": "a", "key": "k@1"},
            "a key has no version: scope/key@N goes into refs, and history",
        ),
        (
            "history",
            {"scope": "a", "key": "k@1"},
            "a key has no version: scope/key@N goes into refs, and history",
        ),
        ("handoff", {"summary": "s", "refs": ["a/k@7"]}, ""),
    ],
)
async def test_a_version_that_is_in_the_wrong_place_is_told(
    scout: Agent, tool: str, given: dict[str, Any], hint: str
) -> None:
    await scout.call("remember", scope="a", key="k", value="v")
    refusal = await scout.refusal(tool, **given)
    assert refusal.startswith("not_found: ")
    assert refusal.endswith("; recall finds what is stored")
    assert hint in refusal
    assert refusal.count("; ") == (2 if hint else 1)


@proves("mcp.errors-own-words")
async def test_a_key_with_an_at_that_is_there_is_read(scout: Agent) -> None:
    await scout.call("remember", scope="a", key="k@1", value="v")
    assert (await scout.lines("recall", scope="a", key="k@1"))[0].startswith("a/k@1@1")


@proves("mcp.errors-own-words")
async def test_a_packet_that_cannot_be_had_says_how_to_go_on(agents: Agents) -> None:
    scout, executor, third = await agents("scout"), await agents("executor"), await agents("third")
    ids = [(await scout.facts("handoff", summary="s"))["handoffId"] for _ in range(2)]
    await scout.call("remember", scope="a", key="k", value="v")
    closing = {"outcome": "success", "outcome_ref": "r", "refs": ["a/k"], "handoff_id": ids[0]}
    assert await scout.refusal("record_outcome", **closing) == (
        f"packet_state: packet '{ids[0]}' is open; resume with its handoff_id takes it, then report again"
    )
    await executor.call("resume")
    assert await third.refusal("resume", handoff_id=ids[0]) == (
        f"packet_state: packet '{ids[0]}' is claimed by 'executor'; wait until it is open again,"
        " or resume without handoff_id for another"
    )
    assert await third.refusal("record_outcome", **closing) == (
        f"packet_state: packet '{ids[0]}' is claimed by 'executor'; only the agent that holds it closes it"
    )
    await packets.cancel(scout.session, ids[1])
    assert await third.refusal("resume", handoff_id=ids[1]) == (
        f"packet_state: packet '{ids[1]}' is cancelled; that is final: hand over anew for more work"
    )
    assert await third.refusal("resume", handoff_id="h_0") == (
        "packet_not_found: there is no packet 'h_0'; resume with peek shows what waits"
    )


@proves("mcp.errors-own-words")
async def test_a_record_that_cannot_be_named_or_pinned_says_how_to_go_on(scout: Agent) -> None:
    for scope, key in (("a/b", "c"), ("a", "b/c")):
        await scout.call("remember", scope=scope, key=key, value="v")
    ambiguous = await scout.refusal("handoff", summary="s", refs=["a/b/c"])
    assert "scope 'a/b' key 'c', scope 'a' key 'b/c'; recall the one you mean by scope and key" in ambiguous
    await entries.remember(scout.session, "a", "mine", 1, shared=False)
    private = await scout.refusal("handoff", summary="s", refs=["a/mine"])
    assert private.endswith("leave it out of refs, or remember it again, which shares it")
    reserved = await scout.refusal("recall", scope="_system/handoff")
    assert reserved.endswith("use another scope, and handoff and resume for packets")
    conflict = await scout.refusal("remember", scope="a/b", key="c", value="w", expected_version=7)
    assert conflict == (
        "version_conflict: 'c' under 'a/b' was expected at version 7 but the current version is 1 by 'scout';"
        " recall it and decide"
    )


@proves("mcp.errors-own-words")
async def test_an_outcome_about_nothing_says_what_to_name(scout: Agent) -> None:
    refusal = await scout.refusal("record_outcome", outcome="success", outcome_ref="r")
    assert refusal == (
        "nothing_touched: no record was read or written in this session (searches do not count);"
        " name in refs the records it is about, or in handoff_id the packet to be closed"
    )
