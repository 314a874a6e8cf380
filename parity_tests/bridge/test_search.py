"""Finding records."""

import math

import pytest

from amfs_sqlite import InvalidArgumentError
from bridge.errors import ReservedPathError
from bridge.operations import entries, packets, search
from bridge.session import Session
from parity_tests.ledger import proves


async def _fill(alice: Session, bob: Session) -> None:
    await entries.remember(alice, "svc/a", "one", "blue green", confidence=0.4, tags=["t"])
    await entries.remember(alice, "svc/ab", "two", "blue", confidence=0.9)
    await entries.remember(alice, "svc/a/b", "three", "green", confidence=0.9, tags=["t"])
    await entries.remember(bob, "svc/a", "secret", "blue", shared=False)
    await packets.give(alice, "blue green", to_agent="alice")


@proves("bridge.recall")
@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        ({}, ["three", "two", "one"]),
        ({"scope": "svc/a"}, ["three", "one"]),
        ({"key": "two"}, ["two"]),
        ({"tag": "t"}, ["three", "one"]),
        ({"text": "blue"}, ["two", "one"]),
        ({"min_confidence": 0.5}, ["three", "two"]),
        ({"scope": "svc/a", "tag": "t", "text": "green", "min_confidence": 0.41}, ["three"]),
        ({"limit": 2}, ["three", "two"]),
        ({"text": 'AND NOT ("*'}, []),
    ],
)
async def test_each_filter_keeps_what_it_says_newest_first(
    alice: Session, bob: Session, filters: dict[str, object], keys: list[str]
) -> None:
    await _fill(alice, bob)
    page = await search.recall(alice, **filters)  # type: ignore[arg-type]  # wrong on purpose
    assert [each.key for each in page.entries] == keys


@proves("bridge.recall")
async def test_pages_join_and_count_what_was_not_confident_enough(alice: Session, bob: Session) -> None:
    await _fill(alice, bob)
    first = await search.recall(alice, limit=1, min_confidence=0.5)
    assert (first.below_confidence_count, first.next_cursor is None) == (1, False)
    second = await search.recall(alice, limit=1, min_confidence=0.5, cursor=first.next_cursor or "")
    assert [each.key for each in (*first.entries, *second.entries)] == ["three", "two"]
    assert second.next_cursor is None


@proves("bridge.recall")
async def test_packets_are_not_recalled(alice: Session, bob: Session) -> None:
    await _fill(alice, bob)
    page = await search.recall(alice, limit=100)
    assert {each.entity_path for each in page.entries} == {"svc/a", "svc/ab", "svc/a/b"}
    with pytest.raises(ReservedPathError):
        await search.recall(alice, scope="_system/handoff")


@proves("bridge.recall")
async def test_impossible_filters_are_named(alice: Session) -> None:
    with pytest.raises(InvalidArgumentError, match="min_confidence"):
        await search.recall(alice, min_confidence=math.nan)
    with pytest.raises(InvalidArgumentError, match="limit"):
        await search.recall(alice, limit=-1)
