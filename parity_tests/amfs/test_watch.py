"""Watches through the SDK's door. Nothing here sleeps: each waits for what it is to hear."""

import gc
import logging
import multiprocessing
import threading
from pathlib import Path
from typing import Any

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import MemoryEntry

from amfs_sqlite import SqliteAdapter
from parity_tests.amfs.corpus import entry, opened
from parity_tests.drafts import draft
from parity_tests.ledger import proves

PATIENCE_S = 30


class Heard:
    """A callback that remembers what it heard, and can be waited for."""

    def __init__(self) -> None:
        self.entries: list[MemoryEntry] = []
        self._news = threading.Condition()

    def __call__(self, heard: MemoryEntry) -> None:
        with self._news:
            self.entries.append(heard)
            self._news.notify_all()

    def wait_for(self, count: int) -> list[tuple[str, str, int]]:
        """What was heard once it is so many."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.entries) >= count, PATIENCE_S)
            return [(each.entity_path, each.key, each.version) for each in self.entries]


def write_some(path: str, count: int) -> None:
    with opened(path) as adapter:
        for value in range(count):
            adapter.write(entry("p/theirs", "k", value))


@proves("amfs.watch")
async def test_a_watch_hears_every_write_of_any_process_under_its_path(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    with opened(path) as adapter, opened(path) as neighbour:
        adapter.write(entry("p", "before"))
        heard, all_heard = Heard(), Heard()
        handle = adapter.watch("p/", heard)
        adapter.watch("", all_heard)
        adapter.write(entry("p", "a"))
        adapter.write(entry("px", "not below"))
        neighbour.write_batch([entry("p/q/r", "b"), entry("p", "a", 2)])
        assert heard.wait_for(3) == [("p", "a", 1), ("p/q/r", "b", 1), ("p", "a", 2)]
        process = multiprocessing.get_context("spawn").Process(target=write_some, args=(path, 5))
        process.start()
        async with SqliteAdapter(path) as ours:
            await ours.write(draft("p", "ours"))
        process.join()
        keys = [each for each in heard.wait_for(9) if each[1] == "k"]
        assert keys == [("p/theirs", "k", version) for version in range(1, 6)]
        assert ("p", "ours", 1) in heard.wait_for(9)
        assert heard.entries[1] == adapter.read("p/q/r", "b")
        assert not handle.cancelled
        handle.cancel()
        assert handle.cancelled
        adapter.write(entry("p", "after"))
        assert all_heard.wait_for(11)[-1] == ("p", "after", 1)
    assert len(heard.entries) == 9


@proves("amfs.watch-whole")
def test_what_a_watch_hears_is_as_it_is_read(sdk_adapter: Any) -> None:
    whole = entry(recall_count=3, tier=2, priority_score=0.5, embedding=[1.0, -0.5])
    heard = Heard()
    sdk_adapter.watch("service", heard)
    sdk_adapter.write(whole)
    assert heard.wait_for(1) == [("service", "a", 1)]
    assert heard.entries[0] == sdk_adapter.read("service", "a")
    assert (heard.entries[0].recall_count, heard.entries[0].tier) == (3, 2)
    assert (heard.entries[0].priority_score, heard.entries[0].embedding) == (0.5, [1.0, -0.5])
    sdk_adapter.write(entry(value=2, embedding=[2.0]))
    sdk_adapter.write(entry(value=3))
    assert len(heard.wait_for(3)) == 3
    assert [each.embedding for each in heard.entries] == [[1.0, -0.5], [2.0], None]
    assert heard.entries[2] == sdk_adapter.read("service", "a")


@proves("amfs.watch")
def test_what_is_in_memory_is_watched_too() -> None:
    with opened(":memory:") as adapter:
        heard = Heard()
        adapter.watch("service", heard)
        adapter.write(entry())
        assert heard.wait_for(1) == [("service", "a", 1)]


@proves("amfs.watch")
def test_what_makes_no_sense_is_not_watched(sdk_adapter: Any) -> None:
    for wrong in ((5, print), ("p", "no function")):
        with pytest.raises(AdapterError):
            sdk_adapter.watch(*wrong)
    sdk_adapter.close()
    with pytest.raises(AdapterError, match="closed"):
        sdk_adapter.watch("p", print)


@proves("amfs.watch-failing")
def test_a_failing_callback_is_logged_and_misses_nothing(
    sdk_adapter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = Heard(), Heard()

    def failing(heard: MemoryEntry) -> None:
        first(heard)
        raise RuntimeError("no luck")

    sdk_adapter.watch("service", failing)
    sdk_adapter.watch("service", second)
    with caplog.at_level(logging.ERROR, "amfs_sqlite"):
        for value in range(3):
            sdk_adapter.write(entry(value=value))
        assert first.wait_for(3) == second.wait_for(3)
        sdk_adapter.close()
    assert [each.getMessage() for each in caplog.records] == [
        "the callback of a watch on 'service' failed"
    ] * 3
    assert "no luck" in caplog.text


@proves("amfs.watch-end")
def test_closing_tells_what_is_due_and_ends_the_watch(tmp_path: Path) -> None:
    heard = Heard()
    is_free = threading.Event()

    def slow(each: MemoryEntry) -> None:
        is_free.wait(PATIENCE_S)
        heard(each)

    adapter = opened(tmp_path / "m.db")
    adapter.watch("service", slow)
    for value in range(5):
        adapter.write(entry(value=value))
    is_free.set()
    adapter.close()
    adapter.close()
    assert [each.value for each in heard.entries] == [0, 1, 2, 3, 4]
    with opened(tmp_path / "m.db") as other:
        other.write(entry())
    assert len(heard.entries) == 5


@proves("amfs.watch-end")
def test_a_watch_that_nobody_holds_ends_with_its_adapter(tmp_path: Path) -> None:
    before = threading.active_count()
    adapter = opened(tmp_path / "m.db")
    adapter.watch("service", Heard())
    adapter.increment_recall_count("service", "a")
    assert threading.active_count() > before
    del adapter
    gc.collect()
    assert threading.active_count() == before


@proves("amfs.watch-within")
def test_a_callback_uses_the_adapter(sdk_adapter: Any) -> None:
    echoes, late = Heard(), Heard()
    handles: list[Any] = []

    def echo(heard: MemoryEntry) -> None:
        handles[0].cancel()
        read = sdk_adapter.read(heard.entity_path, heard.key)
        sdk_adapter.watch("echo", late)
        sdk_adapter.write(entry("echo", read.key, read.value))
        echoes(heard)

    handles.append(sdk_adapter.watch("service", echo))
    sdk_adapter.write_batch([entry(key="a"), entry(key="b")])
    assert late.wait_for(1) == [("echo", "a", 1)]
    assert echoes.wait_for(1) == [("service", "a", 1)]

    def close(heard: MemoryEntry) -> None:
        sdk_adapter.close()
        echoes(heard)

    sdk_adapter.watch("end", close)
    sdk_adapter.write(entry("end", "k"))
    assert echoes.wait_for(2)[1] == ("end", "k", 1)
    with pytest.raises(AdapterError, match="closed"):
        sdk_adapter.read("end", "k")
