"""Search through the SDK's door: what the SDK's own search finds going over a list, found by the database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from amfs_core.abc import AdapterABC
from amfs_core.exceptions import AdapterError
from amfs_core.models import Branch, MemoryEntry, RecallConfig, SearchQuery
from hypothesis import given
from hypothesis import strategies as st

from amfs_sqlite.rules.spelling import says
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.recalls import Row
from amfs_sqlite.sync import SyncSqliteAdapter
from amfs_sqlite.sync.rows import entry_of_row
from parity_tests.amfs.corpus import BEGAN, MADE_UP, agents, entries, entry, paths, texts, values
from parity_tests.ledger import proves

ALL = 10_000


@st.composite
def queries(draw: st.DrawFn, stored: list[MemoryEntry]) -> SearchQuery:
    """A question by chance, often about what is stored."""
    spelled = [str(each.value) for each in stored] + [each.key for each in stored]
    whole = draw(st.sampled_from(spelled) | texts)
    begin = draw(st.integers(0, len(whole)))
    needle = whole[begin : begin + draw(st.integers(1, 5))]
    return SearchQuery(
        query=draw(st.sampled_from([None, needle, needle.upper(), needle.lower()])),
        entity_path=draw(st.none() | paths),
        include_descendants=draw(st.booleans()),
        min_confidence=draw(st.sampled_from([0.0, 0.5])),
        max_confidence=draw(st.none() | st.sampled_from([0.7, 0.9])),
        agent_id=draw(st.none() | agents),
        since=draw(st.none() | st.just(BEGAN + timedelta(minutes=1))),
        pattern_ref=draw(st.none() | st.just("p")),
        limit=draw(st.integers(0, 4) | st.just(100)),
        sort_by=draw(st.sampled_from(["confidence", "recency", "version", "priority", "another"])),
        recall_config=draw(st.none() | st.just(RecallConfig())),
        include_artifacts=draw(st.booleans()),
        depth=draw(st.integers(1, 4)),
    )


def searched(adapter: SyncSqliteAdapter, **asked: Any) -> list[MemoryEntry]:
    found: Any = adapter.search(SearchQuery(**asked))
    return list(found)


def by_the_sdk(adapter: SyncSqliteAdapter, query: SearchQuery) -> list[MemoryEntry]:
    """What the SDK's own search makes of ``list``; then tiers and artifacts, which it leaves to adapters."""
    found: Any = AdapterABC.search(adapter, query.model_copy(update={"limit": ALL}))
    kept = [
        each
        for each in found
        if (query.depth >= 3 or each.tier <= query.depth)
        and (query.include_artifacts or not each.is_artifact)
    ]
    return sorted(kept, key=lambda each: each.is_artifact)[: query.limit]


@proves("amfs-search.equal")
@MADE_UP
@given(data=st.data(), stored=st.lists(entries(), min_size=1, max_size=8))
def test_a_search_finds_what_the_sdk_finds_in_the_same_order(
    data: st.DataObject, stored: list[MemoryEntry]
) -> None:
    with SyncSqliteAdapter(":memory:") as adapter:
        for each in stored:
            adapter.write(each)
        tiers = {each.entry_key: data.draw(st.integers(1, 3)) for each in stored[::2]}
        adapter.update_tiers(tiers, {})
        for _ in range(4):
            query = data.draw(queries(stored))
            assert adapter.search(query) == by_the_sdk(adapter, query)


@proves("amfs-search.branches")
@MADE_UP
@given(data=st.data(), stored=st.lists(entries(), min_size=1, max_size=8))
def test_a_branch_is_searched_as_main_is(data: st.DataObject, stored: list[MemoryEntry]) -> None:
    with SyncSqliteAdapter(":memory:") as opened:
        adapter: Any = opened
        for each in stored:
            adapter.write(each)
        adapter.create_branch(Branch(name="same", created_by="scout", branched_at=BEGAN))
        for _ in range(4):
            query = data.draw(queries(stored))
            found = adapter.search(query, branch="same")
            assert {each.branch for each in found} <= {"same"}
            on_main = [each.model_copy(update={"branch": "main"}) for each in found]
            assert on_main == adapter.search(query)


@proves("amfs-search.branch-paths")
def test_of_a_branch_only_what_lies_at_the_paths_named_is_read(
    sdk_adapter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("svc", "svc/api", "svc-b", "other"):
        sdk_adapter.write(entry(path))
    sdk_adapter.create_branch(Branch(name="trial", created_by="scout", branched_at=BEGAN))
    sdk_adapter.write(entry("svc/api", "own", branch="trial"))
    read: list[str] = []

    def counted(row: Row, branch: str) -> MemoryEntry:
        shown = entry_of_row(row, branch)
        read.append(f"{shown.entity_path}/{shown.key}")
        return shown

    monkeypatch.setattr("amfs_sqlite.sync.search.entry_of_row", counted)
    query = SearchQuery(entity_path="svc", include_descendants=True, sort_by="recency")
    found = sdk_adapter.search(query, branch="trial")
    assert sorted(f"{each.entity_path}/{each.key}" for each in found) == read
    assert read == ["svc/a", "svc/api/a", "svc/api/own"]


@proves("amfs-search.spelling")
@MADE_UP
@given(value=values, data=st.data())
def test_a_substring_is_looked_for_in_what_python_makes_of_a_value(
    value: object, data: st.DataObject
) -> None:
    spelled = str(value).lower()
    begin = data.draw(st.integers(0, len(spelled)))
    needle = data.draw(st.just(spelled[begin : begin + data.draw(st.integers(1, 6))]) | texts.map(str.lower))
    assert says(encode(value), needle) == (needle in spelled)


@proves("amfs-search.spelling")
@pytest.mark.parametrize(
    ("value", "query", "is_found"),
    [
        ({"x": None}, "none", True),
        ({"x": None}, "null", False),
        ({"pool": 20}, "'pool': 20", True),
        ({"pool": 20}, '"pool":20', False),
        (["a", "b"], "', '", True),
        (["it's"], '"it\'s"', True),
        ("a\nb", "a\nb", True),
        (["a\nb"], "\\nb", True),
        (["\x1f"], "x1f", True),
        (["\xa0"], "xa0", True),
        ("\u212aelvin", "kelvin", True),
        (1e5, "100000.0", True),
        ("50%_off", "%_", True),
    ],
)
def test_python_spells_a_value_in_its_own_way(
    sdk_adapter: SyncSqliteAdapter, value: object, query: str, is_found: bool
) -> None:
    written = sdk_adapter.write(entry(value=value))
    assert searched(sdk_adapter, query=query) == ([written] if is_found else [])


@proves("amfs-search.artifacts")
@pytest.mark.parametrize("sort_by", ["confidence", "recency", "version", "priority"])
def test_artifacts_stand_behind_all_others_or_are_left_out(
    sdk_adapter: SyncSqliteAdapter, sort_by: str
) -> None:
    sdk_adapter.write(entry(key="file", minute=9, confidence=1.0, is_artifact=True))
    sdk_adapter.write(entry(key="file", minute=9, confidence=1.0, is_artifact=True))
    sdk_adapter.write(entry(key="fact", confidence=0.1))
    found = searched(sdk_adapter, sort_by=sort_by)
    assert [each.key for each in found] == ["fact", "file"]
    kept = searched(sdk_adapter, sort_by=sort_by, include_artifacts=False)
    assert [each.key for each in kept] == ["fact"]
    assert [each.key for each in searched(sdk_adapter, sort_by=sort_by, limit=1)] == ["fact"]


@proves("amfs-search.tiers")
def test_a_search_of_little_depth_stays_in_the_upper_tiers(sdk_adapter: SyncSqliteAdapter) -> None:
    for key in ("hot", "warm", "archived", "unranked"):
        sdk_adapter.write(entry(key=key))
    sdk_adapter.update_tiers({"service/hot": 1, "service/warm": 2, "service/archived": 3}, {})
    found = {depth: {each.key for each in searched(sdk_adapter, depth=depth)} for depth in (1, 2, 3)}
    assert found == {1: {"hot"}, 2: {"hot", "warm"}, 3: {"hot", "warm", "archived", "unranked"}}


@proves("amfs-search.paths")
def test_several_paths_are_searched_as_one(sdk_adapter: SyncSqliteAdapter) -> None:
    for path in ("a", "a/b", "ab", "c", "d"):
        sdk_adapter.write(entry(path))

    def found(**asked: Any) -> list[str]:
        return [each.entity_path for each in searched(sdk_adapter, **asked)]

    assert found(entity_paths=["a", "c"]) == ["a", "c"]
    assert found(entity_paths=["a", "a/b"], include_descendants=True) == ["a", "a/b"]
    assert found(entity_paths=["a"], entity_path="d") == ["a"]
    assert found(entity_path="a/", include_descendants=True) == ["a", "a/b"]


@proves("amfs-search.withdrawn")
def test_what_was_withdrawn_is_not_found(sdk_adapter: SyncSqliteAdapter) -> None:
    kept = sdk_adapter.write(entry(value="old words"))
    changed = sdk_adapter.write(entry(key="b", value="old words"))
    sdk_adapter.write(changed.model_copy(update={"value": "new words", "version": 1}))
    assert searched(sdk_adapter, query="old") == [kept]


@proves("amfs-search.since")
def test_an_instant_without_offset_is_utc(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.write(entry(minute=1))
    naive = BEGAN.replace(tzinfo=None)
    assert len(sdk_adapter.search(SearchQuery(since=naive + timedelta(minutes=1)))) == 1
    assert sdk_adapter.search(SearchQuery(since=datetime(2026, 1, 1, 0, 2, tzinfo=UTC))) == []


@proves("amfs-search.equal")
@pytest.mark.parametrize(
    "asked",
    [
        {"query": "\ud800"},
        {"entity_path": "\ud800"},
        {"entity_path": "\ud800", "include_descendants": True},
        {"agent_id": "\ud800"},
        {"pattern_ref": "\ud800"},
    ],
)
def test_what_cannot_be_stored_is_not_found(sdk_adapter: SyncSqliteAdapter, asked: dict[str, Any]) -> None:
    sdk_adapter.write(entry(value={"a": "b"}))
    assert searched(sdk_adapter, **asked) == []


@proves("amfs-search.refused")
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"limit": -1}, "limit"),
        ({"min_confidence": float("nan")}, "min_confidence"),
        ({"max_confidence": float("inf")}, "max_confidence"),
        ({"entity_paths": [str(n) for n in range(101)]}, "entity_paths"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_by_name(
    sdk_adapter: SyncSqliteAdapter, asked: dict[str, Any], named: str
) -> None:
    with pytest.raises(AdapterError, match=named):
        searched(sdk_adapter, **asked)


@proves("amfs-search.refused")
def test_what_is_no_query_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    anything: Any = "retry"
    with pytest.raises(AdapterError, match="SearchQuery"):
        sdk_adapter.search(anything)
