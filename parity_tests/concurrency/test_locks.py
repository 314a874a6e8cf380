"""Others who hold the file: writers wait or say so, readers do neither, and the log stays short."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from amfs_sqlite import MemoryEntry, SearchQuery, SqliteAdapter, StoreBusyError
from amfs_sqlite.clock import patience
from amfs_sqlite.sqlite.database import guard, locking, opening
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import left_running, write_directly

ATTEMPTS = 3
SHORT_S = 0.05
WAITING_TIMEOUT_S = 30
LARGE = "x" * 200_000
LARGE_WRITES = 12
PAGES = 20
KEPT_BYTES = 100_000


@contextmanager
def write_lock(path: str) -> Iterator[sqlite3.Connection]:
    """Another connection, within a transaction that holds the write lock until it is rolled back."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


@contextmanager
def read_lock(path: str) -> Iterator[sqlite3.Connection]:
    """Another connection, within a transaction that reads until it is rolled back."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield other


@contextmanager
def guarded(path: str) -> Iterator[None]:
    """The guard of the file, held as by another adapter."""
    other = guard.FileGuard(path + guard.LOCK_SUFFIX)
    assert other.try_acquire()
    yield
    other.close()


def size_of_log(path: str) -> int:
    log = Path(f"{path}-wal")
    return log.stat().st_size if log.exists() else 0


@pytest.fixture
def attempted(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once something contended was tried in vain several times."""
    tried = threading.Event()

    def watched(timeout_s: float) -> Iterator[None]:
        for attempt, _ in enumerate(patience(timeout_s)):
            if attempt == ATTEMPTS:
                tried.set()
            yield

    monkeypatch.setattr("amfs_sqlite.sqlite.database.locking.patience", watched)
    return tried


async def happened(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, WAITING_TIMEOUT_S)


@proves("locks.writes-wait")
async def test_a_write_waits_while_another_program_holds_the_lock(
    path: str, attempted: threading.Event
) -> None:
    async with SqliteAdapter(path) as adapter:
        with write_lock(path) as other:
            writing = asyncio.ensure_future(adapter.write(draft()))
            assert await happened(attempted)
            assert not writing.done()
            other.execute("ROLLBACK")
            assert (await writing).version == 1


@proves("locks.opening-waits")
@pytest.mark.parametrize("holding", [read_lock, write_lock])
async def test_a_creation_waits_while_another_program_reads_or_writes_the_empty_file(
    path: str,
    attempted: threading.Event,
    holding: Callable[[str], AbstractContextManager[sqlite3.Connection]],
) -> None:
    adapter = SqliteAdapter(path)
    with holding(path) as other:
        opening = asyncio.ensure_future(adapter.open())
        assert await happened(attempted)
        assert not opening.done()
        other.execute("ROLLBACK")
        await opening
    assert (await adapter.write(draft())).version == 1
    await adapter.close()


@proves("locks.opening-waits")
@pytest.mark.parametrize("holding", [read_lock, write_lock])
async def test_a_creation_that_waited_too_long_leaves_nothing_and_can_be_tried_again(
    path: str, holding: Callable[[str], AbstractContextManager[sqlite3.Connection]]
) -> None:
    adapter = SqliteAdapter(path, busy_timeout_s=SHORT_S)
    before = threading.enumerate()
    with holding(path):
        with pytest.raises(StoreBusyError):
            await adapter.open()
        assert left_running(before) == []
    async with adapter:
        assert (await adapter.write(draft())).version == 1


@proves("locks.writes-wait")
async def test_a_write_waits_while_another_adapter_is_within_a_transaction(
    path: str, attempted: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "has_wal_reset_fault", lambda _: True)
    async with SqliteAdapter(path) as adapter:
        with guarded(path):
            writing = asyncio.ensure_future(adapter.write(draft()))
            assert await happened(attempted)
            assert not writing.done()
        assert (await writing).version == 1


@proves("locks.busy")
@pytest.mark.parametrize("holding", [write_lock, guarded], ids=["another program", "another adapter"])
async def test_a_lock_held_too_long_is_an_error_that_says_so_and_stores_nothing(
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    holding: Callable[[str], AbstractContextManager[object]],
) -> None:
    monkeypatch.setattr(locking, "has_wal_reset_fault", lambda _: True)
    async with SqliteAdapter(path, busy_timeout_s=SHORT_S) as adapter:
        await adapter.write(draft(value="before"))
        with holding(path):
            answers = await asyncio.gather(
                adapter.write(draft(value="after")),
                adapter.write_batch([draft(value="after")]),
                adapter.commit_outcome(outcome("success", at())),
                return_exceptions=True,
            )
            assert [type(each) for each in answers] == [StoreBusyError] * 3
            (refused, _, _) = answers
            assert isinstance(refused, StoreBusyError)
            assert (refused.code, refused.retryable, refused.path) == ("busy", True, adapter.path)
            assert "nothing was stored" in str(refused)
            assert [entry.value for entry in await adapter.list(include_superseded=True)] == ["before"]
        assert (await adapter.write(draft(value="after"))).version == 2
        assert (await adapter.verify()).findings == ()


@proves("locks.readers-go-on")
async def test_opening_and_reading_go_on_beside_a_held_lock_and_change_nothing(path: str) -> None:
    async with SqliteAdapter(path, busy_timeout_s=0) as adapter:
        await adapter.write(draft(value="word"))
        await adapter.commit_outcome(outcome("success", at()))
        with closing(sqlite3.connect(path)) as observer, write_lock(path):
            before = (*observer.execute("PRAGMA data_version"), *contents(path))
            async with SqliteAdapter(path, busy_timeout_s=0) as reader:
                for each in (adapter, reader):
                    entry = await each.read("svc/a", "k")
                    assert isinstance(entry, MemoryEntry)
                    assert len((await each.search(SearchQuery(text="word"))).entries) == 1
                    assert len(await each.list()) == 1
                    assert len(await each.history("svc/a", "k")) == 2
                    assert (await each.stats()).outcome_count == 1
                    assert len(await each.list_commits()) == 2
                    assert len(await each.list_outcomes()) == 1
                    assert len(await each.scopes()) == 1
                    assert (await each.verify()).ok
                    assert (await each.describe()).journal_mode == "wal"
            assert (*observer.execute("PRAGMA data_version"), *contents(path)) == before


def contents(path: str) -> list[tuple[str, int, bytes]]:
    """The file and its log: when they were changed, and all that they hold."""
    files = [Path(path), Path(f"{path}-wal")]
    return [(each.name, each.stat().st_mtime_ns, each.read_bytes()) for each in files if each.exists()]


@proves("locks.log-shrinks")
async def test_a_reader_that_holds_the_log_stops_no_writer_and_the_log_shrinks_afterwards(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "WAL_PAGES_BEFORE_CHECKPOINT", PAGES)
    monkeypatch.setattr(opening, "WAL_BYTES_KEPT", KEPT_BYTES)
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="first"))
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            value = "SELECT value FROM current WHERE key = 'k'"
            assert reader.execute(value).fetchone() == ('"first"',)
            for each in range(LARGE_WRITES):
                await adapter.write(draft(value=f"{each}{LARGE}"))
            assert size_of_log(path) > LARGE_WRITES * len(LARGE)
            assert (await adapter.describe()).wal_bytes == size_of_log(path)
            assert reader.execute(value).fetchone() == ('"first"',)
            reader.execute("ROLLBACK")
        for each in range(3):
            await adapter.write(draft(value=each))
        assert size_of_log(path) <= KEPT_BYTES
    assert size_of_log(path) == 0


@proves("locks.log-shrinks")
async def test_many_small_writes_leave_no_long_log_and_a_closed_store_none(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "WAL_PAGES_BEFORE_CHECKPOINT", PAGES)
    async with SqliteAdapter(path) as adapter:
        (page_bytes,) = await write_directly(adapter, "PRAGMA page_size")
        longest = 0
        for each in range(100):
            await adapter.write(draft(value=each))
            longest = max(longest, size_of_log(path))
        assert 0 < longest < 4 * PAGES * page_bytes
    assert size_of_log(path) == 0
