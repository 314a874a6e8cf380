"""Verification: every hash recomputed, every link followed, key by key and then commit by commit."""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, NamedTuple

from amfs_sqlite.models import (
    CommitEntry,
    Finding,
    FindingCode,
    MemoryEntry,
    OutcomeEffect,
    VerifyReport,
)
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import (
    GENESIS,
    commit_digest,
    content_hash,
    integrity_chain,
    outcome_digest,
    record_digest,
    tree_hash,
)
from amfs_sqlite.rules.values import decode, encode
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.rows import UNREADABLE, UnreadableRowError, entry_of, moment, record_of
from amfs_sqlite.sqlite.transaction import Transaction

VERSIONS = """
SELECT v.key_id, c.namespace, c.branch, v.kind, v.record_digest, v.id, v.sequence, v.extra_hash,
       c.entity_path, c.key, v.version, v.value, v.amfs_version, v.agent_id, v.session_id,
       v.written_at, v.tags, v.shared, v.ttl_at, v.artifact_refs, v.extra, v.content_hash,
       v.integrity_chain, m.id, v.confidence, v.outcome_count, v.success_count, v.failure_count, NULL, v.kind
FROM versions AS v LEFT JOIN current AS c ON c.id = v.key_id
LEFT JOIN commits AS m ON m.sequence = v.sequence
ORDER BY v.key_id, v.version"""
COPIED = (
    "value, amfs_version, agent_id, session_id, written_at, tags, shared, ttl_at, artifact_refs,"
    " extra, content_hash, integrity_chain, kind, sequence"
)
COPY = f"SELECT version_id, version, {COPIED} FROM current WHERE id = ?"
ORIGINAL = f"SELECT id, version, {COPIED} FROM versions WHERE id = ?"
OPINION = "SELECT confidence, outcome_count, success_count, failure_count FROM current WHERE id = ?"
IN_PLACE = """
SELECT confidence_before, confidence_after, success FROM outcome_effects
WHERE key_id = ? AND version = ? AND resulting_version = version AND applied = 1 ORDER BY id"""
VERSIONLESS = """
SELECT c.entity_path, c.key FROM current AS c
WHERE NOT EXISTS (SELECT 1 FROM versions AS v WHERE v.key_id = c.id) ORDER BY c.id"""
COMMITS = """
SELECT sequence, namespace, branch, id, kind, message, author, session_id, parent_ids, tree_hash,
       listed, describes, created_at, digest FROM commits ORDER BY sequence"""
RECORD_DIGESTS = "SELECT record_digest, content_hash FROM versions WHERE sequence = ? ORDER BY id"
OUTCOME_DIGESTS = "SELECT digest FROM outcomes WHERE sequence = ? ORDER BY id"
OUTCOMES = """
SELECT o.id, o.record, o.namespace, o.outcome_ref, o.outcome_type, o.agent_id, o.digest,
       m.namespace, m.id,
       coalesce(o.newest_version_id <= (SELECT max(c.version_id) FROM current AS c), 1)
       AND coalesce((SELECT v.sequence FROM versions AS v WHERE v.id = o.newest_version_id) <= o.sequence, 1)
       AND coalesce((SELECT v.sequence FROM versions AS v WHERE v.id > o.newest_version_id
                     ORDER BY v.id LIMIT 1) >= o.sequence, 1)
FROM outcomes AS o LEFT JOIN commits AS m ON m.sequence = o.sequence ORDER BY o.id"""
EFFECTS = """
SELECT c.entity_path, c.key, e.version, e.policy, e.confidence_before, e.confidence_after,
       e.applied, e.reason, e.resulting_version, e.success
FROM outcome_effects AS e LEFT JOIN current AS c ON c.id = e.key_id
WHERE e.outcome_id = ? ORDER BY e.id"""
ORPHANS = """
SELECT c.entity_path, c.key, e.version FROM outcome_effects AS e
LEFT JOIN outcomes AS o ON o.id = e.outcome_id LEFT JOIN current AS c ON c.id = e.key_id
WHERE o.id IS NULL OR c.id IS NULL ORDER BY e.id"""
UNCAUSED = """
SELECT c.entity_path, c.key, v.version FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE v.kind = 'outcome' AND NOT EXISTS (
    SELECT 1 FROM outcome_effects AS e
    WHERE e.key_id = v.key_id AND e.version = v.version - 1 AND e.resulting_version = v.version
    AND e.applied = 1 AND e.confidence_after = v.confidence)
ORDER BY v.id"""
HEAD = "SELECT sequence, digest FROM head"
COUNTS = """
SELECT (SELECT count(*) FROM current), (SELECT count(*) FROM versions),
       (SELECT count(*) FROM commits), (SELECT count(*) FROM outcomes)"""

SHA256 = re.compile(r"[0-9a-f]{64}")
# Columns of an entry's row that may be damaged, and what stands for them then.
VALUE = 3
BLANKS = {VALUE: "null", 7: 0, 8: "[]", 10: None, 11: None, 12: "{}"}


class Line(NamedTuple):
    """A version as it lies in the log."""

    key_id: int
    namespace: str
    branch: str
    kind: str
    record_digest: str
    version_id: int
    sequence: int
    extra_hash: str
    entry: MemoryEntry
    damaged: frozenset[int] = frozenset()
    """The columns that cannot be read; what stands for them in ``entry`` is not what they hold."""
    value: str | None = None
    """The value's text: other programs may read it otherwise than we do, unless it is as we wrote it."""

    def finding(self, code: FindingCode, message: str) -> Finding:
        """Something about this version."""
        entry = self.entry
        at = (entry.entity_path, entry.key)
        return _finding(code, message, at, version=entry.version, commit_id=entry.commit_id)


def verify(tx: Transaction) -> VerifyReport:
    with _any_text(tx.connection):
        keys, versions, commits, outcomes = tx.row(COUNTS)
        return VerifyReport(
            key_count=keys,
            version_count=versions,
            commit_count=commits,
            outcome_count=outcomes,
            findings=(
                *_key_findings(tx),
                *_outcome_findings(tx),
                *_uncaused_findings(tx),
                *_commit_findings(tx),
                *_schema_findings(tx),
            ),
        )


@contextmanager
def _any_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Read text that is no UTF-8 any more as text that equals no other, instead of raising."""
    connection.text_factory = lambda stored: stored.decode(errors="surrogateescape")
    try:
        yield
    finally:
        connection.text_factory = str


def _finding(
    code: FindingCode,
    message: str,
    at: tuple[str | None, str | None] = (None, None),
    *,
    version: int | None = None,
    commit_id: str | None = None,
) -> Finding:
    path, key = at
    return Finding(
        code=code,
        message=message,
        entity_path=_shown(path),
        key=_shown(key),
        version=version,
        commit_id=_shown(commit_id),
    )


def _shown(cell: Any) -> Any:
    return cell.encode(errors="backslashreplace").decode() if isinstance(cell, str) else cell


def _key_findings(tx: Transaction) -> Iterator[Finding]:
    for path, key in tx.each(VERSIONLESS):
        yield _finding("gap", "no version is left", (path, key))
    for key_id, rows in groupby(tx.each(VERSIONS), key=lambda row: row[0]):
        before: Line | None = None
        for row in rows:
            if row[1] is None:
                yield _finding("link", "a version without its key", version=row[10], commit_id=row[23])
                continue
            line = Line._make((*row[:8], *_readable(row[8:]), row[8 + VALUE]))
            yield from _version_findings(line, before)
            before = line
        if before is not None:
            yield from _current_findings(tx, key_id, before)


def _readable(row: Sequence[Any]) -> tuple[MemoryEntry, frozenset[int]]:
    """The entry, with blanks for the columns that cannot be read any more, and which those are."""
    damaged = {VALUE} if row[VALUE] is None else set()
    try:
        return entry_of(row), frozenset(damaged)
    except UnreadableRowError:
        shown = [_shown(cell) for cell in row]
    others = [place for place in range(len(shown)) if place not in BLANKS]
    damaged |= {place for place in others if shown[place] != row[place]}
    repaired = [BLANKS.get(place, cell) for place, cell in enumerate(shown)]
    for place in BLANKS:
        tried = [*repaired]
        tried[place] = row[place]
        try:
            entry_of(tried)
        except UnreadableRowError:
            damaged.add(place)
        else:
            repaired = tried
    return entry_of(repaired), frozenset(damaged)


def _version_findings(line: Line, before: Line | None) -> Iterator[Finding]:
    entry = line.entry
    expected = 1 if before is None else before.entry.version + 1
    if entry.version != expected:
        yield line.finding("gap", f"version {expected} is missing before version {entry.version}")
    elif before is not None and (line.version_id <= before.version_id or line.sequence < before.sequence):
        yield line.finding("order", "was stored before the version it follows")
    if not SHA256.fullmatch(entry.content_hash or ""):
        yield line.finding("algorithm", "contentHash is no SHA-256")
    elif not _has_its_content(line):
        yield line.finding("content", "the value does not hash to its contentHash")
    previous = None if before is None else before.entry.integrity_chain
    if not SHA256.fullmatch(entry.integrity_chain or ""):
        yield line.finding("algorithm", "integrityChain is no SHA-256")
    elif integrity_chain(entry.content_hash or "", previous) != entry.integrity_chain:
        yield line.finding("link", "integrityChain does not follow from the version before")
    if not SHA256.fullmatch(line.record_digest):
        yield line.finding("algorithm", "the record digest is no SHA-256")
    elif line.damaged - {VALUE} or not _has_its_record(line):
        yield line.finding("record", "something written with this version differs from its digest")
    if entry.commit_id is None:
        yield line.finding("commit", "the commit that wrote this version is missing")


def _has_its_content(line: Line) -> bool:
    try:
        as_stored = VALUE not in line.damaged and encode(line.entry.value) == line.value
        return as_stored and content_hash(line.entry.value) == line.entry.content_hash
    except UNREADABLE:
        return False


def _has_its_record(line: Line) -> bool:
    try:
        extra_holds = content_hash(line.entry.model_extra or {}) == line.extra_hash
        return extra_holds and line.record_digest == record_digest(
            line.entry,
            namespace=line.namespace,
            branch=line.branch,
            kind=line.kind,
            extra_hash=line.extra_hash,
        )
    except UNREADABLE:
        return False


def _current_findings(tx: Transaction, key_id: int, newest: Line) -> Iterator[Finding]:
    entry = newest.entry
    copy = tx.row(COPY, (key_id,))
    if (current := copy[1]) > entry.version:
        missing = f"version {current} is missing: version {entry.version} is the newest left"
        yield _finding("gap", missing, (entry.entity_path, entry.key), version=current)
        return
    if copy != tx.one(ORIGINAL, (newest.version_id,)):
        yield newest.finding("link", "what is current differs from the newest version")
    stands, successes, failures = entry.confidence, entry.success_count, entry.failure_count
    for before, after, success in tx.each(IN_PLACE, (key_id, entry.version)):
        if before != stands:
            yield newest.finding("outcome", f"an outcome moved {before}, but {stands} stood there")
        stands, successes, failures = after, successes + success, failures + 1 - success
    moved = successes + failures - entry.success_count - entry.failure_count
    opinion = (stands, entry.outcome_count + moved, successes, failures)
    if tx.one(OPINION, (key_id,)) != opinion:
        yield newest.finding("outcome", "confidence and counts do not follow from the outcomes recorded")


def _outcome_findings(tx: Transaction) -> Iterator[Finding]:
    for outcome_id, stored, *copied, digest, namespace, commit_id, in_place in tx.each(OUTCOMES):
        _, reference, kind, _ = copied
        try:
            record = record_of(stored)
            named = [namespace, record.outcome_ref, record.outcome_type, record.agent_id]
            success = is_success(outcome_type(kind))
            rows = tx.all(EFFECTS, (outcome_id,))
            effects = [_effect(row) for row in rows]
            holds = (
                outcome_digest(record.to_wire(), effects) == digest
                and named == copied
                and all(bool(row[9]) == success for row in rows)
            )
        except (UnreadableRowError, *UNREADABLE):
            holds = False
        if holds and not in_place:
            message = f"outcome {reference!a} does not stand among the versions of its commit"
            yield _finding("order", message, commit_id=commit_id)
        if not holds:
            message = f"outcome {reference!a} or one of its effects differs from its digest"
            yield _finding("outcome", message, commit_id=commit_id)


def _uncaused_findings(tx: Transaction) -> Iterator[Finding]:
    for path, key, version in tx.each(ORPHANS):
        yield _finding("outcome", "an effect without its outcome or entry", (path, key), version=version)
    for path, key, version in tx.each(UNCAUSED):
        message = "an outcome's version is not what any recorded effect made"
        yield _finding("outcome", message, (path, key), version=version)


def _effect(row: Sequence[Any]) -> OutcomeEffect:
    path, key, version, policy, before, after, applied, reason, resulting_version, _ = row
    return OutcomeEffect(
        entity_path=path or "",
        key=key or "",
        version=version,
        policy=policy,
        confidence_before=before,
        confidence_after=after,
        applied=bool(applied),
        reason=reason,
        resulting_version=resulting_version,
    )


def _commit_findings(tx: Transaction) -> Iterator[Finding]:
    previous, expected = GENESIS, 1
    for row in tx.each(COMMITS):
        sequence, commit_id, digest = row[0], row[3], row[13]
        if sequence != expected:
            message = f"commit {expected} is missing before commit {sequence}"
            yield _finding("order", message, commit_id=commit_id)
        yield from _one_commit(tx, row, previous)
        previous, expected = digest, sequence + 1
    if tx.one(HEAD) != (expected - 1, previous):
        yield _finding("head", "the newest commit is not the one the head names")


def _schema_findings(tx: Transaction) -> Iterator[Finding]:
    """Triggers, views and altered tables: they could change what is read or written, unseen."""
    expected = migrate.objects()
    found = {(kind, name): sql for kind, name, sql in tx.each(migrate.OBJECTS)}
    for kind, name in sorted({*expected, *found}):
        if expected.get((kind, name)) != found.get((kind, name)):
            yield _finding("algorithm", f"the {kind} {_shown(name)} is not as this release makes it")


def _one_commit(tx: Transaction, row: Sequence[Any], previous: str) -> Iterator[Finding]:
    (
        sequence, namespace, branch, commit_id, kind, message, author, session_id,
        parents, tree, listed, describes, created_at, digest,
    ) = row  # fmt: skip
    written = tx.all(RECORD_DIGESTS, (sequence,))
    recomputed = tree
    try:
        if written:
            recomputed = tree_hash(content for _, content in written)
        again = commit_digest(
            previous,
            sequence=sequence,
            commit_id=commit_id,
            namespace=namespace,
            branch=branch,
            kind=kind,
            message=message,
            author=author,
            session_id=session_id,
            parent_ids=json.loads(parents),
            created_at=moment(created_at),
            tree=tree,
            listed=[CommitEntry.from_wire(entry) for entry in decode(listed)],
            describes=describes,
            record_digests=[record for record, _ in written],
            outcome_digests=[own for (own,) in tx.each(OUTCOME_DIGESTS, (sequence,))],
        )
    except UNREADABLE:
        again = ""
    if again != digest or recomputed != tree:
        message = "the commit, its versions or its outcomes differ from its digest"
        yield _finding("commit", message, commit_id=commit_id)
