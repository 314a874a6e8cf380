"""Exporting: the whole store, line by line, in one snapshot."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, ParamSpec

from amfs_sqlite.clock import IdSource, RandomIds
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MAIN_BRANCH, Commit
from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.rules import transfer
from amfs_sqlite.rules.transfer import ExportReport
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.copying import copies
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.connection import Database
from amfs_sqlite.sqlite.database.lanes import to_the_end
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.rows import UNREADABLE, UnreadableRowError, commit_of, effect_of, entry_of, record_of
from amfs_sqlite.sqlite.transaction import Transaction

TOTALS = """
SELECT h.sequence, h.digest, (SELECT count(*) FROM commits), (SELECT count(*) FROM versions),
       (SELECT count(*) FROM outcomes)
FROM head AS h"""
COMMITS = """
SELECT describes, sequence, namespace, branch, id, kind, message, author, session_id, parent_ids, tree_hash,
       listed, created_at, digest
FROM commits ORDER BY sequence"""
# As written, and not as it stands: what outcomes did to it follows with them.
VERSIONS = """
SELECT v.id, c.namespace, c.branch, v.extra_hash, v.record_digest,
       c.entity_path, c.key, v.version, v.value, v.amfs_version, v.agent_id, v.session_id, v.written_at,
       v.tags, v.shared, v.ttl_at, v.artifact_refs, v.extra, v.content_hash, v.integrity_chain, :commit_id,
       v.confidence, v.outcome_count, v.success_count, v.failure_count, NULL, v.kind
FROM versions AS v JOIN current AS c ON c.id = v.key_id WHERE v.sequence = :sequence ORDER BY v.id"""
OUTCOMES = """
SELECT id, newest_version_id, record, digest FROM outcomes WHERE sequence = :sequence ORDER BY id"""
EFFECTS = """
SELECT c.entity_path, c.key, e.version, e.policy, e.confidence_before, e.confidence_after, e.applied,
       e.reason, e.resulting_version
FROM outcome_effects AS e JOIN current AS c ON c.id = e.key_id WHERE e.outcome_id = ? ORDER BY e.id"""
# What is no part of the log. A copy of the file has it all; an export is the log alone.
LEFT_OUT = {
    "recall count": "SELECT count(*) FROM recalls",
    "embedding": "SELECT (SELECT count(*) FROM vectors) + (SELECT count(*) FROM outcome_vectors)",
    "trace": "SELECT count(*) FROM traces",
    "event": "SELECT count(*) FROM events",
    "agent": "SELECT count(*) FROM agents",
    "agent group": "SELECT count(*) FROM agent_groups",
    "graph edge": "SELECT count(*) FROM graph_edges",
    "tag": "SELECT count(*) FROM tags",
    "pull request": "SELECT count(*) FROM pull_requests",
    "pull review": "SELECT count(*) FROM pull_reviews",
    "branch grant": "SELECT count(*) FROM branch_access",
    "digest": "SELECT count(*) FROM digests",
    "reuse event": "SELECT count(*) FROM reuse_events",
}
BRANCHES = f"SELECT DISTINCT branch FROM current WHERE branch <> '{MAIN_BRANCH}' ORDER BY branch"
STEP = 100
BUFFER_BYTES = 1024 * 1024
TORN = "the commit log does not hold together; verify tells where"


Args = ParamSpec("Args")


class _StoppedError(Exception):
    """Nobody takes what is written any more."""


async def run(
    database: Database, write: Callable[[bytes], object], progress: Progress | None
) -> ExportReport:
    """Write it all, on another thread, which stops when this is cancelled."""
    stopped, failed = threading.Event(), list[Exception]()

    def calling(given: Callable[Args, object]) -> Callable[Args, None]:
        """What the receiver raises is its own, and not to be taken for the store's."""

        def call(*args: Args.args, **kwargs: Args.kwargs) -> None:
            if stopped.is_set():
                raise _StoppedError
            try:
                given(*args, **kwargs)
            except Exception as error:
                failed.append(error)
                raise _StoppedError from error

        return call

    try:
        return await database.scan(export, calling(write), progress and calling(progress))
    except _StoppedError:
        raise failed[0] from None
    finally:
        stopped.set()


async def export_to_file(
    export: Callable[..., Awaitable[ExportReport]],
    dest: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    ids: IdSource | None = None,
) -> ExportReport:
    """Export to a new file of its owner's alone, which gets its name when all of it is on the disk.

    ``export`` is the ``export_to`` of a store. Raises InvalidArgumentError where something stands at
    ``dest``, and a StoreError for what the system refuses; then there is no new file.
    """
    path = files.resolve(dest)
    copies.refuse_taken(path, "dest")
    with translated(path), copies.temporary_beside(path, ids or RandomIds()) as temporary:
        with open(temporary, "wb", BUFFER_BYTES) as stream:  # noqa: ASYNC230, PTH123 - made, not yet filled

            def write(line: bytes) -> None:
                with translated(path):
                    stream.write(line)

            report = await export(write, progress=progress)
        await to_the_end(asyncio.to_thread(copies.put, temporary, path))
    return report


def export(tx: Transaction, write: Callable[[bytes], object], progress: Progress | None) -> ExportReport:
    branches = [name for (name,) in tx.all(BRANCHES)]
    if branches:
        raise InvalidArgumentError(
            "branches",
            f"are written to, {quoted(branches[0])} among them, and an export is of {MAIN_BRANCH} alone;"
            " take a backup, which has all of it",
        )
    sequence, digest, *totals = tx.row(TOTALS)
    store_id = migrate.store_id(tx)
    write(transfer.first_line(store_id))
    counted = [0, 0, 0]
    for row in tx.each(COMMITS):
        commit = commit_of(row[1:], (), ())
        for which, line in _lines(tx, commit, row[0]):
            counted[which] += 1
            write(line)
        if progress is not None and counted[0] % STEP == 0:
            progress(counted[0], totals[0])
    if counted != totals:
        raise UnreadableRowError(TORN)
    commits, versions, outcomes = counted
    report = ExportReport(
        store_id=store_id,
        commit_count=commits,
        version_count=versions,
        outcome_count=outcomes,
        sequence=sequence,
        digest=digest,
        left_out={name: count for name, sql in LEFT_OUT.items() if (count := tx.value(sql))},
    )
    write(transfer.last_line(report))
    return report


def _lines(tx: Transaction, commit: Commit, describes: str | None) -> Iterator[tuple[int, bytes]]:
    """The lines of one commit: of each which of the counts it belongs to."""
    try:
        yield 0, transfer.commit_line(commit, describes)
        asked = {"sequence": commit.sequence, "commit_id": commit.id}
        outcomes = deque(tx.all(OUTCOMES, asked))
        for row in tx.each(VERSIONS, asked):
            while outcomes and outcomes[0][1] < row[0]:
                yield 2, _outcome(tx, outcomes.popleft())
            if row[1:3] != (commit.namespace, commit.branch):
                raise UnreadableRowError(TORN)
            yield 1, _version(row)
        for outcome in outcomes:
            yield 2, _outcome(tx, outcome)
    except UNREADABLE as error:
        raise UnreadableRowError(TORN) from error


def _version(row: tuple[Any, ...]) -> bytes:
    extra_hash, record_digest, *columns = row[3:]
    entry = entry_of(columns)
    return transfer.version_line(
        entry,
        kind=columns[-1],
        is_erased=entry.withdrawn == "erased",
        extra_hash=extra_hash,
        record_digest=record_digest,
    )


def _outcome(tx: Transaction, row: tuple[Any, ...]) -> bytes:
    outcome_id, _, record, digest = row
    effects = [effect_of(effect) for effect in tx.each(EFFECTS, (outcome_id,))]
    return transfer.outcome_line(record_of(record).to_wire(), effects, digest)
