"""The database for callers without an event loop: threads, interrupts, forks, and its end."""

import gc
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite.clock import RandomIds
from amfs_sqlite.errors import (
    AdapterClosedError,
    AmfsError,
    InvalidArgumentError,
    StoreBusyError,
    StoreReadOnlyError,
)
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.database.lanes import Answer
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
    write_nothing,
)


@pytest.fixture
def database(path: str) -> Iterator[BlockingDatabase]:
    database = opened(path)
    yield database
    database.close()


@proves("blocking.closed")
def test_a_closed_one_says_so(path: str) -> None:
    database = opened(path)
    told = Told()
    write(database, "k")
    database.defer(lambda tx: write_in(tx, "later"), told)
    database.close()
    database.close()
    assert [answer.error for answer in told.answers] == [None]
    calls: list[Callable[[], object]] = [
        lambda: keys(database),
        lambda: write(database, "k"),
        lambda: database.defer(write_nothing, told),
    ]
    for call in calls:
        with pytest.raises(AdapterClosedError, match="closed"):
            call()
    database.settle()
    assert versions(path) == 2
    assert not Path(f"{path}-wal").exists()


@proves("blocking.read-only")
def test_reading_alone_writes_nothing(path: str) -> None:
    database = opened(path)
    write(database, "k")
    database.close()
    before = Path(path).read_bytes()
    reader = opened(path, mode="ro")
    assert keys(reader) == ["k"]
    with pytest.raises(StoreReadOnlyError):
        write(reader, "k")
    with pytest.raises(StoreReadOnlyError):
        reader.defer(write_nothing, Told())
    reader.close()
    assert Path(path).read_bytes() == before


@proves("blocking.missing")
def test_what_cannot_be_opened_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AmfsError):
        opened(tmp_path / "nowhere.db", mode="ro")
    with pytest.raises(InvalidArgumentError, match="mode"):
        opened(":memory:", mode="ro")
    with pytest.raises(InvalidArgumentError, match="busy_timeout_s"):
        opened(tmp_path / "m.db", busy_timeout_s=-1)
    assert list(tmp_path.iterdir()) == []
    other = tmp_path / "other.db"
    other.write_bytes(b"something else" * 500)
    with pytest.raises(AmfsError):
        opened(other)
    assert other.read_bytes() == b"something else" * 500


@proves("blocking.memory")
def test_in_memory_all_threads_share_one(tmp_path: Path) -> None:
    first, second = opened(":memory:"), opened(":memory:")
    threads = [threading.Thread(target=write, args=(first, f"k{number}")) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(keys(first)) == ["k0", "k1", "k2", "k3"]
    assert keys(second) == []
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == []


@proves("blocking.shared-transaction")
def test_what_waits_shares_a_transaction_and_one_that_raises_is_undone_alone(
    database: BlockingDatabase, path: str
) -> None:
    threads, is_over = begin_waiting(database, "a", "bad", "b")
    is_over.set()
    for thread in threads:
        thread.join()
    assert keys(database) == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        database.write(fail)
    assert keys(database) == ["a", "b"]


@proves("blocking.interrupted")
def test_one_interrupted_in_the_middle_is_not_made(database: BlockingDatabase) -> None:
    def interrupted(tx: Transaction) -> None:
        write_in(tx, "own")
        raise KeyboardInterrupt

    told = Told()
    database.defer(lambda tx: write_in(tx, "other"), told)
    with pytest.raises(KeyboardInterrupt):
        database.write(interrupted)
    assert keys(database) == []
    assert told.answers == []
    write(database, "next")
    assert keys(database) == ["other", "next"]
    assert len(told.answers) == 1


@proves("blocking.interrupted")
def test_one_interrupted_behind_its_commit_is_made_once(
    database: BlockingDatabase, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    database.defer(lambda tx: write_in(tx, "other"), told)
    write_group = database._groups.write

    def interrupted(*args: Any) -> list[Answer]:
        write_group(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(database._groups, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(database, "own")
    write(database, "next")
    assert keys(database) == ["other", "own", "next"]
    assert len(told.answers) == 1
    assert versions(path) == 3


@proves("blocking.interrupted")
def test_one_interrupted_while_it_waits_is_not_made(
    database: BlockingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Impatient:
        def __enter__(self) -> None:
            raise KeyboardInterrupt

        def __exit__(self, *_: object) -> None:
            raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(database, "_turn", Impatient())
        with pytest.raises(KeyboardInterrupt):
            write(database, "own")
    write(database, "next")
    assert keys(database) == ["next"]


@proves("blocking.within")
def test_a_write_within_a_write_is_an_error(database: BlockingDatabase) -> None:
    def nested(tx: Transaction) -> None:
        write_in(tx, "outer")
        with pytest.raises(StoreBusyError, match=r"very thread.*after the handler has returned"):
            write(database, "inner")

    database.write(nested)
    assert keys(database) == ["outer"]


@proves("blocking.forked")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_and_leaves_the_parents_alone(database: BlockingDatabase, path: str) -> None:
    write(database, "k")
    database.defer(lambda tx: write_in(tx, "later"), Told())
    child = os.fork()
    if child == 0:
        told = 0
        for call in (keys, lambda given: write(given, "child")):
            try:
                call(database)
            except AdapterClosedError:
                told += 1
        database.settle()
        database.close()
        os._exit(told)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    write(database, "next")
    assert sorted(keys(database)) == ["k", "later", "next"]


@proves("blocking.exit")
@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "del adapter"])
def test_a_program_that_closes_nothing_leaves_all_written(tmp_path: Path, end: str) -> None:
    pytest.importorskip("amfs_core", reason="needs the extra amfs")
    path = tmp_path / "m.db"
    program = f"""
import sys
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import entry
adapter = SyncSqliteAdapter(sys.argv[1])
adapter.watch("service", print)
adapter.write(entry())
for _ in range(3):
    adapter.increment_recall_count("service", "a")
{end}
"""
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=Path(__file__).parents[2],
    )
    assert (ended.returncode, ended.stderr) == (3 if "3" in end else 0, "")
    assert "key='a'" in ended.stdout
    wal = Path(f"{path}-wal")
    assert not wal.exists()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT recall_count FROM recalls").fetchall() == [(3,)]


@proves("blocking.many")
def test_many_on_one_file_write_and_read(path: str) -> None:
    databases = [opened(path, ids=RandomIds()) for _ in range(6)]
    threads = [
        threading.Thread(target=write, args=(database, f"k{number}"))
        for number, database in enumerate(databases * 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for database in databases:
        assert len(keys(database)) == 18
        database.close()
    gc.collect()
    assert versions(path) == 18


@proves("blocking.deferred")
def test_what_is_put_off_goes_with_the_next_or_a_while_later(database: BlockingDatabase) -> None:
    first, failing, last = Told(), Told(), Told()
    database.defer(lambda tx: write_in(tx, "first"), first)
    database.defer(fail, failing)
    write(database, "next")
    assert [answer.error for answer in first.answers] == [None]
    assert [type(answer.error) for answer in failing.answers] == [ZeroDivisionError]
    assert keys(database) == ["first", "next"]
    database.defer(lambda tx: write_in(tx, "asked for"), first)
    database.settle()
    assert keys(database) == ["first", "next", "asked for"]
    database.defer(lambda tx: write_in(tx, "later"), last)
    assert last.is_told.wait(PATIENCE_S)
    assert keys(database) == ["first", "next", "asked for", "later"]


INTERRUPTED = """
import json, os, signal, sys, threading
from parity_tests.sqlite.blocked import keys, opened, write

database = opened(sys.argv[1])
told = {"main": [], "other": []}

def other():
    for number in range(300):
        write(database, f"other{number}")
        told["other"].append(f"other{number}")
        os.kill(os.getpid(), signal.SIGINT)

def interrupt(*_):
    global is_writing
    if is_writing:
        is_writing = False
        raise KeyboardInterrupt

is_writing = False
signal.signal(signal.SIGINT, interrupt)
thread = threading.Thread(target=other)
interrupts = number = 0
thread.start()
while thread.is_alive():
    number += 1
    try:
        is_writing = True
        write(database, f"main{number}")
        told["main"].append(f"main{number}")
        is_writing = False
    except KeyboardInterrupt:
        interrupts += 1
found = keys(database)
assert len(found) == len(set(found))
assert set(told["main"] + told["other"]) <= set(found)
assert len(told["other"]) == 300
database.close()
print(interrupts)
"""


@proves("blocking.interrupted")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal to send to oneself")
def test_signals_at_any_moment_lose_and_repeat_nothing(path: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, path],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=Path(__file__).parents[2],
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert int(ended.stdout) > 0
