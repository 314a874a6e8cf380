"""Jobs that cross to a thread together: how they share a transaction, and how one that fails fails alone."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from amfs_sqlite.clock import ticks_s
from amfs_sqlite.errors import StoreBusyError, StoreFullError
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.sqlite.database.lanes import Answer, Body
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.ground import Ground

READS_TOGETHER_S = 0.001


class Groups:
    """Runs groups of jobs on the connection of the thread it is called on."""

    def __init__(self, path: str, namespace: str, lock: WriteLock) -> None:
        self._path = path
        self._namespace = namespace
        self._lock = lock

    def write(
        self, connection: sqlite3.Connection, bodies: Sequence[Body], timeout_s: float | None = None
    ) -> list[Answer]:
        """All in one transaction; if one raises, once more with each apart, so that only that one fails.

        ``timeout_s`` is how long others are waited for, None the time of the lock.
        """
        answers: list[Answer] = []
        try:
            with (
                translated(self._path),
                self._lock.exclusively(connection, timeout_s),
                self._ground(connection) as ground,
            ):
                for body in bodies:
                    answers.append(Answer(body(connection, ground)))  # noqa: PERF401 - how far it came matters
        except Exception as error:  # noqa: BLE001 - a job may raise anything; its caller gets it
            raised_by_a_body = len(answers) < len(bodies) and not isinstance(error, StoreBusyError)
            if len(bodies) > 1 and raised_by_a_body:
                return self._write_apart(connection, bodies, timeout_s)
            return [Answer(error=error)] * len(bodies)
        return answers

    @contextmanager
    def _ground(self, connection: sqlite3.Connection) -> Iterator[Ground | None]:
        """What commits build on, written back at the end; None where the store has no head."""
        ground = Ground.of(connection, self._namespace, MAIN_BRANCH)
        yield ground
        if ground is not None:
            ground.settle(connection)

    def _write_apart(
        self, connection: sqlite3.Connection, bodies: Sequence[Body], timeout_s: float | None
    ) -> list[Answer]:
        try:
            with translated(self._path), self._lock.exclusively(connection, timeout_s):
                return [self._write_one(connection, body) for body in bodies]
        except StoreFullError:  # the whole transaction went with one job: what fits may still go in alone
            return [answer for body in bodies for answer in self.write(connection, [body], timeout_s)]
        except Exception as error:  # noqa: BLE001 - SQLite gave up the transaction, and all jobs with it
            return [Answer(error=error)] * len(bodies)

    def _write_one(self, connection: sqlite3.Connection, body: Body) -> Answer:
        connection.execute("SAVEPOINT job")
        try:
            with translated(self._path), self._ground(connection) as ground:
                answer = Answer(body(connection, ground))
        except Exception as error:
            if not connection.in_transaction:
                raise
            connection.execute("ROLLBACK TO job")
            answer = Answer(error=error)
        connection.execute("RELEASE job")
        return answer

    def read(self, connection: sqlite3.Connection, bodies: Sequence[Body]) -> list[Answer]:
        """As many as fit into READS_TOGETHER_S: what a group has read is all in memory until its end."""
        answers: list[Answer] = []
        begun_s = ticks_s()
        for body in bodies:
            answers.append(self._read_one(connection, body))
            if ticks_s() - begun_s > READS_TOGETHER_S:
                break
        return answers

    def _read_one(self, connection: sqlite3.Connection, body: Body) -> Answer:
        """In a snapshot that ends with the answer. Waits only while another process recovers the file."""

        def once() -> Any:
            with snapshot(connection):
                return body(connection, None)

        try:
            with translated(self._path):
                return Answer(self._lock.patiently(once))
        except Exception as error:  # noqa: BLE001 - a job may raise anything; its caller gets it
            return Answer(error=error)


class snapshot:  # noqa: N801 - reads as what it is in a with
    """One state of the file, for as long as this lasts. No generator, as in ``Exclusive``."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        try:
            self._connection.execute("BEGIN")
        except BaseException:
            self._end()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
