"""Verification: every hash recomputed, every link followed, key by key, then commit by commit; anchors."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from amfs_sqlite.models import Finding, VerifyReport
from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.rules.anchors import Anchor, Standing, check_anchor, problems
from amfs_sqlite.rules.progress import Meter, check_progress
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.checks.branches import branch_findings
from amfs_sqlite.sqlite.checks.commits import commit_findings
from amfs_sqlite.sqlite.checks.derived import index_findings, request_findings
from amfs_sqlite.sqlite.checks.findings import TOUCHED, Part, finding, shown
from amfs_sqlite.sqlite.checks.outcomes import outcome_findings, uncaused_findings
from amfs_sqlite.sqlite.checks.versions import key_findings
from amfs_sqlite.sqlite.transaction import Transaction

COUNTS = """
SELECT (SELECT count(*) FROM current), (SELECT count(*) FROM versions),
       (SELECT count(*) FROM commits), (SELECT count(*) FROM outcomes)"""
NEW_COUNTS = f"""
SELECT (SELECT count(*) FROM ({TOUCHED})), (SELECT count(*) FROM versions WHERE sequence >= :first),
       (SELECT count(*) FROM commits WHERE sequence >= :first),
       (SELECT count(*) FROM outcomes WHERE sequence >= :first)"""
NEWEST = "SELECT coalesce(max(sequence), 0) FROM commits"
DIGEST = "SELECT digest FROM commits WHERE sequence = ?"
# Keys are never removed, and the first version of each goes on from one below its branch, or is number 1.
STANDING = """
SELECT (SELECT count(*) FROM current)
       - (SELECT count(*) FROM versions AS v WHERE v.sequence > :through AND v.version = coalesce((
              SELECT b.version + 1 FROM branch_points AS p JOIN versions AS b ON b.id = p.version_id
              WHERE p.key_id = v.key_id), 1)),
       (SELECT count(*) FROM versions WHERE sequence <= :through),
       (SELECT count(*) FROM outcomes WHERE sequence <= :through)"""
# An index of SQLite's own that lost a row hides an entry that is there.
PAGES = "PRAGMA integrity_check(10)"
STEPS = "SELECT version, name FROM schema_migrations ORDER BY version"


def verify(
    tx: Transaction,
    *,
    anchor: Anchor | None = None,
    since: Anchor | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    check_anchor(anchor, "anchor")
    check_anchor(since, "since")
    check_progress(progress)
    with _any_text(tx.connection):
        altered = [*_schema_findings(tx)]
        if _lacks_tables(tx):
            return VerifyReport(
                key_count=0, version_count=0, commit_count=0, outcome_count=0, findings=tuple(altered)
            )
        held = [*_anchor_findings(tx, anchor)]
        unheld = [*_anchor_findings(tx, since)]
        part = Part() if since is None or not since.sequence or unheld else _behind(since)
        counts = tx.row(COUNTS) if part.is_whole else tx.row(NEW_COUNTS, part.bound)
        meter = Meter(progress, sum(counts[1:]))
        found = [
            *[each for each in held if each not in unheld],
            *unheld,
            *key_findings(tx, part, meter),
            *outcome_findings(tx, part, meter),
            *uncaused_findings(tx, part),
            *commit_findings(tx, part, meter),
            *request_findings(tx),
            *(branch_findings(tx) if part.is_whole else ()),
            *altered,
            *(_page_findings(tx) if part.is_whole else ()),
        ]
        # Where what is indexed does not hold, neither will the index.
        found += [] if found else index_findings(tx)
        meter.end()
        keys, versions, commits, outcomes = counts
        return VerifyReport(
            key_count=keys,
            version_count=versions,
            commit_count=commits,
            outcome_count=outcomes,
            findings=tuple(found),
            checked_from=part.checked_from,
        )


def anchor(tx: Transaction) -> Anchor:
    return _standing(tx, tx.value(NEWEST)).anchor(tx.now)


@contextmanager
def _any_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Read text that is no UTF-8 any more as text that equals no other, instead of raising."""
    # Made for every text of the file: a function of our own would take a fifth of the time.
    connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    try:
        yield
    finally:
        connection.text_factory = str


def _behind(anchor: Anchor) -> Part:
    return Part(anchor.sequence + 1, anchor.digest)


def _standing(tx: Transaction, through: int) -> Standing:
    digest = tx.one(DIGEST, (through,))
    return Standing(
        shown(migrate.store_id(tx)),
        tx.value(NEWEST),
        None if digest is None else digest[0],
        *tx.row(STANDING, {"through": through}),
    )


def _anchor_findings(tx: Transaction, anchor: Anchor | None) -> Iterator[Finding]:
    if anchor is not None:
        for problem in problems(anchor, _standing(tx, anchor.sequence)):
            yield finding("anchor", problem)


def _lacks_tables(tx: Transaction) -> bool:
    """Whether a table is missing altogether: then nothing can be looked up."""
    found = {(kind, name) for kind, name, _ in tx.each(migrate.OBJECTS)}
    return any(kind == "table" and (kind, name) not in found for kind, name in migrate.objects())


def _page_findings(tx: Transaction) -> Iterator[Finding]:
    for (said,) in tx.each(PAGES):
        if said != "ok":
            yield finding("file", f"SQLite says: {' '.join(shown(said).split())}")


def _schema_findings(tx: Transaction) -> Iterator[Finding]:
    """Triggers, views and altered tables: they could change what is read or written, unseen."""
    expected = migrate.objects()
    found = {(kind, name): sql for kind, name, sql in tx.each(migrate.OBJECTS)}
    for kind, name in sorted({*expected, *found}):
        if expected.get((kind, name)) != found.get((kind, name)):
            yield finding("algorithm", f"the {kind} {shown(name)} is not as this release makes it")
    if tx.all(STEPS) != [(step.version, step.name) for step in migrate.migrations()]:
        yield finding("algorithm", "schema_migrations does not name the steps that make this schema")
