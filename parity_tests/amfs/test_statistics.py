"""Counts and summaries through the SDK's door: those of the SDK's own code over a list of the entries."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.abc import AdapterABC
from amfs_core.aggregates import recall_tokens_saved
from amfs_core.exceptions import AdapterError
from amfs_core.models import Branch, MemoryEntry, MemoryStats
from amfs_core.scope import SqlScope
from amfs_core.tiering import PriorityScorer
from hypothesis import given
from hypothesis import strategies as st

from amfs_sqlite import FixedClock
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN, MADE_UP, agents, entries, entry, paths
from parity_tests.ledger import proves

# The adapter is typed as Any: the SDK's interface, which it inherits, does not know the server's arguments.
NOW = datetime(2026, 2, 1, tzinfo=UTC)


def filled(adapter: Any, stored: list[MemoryEntry]) -> None:
    for each in stored:
        adapter.write(each)


def alike(answer: Any, expected: Any) -> None:
    """Equal, means up to the last digits."""
    if isinstance(expected, dict):
        assert answer.keys() == expected.keys()
        for name, value in expected.items():
            alike(answer[name], value)
    elif isinstance(expected, list):
        assert len(answer) == len(expected)
        for one, other in zip(answer, expected, strict=True):
            alike(one, other)
    elif isinstance(expected, float):
        assert answer == pytest.approx(expected)
    else:
        assert answer == expected


@proves("amfs-statistics.equal")
@MADE_UP
@given(
    stored=st.lists(entries(), max_size=12),
    agent_ids=st.none() | st.lists(agents, max_size=2),
    path=st.none() | paths,
)
def test_the_statistics_are_those_of_the_sdk(
    stored: list[MemoryEntry], agent_ids: list[str] | None, path: str | None
) -> None:
    with SyncSqliteAdapter(":memory:") as opened:
        adapter: Any = opened
        filled(adapter, stored)
        sdk: Any = AdapterABC
        alike(adapter.stats().model_dump(), sdk.stats(adapter).model_dump())
        alike(adapter.stats_extended(agent_ids=agent_ids), sdk.stats_extended(adapter, agent_ids=agent_ids))
        alike(
            adapter.entity_summaries(agent_ids=agent_ids), sdk.entity_summaries(adapter, agent_ids=agent_ids)
        )
        asked = {"entity_path": path, "agent_ids": agent_ids}
        alike(adapter.agent_entity_stats(**asked), sdk.agent_entity_stats(adapter, **asked))


@proves("amfs-statistics.equal")
@MADE_UP
@given(
    stored=st.lists(entries(), max_size=12),
    path=paths,
    exclude_key=st.sampled_from([None, "a"]),
    agent_id=st.none() | agents,
    key_limit=st.integers(0, 3),
)
def test_what_stands_beside_an_entry_is_what_the_sdk_counts(
    stored: list[MemoryEntry], path: str, **asked: Any
) -> None:
    with SyncSqliteAdapter(":memory:") as opened:
        adapter: Any = opened
        filled(adapter, stored)
        expected = AdapterABC.scope_counts(adapter, path, **asked)
        assert adapter.scope_counts(path, **asked) == expected


@proves("amfs-statistics.equal")
def test_of_nothing_there_is_nothing_to_tell(sdk_adapter: Any) -> None:
    assert sdk_adapter.stats() == MemoryStats()
    assert sdk_adapter.entity_summaries() == sdk_adapter.agent_entity_stats() == []
    alike(sdk_adapter.stats_extended(), AdapterABC.stats_extended(sdk_adapter))
    assert sdk_adapter.list_scopes() == (set(), set())
    assert sdk_adapter.priority_stats() == (0, None)
    assert sdk_adapter.count_entries() == 0


@proves("amfs-statistics.exclusions")
def test_a_name_that_only_begins_like_one_of_the_system_is_counted(sdk_adapter: Any) -> None:
    left_out = ["_system", "_system/a", "_SYSTEM/a", "bench-1", "_bench/x", "Bench/x"]
    counted = ["_systemic", "benchmark", "a/_system", "a/bench-1"]
    filled(sdk_adapter, [entry(path) for path in (*left_out, *counted)])
    filled(
        sdk_adapter,
        [entry("by", agent, agent_id=agent) for agent in ("amfs", "bench-2", "system", "Systems")],
    )
    assert set(sdk_adapter.stats().entities) == {*counted, "by"}
    assert sdk_adapter.stats().agents == {"scout": len(counted), "Systems": 1}
    assert {each["entity_path"] for each in sdk_adapter.agent_entity_stats(entity_path="bench-1")} == {
        "bench-1"
    }
    assert sdk_adapter.consolidation_ready_entities(min_entries=1) == sorted({*counted, "by"})


@proves("amfs-statistics.weeks")
def test_the_last_weeks_are_those_before_the_clock(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "memory.db", clock=FixedClock(NOW)) as opened:
        adapter: Any = opened
        for days in (0, 6, 7, 8, 13, 14, 15):
            minute = int((NOW - BEGAN - timedelta(days=days)).total_seconds() // 60)
            adapter.write(entry(key=f"{days}", minute=minute))
        extended = adapter.stats_extended()
    assert (extended["entries_this_week"], extended["entries_last_week"]) == (3, 3)
    assert (extended["recalls_this_week"], extended["recalls_last_week"]) == (None, None)


@proves("amfs-statistics.breakdown")
def test_without_the_breakdown_the_counts_stay(sdk_adapter: Any) -> None:
    filled(sdk_adapter, [entry("a"), entry("b", agent_id="smith")])
    whole = sdk_adapter.stats_extended()
    assert whole.pop("agents") == {"scout": 1, "smith": 1}
    assert whole.pop("entities") == {"a": 1, "b": 1}
    assert sdk_adapter.stats_extended(breakdown=False) == whole


@proves("amfs-statistics.saved")
@pytest.mark.parametrize("value", ["é" * 5_000, "x" * 50_000, "short", {"a": ["\n"] * 900}])
def test_what_a_reading_saves_goes_by_the_length_of_the_value(sdk_adapter: Any, value: object) -> None:
    written = sdk_adapter.write(entry(value=value, recall_count=3))
    (summary,) = sdk_adapter.entity_summaries()
    assert summary["total_recalls"] == 3
    assert summary["recalled_tokens_saved"] == recall_tokens_saved(written) > 0


@proves("amfs-statistics.pages")
def test_paths_come_in_pages_filtered_and_in_any_order(sdk_adapter: Any) -> None:
    filled(
        sdk_adapter,
        [
            entry("Deploy/api", "a", confidence=0.9, minute=1),
            entry("Deploy/api", "b", confidence=0.5, minute=5, agent_id="smith"),
            entry("deploy/web", confidence=0.4, minute=9),
            entry("ci", confidence=0.8, minute=3, recall_count=4),
        ],
    )

    def found(**asked: Any) -> list[str]:
        return [each["entity_path"] for each in sdk_adapter.entity_summaries(**asked)]

    assert found() == ["deploy/web", "Deploy/api", "ci"]
    assert found(sort="entry_count") == ["Deploy/api", "ci", "deploy/web"]
    assert found(sort="total_recalls") == ["ci", "Deploy/api", "deploy/web"]
    assert found(sort="avg_confidence") == ["ci", "Deploy/api", "deploy/web"]
    assert found(sort="avg_confidence_asc") == ["deploy/web", "Deploy/api", "ci"]
    assert found(sort="entity_path") == ["Deploy/api", "ci", "deploy/web"]
    assert found(q="DEPLOY/") == ["deploy/web", "Deploy/api"]
    assert found(agent="smith") == ["Deploy/api"]
    assert found(min_confidence=0.7) == ["Deploy/api", "ci"]
    (second,) = sdk_adapter.entity_summaries(limit=1, offset=1)
    assert (second["entity_path"], second["total"], second["last_agent"]) == ("Deploy/api", 3, "smith")
    assert sdk_adapter.entity_summaries(limit=1, offset=3) == []
    with pytest.raises(AdapterError, match="sort"):
        sdk_adapter.entity_summaries(sort="size")


@proves("amfs-statistics.scope")
def test_a_predicate_written_for_postgres_narrows_what_is_counted(sdk_adapter: Any) -> None:
    filled(
        sdk_adapter,
        [
            entry("room_1/a", "open"),
            entry("room_1/a", "hidden", shared=False),
            entry("roomX1/a", "open"),
            entry("ROOM_1/a", "open", agent_id="smith"),
        ],
    )
    shared = SqlScope("shared OR agent_id = %s", ("smith",))
    room = SqlScope("entity_path LIKE %s", (r"room\_1/%",))
    listed = SqlScope("agent_id = ANY(%s)", (["smith", "jones"],))
    assert sdk_adapter.count_entries(scope=shared) == 3
    assert sdk_adapter.count_entries(scope=room) == 2
    assert sdk_adapter.count_entries(scope=SqlScope.all_of(room, shared)) == 1
    assert sdk_adapter.count_entries(scope=listed) == 1
    assert sdk_adapter.priority_stats(scope=room)[0] == 2
    assert [each.entity_path for each in sdk_adapter.list_by_priority(scope=listed, limit=5)] == ["ROOM_1/a"]
    assert sdk_adapter.consolidation_ready_entities(min_entries=2, scope=room) == ["room_1/a"]
    assert sdk_adapter.stats_extended(scope=shared)["total_entries"] == 3
    assert [each["entity_path"] for each in sdk_adapter.entity_summaries(scope=room)] == ["room_1/a"]


@proves("amfs-statistics.escape")
@pytest.mark.parametrize(
    ("clause", "parameters", "expected"),
    [
        ("entity_path LIKE %s ESCAPE '!'", ("room!_1/%",), {"room_1/a"}),
        ("entity_path NOT LIKE %s ESCAPE '!'", ("room!_1/%",), {"roomX1/a", "room\\X1"}),
        ("entity_path LIKE %s ESCAPE %s", (r"room\_1/%", "\\"), {"room_1/a"}),
        ("entity_path LIKE 'room_1/%%' ESCAPE '!'", (), {"room_1/a", "roomX1/a"}),
        ("entity_path LIKE %s ESCAPE ''", (r"room\_1",), {"room\\X1"}),
        ("entity_path LIKE %s ESCAPE '%%'", ("room%_1/a",), {"room_1/a"}),
        ("entity_path LIKE %s ESCAPE NULL", ("room%",), set()),
    ],
)
def test_a_predicate_names_its_escape(
    sdk_adapter: Any, clause: str, parameters: tuple[str, ...], expected: set[str]
) -> None:
    filled(sdk_adapter, [entry("room_1/a"), entry("roomX1/a"), entry("room\\X1")])
    scope = SqlScope(clause, parameters)
    assert {each["entity_path"] for each in sdk_adapter.entity_summaries(scope=scope)} == expected


@proves("amfs-statistics.escape")
def test_an_escape_of_several_characters_is_refused(sdk_adapter: Any) -> None:
    filled(sdk_adapter, [entry("room_1/a")])
    with pytest.raises(AdapterError):
        sdk_adapter.count_entries(scope=SqlScope("entity_path LIKE %s ESCAPE '!!'", ("room%",)))


@proves("amfs-statistics.scope")
@pytest.mark.parametrize(
    "scope", [SqlScope("agent_id ~ %s", ("x",)), SqlScope("agent_id = %s"), SqlScope("shared", ("x",))]
)
def test_a_predicate_that_cannot_be_kept_is_refused(sdk_adapter: Any, scope: SqlScope) -> None:
    with pytest.raises(AdapterError, match="scope"):
        sdk_adapter.count_entries(scope=scope)


@proves("amfs-statistics.counted")
def test_what_is_counted_is_what_is_listed(sdk_adapter: Any) -> None:
    filled(sdk_adapter, [entry("a"), entry("a"), entry("a", "b", agent_id="smith"), entry("c")])
    asked: list[dict[str, Any]] = [
        {},
        {"entity_path": "a"},
        {"agent_id": "smith"},
        {"entity_path": "a", "include_superseded": True},
        {"include_superseded": True, "agent_id": "scout"},
        {"scope": SqlScope("shared AND agent_id = %s", ("scout",))},
        {"scope": SqlScope("agent_id <> %s", ("smith",)), "include_superseded": True},
    ]
    counts = [sdk_adapter.count_entries(**each) for each in asked]
    listed: list[Any] = [sdk_adapter.list(**each) for each in asked]
    assert counts == [len(each) for each in listed] == [3, 2, 1, 3, 3, 2, 3]


@proves("amfs-statistics.branches")
@MADE_UP
@given(stored=st.lists(entries(), max_size=8))
def test_a_branch_on_which_nothing_was_written_counts_as_main_does(stored: list[MemoryEntry]) -> None:
    with SyncSqliteAdapter(":memory:") as opened:
        adapter: Any = opened
        filled(adapter, stored)
        adapter.create_branch(Branch(name="same", created_by="scout", branched_at=NOW))
        scope = SqlScope("shared OR agent_id = %s", ("scout",))
        main, same = (
            [
                adapter.count_entries("svc", branch=branch),
                adapter.count_entries(branch=branch, scope=scope, agent_id="smith"),
                adapter.scope_counts("svc", branch=branch, exclude_key="a", agent_id="smith"),
                adapter.list_scopes(branch=branch),
                adapter.priority_stats(branch=branch, scope=scope, now=NOW),
                [
                    each.entry_key
                    for each in adapter.list_by_priority(branch=branch, limit=3, offset=1, now=NOW)
                ],
            ]
            for branch in ("main", "same")
        )
        assert main == same


@proves("amfs-statistics.scopes")
def test_scopes_are_every_path_and_every_author(sdk_adapter: Any) -> None:
    filled(sdk_adapter, [entry("a"), entry("_system/x", agent_id="amfs"), entry("a", "b", agent_id="smith")])
    assert sdk_adapter.list_scopes() == ({"a", "_system/x"}, {"scout", "amfs", "smith"})


@proves("amfs-statistics.authors")
def test_authors_are_told_of_the_entries_asked_for(sdk_adapter: Any) -> None:
    filled(sdk_adapter, [entry("a/b", "c"), entry("a", "b/c", agent_id="smith"), entry("x", "y")])
    assert sdk_adapter.entry_authors([("a/b", "c"), ("a", "b/c"), ("no", "such"), ("a", "b/c")]) == {
        ("a/b", "c"): "scout",
        ("a", "b/c"): "smith",
    }
    assert sdk_adapter.entry_authors([]) == {}
    with pytest.raises(AdapterError, match="refs"):
        sdk_adapter.entry_authors([("a", "b", "c")])


@proves("amfs-statistics.priority")
@MADE_UP
@given(stored=st.lists(entries(), max_size=10), offset=st.integers(0, 3), limit=st.integers(0, 4))
def test_the_highest_priority_is_what_the_sdk_scores_highest(
    stored: list[MemoryEntry], offset: int, limit: int
) -> None:
    with SyncSqliteAdapter(":memory:") as opened:
        adapter: Any = opened
        filled(adapter, stored)
        scorer, listed = PriorityScorer(), adapter.list()
        scores = [scorer.score(each, now=NOW) for each in listed]
        listed.sort(key=lambda each: each.provenance.written_at, reverse=True)
        listed.sort(key=lambda each: scorer.score(each, now=NOW), reverse=True)
        found = adapter.list_by_priority(limit=limit, offset=offset, now=NOW)
        assert found == listed[offset : offset + limit]
        count, mean = adapter.priority_stats(now=NOW)
        assert (count, mean) == (len(scores), pytest.approx(sum(scores) / len(scores)) if scores else None)


@proves("amfs-statistics.tiers")
def test_tiers_and_scores_are_set_of_every_entry_of_the_name(sdk_adapter: Any) -> None:
    filled(sdk_adapter, [entry("a", "b/c"), entry("a/b", "c"), entry("d", "e")])
    assert sdk_adapter.update_tiers({"a/b/c": 1, "d/e": 2, "no/such": 1, "slashless": 1}, {"a/b/c": 0.5}) == 3
    shown = {each.entry_key: (each.tier, each.priority_score) for each in sdk_adapter.list()}
    assert shown == {"a/b/c": (1, 0.5), "d/e": (2, None)}
    assert sdk_adapter.update_tiers({"a/b/c": 3}, {}) == 2
    assert {each.tier for each in sdk_adapter.list("a/b")} == {3}
    assert sdk_adapter.update_tiers({}, {}) == 0


@proves("amfs-statistics.tiers")
@pytest.mark.parametrize(("tiers", "scores"), [({"a/b": 4}, {}), ({"a/b": 1}, {"a/b": float("nan")})])
def test_a_tier_or_score_that_is_none_is_refused_and_nothing_is_set(
    sdk_adapter: Any, tiers: dict[str, int], scores: dict[str, float]
) -> None:
    sdk_adapter.write(entry("c", "d"))
    with pytest.raises(AdapterError, match=r"tier_assignments|scores"):
        sdk_adapter.update_tiers({"c/d": 1} | tiers, scores)
    (left,) = sdk_adapter.list()
    assert left.tier == 3
