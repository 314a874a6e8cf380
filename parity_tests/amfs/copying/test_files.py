"""From a file to another one, into a directory of the SDK's file adapter, and back."""

import io
import shutil
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.exceptions import AMFSError
from amfs_core.models import (
    AgentGroup,
    AgentProfile,
    Branch,
    Digest,
    DigestType,
    MemoryEntry,
    OutcomeRecord,
    OutcomeType,
    Tag,
)
from amfs_filesystem.adapter import FilesystemAdapter

from amfs_sqlite import EntryRef, SqliteAdapter
from amfs_sqlite.sync import SyncSqliteAdapter
from bridge.cli.main import main
from parity_tests.amfs.copying.commands import FIRST, copied, entry, filled, killed_copy, versions
from parity_tests.amfs.corpus import opened
from parity_tests.ledger import proves

EVERYTHING = {"entries": 5, "outcomes": 1, "traces": 1, "events": 1, "agents": 1, "edges": 1}
KEYS = 1000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with some of everything."""
    return filled(tmp_path / "memory.db")


def read(path: Path, method: str, **given: Any) -> list[dict[str, Any]]:
    """What an adapter on this file lists, without what every store makes itself."""
    made = {"id", "namespace", "last_active_at"}
    with SyncSqliteAdapter(path) as memory:
        found = getattr(memory, method)(**given)
        made |= {"created_at"} if method == "list_agents" else set()
        return [each.model_dump(exclude=made) for each in found]


@proves("copying.file")
def test_a_file_is_copied_with_history_outcomes_and_what_stands_beside_entries(
    source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "copy.db"
    done = copied(source, target)
    assert (done.code, done.report["isComplete"], done.counts("stored")) == (0, True, EVERYTHING)
    assert versions(target) == versions(source)
    for method in ("list_outcomes", "list_traces", "list_agents", "list_graph_edges", "list_commits"):
        assert read(target, method) == read(source, method)
    assert read(target, "list_events", agent_id="scout") == read(source, "list_events", agent_id="scout")
    assert main(["verify", "--db", str(target)]) == 0


@proves("copying.file")
def test_a_thousand_keys_with_history_go_to_a_directory_and_come_back_equal(tmp_path: Path) -> None:
    source, directory, back = tmp_path / "memory.db", tmp_path / "tree", tmp_path / "back.db"
    given = [
        entry(f"svc/{number % 7}", f"k{number}", {"n": number, "v": version}, version, shared=number % 5 > 0)
        for version in range(3)
        for number in range(0, KEYS, version + 1)
    ]
    with SyncSqliteAdapter(source, durability="normal") as memory:
        memory.write_batch(given)
    assert copied(source, f"{directory}/").counts("stored") == {"entries": len(given)}
    done = copied(directory, back)
    assert (done.code, done.counts("stored")) == (0, {"entries": len(given)})
    assert versions(back) == versions(source)


@proves("copying.directory")
def test_a_directory_takes_entries_with_their_history_and_is_told_of_what_it_has_no_place_for(
    source: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "tree"
    done = copied(source, f"{directory}/")
    assert (done.code, done.counts("stored")) == (1, {"entries": 5})
    assert done.counts("leftOut") == {name: 1 for name in EVERYTHING if name != "entries"}
    assert done.reason("traces") == "the target keeps none"
    made = {"content_hash", "integrity_chain", "commit_id"}
    found = FilesystemAdapter(directory).list(include_superseded=True)
    there = {f"{each.entry_key}@{each.version}": each.model_dump(exclude=made) for each in found}
    assert there == {
        f"{each['entity_path']}/{each['key']}@{each['version']}": each for each in versions(source)
    }


@proves("copying.directory")
def test_what_agents_of_the_sdk_wrote_to_a_directory_comes_into_a_file(tmp_path: Path) -> None:
    directory, target = tmp_path / "tree", tmp_path / "memory.db"
    with AgentMemory("scout", adapter=FilesystemAdapter(directory)) as memory:
        memory.write("svc/api", "retry", {"most": 3}, confidence=0.7)
        memory.write("svc/api", "private", 1, shared=False)
        with memory.transaction("two keys") as transaction:
            transaction.write("svc/api", "a", 1)
            transaction.write("svc/api", "b", 2)
        memory.read("svc/api", "retry")
        memory.commit_outcome("t-1", OutcomeType.FAILURE, causal_entry_keys=["svc/api/retry"])
    done = copied(directory, target)
    assert (done.code, done.counts("stored")) == (0, {"entries": 5, "commits": 1})
    retried = [each for each in versions(target) if each["key"] == "retry"]
    assert [(each["version"], each["failure_count"]) for each in retried] == [(1, 0), (2, 1)]
    with opened(target) as memory:
        (commit,) = memory.list_commits()
        assert commit.message == "two keys"
        kept = {each.commit_id for each in memory.list("svc/api") if each.key in ("a", "b")}
        assert kept == {commit.id}


@proves("copying.twice")
@pytest.mark.parametrize("name", ["copy.db", "tree/"])
def test_nothing_is_new_the_second_time(source: Path, tmp_path: Path, name: str) -> None:
    target = f"{tmp_path}/{name}"
    first, second = copied(source, target), copied(source, target)
    assert second.counts("stored") == second.counts("missing") == {}
    assert second.counts("held") == first.counts("stored")
    assert second.code == first.code


@proves("copying.later")
def test_what_came_later_is_added_and_moves_nothing_that_was_copied(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    copied(source, target)
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc/api", "retry", 9, 5))
        record = OutcomeRecord(
            outcome_ref="run-2",
            outcome_type=OutcomeType.FAILURE,
            causal_entry_keys=["svc/api/retry"],
            agent_id="scout",
            committed_at=FIRST + timedelta(hours=6),
        )
        memory.commit_outcome(record)
        memory.update_agent_profile("scout", AgentProfile(description="looks twice"))
    done = copied(source, target)
    assert done.counts("stored") == {"entries": 2, "outcomes": 1}
    assert versions(target) == versions(source)
    assert done.code == 1
    assert {
        (each["kind"], each["field"]) for each in done.report["differences"] if each["how"] == "changed"
    } == {("agents", "profile")}


@proves("copying.killed")
@pytest.mark.parametrize(
    ("method", "let_pass", "name"),
    [
        ("keep_outcome", 0, "copy.db"),
        ("keep_entries", 0, "copy.db"),
        ("keep_entries", 2, "copy.db"),
        ("write", 4, "tree/"),
        ("save_trace", 0, "copy.db"),
        ("log_event", 0, "copy.db"),
        ("update_agent_profile", 0, "copy.db"),
    ],
)
def test_a_copy_that_was_killed_is_complete_when_it_is_run_again(
    source: Path, tmp_path: Path, method: str, let_pass: int, name: str
) -> None:
    target = f"{tmp_path}/{name}"
    killed_copy(source, target, method, let_pass)
    done = copied(source, target)
    whole = copied(source, f"{tmp_path}/whole-{name}")
    assert {
        each: done.counts("stored").get(each, 0) + done.counts("held").get(each, 0) for each in EVERYTHING
    } == {each: whole.counts("stored").get(each, 0) for each in EVERYTHING}
    assert (done.code, done.counts("missing")) == (whole.code, {})
    if name == "copy.db":
        assert versions(tmp_path / name) == versions(source)
        assert read(tmp_path / name, "list_agents") == read(source, "list_agents")


@proves("copying.conflicts")
@pytest.mark.parametrize("name", ["other.db", "tree/"])
def test_what_the_target_holds_otherwise_is_left_alone_and_named(tmp_path: Path, name: str) -> None:
    ours, theirs, target = tmp_path / "ours.db", tmp_path / "theirs.db", f"{tmp_path}/{name}"
    for path, values in ((ours, ("same", "ours", "more")), (theirs, ("same", "theirs"))):
        with SyncSqliteAdapter(path) as memory:
            for hour, value in enumerate(values):
                memory.write(entry("svc", "k", value, hour if value == "same" else hour + len(value)))
            memory.write(entry("svc", path.stem, 1, 20))
    copied(theirs, target)
    done = copied(ours, target)
    assert (done.code, done.report["conflictCount"]) == (1, 2)
    assert done.left_out().keys() == {"svc/k@2", "svc/k@3"}
    assert (done.counts("stored"), done.counts("held")) == ({"entries": 1}, {"entries": 1})
    back = tmp_path / "back.db"
    copied(target, back)
    assert [each["value"] for each in versions(back) if each["key"] == "k"] == ["same", "theirs"]


@proves("copying.directory")
@pytest.mark.parametrize("path", ["../out", "/out", "a/../../out", "a//b", ".", "a\\b"])
def test_an_address_that_would_leave_the_directory_is_refused(tmp_path: Path, path: str) -> None:
    source, directory = tmp_path / "memory.db", tmp_path / "deep" / "tree"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry(path, "k", 1, 0))
        memory.write(entry("fine", "k", 1, 1))
    done = copied(source, f"{directory}/")
    assert (done.code, done.counts("stored")) == (1, {"entries": 1})
    assert list(done.left_out()) == [f"{path}/k@1"]
    files = [each.relative_to(directory).parts for each in tmp_path.rglob("v*.json")]
    assert files == [("default", "fine", "k", "v001_current.json")]


@proves("copying.directory")
def test_of_two_addresses_that_a_directory_cannot_tell_apart_one_is_kept_whole(tmp_path: Path) -> None:
    source, directory = tmp_path / "memory.db", tmp_path / "tree"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("a", "b/c", "first", 0))
        memory.write(entry("a/b", "c", "second", 1))
    done = copied(source, f"{directory}/")
    assert (done.code, done.report["conflictCount"]) == (1, 1)
    assert list(done.left_out()) == ["a/b/c@1"]
    assert [each.value for each in FilesystemAdapter(directory).list(include_superseded=True)] == ["first"]


@proves("copying.told")
def test_a_version_that_a_directory_cannot_read_is_told(source: Path, tmp_path: Path) -> None:
    directory = tmp_path / "tree"
    copied(source, f"{directory}/")
    (damaged,) = directory.rglob("v004_current.json")
    damaged.write_text("{", encoding="utf-8")
    done = copied(directory, tmp_path / "back.db")
    assert (done.code, done.counts("stored")) == (1, {"entries": 1})
    told, *others = done.report["leftOut"]
    assert "v004_current.json" in told["reason"]
    # The newest that can be read is not what was current.
    assert [each["version"] for each in others] == [1, 2, 3]


def let_go(path: Path, *command: str) -> None:
    """Run a command that takes something out of a file."""
    with redirect_stdout(io.StringIO()):
        assert main([*command, "--yes", "--db", str(path)]) == 0


@proves("copying.withdrawn")
@pytest.mark.parametrize("command", [("archive",), ("erase", "svc", "k", "--at", "2")])
@pytest.mark.parametrize("name", ["copy.db", "tree/"])
def test_what_was_withdrawn_does_not_come_to_life(
    tmp_path: Path, command: tuple[str, ...], name: str
) -> None:
    source, target = tmp_path / "memory.db", f"{tmp_path}/{name}"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "k", 1, 0))
        memory.write(entry("svc", "k", 2, 1, ttl_at=FIRST - timedelta(days=365)))
        memory.write(entry("svc", "other", 1, 2))
    let_go(source, *command)
    done = copied(source, target)
    assert (done.code, done.report["isComplete"], done.report["conflictCount"]) == (1, False, 0)
    assert set(done.left_out()) >= {"svc/k@1"}
    assert "archived or erased" in done.left_out()["svc/k@1"]
    back = tmp_path / "back.db"
    copied(target, back)
    assert [each["key"] for each in versions(back)] == ["other"]


@proves("copying.withdrawn")
def test_what_was_withdrawn_after_it_was_copied_is_told(tmp_path: Path) -> None:
    source, target = tmp_path / "memory.db", tmp_path / "copy.db"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "k", 1, 0, ttl_at=FIRST - timedelta(days=365)))
    assert copied(source, target).code == 0
    let_go(source, "archive")
    done = copied(source, target)
    assert (done.code, list(done.left_out())) == (1, ["svc/k@1"])


@proves("copying.pruned")
@pytest.mark.parametrize("name", ["copy.db", "tree/"])
def test_a_key_whose_old_versions_are_gone_is_left_out_and_is_no_conflict(tmp_path: Path, name: str) -> None:
    source = tmp_path / "memory.db"
    with SyncSqliteAdapter(source) as memory:
        for number in range(3):
            memory.write(entry("svc", "k", number, number))
        memory.write(entry("svc", "other", 1, 4))
    let_go(source, "prune", "--keep-last", "1")
    done = copied(source, f"{tmp_path}/{name}")
    assert (done.code, done.report["conflictCount"], done.counts("stored")) == (1, 0, {"entries": 1})
    assert list(done.left_out()) == ["svc/k@3"]
    assert "pruned, erased or archived" in done.left_out()["svc/k@3"]


@proves("copying.pruned")
def test_an_old_version_does_not_come_to_be_current_where_one_between_is_gone(tmp_path: Path) -> None:
    source, target = tmp_path / "memory.db", tmp_path / "copy.db"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "k", "old", 0, ttl_at=FIRST - timedelta(days=365)))
    let_go(source, "archive")
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "k", "new", 1))
    done = copied(source, target)
    assert (done.code, done.report["conflictCount"]) == (1, 0)
    assert done.left_out().keys() == {"svc/k@1", "svc/k@3"}
    assert versions(target) == []


@proves("copying.pruned")
def test_what_was_copied_before_it_was_pruned_goes_on(tmp_path: Path) -> None:
    source, target = tmp_path / "memory.db", tmp_path / "copy.db"
    with SyncSqliteAdapter(source) as memory:
        for number in range(2):
            memory.write(entry("svc", "k", number, number))
    copied(source, target)
    let_go(source, "prune", "--keep-last", "1")
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "k", 2, 2))
    done = copied(source, target)
    assert (done.code, done.counts("stored"), done.counts("held")) == (0, {"entries": 1}, {"entries": 1})
    assert [each["value"] for each in versions(target)] == [0, 1, 2]


@proves("copying.dry-run")
@pytest.mark.parametrize("name", ["copy.db", "tree/"])
def test_a_dry_run_tells_what_would_be_stored_and_makes_nothing(
    source: Path, tmp_path: Path, name: str
) -> None:
    before = sorted(tmp_path.iterdir())
    trial = copied(source, f"{tmp_path}/{name}", "--dry-run")
    assert not set(tmp_path.iterdir()) - {*before, *tmp_path.glob("memory.db-*")}
    done = copied(source, f"{tmp_path}/{name}")
    for number in ("stored", "held", "leftOut"):
        assert trial.counts(number) == done.counts(number)
    assert copied(source, f"{tmp_path}/{name}", "--dry-run").counts("held") == done.counts("stored")


@proves("copying.namespace")
def test_one_namespace_is_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "memory.db", tmp_path / "copy.db"
    for namespace in ("default", "team"):
        with SyncSqliteAdapter(source, namespace=namespace) as memory:
            memory.write(entry("svc", namespace, 1, 0))
    assert copied(source, target, "--namespace", "team").counts("stored") == {"entries": 1}
    assert versions(target) == []
    with SyncSqliteAdapter(target, namespace="team") as memory:
        assert [each.key for each in memory.list()] == ["team"]


@proves("copying.not-taken")
def test_what_a_copy_does_not_take_is_counted_as_left_out(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with SyncSqliteAdapter(source) as memory:
        memory.create_agent_group(AgentGroup(name="readers"))
        memory.create_tag(Tag(name="v1", created_by="scout", tagged_at=FIRST))
        for scope in ("svc/api", "svc"):
            digest = Digest(digest_type=DigestType.ENTITY, scope=scope, summary={}, compiled_at=FIRST)
            memory.upsert_digest(digest)
    done = copied(source, tmp_path / "copy.db")
    assert (done.code, done.report["isComplete"], done.counts("stored")) == (1, False, EVERYTHING)
    assert done.counts("leftOut") == {"groups": 1, "tags": 1, "digests": 2}
    assert done.report["leftOutCount"] == 4
    assert main(["copy", str(source), "--to", str(tmp_path / "copy.db")]) == 1
    shown = capsys.readouterr().out
    assert "left out     2 digests  a copy takes none" in shown
    assert "all that a copy takes is there" not in shown


@proves("copying.not-taken")
def test_a_kind_that_cannot_be_counted_is_told_and_the_copy_goes_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_adapter: SyncSqliteAdapter, namespace: str) -> None:
        raise AMFSError(f"{namespace} has none to show")

    monkeypatch.setattr(SyncSqliteAdapter, "list_digests", refused)
    done = copied(source, tmp_path / "copy.db")
    assert (done.code, done.report["isComplete"], done.counts("stored")) == (1, False, EVERYTHING)
    assert done.reason("digests") == "the source does not list them: default has none to show"


@proves("copying.branches")
def test_other_branches_are_counted_and_not_copied(source: Path, tmp_path: Path) -> None:
    with opened(source) as memory:
        for name in ("trial", "empty"):
            memory.create_branch(Branch(name=name, branched_at=FIRST, created_by="scout"))
        memory.write(entry("svc/api", "retry", 99, 7, branch="trial"))
    done = copied(source, tmp_path / "copy.db")
    assert (done.code, done.report["branches"], done.counts("stored")) == (1, {"trial": 1}, EVERYTHING)
    assert versions(tmp_path / "copy.db") == versions(source)


@proves("copying.ends")
def test_without_the_sdk_the_command_says_how_to_install_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bridge.cli.copying.find_spec", lambda _name: None)
    assert main(["copy", str(source), "--to", str(tmp_path / "copy.db")]) == 2
    assert "pip install 'amfs-sqlite[amfs]'" in capsys.readouterr().err


@proves("copying.later")
def test_an_outcome_is_not_reported_a_second_time_where_it_would_move_what_is_there(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    monkeypatch.delattr(SyncSqliteAdapter, "keep_outcome")
    assert copied(source, target).counts("stored") == EVERYTHING
    with SyncSqliteAdapter(source) as memory:
        record = OutcomeRecord(
            outcome_ref="run-2",
            outcome_type=OutcomeType.SUCCESS,
            causal_entry_keys=["svc/api/limits/burst"],
            agent_id="scout",
            committed_at=FIRST,
        )
        memory.commit_outcome(record)
    done = copied(source, target)
    assert (done.code, done.counts("stored"), done.counts("leftOut")) == (1, {"entries": 1}, {"outcomes": 1})
    assert versions(target) == versions(source)


@proves("copying.twice")
def test_what_another_writes_meanwhile_is_a_conflict_and_no_version_is_numbered_anew(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, keep = tmp_path / "copy.db", SyncSqliteAdapter.keep_entries
    rival = iter([entry("svc/api", "retry", "rival", 9)])

    def overtaken(self: SyncSqliteAdapter, given: Sequence[MemoryEntry]) -> Sequence[MemoryEntry]:
        if given[-1].version == 2 and (other := next(rival, None)):
            self.write(other)
        return keep(self, given)

    monkeypatch.setattr(SyncSqliteAdapter, "keep_entries", overtaken)
    done = copied(source, target)
    assert (done.code, done.report["conflictCount"]) == (1, 1)
    assert done.left_out().keys() == {f"svc/api/retry@{number}" for number in (2, 3, 4)}
    kept = [each["value"] for each in versions(target) if each["key"] == "retry"]
    assert kept == [3, "rival"]


@proves("copying.erased")
async def test_what_was_erased_in_the_target_does_not_come_back(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    copied(source, target)
    async with SqliteAdapter(target) as adapter:
        await adapter.erase([EntryRef(entity_path="svc/api", key="limits/burst")], author="owner")
    done = copied(source, target)
    assert (done.code, done.report["conflictCount"]) == (1, 1)
    assert [each for each in versions(target) if each["key"] == "limits/burst"] == []
    assert [each["key"] for each in versions(target)] == ["retry"] * 4


@proves("copying.people")
def test_people_are_told_what_was_copied_what_is_known_and_what_is_left_out(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["copy", str(source), "--to", str(tmp_path / "copy.db")]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "copied       5 versions  1 outcome" in first
    assert "read back    all that a copy takes is there" in first
    assert main(command) == 0
    assert "copied       nothing new\nknown        5 versions  1 outcome" in capsys.readouterr().out
    assert main([*command[:3], f"{tmp_path}/tree/"]) == 1
    assert "left out     1 trace  the target keeps none" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "tree")
    assert main(["--db", "memory.db", *command]) == 2
    assert "--db is no setting of a copy" in capsys.readouterr().err
