"""One connection, one thread, jobs in order: what waits together crosses to the thread together."""

import asyncio
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import aiosqlite

from amfs_sqlite.errors import AdapterClosedError
from amfs_sqlite.sqlite.database.inline import CACHED_STATEMENTS
from amfs_sqlite.sqlite.ground import Ground

GROUP_LIMIT = 256
"""Jobs that cross together at most."""
ANSWERS_A_TURN = 16

T = TypeVar("T")
Body = Callable[[sqlite3.Connection, Ground | None], Any]
"""A job: it is given the connection, and in a transaction that writes what commits build on.

One that shares a transaction may run twice, since all run once more where one of them fails: what it does
beside the database, such as calling somebody, needs a crossing of its own.
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one job."""

    result: Any = None
    error: Exception | None = None


GroupRunner = Callable[[sqlite3.Connection, Sequence[Body]], list[Answer]]
"""Runs the first of these jobs, at least one; the others are asked for again."""


class _Returned:
    """What ``execute`` answers for a function: ``execute_fetchall`` asks it for all its rows."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def fetchall(self) -> Any:
        return self._result


class FunctionConnection(sqlite3.Connection):
    """Runs a whole function where a statement is expected, so that it costs one thread hop, not one each."""

    def execute(self, statement: Any, parameters: Any = ()) -> Any:
        if callable(statement):
            return _Returned(statement(self, *parameters))
        return super().execute(statement, parameters)


class _Errand:
    """A function on its way to the thread, run once.

    The thread keeps hold of its last errand while it waits for the next. So that it does not keep
    an adapter alive that nobody else holds, an errand forgets what it was once it has been run.
    """

    __slots__ = ("_arguments", "_function")

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        self._function: Callable[..., Any] | None = function
        self._arguments = arguments

    def __call__(self, connection: sqlite3.Connection) -> Any:
        function, arguments = self._function, self._arguments
        self._function, self._arguments = None, ()
        return function(connection, *arguments) if function else None


async def hop(connection: aiosqlite.Connection, function: Callable[..., T], *arguments: Any) -> T:
    """Run ``function(sqlite3_connection, *arguments)`` on the connection's own thread."""
    answer: Any = await connection.execute_fetchall(cast("str", _Errand(function, arguments)))
    return cast("T", answer)


async def connect(
    target: str, prepare: Callable[[sqlite3.Connection], None], *, uri: bool
) -> aiosqlite.Connection:
    """A connection on a thread of its own, prepared there before anybody has it."""
    # The thread keeps hold of what made its connection: not of what prepared it, and us behind that.
    preparing, failed, threads = [prepare], list[BaseException](), list[threading.Thread]()

    def made(*args: Any, **kwargs: Any) -> FunctionConnection:
        threads.append(threading.current_thread())
        connection = FunctionConnection(*args, **kwargs)
        try:
            preparing.pop()(connection)
        except BaseException as error:  # noqa: BLE001 - raised below, once the thread is there to be ended
            failed.append(error)
        return connection

    try:
        connection = await aiosqlite.connect(
            target,
            uri=uri,
            factory=made,
            isolation_level=None,
            timeout=0,
            cached_statements=CACHED_STATEMENTS,
        )
    except asyncio.CancelledError:
        # The thread still has its answer to give: the loop, which may be about to close, waits for that.
        while not threads or threads[0].is_alive():  # noqa: ASYNC110 - the end of a thread sets no event
            await asyncio.sleep(0)
        raise
    if failed:
        await connection.close()
        raise failed[0]
    return connection


class Lane:
    """Jobs for one connection. A cancelled caller leaves its job to finish, or, not yet begun, undone."""

    def __init__(
        self,
        connect: Callable[["Lane"], Awaitable[aiosqlite.Connection]],
        run_group: GroupRunner,
        on_done: Callable[[], None] | None = None,
        group_limit: int = GROUP_LIMIT,
    ) -> None:
        """``connect`` is called when there is something to do for the first time, and again should it fail.

        ``on_done`` is called in the event loop after each group, whoever still waits for it.
        """
        self.connection: aiosqlite.Connection | None = None
        self._connect = connect
        self._run_group = run_group
        self._on_done = on_done
        self._group_limit = group_limit
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()
        self._waiting: deque[tuple[Body, asyncio.Future[Any]]] = deque()
        self._drain: asyncio.Task[None] | None = None

    @property
    def is_inherited(self) -> bool:
        """Whether this is the copy in a forked child: its thread stayed with the parent."""
        return os.getpid() != self._process

    def check_here(self) -> None:
        """Raise AdapterClosedError in another process or event loop than the opening one."""
        if self.is_inherited:
            raise AdapterClosedError("was opened by another process and does not survive a fork")
        if asyncio.get_running_loop() is not self._loop:
            raise AdapterClosedError("was opened in another event loop")

    async def connected(self) -> aiosqlite.Connection:
        """The connection, made now if it was not."""
        if self.connection is None:
            self.connection = await self._connect(self)
        return self.connection

    def submit(self, body: Body) -> asyncio.Future[Any]:
        """Queue a job. Raises AdapterClosedError in another process or event loop than the opening one."""
        self.check_here()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((body, future))
        if self._drain is None or self._drain.done():
            self._drain = self._loop.create_task(self._run_waiting())
        return future

    async def finish(self) -> None:
        """Wait until everything submitted has been answered."""
        while self._drain is not None and not self._drain.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({self._drain})

    async def _run_waiting(self) -> None:
        while group := self._next_group():
            try:
                connection = await self.connected()
                answers = await hop(connection, self._run_group, [body for body, _ in group])
                self._waiting.extendleft(reversed(group[len(answers) :]))
                del group[len(answers) :]
            except asyncio.CancelledError:
                self._abandon(group)
                if self.connection is not None:
                    # The thread answers in turn: after this it owes the closing loop nothing more.
                    await hop(self.connection, _nothing)
                raise
            except Exception as error:  # noqa: BLE001 - the connection failed, and all jobs with it
                answers = [Answer(error=error)] * len(group)
            if self._on_done is not None:
                self._on_done()
            try:
                await self._answer(group, answers)
            finally:
                answers.clear()  # The thread holds on to this list as well, and through errors to us.

    async def _answer(self, group: Sequence[tuple[Body, asyncio.Future[Any]]], answers: list[Answer]) -> None:
        """Answer a few in each turn of the loop: all at once would wake all who asked in one turn."""
        pending = deque(zip(group, answers, strict=True))
        try:
            while pending:
                for _ in range(min(len(pending), ANSWERS_A_TURN)):
                    (_, future), answer = pending.popleft()
                    if not future.done():
                        _resolve(future, answer)
                if pending:
                    await asyncio.sleep(0)
        finally:
            for (_, future), answer in pending:
                if not future.done():
                    _resolve(future, answer)

    def _next_group(self) -> list[tuple[Body, asyncio.Future[Any]]]:
        group: list[tuple[Body, asyncio.Future[Any]]] = []
        while self._waiting and len(group) < self._group_limit:
            body, future = self._waiting.popleft()
            if not future.cancelled():
                group.append((body, future))
        return group

    def _abandon(self, group: Sequence[tuple[Body, asyncio.Future[Any]]]) -> None:
        """The loop is shutting down. The hop under way still ends with its COMMIT or ROLLBACK."""
        for _, future in [*group, *self._waiting]:
            future.cancel()
        self._waiting.clear()


def _nothing(connection: sqlite3.Connection) -> None:
    """A job that is only waited for."""


def _resolve(future: asyncio.Future[Any], answer: Answer) -> None:
    if answer.error is None:
        future.set_result(answer.result)
    else:
        future.set_exception(answer.error)


async def to_the_end(work: Awaitable[object]) -> None:
    """Await work that must not be cut in half; a cancellation is passed on when it is done."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
