"""Watching one file: what this process commits is announced, what others commit is looked for."""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from amfs_sqlite.delivery import Asked, Batch, Feed
from amfs_sqlite.errors import AmfsError
from amfs_sqlite.rules.cursors import ChangePosition, change_position
from amfs_sqlite.sqlite import changes
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.lanes import Lane
from amfs_sqlite.sqlite.ground import Ground
from amfs_sqlite.sqlite.transaction import Transaction

LOOK_EVERY_S = 0.5

P = ParamSpec("P")
T = TypeVar("T")
Begin = Callable[[sqlite3.Connection, Ground | None], Transaction]


class SqliteLog:
    """The changes of a file, read through the reader's lane, each time in a snapshot of its own."""

    def __init__(self, reader: Lane, begin: Begin, store_id: str) -> None:
        self._reader = reader
        self._begin = begin
        self.store_id = store_id

    async def position(self, cursor: str) -> ChangePosition:
        position = change_position(cursor, self.store_id)
        await self._look(changes.check_position, position)
        return position

    async def end(self) -> ChangePosition:
        return await self._look(changes.end)

    async def read(self, after: ChangePosition, asked: Asked, until: int | None) -> Batch:
        return await self._look(changes.read, after, asked, until, store_id=self.store_id)

    async def data_version(self) -> int:
        """Another number as soon as another connection has committed."""
        return await self._look(_data_version)

    async def _look(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        answer: Any = await self._reader.submit(
            lambda connection, ground: body(self._begin(connection, ground), *args, **kwargs)
        )
        return answer  # type: ignore[no-any-return]  # what the body returned


class SqliteFeed(Feed):
    """The feed of one file. While somebody waits, it looks for what other processes commit.

    ``is_shared`` is whether others can reach the file at all.
    """

    def __init__(self, reader: Lane, begin: Begin, store_id: str, *, is_shared: bool) -> None:
        log = SqliteLog(reader, begin, store_id)
        super().__init__(log)
        self._file_log = log
        self._is_shared = is_shared
        self._seen: int | None = None
        self._looking: asyncio.Task[None] | None = None

    def rename(self, store_id: str) -> None:
        """The store has this id from now on: its cursors carry it."""
        self._file_log.store_id = store_id

    def attend(self) -> None:
        if self._is_shared and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look_for_others())

    async def close(self) -> None:
        await super().close()
        looking = self._looking
        if looking is not None and looking.get_loop() is asyncio.get_running_loop():
            looking.cancel()
            await asyncio.wait({looking})

    async def _look_for_others(self) -> None:
        """Until nobody waits any more. A change since the last look ever, however long ago, is announced."""
        await asyncio.sleep(LOOK_EVERY_S)
        could_look = True
        while self.is_attended:
            try:
                found = await self._file_log.data_version()
            except AmfsError as error:
                if could_look:
                    files.log.warning("changes of other processes could not be looked for: %s", error)
                could_look = False
            else:
                could_look = True
                if found != self._seen or self.is_behind:
                    self._seen = found
                    self.announce()
            await asyncio.sleep(LOOK_EVERY_S)


def _data_version(tx: Transaction) -> int:
    version: int = tx.value("PRAGMA data_version")
    return version
