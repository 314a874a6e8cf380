"""A blocking database in tests: opened, written to, and waited for."""

import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from amfs_sqlite.clock import CountedIds, FixedClock
from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.rules.confidence import AMFS_0_3
from amfs_sqlite.sqlite import commits, entries
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.database.lanes import Answer
from amfs_sqlite.sqlite.transaction import Transaction
from parity_tests.drafts import draft

PATIENCE_S = 30


def opened(path: str | Path, **options: Any) -> BlockingDatabase:
    given: dict[str, Any] = {
        "namespace": DEFAULT_NAMESPACE,
        "policy": AMFS_0_3,
        "durability": "normal",
        "mode": "rw",
        "busy_timeout_s": 15.0,
        "clock": FixedClock(),
        "ids": CountedIds(),
    }
    return BlockingDatabase(path, **given | options)


def write_in(tx: Transaction, key: str, value: object = 1) -> None:
    commits.commit_entry(tx, commits.write_request(tx.policy, draft("p", key, value), None, None))


def write(database: BlockingDatabase, key: str, value: object = 1) -> None:
    database.write(write_in, key, value)


def write_nothing(_: Transaction) -> None:
    """Nothing at all."""


def keys(database: BlockingDatabase) -> list[str]:
    return [entry.key for entry in database.read(entries.list_entries)]


def versions(path: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM versions").fetchone()
    return int(count)


class Told:
    """What a deferred job came to."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.is_told = threading.Event()

    def __call__(self, answer: Answer) -> None:
        self.answers.append(answer)
        self.is_told.set()


def begin_waiting(database: BlockingDatabase, *keys: str) -> tuple[list[threading.Thread], threading.Event]:
    """Threads that wait to write these, behind one that writes until the event is set."""
    is_begun, is_over = threading.Event(), threading.Event()

    def hold(_: Transaction) -> None:
        is_begun.set()
        assert is_over.wait(PATIENCE_S)

    threads = [threading.Thread(target=database.write, args=(hold,))]
    threads[0].start()
    assert is_begun.wait(PATIENCE_S)
    for place, key in enumerate(keys, 1):
        threads.append(threading.Thread(target=_try_to_write, args=(database, key)))
        threads[-1].start()
        while len(database._waiting) < place:
            assert threads[-1].is_alive()
    return threads, is_over


def _try_to_write(database: BlockingDatabase, key: str) -> None:
    with suppress(ZeroDivisionError):
        database.write(fail if key == "bad" else lambda tx: write_in(tx, key))


def fail(tx: Transaction) -> None:
    write_in(tx, "bad")
    raise ZeroDivisionError
