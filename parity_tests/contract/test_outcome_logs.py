"""The outcome log: newest first, filtered, and in pages that lose nothing."""

from typing import Any

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    AmfsAdapter,
    Outcome,
    OutcomePolicy,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves


@pytest.fixture(params=[AMFS_0_3, HANDOFF], ids=lambda policy: policy.name)
async def either(open_adapter: AdapterOpener, request: pytest.FixtureRequest) -> AmfsAdapter:
    """An adapter of each kind under each policy."""
    policy: OutcomePolicy = request.param
    return await open_adapter(outcomes=policy)


async def three_outcomes(adapter: AmfsAdapter) -> None:
    for path, key in (("p", "k"), ("p", "x"), ("q", "k")):
        await adapter.write(draft(path, key, confidence=0.5))
    await adapter.commit_outcome(outcome("success", at("p", "k"), outcome_ref="one"))
    await adapter.commit_outcome(outcome("success", at("p", "x"), at("q", "k"), outcome_ref="two"))
    await adapter.commit_outcome(outcome("success", outcome_ref="one"))


async def in_pages(adapter: AmfsAdapter, limit: int) -> list[str]:
    """The references of all outcomes, page by page."""
    before, found = None, []
    while page := await adapter.list_outcomes(limit=limit, before=before):
        found.append("".join(each.record.outcome_ref for each in page))
        before = page[-1].sequence
    return found


@proves("outcomes.log")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["one", "two", "one"]),
        ({"outcome_ref": "one"}, ["one", "one"]),
        ({"outcome_ref": "two"}, ["two"]),
        ({"outcome_ref": "On%"}, []),
        ({"outcome_ref": "", "entity_path": "", "key": ""}, ["one", "two", "one"]),
        ({"entity_path": "p"}, ["two", "one"]),
        ({"entity_path": "q"}, ["two"]),
        ({"key": "k"}, ["two", "one"]),
        ({"entity_path": "p", "key": "k"}, ["one"]),
        ({"entity_path": "q", "key": "x"}, []),
        ({"entity_path": "p", "outcome_ref": "one"}, ["one"]),
        ({"limit": 2}, ["one", "two"]),
        ({"limit": 0}, []),
        ({"entity_path": "p", "limit": 1}, ["two"]),
        ({"before": 6}, ["two", "one"]),
        ({"before": 5, "limit": 5}, ["one"]),
        ({"before": 4}, []),
        ({"before": 1000}, ["one", "two", "one"]),
    ],
    ids=str,
)
async def test_the_outcome_log_is_newest_first_and_can_be_filtered(
    either: AmfsAdapter, asked: dict[str, Any], found: list[str]
) -> None:
    await three_outcomes(either)
    listed = await either.list_outcomes(**asked)
    assert [each.record.outcome_ref for each in listed] == found
    if asked.get("key") or asked.get("entity_path"):
        assert all(each.effects for each in listed)


@proves("outcomes.log")
async def test_a_filter_by_entry_keeps_the_other_effects_of_an_outcome(either: AmfsAdapter) -> None:
    await three_outcomes(either)
    (two,) = await either.list_outcomes(entity_path="q")
    assert [each.entity_path for each in two.effects] == ["p", "q"]


@proves("outcomes.log-pages")
@pytest.mark.parametrize(("limit", "pages"), [(1, ["c", "b", "a"]), (2, ["cb", "a"]), (3, ["cba"])])
async def test_pages_of_outcomes_lose_nothing(either: AmfsAdapter, limit: int, pages: list[str]) -> None:
    for ref in "abc":
        await either.commit_outcome(outcome(outcome_ref=ref))
    assert await in_pages(either, limit) == pages


@proves("outcomes.log-pages")
@pytest.mark.parametrize(
    ("limit", "pages"), [(1, ["d", "cb", "a"]), (2, ["dcb", "a"]), (3, ["dcb", "a"]), (4, ["dcba"])]
)
async def test_a_page_of_outcomes_ends_with_a_commit(
    either: AmfsAdapter, limit: int, pages: list[str]
) -> None:
    await either.commit_outcome(outcome(outcome_ref="a"))
    together = [Outcome(outcome(outcome_ref=ref)) for ref in "bc"]
    await either.commit(together, author="alice")
    await either.commit_outcome(outcome(outcome_ref="d"))
    assert await in_pages(either, limit) == pages
    assert list(await either.list_outcomes(limit=0)) == []
