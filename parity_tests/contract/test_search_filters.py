"""Search: every filter and every order that a query can ask for."""

from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError, SearchQuery
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves

VALUES: list[tuple[str, str, Any]] = [
    ("p", "a", "Red Apple"),
    ("p/q", "b", {"Note": ["x", 1.5]}),
    ("pq", "c", 42),
    ("r", "Under_score", "100%"),
    ("p", "e", "last"),
]


async def found(adapter: AmfsAdapter, **query: Any) -> str:
    """The first letters of the keys a search finds, oldest first unless it asks otherwise."""
    page = await adapter.search(SearchQuery.model_validate({"sort_by": "oldest", **query}))
    return "".join(entry.key[0] for entry in page.entries)


async def assorted(adapter: AmfsAdapter) -> None:
    """Five entries: a day apart, by two agents in turn, from confidence 0 upwards."""
    for number, (path, key, value) in enumerate(VALUES):
        day, agent = f"2026-01-0{number + 1}", "alice" if number % 2 else "bob"
        await adapter.write(draft(path, key, value, confidence=number / 4, written_at=day, agent=agent))


@proves("search.more-filters")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"entity_path": "p", "descendants": False}, "ae"),
        ({"entity_path": "", "descendants": False}, "abcUe"),
        ({"entity_paths": []}, ""),
        ({"entity_paths": ["r", "p/q"]}, "Ub"),
        ({"entity_paths": ["p", "p/q"]}, "abe"),
        ({"entity_paths": ["p"], "descendants": False}, "ae"),
        ({"entity_paths": ["r", ""]}, "Uabce"),
        ({"entity_paths": ["r"], "entity_path": "p"}, "U"),
        ({"agent_id": "alice"}, "bU"),
        ({"agent_id": "Alice"}, ""),
        ({"agent_id": ""}, "abcUe"),
        ({"since": "2026-01-03"}, "cUe"),
        ({"until": "2026-01-03T00:00:00Z"}, "abc"),
        ({"since": "2026-01-02T01:00:00+01:00", "until": "2026-01-02"}, "b"),
        ({"since": "", "until": None}, "abcUe"),
        ({"max_confidence": 0}, "a"),
        ({"max_confidence": 0.5}, "abc"),
        ({"min_confidence": 0.25, "max_confidence": 0.5}, "bc"),
        ({"contains": "apple"}, "a"),
        ({"contains": "ED AP"}, "a"),
        ({"contains": 'note":["X'}, "b"),
        ({"contains": "1.5"}, "b"),
        ({"contains": "4"}, "c"),
        ({"contains": "p/"}, "b"),
        ({"contains": "under_s"}, "U"),
        ({"contains": "underXs"}, ""),
        ({"contains": "0%"}, "U"),
        ({"contains": "alice"}, ""),
        ({"contains": ""}, "abcUe"),
        ({"contains": "p", "agent_id": "bob", "max_confidence": 0.5}, "ac"),
    ],
    ids=str,
)
async def test_every_filter_narrows_as_its_query_says(
    adapter: AmfsAdapter, query: dict[str, Any], expected: str
) -> None:
    await assorted(adapter)
    assert await found(adapter, **query) == expected


@proves("search.more-orders")
@pytest.mark.parametrize(
    ("order", "expected"),
    [("confidence", "ceabd"), ("recency", "dbcae"), ("version", "eabcd"), ("oldest", "abcde")],
)
@pytest.mark.parametrize("limit", [1, 2, None])
async def test_every_order_goes_by_what_it_is_called_and_ties_by_the_first_writing(
    adapter: AmfsAdapter, order: str, expected: str, limit: int | None
) -> None:
    told = {"a": (0.5, "03"), "b": (0.5, "04"), "c": (0.9, "04"), "d": (0.1, "05"), "e": (0.9, "01")}
    for key in "abcdeeea":
        confidence, day = told[key]
        await adapter.write(draft("p", key, confidence=confidence, written_at=f"2026-01-{day}"))
    joined = ""
    asked = {"sort_by": order, "limit": limit}
    for _ in range(len(told) + 1):
        page = await adapter.search(SearchQuery.model_validate(asked))
        joined += "".join(entry.key for entry in page.entries)
        if page.next_cursor is None:
            break
        asked["cursor"] = page.next_cursor
    assert joined == expected


@proves("search.more-orders")
async def test_ties_go_by_the_order_of_the_paths_asked_for(adapter: AmfsAdapter) -> None:
    for path, key in (("a", "1"), ("b", "2"), ("c/d", "3"), ("a/x", "4")):
        await adapter.write(draft(path, key))
    for order in ("confidence", "recency", "version", "oldest"):
        assert await found(adapter, entity_paths=["c", "b", "a"], sort_by=order) == "3214"
    assert await found(adapter, entity_paths=["c", "b", "a"], sort_by="newest") == "4321"


@proves("search.more-orders")
async def test_by_relevance_all_that_matches_is_found_once(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "a", "word"))
    await adapter.write(draft("p", "b", "word word and more"))
    await adapter.write(draft("p", "c", "other"))
    await adapter.write(draft("p", "d", {"word": 1}))
    assert sorted(await found(adapter, text="word", sort_by="relevance")) == ["a", "b", "d"]


@proves("search.more-filters")
async def test_confidence_is_filtered_as_it_stands_now(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(draft("p", "k", confidence=0.5))
    assert await found(handoff_adapter, max_confidence=0.5) == "k"
    await handoff_adapter.commit_outcome(outcome("success", at("p", "k")))
    assert await found(handoff_adapter, max_confidence=0.5) == ""
    assert await found(handoff_adapter, min_confidence=0.6) == "k"


@proves("search.refused")
@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ({"since": "yesterday"}, "since"),
        ({"until": "2026-02-30"}, "until"),
        ({"contains": "x" * 4097}, "contains"),
        ({"entity_paths": ("p",) * 101}, "entity_paths"),
    ],
    ids=["since", "until", "contains", "paths"],
)
async def test_what_is_no_instant_or_over_a_limit_is_refused_by_name(
    adapter: AmfsAdapter, asked: dict[str, Any], argument: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await adapter.search(SearchQuery.model_validate(asked))
    assert caught.value.argument == argument
