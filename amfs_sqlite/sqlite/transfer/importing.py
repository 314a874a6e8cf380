"""Importing: commits of an export put behind the head of the log, some in each transaction."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from amfs_sqlite.errors import ImportLineError
from amfs_sqlite.models import RetentionReport
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.transfer import (
    MAX_CONFLICTS_NAMED,
    ExportedCommit,
    ImportConflict,
    ImportReport,
)
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.database import scrubbing
from amfs_sqlite.sqlite.database.connection import Database
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sqlite.transfer.looking import Imagined, Looking
from amfs_sqlite.sqlite.transfer.receiving import Address, Received
from amfs_sqlite.sqlite.transfer.storing import Storing

CHANGES_TOGETHER = 500
BYTES_TOGETHER = 4 * 1024 * 1024

NAME_STORE = "UPDATE meta SET value = ? WHERE name = 'store_id'"


class Import:
    """One import into one store, from its first line to its last."""

    def __init__(
        self,
        database: Database,
        reader: ExportReader,
        *,
        dry_run: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._database = database
        self._reader = reader
        self._dry_run = dry_run
        self._progress = progress
        self._left_out: set[Address] = set()
        self._imagined = Imagined()
        self._conflicts: list[ImportConflict] = []
        self._counts = dict.fromkeys(Received().counts, 0)

    async def run(self) -> ImportReport:
        """Store it all; see ``Transfer.import_from``."""
        # An export without commits has an id too.
        await self._store_at_once(())
        slices = _slices(self._reader)
        while (together := await self._next(slices)) is not None:
            await self._store(together)
            if self._progress is not None:
                self._progress(self._reader.byte_count)
        remains = RetentionReport()
        # An import that was ended, or anybody else, may have left it to this one.
        if not self._dry_run and (self._counts["erased"] or await self._database.read(_is_due)):
            remains = await self._database.remove(_scrubbed)
        return ImportReport(
            store_id=self._database.store_id,
            dry_run=self._dry_run,
            conflict_count=len(self._left_out),
            conflicts=tuple(self._conflicts),
            remains=remains.remains,
            **{f"{name}_count": count for name, count in self._counts.items()},
        )

    async def _next(self, slices: Iterator[Sequence[ExportedCommit]]) -> Sequence[ExportedCommit] | None:
        try:
            return await asyncio.to_thread(next, slices, None)
        except ImportLineError as refused:
            raise self._told(refused) from refused

    async def _store(self, together: Sequence[ExportedCommit]) -> None:
        """All of them, or those before the one that is refused."""
        try:
            await self._store_at_once(together)
        except ImportLineError as refused:
            for each in together if len(together) > 1 and not self._dry_run else ():
                await self._store([each])
            raise self._told(refused) from refused

    async def _store_at_once(self, together: Sequence[ExportedCommit]) -> None:
        left_out = frozenset(self._left_out)
        if self._dry_run:
            received = await self._database.scan(_look, together, left_out, self._imagined)
        else:
            received, store_id = await self._database.write(_store, together, left_out, self._reader.store_id)
            if store_id is not None:
                self._database.store_id = store_id
                self._database.feed.rename(store_id)
        for name, count in received.counts.items():
            self._counts[name] += count
        self._left_out |= received.left_out
        self._conflicts += received.conflicts[: MAX_CONFLICTS_NAMED - len(self._conflicts)]

    def _told(self, refused: ImportLineError) -> ImportLineError:
        count = 0 if self._dry_run else self._counts["commit"]
        return ImportLineError(refused.line, refused.problem, count)


def _slices(reader: ExportReader) -> Iterator[Sequence[ExportedCommit]]:
    """As many commits as one transaction stores; those before a line that is refused come before it."""
    together: list[ExportedCommit] = []
    changes, begun = 0, reader.byte_count
    commits = reader.commits()
    while True:
        try:
            commit = next(commits, None)
        except ImportLineError:
            if together:
                yield together
            raise
        if commit is None:
            break
        together.append(commit)
        changes += 1 + len(commit.changes)
        if changes >= CHANGES_TOGETHER or reader.byte_count - begun >= BYTES_TOGETHER:
            yield together
            together, changes, begun = [], 0, reader.byte_count
    if together:
        yield together


def _store(
    tx: Transaction, together: Sequence[ExportedCommit], left_out: frozenset[Address], store_id: str
) -> tuple[Received, str | None]:
    """Store these commits; and the id that an empty store takes over.

    An export put into an empty store is that store again: who kept an anchor or a cursor of it finds it.
    """
    adopted = None
    if tx.ground is not None and not tx.ground.sequence and migrate.store_id(tx) != store_id:
        tx.run(NAME_STORE, (store_id,))
        adopted = store_id
    receiving = Storing(tx, left_out)
    for each in together:
        receiving.receive(each)
    return receiving.received, adopted


def _look(
    tx: Transaction,
    together: Sequence[ExportedCommit],
    left_out: frozenset[Address],
    imagined: Imagined,
) -> Received:
    """See what would become of these commits."""
    receiving = Looking(tx, left_out, imagined)
    for each in together:
        receiving.receive(each)
    return receiving.received


def _is_due(tx: Transaction) -> bool:
    return scrubbing.is_due(tx.connection)


def _scrubbed(_tx: Transaction) -> RetentionReport:
    """What is to be removed was blanked before, commit by commit."""
    return RetentionReport()
