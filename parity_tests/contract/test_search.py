"""Search: filters, total orders, pages, and counts of what was left out."""

from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    FixedClock,
    InvalidArgumentError,
    InvalidCursorError,
    MemoryEntry,
    RandomIds,
    SearchQuery,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.cursors import damaged
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import state


def keys(entries: tuple[MemoryEntry, ...]) -> str:
    return "".join(each.key for each in entries)


async def found(adapter: AmfsAdapter, viewer: str | None = None, **query: Any) -> str:
    """The keys a search finds, oldest first."""
    page = await adapter.search(SearchQuery(**{"sort_by": "oldest", **query}), viewer=viewer)
    return keys(page.entries)


async def assorted(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "a", "red apple", tags=("x",), confidence=0.9))
    await adapter.write(draft("p", "b", "red brick", tags=("y", "x"), confidence=0.5))
    await adapter.write(draft("p/q", "c", "blue sky", tags=("x",), confidence=0.7))
    await adapter.write(draft("pq", "d", "red sky", confidence=0.9))
    await adapter.write(draft("_system/h", "e", "red tape", tags=("x",), confidence=0.1))


@proves("search.filters")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "abcde"),
        ({"entity_path": "p"}, "abc"),
        ({"entity_path": "p/q"}, "c"),
        ({"entity_path": "nowhere"}, ""),
        ({"key": "b"}, "b"),
        ({"key": "B"}, ""),
        ({"tag": "x"}, "abce"),
        ({"tag": "X"}, ""),
        ({"min_confidence": 0.7}, "acd"),
        ({"min_confidence": 0.71}, "ad"),
        ({"min_confidence": 2}, ""),
        ({"text": "red"}, "abde"),
        ({"text": "red sky"}, "d"),
        ({"include_system": False}, "abcd"),
        ({"include_system": False, "tag": "x"}, "abc"),
        ({"entity_path": "_system", "include_system": False}, ""),
        ({"entity_path": "p", "tag": "x", "text": "red", "min_confidence": 0.6}, "a"),
        ({"entity_path": "p", "key": "b", "tag": "y", "text": "brick"}, "b"),
        ({"entity_path": "p", "key": "d"}, ""),
        ({"entity_path": "", "key": "", "tag": "", "text": "", "min_confidence": 0}, "abcde"),
        ({"min_confidence": 0.0, "cursor": ""}, "abcde"),
    ],
    ids=str,
)
async def test_every_filter_narrows_and_an_empty_one_does_not(
    adapter: AmfsAdapter, query: dict[str, Any], expected: str
) -> None:
    await assorted(adapter)
    assert await found(adapter, **query) == expected
    assert await found(adapter, **query, sort_by="newest") == expected[::-1]


@proves("search.filters")
async def test_a_minimum_of_0_does_not_hide_what_lies_below(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "a", confidence=-1.0))
    assert await found(adapter, min_confidence=0) == "a"
    assert await found(adapter, min_confidence=-0.5) == ""
    assert await found(adapter, min_confidence=-1.0) == "a"


@proves("search.current-only")
async def test_only_current_values_are_found(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "a", "old words", tags=("old",), confidence=0.9))
    await adapter.write(draft("p", "a", "new words", tags=("new",), confidence=0.1))
    assert await found(adapter, text="old") == await found(adapter, tag="old") == ""
    assert await found(adapter, min_confidence=0.5) == ""
    assert await found(adapter, text="new", tag="new") == "a"


@proves("search.order")
async def test_newest_goes_by_the_last_writing_and_oldest_by_the_first(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    for key in "abcab":
        await adapter.write(draft("p", key))
    clock.set("2020-01-01")
    await adapter.write(draft("p", "d", written_at="1990-01-01"))
    assert await found(adapter, sort_by="newest") == "dbac"
    assert await found(adapter, sort_by="oldest") == "abcd"


@proves("search.order")
async def test_a_version_that_an_outcome_makes_is_newer(adapter: AmfsAdapter) -> None:
    for key in "abc":
        await adapter.write(draft("p", key))
    await adapter.commit_outcome(outcome("success", "p/b"))
    assert await found(adapter, sort_by="newest") == "bca"
    assert await found(adapter, sort_by="oldest") == "abc"


@proves("search.order", "outcomes.handoff-in-place")
async def test_an_opinion_does_not_make_an_entry_newer(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write_batch([draft("p", "a"), draft("p", "b")])
    await handoff_adapter.commit_outcome(outcome("failure", at("p", "a")))
    assert await found(handoff_adapter, sort_by="newest") == "ba"
    assert await found(handoff_adapter, min_confidence=0.7) == "b"


@proves("search.counts-what-it-hides")
@pytest.mark.parametrize("limit", [0, 1, 2, None])
async def test_a_search_counts_what_confidence_and_expiry_hide(
    adapter: AmfsAdapter, limit: int | None
) -> None:
    await adapter.write(draft("p", "a", confidence=0.9))
    await adapter.write(draft("p", "b", confidence=0.9))
    await adapter.write(draft("p", "c", confidence=0.2))
    await adapter.write(draft("p", "d", confidence=0.9, ttl_at="2026-01-01"))
    await adapter.write(draft("p", "e", confidence=0.2, ttl_at="2025-01-01"))
    await adapter.write(draft("other", "f", confidence=0.2))
    await adapter.write(draft("other", "g", confidence=0.9, ttl_at="2025-01-01"))
    query = SearchQuery(entity_path="p", min_confidence=0.5, limit=limit)
    page = await adapter.search(query)
    assert keys(page.entries) == "ba"[:limit]
    assert (page.below_confidence_count, page.expired_count) == (1, 1)
    if page.next_cursor:
        rest = await adapter.search(query.model_copy(update={"cursor": page.next_cursor}))
        assert (rest.below_confidence_count, rest.expired_count) == (1, 1)
    unfiltered = await adapter.search(SearchQuery(entity_path="p"))
    assert (unfiltered.below_confidence_count, unfiltered.expired_count) == (0, 2)


@proves("search.pages")
@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 100])
async def test_joined_pages_hold_everything_once(adapter: AmfsAdapter, order: str, limit: int) -> None:
    for key in "abcdefg":
        await adapter.write(draft("p", key, tags=("x",) if key != "d" else ()))
    query = SearchQuery.model_validate({"sort_by": order, "limit": limit, "tag": "x"})
    page = await adapter.search(query)
    joined = keys(page.entries)
    for _ in range(len("abcefg") + 1):
        if not page.next_cursor:
            break
        assert len(page.entries) == limit
        page = await adapter.search(query.model_copy(update={"cursor": page.next_cursor}))
        joined += keys(page.entries)
    assert joined == ("gfecba" if order == "newest" else "abcefg")


@proves("search.pages")
@pytest.mark.parametrize(("order", "expected"), [("newest", "fe cb"), ("oldest", "ab cefg")])
async def test_pages_repeat_nothing_that_is_written_in_between(
    adapter: AmfsAdapter, order: str, expected: str
) -> None:
    for key in "abcdef":
        await adapter.write(draft("p", key))
    query = SearchQuery.model_validate({"sort_by": order, "limit": 2})
    first = await adapter.search(query)
    await adapter.write(draft("p", "g"))
    await adapter.write(draft("p", "a", ttl_at="2026-06-01"))
    await adapter.write(draft("p", "d", ttl_at="2025-01-01"))
    more = {"cursor": first.next_cursor, "limit": None}
    rest = await adapter.search(query.model_copy(update=more))
    assert f"{keys(first.entries)} {keys(rest.entries)}" == expected
    assert rest.next_cursor is None


@proves("search.pages")
async def test_behind_the_last_page_is_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", "a"), draft("p", "b")])
    for limit in (2, 3, None):
        page = await adapter.search(SearchQuery(limit=limit))
        assert keys(page.entries) == "ba"
        if page.next_cursor:
            page = await adapter.search(SearchQuery(limit=limit, cursor=page.next_cursor))
            assert (page.entries, page.next_cursor) == ((), None)
    assert (await adapter.search(SearchQuery(limit=0))).entries == ()


@proves("search.cursors")
@pytest.mark.parametrize(
    "change",
    [
        {"sort_by": "oldest"},
        {"entity_path": "p"},
        {"key": "a"},
        {"tag": "x"},
        {"text": "x"},
        {"min_confidence": 0.1},
        {"include_system": False},
    ],
    ids=str,
)
async def test_a_cursor_of_another_query_is_refused(adapter: AmfsAdapter, change: dict[str, Any]) -> None:
    await adapter.write_batch([draft("p", "a"), draft("p", "b")])
    cursor = (await adapter.search(SearchQuery(limit=1))).next_cursor
    query = SearchQuery(limit=1, cursor=cursor)
    assert len((await adapter.search(query)).entries) == 1
    with pytest.raises(InvalidCursorError):
        await adapter.search(query.model_copy(update=change))


@proves("search.cursors")
async def test_a_cursor_of_another_store_is_refused(open_adapter: AdapterOpener) -> None:
    one, other = [await open_adapter(ids=RandomIds()) for _ in range(2)]
    for adapter in (one, other):
        await adapter.write_batch([draft("p", "a"), draft("p", "b")])
    cursor = (await other.search(SearchQuery(limit=1))).next_cursor
    assert len((await other.search(SearchQuery(limit=1, cursor=cursor))).entries) == 1
    with pytest.raises(InvalidCursorError):
        await one.search(SearchQuery(limit=1, cursor=cursor))


@proves("search.cursors")
@pytest.mark.parametrize(
    "cursor",
    ["x", "%", "....", "AAAA", "W10", "WzFd", "bnVsbA", "\ud83d", "é", "x" * 5000, "'; --", "W1tbW1tb"],
    ids=lambda each: ascii(each)[:20],
)
async def test_what_is_no_cursor_is_refused(adapter: AmfsAdapter, cursor: str) -> None:
    await adapter.write(draft())
    with pytest.raises(InvalidCursorError):
        await adapter.search(SearchQuery(cursor=cursor))


@proves("search.cursors")
async def test_a_damaged_cursor_is_refused_or_goes_on_and_breaks_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", "a"), draft("p", "b")])
    cursor = (await adapter.search(SearchQuery(limit=1))).next_cursor or ""
    refused = 0
    for each in damaged(cursor):
        try:
            page = await adapter.search(SearchQuery(limit=1, cursor=each))
        except InvalidCursorError:
            refused += 1
        else:
            assert keys(page.entries) in ("", "a", "b")
    assert refused


@proves("search.refused")
@pytest.mark.parametrize("limit", [-1, -(2**70)])
async def test_a_limit_that_is_no_whole_number_from_0_is_refused(adapter: AmfsAdapter, limit: int) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await adapter.search(SearchQuery(limit=limit))
    assert caught.value.argument == "limit"


@proves("search.refused")
@pytest.mark.parametrize(
    "asked",
    [
        {"sort_by": "x' OR 1=1 --"},
        {"sort_by": "priority"},
        {"order": "newest"},
        {"limit": "1"},
        {"limit": True},
    ],
)
def test_a_query_takes_no_other_order_and_no_other_type(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(asked))):
        SearchQuery.model_validate(asked)


@proves("search.literal-filters")
@pytest.mark.parametrize(
    "hostile",
    ["x' OR 1=1 --", '" OR 1=1', '"a".b', "$.x", "a;b", "%", "_", "*", "a\0", "\u2019", "\ud83d"],
    ids=ascii,
)
async def test_a_filter_is_never_more_than_a_literal(adapter: AmfsAdapter, hostile: str) -> None:
    await assorted(adapter)
    for field in ("entity_path", "key", "tag"):
        assert await found(adapter, **{field: hostile}) == ""


@proves("search.never-writes")
async def test_a_search_changes_nothing(adapter: AmfsAdapter) -> None:
    await assorted(adapter)
    before = await state(adapter)
    for query in ({"text": "red"}, {"tag": "x"}, {"text": '"'}, {"limit": 1}):
        await adapter.search(SearchQuery.model_validate(query))
    assert await state(adapter) == before


@proves("search.fresh")
async def test_a_search_sees_everything_acknowledged_before_it(adapter: AmfsAdapter) -> None:
    for n in range(30):
        await adapter.write(draft("p", "k", f"word{n}"))
        assert await found(adapter, text=f"word{n}") == "k"
        assert await found(adapter, text=f"word{n - 1}") == ""


@proves("search.copies")
async def test_a_found_entry_is_a_copy(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(value=["inner"]))
    before = await state(adapter)
    (entry,) = (await adapter.search(SearchQuery())).entries
    entry.value.append("changed")
    assert await state(adapter) == before
    assert await found(adapter, text="changed") == ""
