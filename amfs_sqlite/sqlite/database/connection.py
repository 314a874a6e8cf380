"""The database as the rest sees it: read this, write this. Threads, transactions, pragmas and errors."""

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import aiosqlite

from amfs_sqlite.clock import Clock, IdSource
from amfs_sqlite.errors import (
    AdapterClosedError,
)
from amfs_sqlite.models import RetentionReport
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.limits import check_flag
from amfs_sqlite.sqlite import functions, index, migrate
from amfs_sqlite.sqlite.copying.backup import BackupReport, take, take_of_file
from amfs_sqlite.sqlite.database import exits, files, opening, scrubbing, tidying
from amfs_sqlite.sqlite.database.groups import Groups, snapshot
from amfs_sqlite.sqlite.database.guard import known_faults
from amfs_sqlite.sqlite.database.inline import NOT_INLINE, READER_SETTINGS, InlineReader
from amfs_sqlite.sqlite.database.lanes import Lane, connect, hop, to_the_end
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.database.opening import MEMORY, Durability, Mode
from amfs_sqlite.sqlite.database.tidying import UNINDEXED_LIMIT
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.ground import Ground
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sqlite.watching import SqliteFeed

SEEN_LIMIT = 32

P = ParamSpec("P")
T = TypeVar("T")


class StoreDescription(NamedTuple):
    """The file behind an adapter. Sizes are bytes; ``known_faults`` are sentences about the SQLite in use."""

    path: str
    sqlite_version: str
    known_faults: tuple[str, ...]
    journal_mode: str
    schema_version: int
    file_bytes: int
    wal_bytes: int


class Database:
    """A connection that writes, one that reads, one for scans, one for glances; in memory, one for all."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        namespace: str,
        policy: OutcomePolicy,
        durability: Durability,
        mode: Mode,
        inline_reads: bool,
        busy_timeout_s: float,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        check_flag(inline_reads, "inline_reads")
        self.path = opening.checked_path(
            path,
            namespace=namespace,
            policy=policy,
            durability=durability,
            mode=mode,
            busy_timeout_s=busy_timeout_s,
            clock=clock,
            ids=ids,
        )
        self.in_memory = self.path == MEMORY
        self.namespace = namespace
        self.policy = policy
        self.store_id = ""
        self._durability = durability
        self._mode = mode
        self._target = MEMORY
        self._inline_reads = inline_reads
        self._clock = clock
        self._ids = ids
        self._busy_timeout_s = busy_timeout_s
        self._lock = WriteLock(self.path, in_memory=self.in_memory, timeout_s=busy_timeout_s)
        self._groups = Groups(self.path, namespace, self._lock)
        self._writer: Lane | None = None
        self._reader: Lane | None = None
        self._scanner: Lane | None = None
        self._inline: InlineReader | None = None
        self._feed: SqliteFeed | None = None
        self._changing = asyncio.Lock()
        self._closing = False
        self._content_is_gone = self._has_closed = False
        self._unindexed = 0
        self._has_written = False
        self._is_unannounced = False
        self._removals: set[asyncio.Future[RetentionReport]] = set()

    @property
    def is_open(self) -> bool:
        return self._writer is not None and not self._closing

    async def open(self) -> None:
        """Open the file, creating or migrating it first. Cancelled, it ends as it began: closed."""
        opening = asyncio.ensure_future(self._open())
        try:
            await to_the_end(opening)
        except asyncio.CancelledError:
            if not opening.cancelled() and opening.exception() is None and opening.result():
                await to_the_end(self._close())
            raise

    async def close(self) -> None:
        """Answer what was asked, index what is pending, close both connections."""
        await to_the_end(self._close())

    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a storage function in a snapshot of its own; it must not write."""
        answer: T = await self._lane(self._reader).submit(
            lambda connection, ground: body(self._reading(connection, ground), *args, **kwargs)
        )
        return answer

    async def scan(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``read``, for what takes long, or calls somebody on the way: it crosses alone, and runs once.

        On a connection of its own, so that no other reader waits; in memory there is but one.
        """
        answer: T = await self._lane(self._scanner).submit(
            lambda connection, ground: body(self._reading(connection, ground), *args, **kwargs)
        )
        return answer

    async def glance(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``read``, for a function of one statement that finds at most one row: in the event loop's own
        thread, which takes less of the loop's time than handing it to another thread does.

        What takes longer, or meets any trouble, is read as everything else is.
        """
        inline, lane = self._inline, self._lane(self._reader)
        if inline is not None:
            lane.check_here()
            await inline.give_way()
            with suppress(*NOT_INLINE):  # what is wrong, if anything is, the reading below tells
                if inline is self._inline:
                    return body(self._transaction(inline.connection, is_in_loop=True), *args, **kwargs)
        return await self.read(body, *args, **kwargs)

    async def search(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``read``; where it had to look through much that is not indexed yet, that is indexed next."""

        def counted(connection: sqlite3.Connection, ground: Ground | None) -> tuple[T, int]:
            tx = self._reading(connection, ground)
            return body(tx, *args, **kwargs), tx.unindexed_seen

        answer, seen = await self._lane(self._reader).submit(counted)
        if seen >= SEEN_LIMIT and self._has_written:
            self._index_soon()
        return answer  # type: ignore[no-any-return]  # what the body returned

    async def write(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a storage function in a transaction that is committed before the answer."""

        def counted(connection: sqlite3.Connection, ground: Ground | None) -> tuple[T, int]:
            tx = self._transaction(connection, ground)
            result = body(tx, *args, **kwargs)
            self._has_written = self._is_unannounced = True
            self._unindexed += tx.unindexed_written
            return result, tx.sequence

        feed = self.feed
        if self._mode == "ro":
            raise opening.refusal(self.path)
        answer, sequence = await self._lane(self._writer).submit(counted)
        self._index_when_many()
        await feed.delivered(sequence)
        return answer  # type: ignore[no-any-return]  # what the body returned

    async def remove(
        self, body: Callable[Concatenate[Transaction, P], RetentionReport], *args: P.args, **kwargs: P.kwargs
    ) -> RetentionReport:
        """As ``write``; then nothing of what it removed is left in the file's free space, nor in its log.

        Once it has begun it goes to its end: cancelled, it has done both or nothing, and who closes waits.
        """
        writer = self._lane(self._writer)
        removal = asyncio.ensure_future(self._remove(writer, body, *args, **kwargs))
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)
        await to_the_end(removal)
        return removal.result()

    async def _remove(
        self,
        writer: Lane,
        body: Callable[Concatenate[Transaction, P], RetentionReport],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> RetentionReport:
        report = await self.write(body, *args, **kwargs)
        if report.dry_run or self.in_memory:
            return report
        remains = await hop(await writer.connected(), scrubbing.scrub, self._lock, self.path)
        return report.model_copy(update={"remains": remains})

    @property
    def feed(self) -> SqliteFeed:
        """What watches and iterators hang on."""
        if self._feed is None or self._closing:
            raise AdapterClosedError("is closed" if self._has_closed or self._closing else "is not open")
        return self._feed

    def _lane(self, lane: Lane | None) -> Lane:
        if lane is None or self._closing:
            raise AdapterClosedError("is closed" if self._has_closed or self._closing else "is not open")
        return lane

    def _transaction(
        self, connection: sqlite3.Connection, ground: Ground | None = None, *, is_in_loop: bool = False
    ) -> Transaction:
        return Transaction(
            connection, self.namespace, self.policy, self._ids, self._clock.now(), ground, is_in_loop
        )

    def _reading(self, connection: sqlite3.Connection, ground: Ground | None) -> Transaction:
        """For a function that only reads. In memory it may share a transaction with writers before it."""
        if ground is not None:
            ground.settle(connection)
        return self._transaction(connection)

    # ------------------------------------------------------------------ opening and closing

    async def _open(self) -> bool:
        """Whether it was closed before."""
        async with self._changing:
            if self._writer is not None:
                return False
            if self._content_is_gone:
                raise AdapterClosedError("was in memory, and what it held went when it was closed")
            with translated(self.path):
                if not self.in_memory:
                    self._target = opening.find(self.path, self._mode)
                if self._mode == "rw":
                    self._lock.attach()
            try:
                self._writer = Lane(self._connect_writer, self._groups.write, self._announce)
                if self.in_memory:
                    self._reader = self._writer
                    self._scanner = Lane(self._share_writer, self._groups.read, group_limit=1)
                else:
                    self._reader = Lane(self._connect_reader, self._groups.read)
                    self._scanner = Lane(self._connect_reader, self._groups.read, group_limit=1)
                    if self._inline_reads:
                        self._inline = InlineReader(self._target)
                        exits.watch(self._writer, self._inline, self.path)
                if not self._is_ready():
                    _ = await self._writer.connected()
                self._feed = SqliteFeed(
                    self._reader, self._reading, self.store_id, is_shared=not self.in_memory
                )
            except BaseException:
                await self._release()
                raise
            return True

    async def _close(self) -> None:
        async with self._changing:
            if self._writer is None or self._writer.is_inherited:
                return
            self._closing = True
            try:
                await self._finish()
                if self._feed is not None:
                    await self._feed.close()
                    await self._finish()
                if self._has_written:
                    await hop(await self._writer.connected(), self._tidy_up)
            finally:
                await self._release()
                self._closing = self._has_written = False
                self._content_is_gone, self._has_closed = self.in_memory, True

    def _connect_writer(self, lane: Lane) -> Awaitable[aiosqlite.Connection]:
        return self._connect(lane, self._set_up)

    def _connect_reader(self, lane: Lane) -> Awaitable[aiosqlite.Connection]:
        return self._connect(lane, self._prepare_reader)

    async def _share_writer(self, _lane: Lane) -> aiosqlite.Connection:
        return await self._lane(self._writer).connected()

    async def _connect(
        self, lane: Lane, prepare: Callable[[sqlite3.Connection], None]
    ) -> aiosqlite.Connection:
        with translated(self.path):
            connection = await connect(self._target, prepare, uri=not self.in_memory)
        exits.watch(lane, connection, self.path)
        return connection

    def _announce(self) -> None:
        """After a group of writes, even where all who asked for them have been cancelled."""
        if self._is_unannounced and self._feed is not None:
            self._is_unannounced = False
            self._feed.announce()

    async def _finish(self) -> None:
        while self._removals:
            await asyncio.wait(self._removals)
        for lane in self._lanes():
            await lane.finish()

    def _lanes(self) -> list[Lane]:
        lanes = (self._scanner, self._reader, self._writer)
        return list(dict.fromkeys(lane for lane in lanes if lane is not None))

    async def _release(self) -> None:
        """The readers first: whoever closes a file last checkpoints it, on its thread where it has one."""
        lanes, inline = self._lanes(), self._inline
        self._scanner = self._reader = self._writer = self._feed = self._inline = None
        try:
            if inline is not None:
                exits.forget(inline)
                inline.close()
            for lane in lanes:
                if lane.connection is not None:
                    exits.forget(lane.connection)
                    await lane.connection.close()
        finally:
            self._lock.detach()

    def _is_ready(self) -> bool:
        """Whether one look, in the event loop's own thread, finds a file with nothing to be brought in order.

        A log that may have to be recovered, and trouble of any kind, is the writer's.
        """
        if self._inline is None or files.size(self.path + "-wal"):
            return False
        with suppress(*NOT_INLINE):
            connection = self._inline.connection
            if not migrate.is_needed(connection, self.path) and opening.has_write_ahead_log(connection):
                self._look_around(connection)
                return True
        return False

    def _set_up(self, connection: sqlite3.Connection) -> None:
        """The writer's settings and the schema, or, for reading alone, a look whether it is the newest."""
        try:
            with translated(self.path):
                self._bring_in_order(connection)
        except BaseException:
            if not self.in_memory:
                opening.close_untouched(connection, self.path)
            raise

    def _bring_in_order(self, connection: sqlite3.Connection) -> None:
        if self._mode == "ro":
            opening.check_readable(connection, self._lock, self.path)
        else:
            opening.set_up(connection, self._lock, self._durability)
            opening.bring_up(connection, self._lock, self.path, self._clock.now(), self._ids)
            if not self.in_memory:
                self._lock.patiently(lambda: opening.use_write_ahead_log(connection))
        self._lock.patiently(lambda: self._look_around(connection))

    def _look_around(self, connection: sqlite3.Connection) -> None:
        # In a snapshot, which is refused as busy while another process creates the file. Outside of one
        # SQLite would judge by what it knew of the schema before, and say that there is no such table.
        with snapshot(connection):
            connection.execute("SELECT count(*) FROM sqlite_master")
            tx = self._transaction(connection)
            self.store_id = migrate.store_id(tx)
            self._unindexed = index.pending_count(tx, UNINDEXED_LIMIT)

    def _prepare_reader(self, connection: sqlite3.Connection) -> None:
        with translated(self.path):
            functions.register(connection)
            self._lock.patiently(lambda: opening.run_all(connection, READER_SETTINGS))

    def _tidy_up(self, connection: sqlite3.Connection) -> None:
        if not self.in_memory:
            tidying.tidy_up(
                connection, self._lock, self.path, self._transaction, has_unindexed=bool(self._unindexed)
            )

    # ------------------------------------------------------------------ beside the jobs

    def _index_when_many(self) -> None:
        """Queue the indexing behind the writes that made it due; searches see them meanwhile without it."""
        if self._unindexed >= UNINDEXED_LIMIT:
            self._index_soon()

    def _index_soon(self) -> None:
        if self.is_open and self._writer is not None and self._unindexed:
            self._unindexed = 0
            self._writer.submit(self._index).add_done_callback(self._after_indexing)

    def _index(self, connection: sqlite3.Connection, _ground: Ground | None) -> None:
        self._unindexed = index.catch_up(self._transaction(connection), UNINDEXED_LIMIT)

    def _after_indexing(self, job: "asyncio.Future[Any]") -> None:
        if job.cancelled():
            return
        if (error := job.exception()) is not None:
            files.log.warning("the text index could not be brought up to date: %s", error)
        else:
            self._index_when_many()

    async def backup(self, dest: str | os.PathLike[str]) -> BackupReport:
        """Copy the store whole to a new file. Neither readers nor writers wait for it."""
        self._lane(self._scanner).check_here()
        name = files.resolve(dest)
        if self.in_memory:
            connection = await self._lane(self._writer).connected()
            taking = asyncio.ensure_future(
                hop(connection, take, self.path, name, self._ids, self._transaction)
            )
        else:
            taking = asyncio.ensure_future(
                asyncio.to_thread(
                    take_of_file,
                    self._target,
                    self.path,
                    name,
                    self._ids,
                    self._transaction,
                    busy_timeout_s=self._busy_timeout_s,
                )
            )
        await to_the_end(taking)
        return taking.result()

    async def describe(self) -> StoreDescription:
        """The file and the SQLite behind this adapter."""
        modes = ("PRAGMA journal_mode", "PRAGMA user_version")
        journal_mode, schema = await self.read(lambda tx: [tx.value(each) for each in modes])
        return StoreDescription(
            path=self.path,
            sqlite_version=sqlite3.sqlite_version,
            known_faults=known_faults(),
            journal_mode=journal_mode,
            schema_version=schema,
            file_bytes=0 if self.in_memory else files.size(self.path),
            wal_bytes=0 if self.in_memory else files.size(self.path + "-wal"),
        )
