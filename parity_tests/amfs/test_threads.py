"""Many threads on one adapter, and on two of one file."""

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.models import OutcomeRecord, OutcomeType

from parity_tests.amfs.corpus import entry, opened
from parity_tests.ledger import proves

THREADS = 8


def at_once(work: Callable[[int], object], count: int = THREADS) -> None:
    """Do it on so many threads, all begun together; raises what one of them raised."""
    begun = threading.Barrier(count)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        begun.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - told to the test
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def outcome(number: int) -> OutcomeRecord:
    return OutcomeRecord(
        outcome_ref=f"r{number}",
        outcome_type=OutcomeType.SUCCESS,
        committed_at=datetime(2026, 1, 1, tzinfo=UTC),
        causal_entry_keys=["service/a"],
        agent_id=f"agent{number}",
    )


def check_all_counted(adapters: Sequence[Any]) -> None:
    """Write, report and count on all threads at once, and look that nothing was lost."""
    adapters[0].write(entry(confidence=0.5))

    def work(number: int) -> None:
        adapter = adapters[number % len(adapters)]
        for turn in range(10):
            adapter.write(entry(key="written", value=f"{number} {turn}"))
            adapter.commit_outcome(outcome(number))
            for _ in range(10):
                adapter.increment_recall_count("service", "a")

    at_once(work)
    for adapter in adapters:
        adapter.close()


@proves("amfs.threads")
def test_eight_threads_lose_nothing(tmp_path: Path) -> None:
    check_all_counted([opened(tmp_path / "m.db", durability="normal")])
    check_what_is_stored(tmp_path)


@proves("amfs.two-adapters")
def test_two_adapters_of_one_file_lose_nothing(tmp_path: Path) -> None:
    check_all_counted([opened(tmp_path / "m.db", durability="normal") for _ in range(2)])
    check_what_is_stored(tmp_path)


def check_what_is_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as adapter:
        counted = adapter.read("service", "a")
        assert (counted.outcome_count, counted.success_count) == (80, 80)
        assert (counted.version, counted.recall_count) == (81, 800)
        written = [each for each in adapter.list("service", include_superseded=True) if each.key == "written"]
        assert [each.version for each in written] == list(range(1, 81))
        assert len({each.value for each in written}) == 80
        assert adapter.count_outcomes() == 80
        report = adapter.verify_integrity()
        assert report["corrupted"] == report["chain_breaks"] == []


@proves("amfs.threads")
def test_first_writes_of_one_key_are_numbered_one_after_the_other(sdk_adapter: Any) -> None:
    versions: list[int] = []
    at_once(lambda number: versions.append(sdk_adapter.write(entry(value=number)).version))
    assert sorted(versions) == list(range(1, 9))
    assert len(sdk_adapter.list()) == 1


@proves("amfs.threads")
def test_one_that_fails_fails_alone(sdk_adapter: Any) -> None:
    failed = []

    def work(number: int) -> None:
        for turn in range(20):
            if number % 2:
                sdk_adapter.write(entry(key=f"{number}", value=turn))
            else:
                try:
                    sdk_adapter.write_batch([entry(key="never"), entry(key="bad", version=7)])
                except Exception as error:  # noqa: BLE001 - counted below
                    failed.append(type(error).__name__)

    at_once(work)
    assert failed == ["VersionConflictError"] * 80
    assert {each.key: each.version for each in sdk_adapter.list()} == dict.fromkeys("1357", 20)


@proves("amfs.racing-readers")
@pytest.mark.parametrize("place", ["file", "memory"])
def test_readers_that_race_a_writer_always_find_the_entry(tmp_path: Path, place: str) -> None:
    where = ":memory:" if place == "memory" else str(tmp_path / "m.db")
    with opened(where, durability="normal") as adapter, AgentMemory("scout", adapter=adapter) as memory:
        memory.write("p", "k", 0)
        is_over = threading.Event()
        read: list[int] = []

        def work(number: int) -> None:
            if number == 0:
                for value in range(1, 300):
                    memory.write("p", "k", value)
                is_over.set()
                return
            last = 0
            while not is_over.is_set():
                found = adapter.read("p", "k")
                (listed,) = adapter.list("p")
                assert last <= found.version <= listed.version
                last = found.version
                read.append(last)

        at_once(work, 4)
        assert read
        assert adapter.read("p", "k").version == 300
