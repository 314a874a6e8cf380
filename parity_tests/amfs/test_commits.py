"""Commits, and what verifies, through the SDK's door."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.exceptions import AdapterError
from amfs_core.lifecycle import LifecycleManager
from amfs_core.models import Branch, Commit, CommitEntry, OutcomeType

from amfs_sqlite import EntryRef, SqliteAdapter
from parity_tests.amfs.corpus import BEGAN, entry, opened
from parity_tests.ledger import proves
from parity_tests.tampering.edits import EDITS, edit

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def memory(sdk_adapter: Any) -> Iterator[AgentMemory]:
    with AgentMemory("scout", adapter=sdk_adapter) as memory:
        yield memory


def commit(commit_id: str, minute: int, **fields: object) -> Commit:
    return Commit.model_validate(
        {
            "id": commit_id,
            "author_agent_id": "scout",
            "created_at": datetime(2026, 1, 1, 0, minute, tzinfo=UTC),
            **fields,
        }
    )


@proves("amfs.transactions")
def test_a_transaction_is_one_commit_as_the_sdk_told_of_it(memory: AgentMemory, sdk_adapter: Any) -> None:
    memory.write("p", "before", 1)
    with memory.transaction("two keys") as transaction:
        transaction.write("p", "a", 1)
        transaction.write("p", "a", 2)
        transaction.write("p", "b", 1)
    with memory.transaction("") as transaction:
        transaction.write("p", "a", 3)
    second, first = sdk_adapter.list_commits()
    assert (first.message, second.message) == ("two keys", "")
    assert (first.parent_ids, second.parent_ids) == ([], [first.id])
    assert sdk_adapter.get_commit(first.id) == first
    versions = sdk_adapter.list("p", include_superseded=True)
    assert [each.version for each in versions if each.commit_id == first.id] == [1, 2, 1]
    assert [each.version for each in versions if each.commit_id == second.id] == [3]
    assert sdk_adapter.verify_integrity()["chain_breaks"] == []


@proves("amfs.transactions")
def test_a_transaction_that_fails_leaves_nothing(memory: AgentMemory, sdk_adapter: Any) -> None:
    def fail(value: object, error: type[Exception] | None = None) -> None:
        with memory.transaction("bad") as transaction:
            transaction.write("p", "a", 1)
            transaction.write("p", "b", value)
            if error is not None:
                raise error

    with pytest.raises(AdapterError):
        fail(float("nan"))
    with pytest.raises(RuntimeError):
        fail(2, RuntimeError)
    assert sdk_adapter.list() == sdk_adapter.list_commits() == []


@proves("amfs.commit-list")
def test_commits_are_listed_newest_first_and_said_once(sdk_adapter: Any) -> None:
    single = sdk_adapter.write(entry())
    listed = CommitEntry(entity_path="p", key="k", version=4, content_hash="ab")
    told = [
        commit("b", 1, message="one", parent_ids=["x"], tree_hash="cd", entries=[listed], session_id="s"),
        commit("a", 1),
        commit("d", 0, message="older"),
        commit("c", 2, branch="other", message="elsewhere"),
    ]
    for each in [*told, *told]:
        sdk_adapter.save_commit(each)
    assert sdk_adapter.list_commits() == [*told[:3]] == [sdk_adapter.get_commit(key) for key in "bad"]
    assert sdk_adapter.list_commits(limit=1) == [told[0]]
    assert sdk_adapter.list_commits(branch="other") == [told[3]]
    assert sdk_adapter.get_commit("nowhere") is None
    assert single.commit_id is not None
    written = sdk_adapter.get_commit(single.commit_id)
    assert written is not None
    assert [(each.key, each.version) for each in written.entries] == [("a", 1)]
    sdk_adapter.save_commit(commit(single.commit_id, 3, message="said later"))
    assert [each.message for each in sdk_adapter.list_commits()] == ["said later", "one", "", "older"]
    sdk_adapter.save_commit(commit(single.commit_id, 3, message="said again"))
    assert [each.message for each in sdk_adapter.list_commits()] == ["said again", "one", "", "older"]
    with pytest.raises(AdapterError):
        sdk_adapter.save_commit("none")


@proves("amfs.commit-namespaces")
def test_a_commit_is_where_it_was_saved(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", namespace="team") as team:
        with AgentMemory("scout", adapter=team).transaction("hello") as transaction:
            transaction.write("p", "a", 1)
        team.save_commit(commit("elsewhere", 0, namespace="third", message="x"))
        assert [each.message for each in team.list_commits(namespace="team")] == ["hello"]
        assert [each.message for each in team.list_commits()] == ["hello"]
        assert [each.id for each in team.list_commits(namespace="third")] == ["elsewhere"]
    with opened(tmp_path / "m.db") as other:
        assert other.list_commits() == []


@proves("amfs.commit-told")
def test_what_was_said_of_a_commit_is_found_in_whatever_namespace_it_was_said(sdk_adapter: Any) -> None:
    silent = sdk_adapter.write(entry()).commit_id
    said = commit(silent, 0, namespace="third", message="said elsewhere")
    sdk_adapter.save_commit(said)
    assert sdk_adapter.get_commit(silent) == said
    own = commit(silent, 1, message="said here")
    sdk_adapter.save_commit(own)
    assert sdk_adapter.get_commit(silent).message == "said here"


@proves("amfs.ancestors")
def test_the_nearest_common_ancestor_is_found(sdk_adapter: Any) -> None:
    for commit_id, parents in {"r": [], "a": ["r"], "b": ["r"], "c": ["a", "b"]}.items():
        sdk_adapter.save_commit(commit(commit_id, 0, parent_ids=parents, message=commit_id))
    assert sdk_adapter.common_ancestor("a", "b") == "r"
    assert sdk_adapter.common_ancestor("c", "b") == "b"
    assert sdk_adapter.common_ancestor("a", "nowhere") is None


@proves("amfs.verify")
async def test_all_that_is_done_verifies(memory: AgentMemory, sdk_adapter: Any, tmp_path: Path) -> None:
    with memory.transaction("t") as transaction:
        transaction.write("p", "a/b", 1)
        transaction.write("p", "a/b", 2)
    memory.write("p", "old", 1, ttl_at=LONG_AGO)
    memory.commit_outcome("r", OutcomeType.SUCCESS, causal_entry_keys=["p/a/b"])
    LifecycleManager(sdk_adapter).sweep()
    async with SqliteAdapter(tmp_path / "memory.db") as ours:
        assert (await ours.verify()).ok
        await ours.erase([EntryRef(entity_path="p", key="old")], author="scout")
        assert (await ours.verify()).ok
    report = sdk_adapter.verify_integrity()
    assert report == {
        "total_checked": report["total_checked"],
        "valid": report["total_checked"],
        "corrupted": [],
        "orphaned": [],
        "chain_breaks": [],
    }
    assert sdk_adapter.verify_integrity("p")["total_checked"] >= 5
    assert sdk_adapter.verify_integrity("nowhere")["total_checked"] == 0


@proves("amfs.valid-count")
@pytest.mark.parametrize(
    ("edited", "valid"),
    [
        (("default", "main", 1), (1, 2)),
        (("default", "main", 2), (0, 2)),
        (("default", "trial", 3), (2, 1)),
        (("other", "main", 3), (2, 3)),
    ],
)
def test_only_versions_of_the_place_that_is_asked_about_are_not_valid(
    tmp_path: Path, edited: tuple[str, str, int], valid: tuple[int, int]
) -> None:
    path = tmp_path / "m.db"
    with opened(path, namespace="other") as adapter:
        for value in (1, 2, 3):
            adapter.write(entry(value=value))
    with opened(path) as adapter:
        adapter.write(entry(value=1))
        adapter.create_branch(
            Branch(name="trial", parent_branch="main", created_by="scout", branched_at=BEGAN)
        )
        adapter.write(entry(value=2))
        adapter.write(entry(value=2, branch="trial"))
        adapter.write(entry(value=3, branch="trial"))
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "UPDATE versions AS v SET value = '\"edited\"' FROM current AS c"
            " WHERE c.id = v.key_id AND c.namespace = ? AND c.branch = ? AND v.version <= ?",
            edited,
        )
        raw.execute("CREATE TABLE about_no_path (x)")
    with opened(path) as adapter:
        on_main, on_branch = adapter.verify_integrity(), adapter.verify_integrity(branch="trial")
    assert on_main["corrupted"]
    assert (on_main["total_checked"], on_branch["total_checked"]) == (2, 3)
    assert (on_main["valid"], on_branch["valid"]) == valid


@proves("amfs.tampering")
@pytest.mark.parametrize("name", EDITS)
def test_what_was_tampered_with_is_reported(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / "m.db") as adapter:
        for value in (1, 2, 3):
            adapter.write(entry(value=value))
    where = edit(tmp_path / "m.db", name)
    with opened(tmp_path / "m.db") as adapter:
        report = adapter.verify_integrity("service")
        assert report[where]
        what = "hash" if where == "corrupted" else "chain"
        shown = {"entity_path", "key", "version", f"expected_{what}", f"actual_{what}", "problem"}
        assert [item for item in report[where] if not shown <= set(item)] == []
