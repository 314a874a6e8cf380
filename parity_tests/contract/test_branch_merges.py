"""What comes of branches: their differences, merges, rollbacks and forks, and what erasing does there."""

from collections.abc import Sequence
from typing import Any

import pytest

from amfs_sqlite import FixedClock
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.protocol import Branches
from amfs_sqlite.records.branches import DiffEntry, MergeConflict
from parity_tests.contract.soundness import is_sound
from parity_tests.contract.test_branches import FIVE_PAST, Branched, make, put, shown
from parity_tests.drafts import draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import plain


def told(entries: Sequence[DiffEntry]) -> list[tuple[str, str]]:
    return [(each.key, each.diff_type) for each in entries]


async def in_conflict(adapter: Branches) -> None:
    """Both sides changed `both`, the branch alone `fine`, main alone `theirs`."""
    for key in ("both", "theirs"):
        await put(adapter, key, 1)
    await make(adapter)
    await put(adapter, "both", "branch", "trial")
    await put(adapter, "fine", 1, "trial")
    await put(adapter, "both", "main")
    await put(adapter, "theirs", 2)


@proves("branches.diff")
async def test_a_diff_tells_what_is_otherwise_and_not_what_was_said_again(
    adapter: Branched, clock: FixedClock
) -> None:
    await put(adapter, "changed", {"a": 1, "b": [1, 2], "c": 0})
    for key in ("again", "tagged", "private", "surer", "gone", "same on both"):
        await put(adapter, key, 1)
    clock.set(FIVE_PAST)
    await make(adapter)
    assert list(await adapter.diff_branch("trial")) == []
    await put(adapter, "changed", {"a": 2, "b": [1], "d": 0}, "trial")
    await put(adapter, "again", 1, "trial", session="another")
    await put(adapter, "tagged", 1, "trial", tags=("t",))
    await put(adapter, "private", 1, "trial", shared=False)
    await put(adapter, "surer", 1, "trial", confidence=0.5)
    await put(adapter, "added", 5, "trial")
    for branch in ("trial", MAIN_BRANCH):
        await put(adapter, "same on both", 2, branch)
    await put(adapter, "added on main", 2)
    found = await adapter.diff_branch("trial")
    assert told(found) == [
        ("added", "added"),
        ("changed", "modified"),
        ("private", "modified"),
        ("surer", "modified"),
        ("tagged", "modified"),
    ]
    assert plain(found[1]) == {
        "entity_path": "svc/a",
        "key": "changed",
        "diff_type": "modified",
        "branch_value": {"a": 2, "b": [1], "d": 0},
        "parent_value": {"a": 1, "b": [1, 2], "c": 0},
        "branch_confidence": 1.0,
        "parent_confidence": 1.0,
        "branch_shared": True,
        "field_changes": [
            {"path": "/a", "operation": "replace", "old_value": 1, "new_value": 2},
            {"path": "/b/1", "operation": "remove", "old_value": 2, "new_value": None},
            {"path": "/c", "operation": "remove", "old_value": 0, "new_value": None},
            {"path": "/d", "operation": "add", "old_value": None, "new_value": 0},
        ],
    }
    await adapter.rollback_to_timestamp("alice", "trial", "2025-12-31")
    gone = told(await adapter.diff_branch("trial"))
    assert ("gone", "deleted") in gone
    assert ("added", "added") not in gone


@proves("branches.conflict")
async def test_a_merge_in_conflict_merges_nothing_until_every_side_is_chosen(adapter: Branched) -> None:
    await in_conflict(adapter)
    for strategy in ("fast_forward", "manual"):
        before = await shown(adapter)
        result = await adapter.merge_branch("trial", strategy=strategy, resolve_conflicts={"svc/a": "branch"})
        assert (result.status, result.merged_entries) == ("conflicts", 0)
        assert result.conflicts == (
            MergeConflict(
                entity_path="svc/a",
                key="both",
                branch_value="branch",
                main_value="main",
                branch_version=2,
                main_version=2,
            ),
        )
        assert await shown(adapter) == before
    assert [branch.name for branch in await adapter.list_branches(status="active")] == ["trial"]
    result = await adapter.merge_branch("trial", resolve_conflicts={"svc/a/both": "branch", "other": "main"})
    assert (result.status, result.merged_entries) == ("merged", 2)
    assert await shown(adapter) == [("both", 3, "branch"), ("theirs", 2, 2), ("fine", 1, 1)]
    assert await is_sound(adapter)


@proves("branches.spelled-alike")
async def test_one_spelling_decides_no_two_conflicts(adapter: Branched) -> None:
    alike = [("x", "y/z"), ("x/y", "z")]

    async def put_both(value: str, branch: str) -> None:
        for path, key in alike:
            await adapter.on_branch(branch).write(draft(path, key, value))

    await put_both("base", MAIN_BRANCH)
    await make(adapter)
    await put_both("branch", "trial")
    await put_both("main", MAIN_BRANCH)
    result = await adapter.merge_branch("trial", resolve_conflicts={"x/y/z": "branch"})
    assert result.status == "conflicts"
    assert [(each.entity_path, each.key) for each in result.conflicts] == alike
    assert [entry.value for entry in await adapter.list()] == ["main", "main"]
    await adapter.write(draft("x/y", "z", "branch"))
    result = await adapter.merge_branch("trial", resolve_conflicts={"x/y/z": "branch"})
    assert (result.status, result.merged_entries) == ("merged", 1)
    assert [entry.value for entry in await adapter.list()] == ["branch", "branch"]


@proves("branches.sides")
@pytest.mark.parametrize(
    ("options", "both"),
    [
        ({"strategy": "branch_wins"}, (3, "branch")),
        ({"strategy": "main_wins"}, (2, "main")),
        ({"strategy": "manual", "resolve_conflicts": {"svc/a/both": "main"}}, (2, "main")),
    ],
    ids=["branch wins", "main wins", "chosen"],
)
async def test_a_side_is_taken_and_all_else_too(
    adapter: Branched, options: dict[str, Any], both: tuple[int, Any]
) -> None:
    await in_conflict(adapter)
    assert (await adapter.merge_branch("trial", **options)).status == "merged"
    assert await shown(adapter) == [("both", *both), ("theirs", 2, 2), ("fine", 1, 1)]
    assert await is_sound(adapter)


@proves("branches.merged")
async def test_a_merge_is_one_commit_that_lists_its_versions(adapter: Branched, clock: FixedClock) -> None:
    clock.set("2026-01-01T00:04:00Z")
    await put(adapter, "gone", 1)
    clock.set(FIVE_PAST)
    await make(adapter)
    await put(adapter, "kept", {"a": 1}, "trial", agent="bob", outcome_count=3, tags=("t",), custom=1.5)
    await put(adapter, "kept", {"a": 2}, "trial", agent="carol", outcome_count=4, tags=("t",), custom=1.5)
    assert await adapter.rollback_to_timestamp("bob", "trial", "2025-01-01") == 2
    assert await shown(adapter, "trial") == []
    assert await adapter.rollback_to_timestamp("bob", "trial", "2026-01-01T00:03:00Z") == 0
    await put(adapter, "kept", {"a": 2}, "trial", agent="carol", outcome_count=4, tags=("t",), custom=1.5)
    assert told(await adapter.diff_branch("trial")) == [("gone", "deleted"), ("kept", "added")]
    clock.set("2026-03-01")
    assert (await adapter.merge_branch("trial")).merged_entries == 2
    assert await shown(adapter) == [("kept", 1, {"a": 2})]
    [tombstone] = (await adapter.history("svc/a", "gone"))[1:]
    kept = await adapter.read("svc/a", "kept")
    assert kept is not None
    assert (tombstone.withdrawn, tombstone.commit_id) == ("archived", kept.commit_id)
    facts = (kept.agent_id, kept.outcome_count, kept.tags, kept.model_extra, kept.written_at)
    assert facts == ("carol", 4, ("t",), {"custom": 1.5}, clock.now())
    branch = await adapter.get_branch("trial")
    assert branch is not None
    assert (branch.status, branch.merged_by, branch.merged_at) == ("merged", "alice", clock.now())
    assert await is_sound(adapter)


@proves("branches.merged")
async def test_a_branch_that_says_nothing_otherwise_is_merged_without_a_commit(adapter: Branched) -> None:
    await put(adapter, "a", 1)
    await make(adapter)
    await put(adapter, "a", 1, "trial")
    before = await make(adapter, "before")
    result = await adapter.merge_branch("trial")
    assert (result.status, result.merged_entries, result.conflicts) == ("merged", 0, ())
    assert (await make(adapter, "after")).base_commit_id == before.base_commit_id
    assert [branch.name for branch in await adapter.list_branches(status="merged")] == ["trial"]


@proves("branches.rollback")
@pytest.mark.parametrize("branch", [MAIN_BRANCH, "trial"])
async def test_a_rollback_says_again_what_was_said_by_new_versions(
    adapter: Branched, clock: FixedClock, branch: str
) -> None:
    await put(adapter, "a", 1)
    await make(adapter)
    clock.set("2026-01-01T00:10:00Z")
    await put(adapter, "a", 2, branch)
    await put(adapter, "born later", 1, branch)
    await put(adapter, "untouched", 1, "trial" if branch == MAIN_BRANCH else MAIN_BRANCH)
    clock.set("2026-01-01T00:20:00Z")
    assert await adapter.rollback_to_timestamp("bob", branch, FIVE_PAST) == 2
    assert await shown(adapter, branch) == [("a", 3, 1)]
    clock.set("2026-01-01T00:30:00Z")
    assert await adapter.rollback_to_timestamp("bob", branch, "2026-01-01T00:15:00Z") == 2
    assert await shown(adapter, branch) == [("a", 4, 2), ("born later", 3, 1)]
    listed = await adapter.on_branch(branch).list()
    assert len({entry.commit_id for entry in listed}) == 1
    assert await adapter.rollback_to_timestamp("bob", branch, clock.now()) == 0
    assert plain(await adapter.on_branch(branch).list()) == plain(listed)
    assert await is_sound(adapter)


@proves("branches.rollback-stored")
@pytest.mark.parametrize("claimed", ["2020-01-01", "2030-01-01"])
async def test_a_rollback_goes_by_when_it_was_stored_whatever_its_author_says(
    adapter: Branched, clock: FixedClock, claimed: str
) -> None:
    await put(adapter, "a", 1, written_at=claimed)
    clock.set("2026-01-01T00:10:00Z")
    await put(adapter, "a", 2, written_at=claimed)
    await put(adapter, "born later", 1, written_at=claimed)
    assert await adapter.rollback_to_timestamp("bob", MAIN_BRANCH, FIVE_PAST) == 2
    assert await shown(adapter) == [("a", 3, 1)]
    assert await is_sound(adapter)


@proves("branches.rollback-stored")
async def test_a_rollback_takes_back_what_outcomes_said_since(adapter: Branched, clock: FixedClock) -> None:
    await put(adapter, "a", 1, confidence=0.5)
    clock.set("2026-01-01T00:10:00Z")
    reported = await adapter.commit_outcome(outcome("failure", "svc/a/a"))
    assert [(each.version, each.confidence != 0.5) for each in reported] == [(2, True)]
    assert await adapter.rollback_to_timestamp("bob", MAIN_BRANCH, FIVE_PAST) == 1
    restored = await adapter.read("svc/a", "a")
    assert restored is not None
    assert (restored.version, restored.confidence) == (3, 0.5)
    assert await is_sound(adapter)


@proves("branches.fork")
async def test_a_fork_brings_what_main_lacks_with_its_history(adapter: Branched) -> None:
    await put(adapter, "on main", 1)
    await make(adapter)
    branch = adapter.on_branch("trial")
    await put(adapter, "on main", 2, "trial")
    await put(adapter, "own", 1, "trial", outcome_count=3)
    await put(adapter, "own", 2, "trial", agent="bob", confidence=0.5)
    await branch.write(private(key="hidden", agent="bob"))
    await branch.write(draft("_system/x", "k"))
    assert await adapter.fork_agent("alice", "copy", branch="trial") == 1
    assert await shown(adapter, include_superseded=True) == [("on main", 1, 1), ("own", 1, 1), ("own", 2, 2)]
    history = await adapter.history("svc/a", "own")
    assert {(each.agent_id, each.outcome_count) for each in history} == {("copy", 0)}
    assert [each.confidence for each in history] == [1.0, 0.5]
    assert len({each.commit_id for each in history}) == 1
    assert await adapter.fork_agent("alice", "copy", branch="trial") == 0
    assert await adapter.fork_agent("alice", "copy") == 0
    assert await is_sound(adapter)
