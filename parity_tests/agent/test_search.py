"""Searching as an agent."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from amfs_sqlite import (
    AgentMemory,
    FixedClock,
    InvalidArgumentError,
    MemoryEntry,
    RecallConfig,
    ScoredEntry,
)
from parity_tests.ledger import proves


async def found(memory: AgentMemory, **options: Any) -> list[str]:
    return [each.key for each in await memory.search(**options) if isinstance(each, MemoryEntry)]


async def scored(memory: AgentMemory, **options: Any) -> Sequence[ScoredEntry]:
    options.setdefault("recall_config", RecallConfig())
    return [each for each in await memory.search(**options) if isinstance(each, ScoredEntry)]


@proves("agent.search")
async def test_nothing_given_is_no_filter_but_0_is_for_max_confidence_and_limit(alice: AgentMemory) -> None:
    await alice.write("svc", "low", 1, confidence=0)
    await alice.write("svc", "high", 1, confidence=0.9)
    nothing: dict[str, Any] = {"query": "", "entity_path": "", "min_confidence": 0, "agent_id": ""}
    assert await found(alice, **nothing, since="", pattern_ref="") == ["high", "low"]
    assert await found(alice, max_confidence=0) == ["low"]
    assert await found(alice, limit=0) == []
    assert await found(alice, entity_paths=[]) == []


@proves("agent.search")
async def test_a_query_is_a_substring_of_path_key_or_value_text(alice: AgentMemory) -> None:
    await alice.write("Сервис", "object", {"Заметка": ["Иван", 7]})
    await alice.write("svc", "text", '{"quoted": "text"}')
    assert await found(alice, query="иван") == ["object"]
    assert await found(alice, query='ка":["') == ["object"]
    assert await found(alice, query='{"quoted": ') == ["text"]
    assert await found(alice, query="СЕРВИС") == ["object"]
    assert await found(alice, query="%_*") == []


@proves("agent.search")
@pytest.mark.parametrize(
    ("sort_by", "keys"),
    [
        (None, ["b", "a", "c"]),
        ("confidence", ["b", "a", "c"]),
        ("version", ["c", "a", "b"]),
        ("recency", ["c", "a", "b"]),
        ("newest", ["a", "b", "c"]),
        ("", ["a", "b", "c"]),
    ],
)
async def test_an_unknown_order_is_that_of_first_writes(
    alice: AgentMemory, clock: FixedClock, sort_by: str | None, keys: list[str]
) -> None:
    await alice.write("svc", "a", 1, confidence=0.5)
    await alice.write("svc", "b", 1, confidence=0.9)
    await alice.write("svc", "c", 1)
    clock.set("2026-01-02")
    await alice.write("svc", "c", 2, confidence=0.1)
    assert await found(alice, sort_by=sort_by) == keys


@proves("agent.search")
async def test_ties_go_by_the_order_of_the_paths_asked_for_then_by_first_write(alice: AgentMemory) -> None:
    for path in ("a", "b", "a/x"):
        await alice.write(path, path, 1)
    assert await found(alice, entity_paths=["b", "a", "a/x"]) == ["b", "a", "a/x"]
    assert await found(alice, entity_paths=["a/x", "a", "b"], limit=2) == ["a/x", "a"]


@proves("agent.search")
async def test_the_default_limit_is_100_and_what_is_none_is_refused(alice: AgentMemory) -> None:
    for number in range(101):
        await alice.write("svc", f"k{number}", number)
    assert len(await found(alice)) == 100
    assert len(await found(alice, limit=101)) == 101
    limits: list[Any] = [-1, 1.5, True]
    for limit in limits:
        with pytest.raises(InvalidArgumentError, match="limit"):
            await alice.search(limit=limit)


@proves("agent.scores")
async def test_scores_are_the_weighted_sum_and_none_of_the_weights_is_needed(
    alice: AgentMemory, clock: FixedClock
) -> None:
    await alice.write("svc", "k", 1, confidence=1.7)
    clock.set("2026-01-31")
    (best,) = await scored(alice, query="looked for nowhere")
    parts = best.breakdown
    assert [parts.semantic, parts.recency, parts.confidence] == pytest.approx([0.5, 0.15, 0.2])
    assert best.score == pytest.approx(0.85)
    (same,) = await scored(alice, recall_config=RecallConfig(semantic_weight=None))
    assert same == best


@proves("agent.scores")
@pytest.mark.parametrize(("half_life_days", "recency"), [(0, 0.0), (-1, 0.0), (1e-9, math.inf), (1, 0.6)])
async def test_what_is_from_the_future_scores_above_its_weight(
    alice: AgentMemory, clock: FixedClock, half_life_days: float, recency: float
) -> None:
    await alice.write("svc", "k", 1)
    clock.set("2025-12-31")
    (best,) = await scored(alice, recall_config=RecallConfig(recency_half_life_days=half_life_days))
    assert best.breakdown.recency == pytest.approx(recency)


@proves("agent.scores")
async def test_a_limit_cuts_after_scoring_and_equal_scores_go_by_the_order_asked_for(
    alice: AgentMemory, clock: FixedClock
) -> None:
    await alice.write("svc", "sure", 1, confidence=1)
    clock.set("2026-06-01")
    await alice.write("svc", "fresh", 1, confidence=0.1)
    recent = RecallConfig(semantic_weight=0, confidence_weight=0)
    (best,) = await scored(alice, recall_config=recent, limit=1)
    assert best.entry.key == "fresh"
    equal = RecallConfig(recency_weight=0, confidence_weight=0)
    orders = {
        sort_by: [each.entry.key for each in await scored(alice, recall_config=equal, sort_by=sort_by)]
        for sort_by in ("confidence", "recency")
    }
    assert orders == {"confidence": ["sure", "fresh"], "recency": ["fresh", "sure"]}
