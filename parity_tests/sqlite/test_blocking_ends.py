"""What becomes of a write, or of what is put off, where a signal, a busy file or a close comes between."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite.errors import (
    StoreBusyError,
)
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.database import blocking
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.database.later import Later
from amfs_sqlite.sqlite.transaction import Transaction
from parity_tests.ledger import proves
from parity_tests.sqlite.blocked import (
    PATIENCE_S,
    Told,
    begin_waiting,
    fail,
    keys,
    opened,
    versions,
    write,
    write_in,
)


@pytest.fixture
def database(path: str) -> Iterator[BlockingDatabase]:
    database = opened(path)
    yield database
    database.close()


class Unwilling:
    """A connection on which one statement ends otherwise than SQLite would end it."""

    def __init__(self, connection: sqlite3.Connection, statement: str, instead: Callable[..., Any]) -> None:
        self._connection = connection
        self._statement = statement
        self._instead = instead

    def execute(self, sql: str, *values: Any) -> Any:
        if sql == self._statement:
            return self._instead(self._connection)
        return self._connection.execute(sql, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _commit_and_interrupt(connection: sqlite3.Connection) -> None:
    connection.execute("COMMIT")
    raise KeyboardInterrupt


def _interrupt(_: sqlite3.Connection) -> None:
    raise KeyboardInterrupt


@proves("blocking.interrupted")
@pytest.mark.parametrize("instead", [_commit_and_interrupt, _interrupt])
def test_one_interrupted_at_its_commit_is_told_as_it_came_to(
    database: BlockingDatabase, path: str, monkeypatch: pytest.MonkeyPatch, instead: Callable[..., Any]
) -> None:
    told = Told()
    database.defer(lambda tx: write_in(tx, "other"), told)
    with monkeypatch.context() as patched:
        patched.setattr(database, "_writer", Unwilling(database._connected(), "COMMIT", instead))
        # Nothing of the end is run any more, as where the signal comes at its entry.
        patched.setattr(database._lock, "_end", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            write(database, "own")
    is_made = instead is _commit_and_interrupt
    assert len(told.answers) == is_made
    assert versions(path) == 2 * is_made
    write(database, "next")
    assert keys(database) == (["other", "own", "next"] if is_made else ["other", "next"])
    assert len(told.answers) == 1


@proves("blocking.interrupted")
def test_what_was_rolled_back_for_another_is_not_told_as_made(
    database: BlockingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    database.defer(lambda tx: write_in(tx, "other"), told)
    acquired: list[bool] = []

    def acquire() -> bool:
        if acquired:
            raise KeyboardInterrupt
        acquired.append(True)
        return True

    with monkeypatch.context() as patched:
        patched.setattr(database._lock._guard, "try_acquire", acquire)
        with pytest.raises(KeyboardInterrupt):
            database.write(fail)
    assert told.answers == []
    write(database, "next")
    assert keys(database) == ["other", "next"]
    assert [answer.error for answer in told.answers] == [None]


@proves("blocking.interrupted")
def test_a_commit_that_failed_is_not_taken_for_made(
    database: BlockingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")  # as SQLite does where the disk is full
        raise sqlite3.OperationalError("database or disk is full")

    told = Told()
    database.defer(lambda tx: write_in(tx, "other"), told)
    end = database._end

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(database, "_writer", Unwilling(database._connected(), "COMMIT", fail))
        patched.setattr(database, "_end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(database, "own")
    assert database._end == end
    assert told.answers == []
    write(database, "next")
    assert keys(database) == ["other", "next"]


@proves("blocking.index-fails")
def test_a_write_that_was_committed_is_answered_though_the_index_is_kept_out(
    database: BlockingDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(blocking, "UNINDEXED_LIMIT", 1)
        patched.setattr(index, "catch_up", full)
        write(database, "k")
    assert keys(database) == ["k"]
    assert "text index could not be brought up to date" in caplog.text


@contextmanager
def locked(path: str) -> Iterator[None]:
    """As by another process that writes all that time."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@proves("blocking.deferred-busy")
def test_what_is_put_off_outlives_a_write_that_finds_the_file_busy(path: str) -> None:
    database = opened(path, busy_timeout_s=0)
    told = Told()
    with locked(path):
        database.defer(lambda tx: write_in(tx, "event"), told)
        with pytest.raises(StoreBusyError):
            write(database, "own")
        assert told.answers == []
    write(database, "next")
    assert keys(database) == ["event", "next"]
    assert [answer.error for answer in told.answers] == [None]
    database.close()


@proves("blocking.settle-bounded")
def test_whoever_reads_waits_no_busy_timeout_for_what_was_put_off(
    database: BlockingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    database.defer(fail, told)
    database.defer(lambda tx: write_in(tx, "event"), told)
    begin, waited_s = database._lock.begin, []

    def noted(connection: sqlite3.Connection, timeout_s: float) -> None:
        waited_s.append(timeout_s)
        begin(connection, timeout_s)

    monkeypatch.setattr(database._lock, "begin", noted)
    assert database.settle()
    assert waited_s == [blocking.SETTLE_S] * 2
    assert keys(database) == ["event"]
    assert len(told.answers) == 2


@proves("blocking.settle-bounded")
def test_whoever_reads_gives_up_where_another_thread_goes_first(
    database: BlockingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    threads, is_over = begin_waiting(database)
    database.defer(lambda tx: write_in(tx, "event"), told)
    with monkeypatch.context() as patched:
        patched.setattr(blocking, "SETTLE_S", 0)
        patched.setattr(database, "_writing_thread", None)  # it took its turn right behind that look
        assert not database.settle()
    is_over.set()
    threads[0].join()
    write(database, "next")
    assert keys(database) == ["event", "next"]


@proves("blocking.close-within")
def test_a_close_within_a_write_is_made_behind_it(path: str) -> None:
    database = opened(path)
    told = Told()

    def closing_write(tx: Transaction) -> str:
        write_in(tx, "own")
        database.defer(lambda tx: write_in(tx, "event"), told)
        database.close()
        return "answered"

    assert database.write(closing_write) == "answered"
    assert not database.is_open
    assert len(told.answers) == 1
    assert versions(path) == 2
    assert not Path(f"{path}-wal").exists()


@proves("blocking.close-within")
def test_a_handler_that_closes_and_exits_leaves_the_write_unmade(path: str) -> None:
    database = opened(path)

    def exiting(tx: Transaction) -> None:
        write_in(tx, "own")
        database.close()
        raise SystemExit

    with pytest.raises(SystemExit):
        database.write(exiting)
    assert not database.is_open
    assert versions(path) == 0


@proves("blocking.close-within")
def test_what_is_collected_while_its_own_thread_writes_is_closed(path: str) -> None:
    database = opened(path)
    is_closed = threading.Event()

    def collected(tx: Transaction) -> None:
        write_in(tx, "event")
        database.close()  # as the collector does, on the thread that writes what was put off

    database.defer(collected, lambda _: is_closed.set())
    assert is_closed.wait(PATIENCE_S)
    for thread in threading.enumerate():
        if thread.name == "amfs-sqlite later" and database._later._is_ended:
            thread.join(PATIENCE_S)
    assert not database.is_open
    assert versions(path) == 1
    assert not Path(f"{path}-wal").exists()


@proves("blocking.close-within")
def test_what_is_collected_in_the_middle_of_asking_ends_all_the_same() -> None:
    is_done = threading.Event()

    def work() -> bool:
        later.end()
        is_done.set()
        return True

    later = Later(work, 0)
    with later._starting:
        later.soon()
    assert is_done.wait(PATIENCE_S)
    with later._starting:
        later.end()
    assert later._thread is None
