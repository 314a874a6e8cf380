"""What goes wrong on the SDK's own adapters, and here does not: through AgentMemory wherever it can be."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs.memory import _get_sdk_executor
from amfs_core.exceptions import AdapterError, VersionConflictError
from amfs_core.lifecycle import LifecycleManager
from amfs_core.models import MemoryEntry, OutcomeType

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.ledger import proves

THREADS = 8
DEADLINE_S = 40
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
WRITER = """
import sys
from amfs import AgentMemory
from amfs_sqlite.sync import SyncSqliteAdapter
with AgentMemory("other", adapter=SyncSqliteAdapter(sys.argv[1], durability="normal")) as memory:
    for number in range(int(sys.argv[2])):
        memory.write("svc/below", "k", number)
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no configuration of the SDK is found."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def adapters(tmp_path: Path) -> Iterator[Sequence[SyncSqliteAdapter]]:
    """Two on one file."""
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path) as one, SyncSqliteAdapter(path, durability="normal") as other:
        yield one, other


@pytest.fixture
def memory(sdk_adapter: SyncSqliteAdapter) -> AgentMemory:
    """Of an agent."""
    return AgentMemory("scout", adapter=sdk_adapter)


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What it returns in each of the threads, which all begin together."""
    barrier = threading.Barrier(THREADS)

    def begin(number: int) -> Any:
        barrier.wait(DEADLINE_S)
        return work(number)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(begin, range(THREADS)))


def drained() -> None:
    """All that the SDK logs behind a call is logged."""
    _get_sdk_executor().submit(int).result(DEADLINE_S)


def current(memory: AgentMemory, path: str, key: str) -> MemoryEntry:
    found = memory.read(path, key)
    assert found is not None
    return found


def listed(memory: AgentMemory, path: str | None = None, *, every: bool = False) -> Sequence[MemoryEntry]:
    """The SDK names the method like the type, and what it returns is lost on type checkers."""
    found: Sequence[MemoryEntry] = memory.list(path, include_superseded=every)
    return found


def history(memory: AgentMemory, path: str, key: str) -> Sequence[MemoryEntry]:
    found: Sequence[MemoryEntry] = memory.history(path, key)
    return found


@proves("sdk.outcomes-at-once")
def test_outcomes_of_eight_threads_all_count(adapters: Sequence[SyncSqliteAdapter]) -> None:
    one, other = adapters
    AgentMemory("scout", adapter=one).write("svc", "k", 1, confidence=0.5)

    def report(number: int) -> None:
        agent = AgentMemory(f"a{number}", adapter=adapters[number % 2])
        for turn in range(10):
            moved = agent.commit_outcome(f"r{number}-{turn}", OutcomeType.SUCCESS, ["svc/k"])
            assert len(moved) == 1

    at_once(report)
    found = other.read("svc", "k")
    assert found is not None
    assert (found.version, found.outcome_count, found.success_count) == (81, 80, 80)
    assert (one.count_outcomes(), other.count_traces()) == (80, 80)
    assert one.verify_integrity()["chain_breaks"] == []
    drained()


@proves("sdk.readings-at-once")
def test_readings_of_eight_threads_all_count(adapters: Sequence[SyncSqliteAdapter], tmp_path: Path) -> None:
    AgentMemory("scout", adapter=adapters[0]).write("svc", "k", 1)

    def read(number: int) -> None:
        for _ in range(100):
            adapters[number % 2].increment_recall_count("svc", "k")

    at_once(read)
    drained()
    for each in adapters:
        each.close()
    with SyncSqliteAdapter(tmp_path / "memory.db") as anew:
        found = anew.read("svc", "k")
    assert found is not None
    assert found.recall_count == 800


@proves("sdk.readers-beside-a-writer")
def test_readers_beside_a_writer_always_find_the_entry(adapters: Sequence[SyncSqliteAdapter]) -> None:
    writing = AgentMemory("scout", adapter=adapters[1])
    writing.write("svc", "k", 0)
    ended = threading.Event()

    def work(number: int) -> list[int]:
        if number == 0:
            try:
                for turn in range(1, 100):
                    writing.write("svc", "k", turn)
            finally:
                ended.set()
            return []
        adapter = adapters[number % 2]
        seen: list[int] = []
        while not (seen and ended.is_set()):
            found, listed = adapter.read("svc", "k"), adapter.list("svc")
            assert found is not None
            assert len(listed) == 1
            assert found.version == found.value + 1
            seen += [found.version, listed[0].version]
        return seen

    for versions in at_once(work):
        assert versions == sorted(versions)
    drained()


@proves("sdk.all-or-nothing")
def test_a_transaction_is_stored_whole_with_a_key_twice_too(memory: AgentMemory) -> None:
    memory.write("svc", "k", 0)
    with memory.transaction("three") as three:
        three.write("svc", "k", 1)
        three.write("svc", "other", 1)
        three.write("svc", "k", 2)
    assert [(each.key, each.version, each.value) for each in three.entries] == [
        ("k", 2, 1),
        ("other", 1, 1),
        ("k", 3, 2),
    ]
    assert three.commit is not None
    assert {each.commit_id for each in three.entries} == {three.commit.id}
    assert memory.get_commit(three.commit.id) == three.commit
    assert [each.value for each in history(memory, "svc", "k")] == [0, 1, 2]
    report = memory.verify()
    assert (report["corrupted"], report["chain_breaks"]) == ([], [])


@proves("sdk.all-or-nothing")
def test_a_transaction_of_which_a_part_is_refused_leaves_nothing(memory: AgentMemory) -> None:
    memory.write("svc", "k", 0)
    refused = memory.transaction("refused")
    for key, value in (("k", 1), ("other", float("nan")), ("k", 2)):
        refused.write("svc", key, value)
    with pytest.raises(AdapterError), refused:
        pass
    assert [each.value for each in listed(memory)] == [0]
    assert memory.commit_log() == []
    conflicting = [
        MemoryEntry(entity_path="svc", key=key, value=1, version=version, provenance=entry.provenance)
        for entry in listed(memory)
        for key, version in (("new", 1), ("k", 9))
    ]
    with pytest.raises(VersionConflictError):
        memory.adapter.write_batch(conflicting)
    assert [(each.key, each.version) for each in listed(memory)] == [("k", 1)]


@proves("sdk.slashes")
def test_a_key_with_a_slash_is_addressed_listed_and_credited(memory: AgentMemory) -> None:
    memory.write("a", "b/c", "of a", confidence=0.5)
    memory.write("a/b", "c", "of a/b", confidence=0.5)
    memory.write("a", "d/e", "alone", confidence=0.5)
    assert (current(memory, "a", "b/c").value, current(memory, "a/b", "c").value) == ("of a", "of a/b")
    assert [each.key for each in listed(memory, "a")] == ["b/c", "d/e"]
    assert [each.key for each in listed(memory, "a/b")] == ["c"]
    assert [each.value for each in history(memory, "a", "b/c")] == ["of a"]
    updated: Sequence[MemoryEntry] = memory.commit_outcome("r1", OutcomeType.SUCCESS, ["a/d/e"])
    (moved,) = updated
    assert (moved.entity_path, moved.key, moved.outcome_count) == ("a", "d/e", 1)


@proves("sdk.no-paths")
@pytest.mark.parametrize("name", ["../../x", "/etc/x", ".", "..", "a/../../x", "C:\\x", "~", "con"])
def test_no_name_reaches_the_file_system(name: str, memory: AgentMemory, tmp_path: Path) -> None:
    def files() -> list[Path]:
        return sorted(path for folder in (tmp_path, tmp_path.parent) for path in folder.iterdir())

    before = files()
    for path, key in ((name, "k"), ("p", name), (name, name)):
        memory.write(path, key, [path, key])
        assert current(memory, path, key).value == [path, key]
        assert len(history(memory, path, key)) == 1
        assert key in [each.key for each in listed(memory, path)]
    assert memory.get_commit(name) is None
    memory.adapter.watch(name, print).cancel()
    assert files() == before


@proves("sdk.no-paths")
@pytest.mark.parametrize(("path", "key"), [("", "k"), ("p", ""), ("", "")])
def test_an_empty_name_is_refused(path: str, key: str, memory: AgentMemory) -> None:
    with pytest.raises(AdapterError, match=r"is empty"):
        memory.write(path, key, 1)
    assert memory.read(path, key) is None
    assert listed(memory) == []


@proves("sdk.verify")
def test_verify_is_clean_after_outcomes_and_archiving_and_catches_an_edit(
    memory: AgentMemory, tmp_path: Path
) -> None:
    memory.write("svc", "k", "first", confidence=0.5)
    memory.commit_outcome("r1", OutcomeType.SUCCESS, ["svc/k"])
    memory.commit_outcome("r2", OutcomeType.FAILURE, ["svc/k"])
    memory.write("svc", "soon", "v1", ttl_at=LONG_AGO)
    assert len(LifecycleManager(memory.adapter).sweep()) == 1
    memory.write("svc", "gone", "v1", ttl_at=LONG_AGO)
    memory.write("svc", "gone", "v2")
    report = memory.verify()
    assert (report["corrupted"], report["chain_breaks"]) == ([], [])
    assert report["valid"] == report["total_checked"] == 7
    drained()
    with sqlite3.connect(tmp_path / "memory.db") as edited:
        edited.execute("UPDATE versions SET value = '\"edited\"' WHERE version = 1 AND value = '\"first\"'")
        assert edited.execute("SELECT changes()").fetchone() == (1,)
    edited.close()
    assert [each["key"] for each in memory.verify()["corrupted"]] == ["k"]


@proves("sdk.sweep")
def test_the_sweep_archives_every_entry_that_expired_whatever_its_version(memory: AgentMemory) -> None:
    soon = datetime.now(UTC) - timedelta(seconds=1)
    for key, versions in (("one", 1), ("two", 2), ("five", 5)):
        for number in range(versions):
            memory.write("svc", key, number, ttl_at=soon if number == versions - 1 else None)
    memory.write("svc", "stays", 1, ttl_at=datetime.now(UTC) + timedelta(days=1))
    archived = LifecycleManager(memory.adapter).sweep()
    assert sorted((each.key, each.version) for each in archived) == [("five", 6), ("one", 2), ("two", 3)]
    assert {(each.confidence, each.ttl_at) for each in archived} == {(0.0, None)}
    assert LifecycleManager(memory.adapter).sweep() == []


@proves("sdk.watch")
def test_a_watch_hears_every_write_of_every_process_once_and_in_order(
    memory: AgentMemory, tmp_path: Path
) -> None:
    heard: list[MemoryEntry] = []
    all_heard = threading.Event()

    def hear(entry: MemoryEntry) -> None:
        heard.append(entry)
        if len(heard) == 60:
            all_heard.set()

    handle = memory.watch("svc", hear)
    command = [sys.executable, "-I", "-c", WRITER, str(tmp_path / "memory.db"), "30"]
    with subprocess.Popen(command) as other:
        for number in range(30):
            memory.write("svc/below", "here", number)
            memory.write("svcs", "k", number)
        assert other.wait(DEADLINE_S) == 0
    assert all_heard.wait(DEADLINE_S)
    handle.cancel()
    memory.write("svc", "k", "unheard")
    assert len(heard) == 60
    for key in ("here", "k"):
        told = [(each.version, each.value) for each in heard if each.key == key]
        assert told == [(each.version, each.value) for each in history(memory, "svc/below", key)]
        assert [version for version, _ in told] == list(range(1, 31))


@proves("sdk.versions")
def test_more_than_a_thousand_versions_are_in_order(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "many.db", durability="normal") as adapter:
        memory = AgentMemory("scout", adapter=adapter)
        for number in range(1_050):
            memory.write("svc", "k", number)
        drained()
        versions = listed(memory, "svc", every=True)
        assert [(each.version, each.value) for each in versions] == [(n + 1, n) for n in range(1_050)]
        assert current(memory, "svc", "k").version == 1_050


@proves("sdk.values")
@pytest.mark.parametrize("confidence", [0.123456789012345, 1 / 3, 5e-324, 0.1 + 0.2])
def test_a_confidence_is_not_rounded(confidence: float, memory: AgentMemory) -> None:
    memory.write("svc", "k", 1, confidence=confidence)
    assert current(memory, "svc", "k").confidence == confidence
    assert memory.read("svc", "k", min_confidence=confidence) is not None


@proves("sdk.values")
@pytest.mark.parametrize("text", ["123", "null", "true", "1.0", '{"a": 1}', "[]", '"quoted"', "NaN", "a\0b"])
def test_a_text_stays_a_text(text: str, memory: AgentMemory) -> None:
    memory.write("svc", "k", text)
    memory.write("svc", "nested", {"in": [text]})
    assert current(memory, "svc", "k").value == text
    assert current(memory, "svc", "nested").value == {"in": [text]}


@proves("sdk.values")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_refused(number: float, memory: AgentMemory) -> None:
    for value, confidence in ((number, 1.0), ({"in": [number]}, 1.0), (1, number)):
        with pytest.raises(AdapterError):
            memory.write("svc", "k", value, confidence=confidence)
    assert listed(memory) == []
