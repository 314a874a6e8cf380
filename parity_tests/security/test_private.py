"""A store with another agent's private records answers as one without them: every tool, every operation."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from amfs_sqlite import HANDOFF, AmfsAdapter, CountedIds, EntryRef, FixedClock, SqliteAdapter
from bridge.errors import PrivatePinError
from bridge.operations import commits, entries, outcomes, packets, references, search, statistics
from bridge.session import Session
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents
from parity_tests.state import text

HUSH = EntryRef(entity_path="hush/path", key="hush-key")


async def open_work(adapter: AmfsAdapter) -> None:
    """What everybody may see."""
    bob = Session(adapter, "bob", "b", clock=FixedClock(), ids=CountedIds())
    for number in range(3):
        await entries.remember(bob, "open", f"k{number}", f"word {number}", tags=["tag"])
    await packets.give(bob, "for whoever comes", refs=[EntryRef(entity_path="open", key="k0")])
    await outcomes.record_outcome(bob, "success", "run-1", refs=[EntryRef(entity_path="open", key="k1")])


async def secret_work(adapter: AmfsAdapter) -> None:
    """What bob keeps to himself: records, their versions, outcomes about them, and a packet to himself."""
    bob = Session(adapter, "bob", "hush-session", clock=FixedClock())
    for number in range(4):
        await entries.remember(
            bob, HUSH.entity_path, HUSH.key, f"hush value word {number}", tags=["hush", "tag"], shared=False
        )
    await entries.remember(bob, "open/hush", "low", "hush word", confidence=0.01, shared=False)
    await outcomes.record_outcome(bob, "failure", "hush-run", refs=[HUSH], note="hush note")
    await packets.give(bob, "hush packet", next_steps=["hush step"], refs=[HUSH], to_agent="bob")


@pytest.fixture
async def stores() -> AsyncIterator[list[AmfsAdapter]]:
    """One store without secrets, and one with them, else alike."""
    async with AsyncExitStack() as opened:
        adapters: list[AmfsAdapter] = [
            await opened.enter_async_context(
                SqliteAdapter(":memory:", outcomes=HANDOFF, clock=FixedClock(), ids=CountedIds())
            )
            for _ in range(2)
        ]
        for adapter in adapters:
            await open_work(adapter)
        await secret_work(adapters[1])
        yield adapters


CALLS: list[tuple[str, Mapping[str, Any]]] = [
    ("recall", {}),
    ("recall", {"limit": 2}),
    ("recall", {"text": "word"}),
    ("recall", {"text": "hush"}),
    ("recall", {"text": "hush*", "scope": "open"}),
    ("recall", {"tag": "tag"}),
    ("recall", {"tag": "hush"}),
    ("recall", {"min_confidence": 0.5}),
    ("recall", {"scope": "hush"}),
    ("recall", {"scope": "hush/path", "key": "hush-key"}),
    ("recall", {"scope": "hush/path/hush-key"}),
    ("history", {"scope": "hush/path", "key": "hush-key"}),
    ("history", {"scope": "hush/path", "key": "hush-key", "cursor": "1"}),
    ("handoff", {"summary": "s", "refs": ["hush/path/hush-key"]}),
    ("handoff", {"summary": "s", "refs": ["hush/path/hush-key@2"]}),
    ("record_outcome", {"outcome": "failure", "outcome_ref": "r", "refs": ["hush/path/hush-key"]}),
    ("record_outcome", {"outcome": "success", "outcome_ref": "hush-run", "refs": ["open/k1"]}),
    ("memory_stats", {}),
    ("resume", {"peek": True}),
    ("resume", {}),
    ("resume", {}),
    ("memory_stats", {}),
]


async def said(agent: Agent, tool: str, arguments: Mapping[str, Any]) -> str:
    """Everything a tool answers but what is about the whole file, and the ids that chance gave."""
    answer = await agent.answer(tool, **arguments)
    whole = text([block.model_dump() for block in answer.content] + [answer.structured_content or {}])
    return re.sub(r"h_[0-9a-f]{8}", "h_", whole)


@proves("security.private")
@pytest.mark.parametrize("structured", ["on", "off"])
async def test_every_tool_answers_another_as_if_nothing_private_were_there(
    stores: list[AmfsAdapter], structured: str
) -> None:
    async with AsyncExitStack() as clients:
        found: list[list[str]] = []
        for adapter in stores:
            agent = await Agents(adapter, FixedClock(), "auto", clients, {"structured": structured})("alice")
            found.append([await said(agent, tool, arguments) for tool, arguments in CALLS])
        for (tool, arguments), without, beside in zip(CALLS, *found, strict=True):
            assert beside == without, (tool, arguments)
        told = re.sub(r"hush/path/hush-key(@2)?|hush-key|hush/path|'hush\*?'|hush-run", "", "".join(found[1]))
        assert "hush value" not in told


Question = Callable[[Session], Awaitable[Any]]
QUESTIONS: dict[str, Question] = {
    "log": lambda at: commits.log(at, limit=None),
    "outcomes": lambda at: outcomes.list_outcomes(at, limit=None),
    "one outcome": lambda at: outcomes.list_outcomes(at, outcome_ref="hush-run"),
    "packets": lambda at: packets.list_packets(at, limit=None),
    "newest packets": lambda at: packets.list_packets(at, order="newest"),
    "statistics": statistics.stats,
    "search": lambda at: search.recall(at, limit=None),
    "words": lambda at: search.recall(at, text="word", limit=None),
    "records named": lambda at: references.records_named(at, "hush/path/hush-key"),
}


@proves("security.private")
@pytest.mark.parametrize("question", QUESTIONS)
async def test_every_operation_answers_another_as_if_nothing_private_were_there(
    stores: list[AmfsAdapter], question: str
) -> None:
    async def told(adapter: AmfsAdapter, agent_id: str, *, owner: bool = False) -> str:
        found = await QUESTIONS[question](Session(adapter, agent_id, "s", owner=owner))
        is_summary = isinstance(found, statistics.StoreSummary)
        return text([found.stats, found.packets] if is_summary else found)

    for agent_id in ("alice", "Bob", "bob ", "%", "b_b"):
        without, beside = [await told(adapter, agent_id) for adapter in stores]
        assert beside == without
        assert "hush" not in beside
    plain = await told(stores[0], "bob")
    assert await told(stores[1], "bob") != plain
    assert await told(stores[1], "x", owner=True) != plain


@proves("security.private")
async def test_a_private_record_is_pinned_for_nobody_else_and_refused_like_one_that_is_not_there(
    stores: list[AmfsAdapter],
) -> None:
    bob = Session(stores[1], "bob", "s")
    for to_agent in (None, "alice"):
        with pytest.raises(PrivatePinError):
            await packets.give(bob, "s", refs=[HUSH], to_agent=to_agent)
    messages = []
    for adapter in stores:
        alice = Session(adapter, "alice", "s")
        with pytest.raises(LookupError) as refused:
            await packets.give(alice, "s", refs=[HUSH])
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
