"""Branches through the SDK's door: copy on write, merges whole or not at all, numbers given once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.engine import CausalTagger, CoWEngine
from amfs_core.exceptions import AdapterError
from amfs_core.models import (
    Branch,
    MemoryEntry,
    MergeResult,
    MergeStrategy,
    OutcomeRecord,
    OutcomeType,
)

from amfs_sqlite import EntryRef, FixedClock, InvalidArgumentError, SqliteAdapter
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.ledger import proves

START = datetime(2026, 1, 1, tzinfo=UTC)
MERGED = {"branch": ["both", "fine"], "main": ["fine"]}
Write = Callable[..., MemoryEntry]


@pytest.fixture
def write(sdk_adapter: Any) -> Write:
    engine = CoWEngine(sdk_adapter, CausalTagger("scout", "s"))

    def write(key: str, value: Any, branch: str = "main") -> MemoryEntry:
        entry: MemoryEntry = engine.write("service", key, value, branch=branch)
        return entry

    return write


def make(adapter: Any, name: str = "trial", parent: str = "main") -> None:
    adapter.create_branch(Branch(name=name, parent_branch=parent, created_by="scout", branched_at=START))


def shown(adapter: Any, branch: str = "main", **options: Any) -> list[tuple[str, int, Any]]:
    listed = adapter.list("service", branch=branch, **options)
    assert {entry.branch for entry in listed} <= {branch}
    return [(entry.key, entry.version, entry.value) for entry in listed]


def is_sound(adapter: Any) -> bool:
    report = adapter.verify_integrity()
    return not report["corrupted"] and not report["chain_breaks"]


def holding(folder: Path, text: bytes) -> list[str]:
    return [file.name for file in folder.iterdir() if text in file.read_bytes()]


@proves("branches-sdk.overlay")
def test_a_branch_shows_its_parent_as_it_stood_and_what_it_wrote_itself(
    sdk_adapter: Any, write: Write
) -> None:
    write("kept", 1)
    write("moved", 1)
    write("moved", 2)
    make(sdk_adapter)
    write("moved", 3)
    write("kept", 2)
    write("new on main", 1)
    assert write("moved", "trial", "trial").version == 3
    assert write("own", 1, "trial").version == 1
    assert shown(sdk_adapter, "trial") == [("kept", 1, 1), ("moved", 3, "trial"), ("own", 1, 1)]
    assert shown(sdk_adapter) == [("kept", 2, 2), ("moved", 3, 3), ("new on main", 1, 1)]
    kept = sdk_adapter.read("service", "kept", branch="trial")
    assert kept is not None
    assert kept.value == 1
    assert sdk_adapter.read("service", "new on main", branch="trial") is None
    history = shown(sdk_adapter, "trial", include_superseded=True)
    assert [each for each in history if each[0] == "moved"] == [
        ("moved", 1, 1),
        ("moved", 2, 2),
        ("moved", 3, "trial"),
    ]
    assert is_sound(sdk_adapter)


@proves("branches-sdk.nested")
def test_a_branch_of_a_branch_shows_what_that_showed(sdk_adapter: Any, write: Write) -> None:
    write("a", 1)
    write("b", 1)
    make(sdk_adapter, "outer")
    write("a", "outer", "outer")
    make(sdk_adapter, "inner", "outer")
    write("a", "later", "outer")
    write("b", "inner", "inner")
    write("c", "main", "main")
    assert shown(sdk_adapter, "inner") == [("a", 2, "outer"), ("b", 2, "inner")]
    merged = sdk_adapter.merge_branch("inner")
    assert merged == MergeResult(branch_name="inner", status="merged", merged_entries=1)
    assert shown(sdk_adapter, "outer") == [("a", 3, "later"), ("b", 2, "inner")]
    assert shown(sdk_adapter) == [("a", 1, 1), ("b", 1, 1), ("c", 1, "main")]
    assert is_sound(sdk_adapter)


@proves("branches-sdk.diff")
def test_a_diff_tells_what_was_changed_and_not_what_was_said_again(sdk_adapter: Any, write: Write) -> None:
    write("changed", {"a": 1, "b": [1]})
    write("shorter", [1, 2, 3])
    write("again", 1)
    make(sdk_adapter)
    write("changed", {"a": 2, "b": [1, 2]}, "trial")
    write("again", 1, "trial")
    write("added", 5, "trial")
    write("shorter", [1], "trial")
    found = sdk_adapter.diff_branch("trial")
    kinds = [("added", "added"), ("changed", "modified"), ("shorter", "modified")]
    assert [(each.key, each.diff_type) for each in found] == kinds
    assert [(each.path, each.operation) for each in found[2].field_changes] == [
        ("/2", "remove"),
        ("/1", "remove"),
    ]
    changes = [(each.path, each.operation, each.old_value, each.new_value) for each in found[1].field_changes]
    assert changes == [("/a", "replace", 1, 2), ("/b/1", "add", None, 2)]


@proves("branches-sdk.conflict")
def test_a_merge_in_conflict_merges_nothing(sdk_adapter: Any, write: Write) -> None:
    write("both", 1)
    make(sdk_adapter)
    write("both", "branch", "trial")
    write("fine", 1, "trial")
    write("both", "main")
    result = sdk_adapter.merge_branch("trial")
    assert (result.status, result.merged_entries) == ("conflicts", 0)
    assert [(each.key, each.branch_value, each.main_value) for each in result.conflicts] == [
        ("both", "branch", "main")
    ]
    assert shown(sdk_adapter) == [("both", 2, "main")]
    again = sdk_adapter.merge_branch(
        "trial", strategy=MergeStrategy.MANUAL, resolve_conflicts={"service/both": "branch"}
    )
    assert (again.status, again.merged_entries) == ("merged", 2)
    assert shown(sdk_adapter) == [("both", 3, "branch"), ("fine", 1, 1)]
    with pytest.raises(AdapterError, match="is merged"):
        sdk_adapter.merge_branch("trial")
    assert is_sound(sdk_adapter)


@proves("branches-sdk.opinion")
def test_an_outcome_on_the_parent_is_no_conflict(sdk_adapter: Any, write: Write) -> None:
    write("both", 1)
    make(sdk_adapter)
    write("both", 2, "trial")
    sdk_adapter.commit_outcome(
        OutcomeRecord(
            outcome_ref="run",
            outcome_type=OutcomeType.FAILURE,
            committed_at=START,
            causal_entry_keys=["service/both"],
            agent_id="scout",
        )
    )
    assert sdk_adapter.merge_branch("trial").status == "merged"
    assert shown(sdk_adapter) == [("both", 3, 2)]
    assert is_sound(sdk_adapter)


@proves("branches-sdk.sides")
@pytest.mark.parametrize(
    ("strategy", "both"), [(MergeStrategy.BRANCH_WINS, "branch"), (MergeStrategy.MAIN_WINS, "main")]
)
def test_a_strategy_takes_its_side_and_the_rest_all_the_same(
    sdk_adapter: Any, write: Write, strategy: MergeStrategy, both: str
) -> None:
    write("both", 1)
    make(sdk_adapter)
    write("both", "branch", "trial")
    write("fine", 1, "trial")
    write("both", "main")
    assert sdk_adapter.merge_branch("trial", strategy=strategy).status == "merged"
    assert [(key, value) for key, _, value in shown(sdk_adapter)] == [("both", both), ("fine", 1)]
    assert [each.key for each in sdk_adapter.list_commits(limit=1)[0].entries] == MERGED[both]
    branch = sdk_adapter.get_branch("trial")
    assert branch is not None
    assert (branch.status.value, branch.merged_by) == ("merged", "scout")
    assert is_sound(sdk_adapter)


@proves("branches-sdk.refused")
def test_what_is_no_open_branch_is_written_to_by_nobody(sdk_adapter: Any, write: Write) -> None:
    with pytest.raises(AdapterError, match="never made"):
        write("a", 1, "nowhere")
    with pytest.raises(AdapterError, match="never made"):
        sdk_adapter.list("service", branch="nowhere")
    make(sdk_adapter)
    sdk_adapter.close_branch("trial")
    with pytest.raises(AdapterError, match="is closed"):
        write("a", 1, "trial")
    with pytest.raises(AdapterError, match="is a branch already"):
        make(sdk_adapter)
    assert shown(sdk_adapter) == []


@proves("branches-sdk.namespace")
def test_a_branch_that_could_not_be_written_to_is_not_made(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "memory.db", namespace="team") as adapter:
        with pytest.raises(AdapterError, match=r"own namespace, 'team'.*namespace='cfg'"):
            adapter.create_branch(
                Branch(name="trial", namespace="cfg", created_by="scout", branched_at=START)
            )
        assert [*adapter.list_branches("cfg"), *adapter.list_branches()] == []
        named = Branch(name="trial", namespace="team", created_by="scout", branched_at=START)
        assert adapter.create_branch(named).namespace == "team"


@proves("branches-sdk.recalls")
def test_readings_are_counted_on_over_the_first_write_on_a_branch(sdk_adapter: Any, write: Write) -> None:
    write("a", 1)
    for _ in range(3):
        sdk_adapter.increment_recall_count("service", "a")
    make(sdk_adapter)
    assert write("a", 2, "trial").recall_count == 3
    assert sdk_adapter.read("service", "a", branch="trial").recall_count == 3
    sdk_adapter.increment_recall_count("service", "a", branch="trial")
    assert write("a", 3, "trial").recall_count == 4
    counts = [sdk_adapter.read("service", "a", branch=branch).recall_count for branch in ("trial", "main")]
    assert counts == [4, 3]


@proves("branches-sdk.once")
def test_of_many_that_make_one_branch_one_does(sdk_adapter: Any) -> None:
    def attempt(_each: int) -> bool:
        try:
            make(sdk_adapter)
        except AdapterError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(attempt, range(8))) == [False] * 7 + [True]
    assert [branch.name for branch in sdk_adapter.list_branches()] == ["trial"]


@proves("branches-sdk.rollback")
def test_a_rollback_writes_new_versions_and_gives_no_number_twice(tmp_path: Path) -> None:
    clock = FixedClock(START)
    with SyncSqliteAdapter(tmp_path / "memory.db", clock=clock) as adapter:

        def write(key: str, value: Any, minutes: int) -> None:
            clock.set(START + timedelta(minutes=minutes))
            provenance = {"agent_id": "scout", "session_id": "s", "written_at": START}
            adapter.write(
                MemoryEntry(entity_path="service", key=key, value=value, provenance=provenance)  # type: ignore[arg-type]  # pydantic makes it
            )

        write("a", 1, 0)
        write("a", 2, 10)
        write("born later", 1, 10)
        clock.set(START + timedelta(minutes=20))
        assert adapter.rollback_to_timestamp("scout", "main", START + timedelta(minutes=5)) == 2
        assert shown(adapter) == [("a", 3, 1)]
        clock.set(START + timedelta(minutes=30))
        assert adapter.rollback_to_timestamp("scout", "main", START + timedelta(minutes=15)) == 2
        assert shown(adapter) == [("a", 4, 2), ("born later", 3, 1)]
        assert adapter.rollback_to_timestamp("scout", "main", START + timedelta(minutes=40)) == 0
        assert is_sound(adapter)


@proves("branches-sdk.fork")
def test_a_fork_brings_what_main_lacks_with_its_history(sdk_adapter: Any, write: Write) -> None:
    write("on main", 1)
    make(sdk_adapter)
    write("on main", 2, "trial")
    write("own", 1, "trial")
    write("own", 2, "trial")
    assert sdk_adapter.fork_agent("scout", "copy", branch="trial") == 1
    assert shown(sdk_adapter, include_superseded=True) == [("on main", 1, 1), ("own", 1, 1), ("own", 2, 2)]
    own = sdk_adapter.read("service", "own")
    assert own is not None
    assert own.provenance.agent_id == "copy"
    assert is_sound(sdk_adapter)


@proves("branches-sdk.erasure")
async def test_what_is_erased_is_erased_on_every_branch_and_pruning_leaves_what_they_stand_on(
    sdk_adapter: Any, write: Write, tmp_path: Path
) -> None:
    write("stood on", "base")
    make(sdk_adapter)
    write("stood on", "later")
    write("stood on", "latest")
    write("also", "zqxjkv on main")
    write("stood on", "zqxjkv on trial", "trial")
    make(sdk_adapter, "other")
    async with SqliteAdapter(tmp_path / "memory.db") as adapter:
        pruned = await adapter.prune(keep_last=1, author="owner")
        assert [each.version for each in pruned.versions] == [2]
        refs = [EntryRef(entity_path="service", key=key) for key in ("stood on", "also")]
        await adapter.erase(refs, author="owner")
        assert (await adapter.verify()).ok
    sdk_adapter.close()
    assert holding(tmp_path, b"zqxjkv") == []


@proves("branches-sdk.export")
async def test_a_store_with_branches_is_not_exported_by_half(
    sdk_adapter: Any, write: Write, tmp_path: Path
) -> None:
    make(sdk_adapter)
    write("a", 1, "trial")
    sdk_adapter.close()
    lines: list[bytes] = []
    async with SqliteAdapter(tmp_path / "memory.db") as adapter:
        with pytest.raises(InvalidArgumentError, match="take a backup"):
            await adapter.export_to(lines.append)
    assert lines == []
