"""Statistics: what is there, in numbers."""

from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, MemoryStats
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import text


@proves("statistics.empty")
async def test_an_empty_store_counts_nothing(adapter: AmfsAdapter) -> None:
    stats = await adapter.stats()
    assert text(stats) == text(
        MemoryStats(
            total_entries=0,
            total_entities=0,
            total_agents=0,
            agents={},
            entities={},
            confidence_avg=0.0,
            outcome_linked_count=0,
        )
    )
    assert list(await adapter.scopes()) == []


async def assorted(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("z", "1", agent="bob", confidence=0.1))
    await adapter.write(draft("a", "1", agent="zoe", confidence=0.2))
    await adapter.write(draft("z", "1", agent="amy", confidence=0.3))
    await adapter.write(draft("z", "2", agent="zoe", ttl_at="2020-01-01", confidence=0.1))
    await adapter.write(private("a", "2", agent="bob", confidence=0.9))
    await adapter.write(draft("_system/h", "h", agent="sys", confidence=0.5))


@proves("statistics.counts")
async def test_the_counts_are_over_current_entries(adapter: AmfsAdapter) -> None:
    await assorted(adapter)
    stats = await adapter.stats()
    assert (stats.total_entries, stats.total_entities, stats.total_agents) == (5, 3, 4)
    assert stats.agents == {"amy": 1, "zoe": 2, "bob": 1, "sys": 1}
    assert list(stats.entities.items()) == [("z", 2), ("a", 2), ("_system/h", 1)]
    assert (stats.version_count, stats.commit_count, stats.outcome_count) == (6, 6, 0)
    assert stats.outcome_linked_count == 0
    entries = await adapter.list()
    assert stats.confidence_avg == pytest.approx(sum(each.confidence for each in entries) / 5)


@proves("statistics.counts")
async def test_outcomes_are_counted_and_link_entries(handoff_adapter: AmfsAdapter) -> None:
    await assorted(handoff_adapter)
    await handoff_adapter.commit_outcome(outcome("success", "z/1", at("a", "1")))
    await handoff_adapter.commit_outcome(outcome("success", "z/1", "none/such"))
    stats = await handoff_adapter.stats()
    assert stats.total_entries == 5
    assert (stats.version_count, stats.commit_count, stats.outcome_count) == (6, 8, 2)
    assert stats.outcome_linked_count == 2
    entries = await handoff_adapter.list()
    assert stats.confidence_avg == pytest.approx(sum(each.confidence for each in entries) / 5)


@proves("statistics.counts")
async def test_an_outcome_count_given_with_an_entry_links_it_too(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key="a", outcome_count=3), draft(key="b")])
    assert (await adapter.stats()).outcome_linked_count == 1


@proves("statistics.system-paths")
async def test_system_entries_can_be_left_out_of_the_counts(adapter: AmfsAdapter) -> None:
    await assorted(adapter)
    stats = await adapter.stats(include_system=False)
    assert (stats.total_entries, stats.total_entities, stats.version_count) == (4, 2, 5)
    assert "sys" not in stats.agents
    assert stats.commit_count == 6


@proves("statistics.hidden", "privacy.statistics")
async def test_no_count_includes_what_is_hidden(adapter: AmfsAdapter) -> None:
    await assorted(adapter)
    await adapter.write(private("z", "1", agent="bob", confidence=0.9))
    seen = await adapter.stats(viewer="zoe")
    assert (seen.total_entries, seen.total_entities, seen.total_agents) == (3, 3, 2)
    assert (list(seen.agents), list(seen.entities)) == (["zoe", "sys"], ["a", "z", "_system/h"])
    assert (seen.version_count, seen.commit_count) == (5, 5)
    assert (await adapter.stats(viewer="bob")).version_count == 7


@proves("statistics.hidden", "privacy.statistics")
async def test_an_outcome_about_what_is_hidden_is_not_counted(adapter: AmfsAdapter) -> None:
    await assorted(adapter)
    await adapter.write(private("z", "1", agent="bob", confidence=0.9))
    await adapter.commit_outcome(outcome("success", "z/1", agent="bob"))
    seen = await adapter.stats(viewer="zoe")
    assert (seen.version_count, seen.commit_count, seen.outcome_count) == (5, 5, 0)
    assert seen.outcome_linked_count == 0
    own = await adapter.stats(viewer="bob")
    assert (own.total_entries, own.version_count, own.commit_count, own.outcome_count) == (5, 8, 8, 1)


@proves("statistics.any-name")
async def test_no_name_disturbs_the_counts(adapter: AmfsAdapter) -> None:
    names = ["__proto__", "constructor", "toString", "2", "10", "1", "", "length", "a\0b", "é"]
    for name in names:
        await adapter.write(draft(f"{name}/", name or "empty", agent=name))
    stats = await adapter.stats()
    assert stats.agents == dict.fromkeys(names, 1)
    assert list(stats.agents) == names
    assert list(stats.entities) == [f"{name}/" for name in names]


@proves("statistics.scopes")
async def test_every_path_with_entries_has_a_summary(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await assorted(adapter)
    clock.set("2026-03-03")
    await adapter.write(draft("z", "0", agent="bob", confidence=0.8))
    await adapter.write(draft("a", "1", agent="bob", confidence=0.4, written_at="1999-09-09"))
    z, a, system = await adapter.scopes()
    assert (z.path, z.entry_count, z.keys) == ("z", 3, ("1", "2", "0"))
    assert (a.path, a.entry_count, a.keys) == ("a", 2, ("1", "2"))
    assert (system.path, system.entry_count) == ("_system/h", 1)
    assert z.avg_confidence == pytest.approx(0.4)
    stamps = [(each.oldest, each.newest) for each in (z, a)]
    shown = [tuple(stamp and stamp.date().isoformat() for stamp in pair) for pair in stamps]
    assert shown == [("2026-01-01", "2026-03-03"), ("1999-09-09", "2026-01-01")]


@proves("statistics.scopes", "privacy.statistics")
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["z:12", "a:12", "_system/h:h"]),
        ({"viewer": "zoe"}, ["z:12", "a:1", "_system/h:h"]),
        ({"viewer": "bob"}, ["z:12", "a:12", "_system/h:h"]),
        ({"include_system": False}, ["z:12", "a:12"]),
        ({"entity_path": "a", "viewer": "zoe"}, ["a:1"]),
        ({"entity_path": "_system"}, ["_system/h:h"]),
        ({"entity_path": "_system", "include_system": False}, []),
        ({"entity_path": "A"}, []),
    ],
    ids=str,
)
async def test_summaries_are_of_what_is_asked_and_visible(
    adapter: AmfsAdapter, asked: dict[str, Any], expected: list[str]
) -> None:
    await assorted(adapter)
    summaries = await adapter.scopes(**asked)
    assert [f"{each.path}:{''.join(each.keys)}" for each in summaries] == expected
    assert [each.entry_count for each in summaries] == [len(each.keys) for each in summaries]
