"""Retention: what is erased is gone and still verifies, what is kept stays, what has expired is put away."""

from typing import cast

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    EntryNotFoundError,
    EntryRef,
    FixedClock,
    InvalidArgumentError,
    MemoryEntry,
    RetentionReport,
    SearchQuery,
    VersionConflictError,
    Write,
)
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import state


async def fill(adapter: AmfsAdapter, clock: FixedClock) -> None:
    """Four versions of one key, a day apart, and another key."""
    for day in range(1, 5):
        clock.set(f"2026-01-0{day}")
        await adapter.write(draft(value=f"word{day}", tags=("t",), note=f"kept{day}"))
    await adapter.write(draft(key="other"))


def addresses(report: RetentionReport) -> list[tuple[str, int]]:
    return [(each.key, each.version) for each in report.versions]


async def shown(adapter: AmfsAdapter) -> list[tuple[str, int, object, str | None]]:
    everything = await adapter.list(include_superseded=True)
    return [(each.key, each.version, each.value, each.withdrawn) for each in everything]


@proves("retention.erased", "retention.verifies")
async def test_an_erased_version_keeps_everything_but_its_value(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await fill(adapter, clock)
    before = await adapter.history("svc/a", "k")
    report = await adapter.erase([at(version=2)], author="owner")
    assert addresses(report) == [("k", 2)]
    after = await adapter.history("svc/a", "k")
    assert [each.withdrawn for each in after] == [None, "erased", None, None]
    kept = {name: getattr(before[1], name) for name in MemoryEntry.model_fields}
    assert after[1] == MemoryEntry.model_validate(kept | {"value": None, "withdrawn": "erased"})
    assert await adapter.read_at_version("svc/a", "k", 2) == after[1]
    assert [*after[:1], *after[2:]] == [*before[:1], *before[2:]]
    assert await is_sound(adapter)


@proves("retention.erased-current", "retention.counter")
async def test_where_the_current_version_was_erased_nothing_is_there(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await fill(adapter, clock)
    await adapter.erase([at(version=4)], author="owner")
    assert await adapter.read("svc/a", "k") is None
    assert await adapter.read("svc/a", "k", include_expired=True) is None
    assert [each.key for each in await adapter.list()] == ["other"]
    with pytest.raises(VersionConflictError):
        await adapter.write(draft(value="next"), expected_version=4)
    assert (await adapter.write(draft(value="next"), expected_version=0)).version == 5
    assert await is_sound(adapter)


@proves("retention.not-found")
async def test_what_was_withdrawn_is_neither_found_nor_counted(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await fill(adapter, clock)
    await adapter.erase([at(version=4)], author="owner")
    for query in (
        SearchQuery(text="word4"),
        SearchQuery(tag="t"),
        SearchQuery(contains="word"),
        SearchQuery(key="k"),
    ):
        assert (await adapter.search(query)).entries == ()
    stats = await adapter.stats()
    assert (stats.total_entries, stats.version_count, stats.entities) == (1, 5, {"svc/a": 1})
    assert [each.keys for each in await adapter.scopes()] == [("other",)]
    await adapter.write(draft(value="next", tags=("t",)))
    found = (await adapter.search(SearchQuery(tag="t", text="next"))).entries
    assert [each.value for each in found] == ["next"]


@proves("retention.erased-whole")
async def test_a_key_goes_with_its_history_and_an_agent_with_all_it_wrote(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await fill(adapter, clock)
    await adapter.write(private(key="mine", agent="bob"))
    await adapter.write(draft(key="other", value=2, agent="bob"))
    assert addresses(await adapter.erase([at()], author="owner")) == [("k", n) for n in (1, 2, 3, 4)]
    assert addresses(await adapter.erase(written_by="bob", author="owner")) == [("other", 2), ("mine", 1)]
    left = [(key, version) for key, version, _, withdrawn in await shown(adapter) if not withdrawn]
    assert left == [("other", 1)]
    assert await adapter.list() == []
    assert await is_sound(adapter)


@proves("retention.erased-once")
async def test_what_is_erased_already_is_passed_over(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await fill(adapter, clock)
    await adapter.erase([at(version=1)], author="owner")
    before = await state(adapter)
    again = await adapter.erase([at(version=1)], author="owner")
    assert (again.versions, again.commit_ids) == ((), ())
    assert await state(adapter) == before


@proves("retention.logged")
async def test_an_erasure_is_in_the_commit_log(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await fill(adapter, clock)
    report = await adapter.erase(
        [at(version=1), at(version=2)], author="owner", message="asked to", session_id="s"
    )
    commit = (await adapter.list_commits())[0]
    assert (commit.id,) == report.commit_ids
    said = (commit.kind, commit.author_agent_id, commit.message, commit.session_id)
    assert said == ("erase", "owner", "asked to", "s")
    assert commit.entries == report.versions
    assert commit.tree_hash is None


@proves("retention.refused")
async def test_an_erasure_of_nothing_is_refused_whole(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await fill(adapter, clock)
    before = await state(adapter)
    for missing in (at(key="none"), at(version=9), at(path="svc")):
        with pytest.raises(EntryNotFoundError):
            await adapter.erase([at(version=1), missing], author="owner")
    for attempt, argument in (
        (adapter.erase(author="owner"), "refs"),
        (adapter.prune(author="owner"), "keep_last"),
        (adapter.prune(keep_last=0, author="owner"), "keep_last"),
        (adapter.prune(keep_days=-1, author="owner"), "keep_days"),
        (adapter.prune(keep_days=float("nan"), author="owner"), "keep_days"),
        (adapter.prune(keep_last=1, keep=cast("list[EntryRef]", ["k"]), author="owner"), "keep"),
        (adapter.archive_expired(author="\ud800"), "author"),
    ):
        with pytest.raises(InvalidArgumentError) as refused:
            await attempt
        assert refused.value.argument == argument
    assert await state(adapter) == before


@proves("retention.dry-run")
async def test_a_dry_run_says_what_would_go(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await fill(adapter, clock)
    await adapter.write(draft(key="old", ttl_at="2026-01-02"))
    before = await state(adapter)
    reports = [
        await adapter.erase([at()], author="owner", dry_run=True),
        await adapter.prune(keep_last=2, author="owner", dry_run=True),
        await adapter.archive_expired(author="owner", dry_run=True),
    ]
    assert await state(adapter) == before
    assert [addresses(each) for each in reports] == [
        [("k", 1), ("k", 2), ("k", 3), ("k", 4)],
        [("k", 1), ("k", 2)],
        [("old", 1)],
    ]
    assert [(each.dry_run, each.commit_ids) for each in reports] == [(True, ())] * 3


@proves("retention.pruned", "retention.verifies")
@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"keep_last": 1}, [4]),
        ({"keep_last": 3}, [2, 3, 4]),
        ({"keep_last": 99}, [1, 2, 3, 4]),
        ({"keep_days": 0}, [4]),
        ({"keep_days": 1.5}, [3, 4]),
        ({"keep_days": 1000}, [1, 2, 3, 4]),
        ({"keep_last": 1, "keep_days": 1.5}, [3, 4]),
        ({"keep_last": 1, "keep": [at(version=2)]}, [2, 4]),
        ({"keep_last": 1, "keep": [at(), at(key="none")]}, [1, 2, 3, 4]),
    ],
    ids=str,
)
async def test_a_pruning_keeps_what_it_is_told_to(
    adapter: AmfsAdapter, clock: FixedClock, options: dict[str, object], left: list[int]
) -> None:
    await fill(adapter, clock)
    clock.set("2026-01-05")
    report = await adapter.prune(**options, author="owner")  # type: ignore[arg-type]  # as each case has them
    kept = [each.version for each in await adapter.history("svc/a", "k") if not each.withdrawn]
    assert kept == left
    assert addresses(report) == [("k", n) for n in (1, 2, 3, 4) if n not in left]
    current = await adapter.read("svc/a", "k")
    assert current is not None
    assert current.value == "word4"
    assert await is_sound(adapter)


@proves("retention.pruned-under")
async def test_pruning_and_archiving_go_by_path(adapter: AmfsAdapter) -> None:
    for path in ("a", "a/b", "ab", "_system/x"):
        for value in (1, 2):
            await adapter.write(draft(path, value=value, ttl_at="2025-01-01"))

    def paths(report: RetentionReport) -> list[str]:
        return [each.entity_path for each in report.versions]

    async def looked(entity_path: str | None, *, include_system: bool = True) -> list[list[str]]:
        pruned = await adapter.prune(
            entity_path=entity_path, include_system=include_system, keep_last=1, author="owner", dry_run=True
        )
        archived = await adapter.archive_expired(
            entity_path=entity_path, include_system=include_system, author="owner", dry_run=True
        )
        return [paths(pruned), paths(archived)]

    assert await looked("a") == [["a", "a/b"]] * 2
    assert await looked(None, include_system=False) == [["a", "a/b", "ab"]] * 2
    assert await looked("") == [["a", "a/b", "ab", "_system/x"]] * 2


@proves("retention.archived", "retention.counter", "retention.verifies")
async def test_what_has_expired_is_put_away(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await adapter.write(draft(key="old", ttl_at="2026-01-02", tags=("t",), note="x"))
    await adapter.write(draft(key="new", ttl_at="2026-01-03"))
    clock.set("2026-01-02")
    report = await adapter.archive_expired(author="owner", message="sweep")
    assert addresses(report) == [("old", 2)]
    assert [each.key for each in await adapter.list()] == ["new"]
    assert await shown(adapter) == [("old", 1, 1, None), ("old", 2, None, "archived"), ("new", 1, 1, None)]
    tombstone = (await adapter.history("svc/a", "old"))[1]
    assert (tombstone.tags, tombstone.ttl_at, tombstone.model_extra) == ((), None, {})
    assert (tombstone.written_at, tombstone.agent_id) == (clock.now(), "alice")
    assert report.commit_ids == (tombstone.commit_id,)
    assert (await adapter.archive_expired(author="owner")).versions == ()
    assert (await adapter.write(draft(key="old"), expected_version=0)).version == 3
    assert await is_sound(adapter)


@proves("retention.archived-private")
async def test_what_was_private_stays_private_when_archived(adapter: AmfsAdapter) -> None:
    await adapter.write(private(key="old", agent="bob", ttl_at="2025-01-01"))
    await adapter.archive_expired(author="owner")
    assert await adapter.history("svc/a", "old", viewer="alice") == []
    assert len(await adapter.history("svc/a", "old", viewer="bob")) == 2


@proves("retention.outcomes")
async def test_outcomes_about_what_was_withdrawn_move_nothing(
    handoff_adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await fill(handoff_adapter, clock)
    await handoff_adapter.erase([at(version=4)], author="owner")
    for named in (at(version=4), at(version=2)):
        assert await handoff_adapter.commit_outcome(outcome("failure", named, outcome_ref=str(named))) == []
    reasons = [each.reason for log in await handoff_adapter.list_outcomes() for each in log.effects]
    assert reasons == ["stale", "stale"]
    with pytest.raises(EntryNotFoundError):
        await handoff_adapter.commit_outcome(outcome("failure", at()))
    assert await is_sound(handoff_adapter)


@proves("retention.many")
async def test_more_than_a_thousand_go_in_several_commits(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(value=n) for n in range(1_201)])
    report = await adapter.prune(keep_last=1, author="owner")
    assert (len(report.versions), len(set(report.commit_ids))) == (1_200, 2)
    assert await is_sound(adapter)


@proves("retention.results")
async def test_a_repeated_request_no_longer_returns_what_was_erased(adapter: AmfsAdapter) -> None:
    first = await adapter.commit([Write(draft(value="secret"))], author="alice", idempotency_key="once")
    await adapter.erase([at()], author="owner")
    again = await adapter.commit([Write(draft(value="secret"))], author="alice", idempotency_key="once")
    recorded = await adapter.recorded_result("once", author="alice")
    assert again == recorded
    assert again.commit == first.commit
    assert [(each.value, each.withdrawn) for each in again.entries] == [(None, "erased")]


@proves("retention.heard")
async def test_a_watch_hears_of_an_archiving(adapter: AmfsAdapter) -> None:
    heard: list[tuple[int, str | None]] = []
    await adapter.write(draft(ttl_at="2025-01-01"))
    await adapter.watch("svc/a", lambda entry: heard.append((entry.version, entry.withdrawn)))
    await adapter.archive_expired(author="owner")
    assert heard == [(2, "archived")]
