"""Verification: every hash recomputed, every link followed, key by key and then commit by commit."""

import json
import re
from collections.abc import Iterator, Sequence
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
from amfs_sqlite.rules.values import decode
from amfs_sqlite.sqlite.rows import entry_of, moment, record_of
from amfs_sqlite.sqlite.transaction import Transaction

VERSIONS = """
SELECT v.key_id, c.namespace, c.branch, v.kind, v.record_digest, v.id, v.sequence,
       c.entity_path, c.key, v.version, v.value, v.amfs_version, v.agent_id, v.session_id,
       v.written_at, v.tags, v.shared, v.ttl_at, v.artifact_refs, v.extra, v.content_hash,
       v.integrity_chain, m.id, v.confidence, v.outcome_count, v.success_count, v.failure_count, NULL
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
SELECT o.id, o.record, o.outcome_ref, o.outcome_type, o.agent_id, o.digest, m.id
FROM outcomes AS o LEFT JOIN commits AS m ON m.sequence = o.sequence ORDER BY o.id"""
EFFECTS = """
SELECT c.entity_path, c.key, e.version, e.policy, e.confidence_before, e.confidence_after,
       e.applied, e.reason, e.resulting_version, e.success
FROM outcome_effects AS e LEFT JOIN current AS c ON c.id = e.key_id
WHERE e.outcome_id = ? ORDER BY e.id"""
HEAD = "SELECT sequence, digest FROM head"
COUNTS = """
SELECT (SELECT count(*) FROM current), (SELECT count(*) FROM versions),
       (SELECT count(*) FROM commits), (SELECT count(*) FROM outcomes)"""

SHA256 = re.compile(r"[0-9a-f]{64}")


class Line(NamedTuple):
    """A version as it lies in the log."""

    key_id: int
    namespace: str
    branch: str
    kind: str
    record_digest: str
    version_id: int
    sequence: int
    is_erased: bool
    entry: MemoryEntry

    def finding(self, code: FindingCode, message: str) -> Finding:
        """Something about this version."""
        return Finding(
            code=code,
            message=message,
            entity_path=self.entry.entity_path,
            key=self.entry.key,
            version=self.entry.version,
            commit_id=self.entry.commit_id,
        )


def verify(tx: Transaction) -> VerifyReport:
    keys, versions, commits, outcomes = tx.row(COUNTS)
    return VerifyReport(
        key_count=keys,
        version_count=versions,
        commit_count=commits,
        outcome_count=outcomes,
        findings=(*_key_findings(tx), *_outcome_findings(tx), *_commit_findings(tx)),
    )


def _key_findings(tx: Transaction) -> Iterator[Finding]:
    for path, key in tx.each(VERSIONLESS):
        yield Finding(code="gap", message="no version is left", entity_path=path, key=key)
    for key_id, rows in groupby(tx.each(VERSIONS), key=lambda row: row[0]):
        before: Line | None = None
        for row in rows:
            if row[1] is None:
                yield Finding(
                    code="link",
                    message="a version without its key",
                    version=row[9],
                    commit_id=row[22],
                )
                continue
            line = Line._make((*row[:7], row[10] is None, _readable(row[7:])))
            yield from _version_findings(line, before)
            before = line
        if before is not None:
            yield from _current_findings(tx, key_id, before)


def _readable(row: Sequence[Any]) -> MemoryEntry:
    """The entry; a value whose text is no JSON any more is shown as that text, which hashes otherwise."""
    try:
        return entry_of(row)
    except ValueError:
        repaired = list(row)
        repaired[3], repaired[8], repaired[11], repaired[12] = "null", "[]", None, "{}"
        return entry_of(repaired).model_copy(update={"value": row[3]})


def _version_findings(line: Line, before: Line | None) -> Iterator[Finding]:
    entry = line.entry
    expected = 1 if before is None else before.entry.version + 1
    if entry.version != expected:
        yield line.finding("gap", f"version {expected} is missing before version {entry.version}")
    elif before is not None and (line.version_id <= before.version_id or line.sequence < before.sequence):
        yield line.finding("order", "was stored before the version it follows")
    if not SHA256.fullmatch(entry.content_hash or ""):
        yield line.finding("algorithm", "contentHash is no SHA-256")
    elif not line.is_erased and content_hash(entry.value) != entry.content_hash:
        yield line.finding("content", "the value does not hash to its contentHash")
    previous = None if before is None else before.entry.integrity_chain
    if not SHA256.fullmatch(entry.integrity_chain or ""):
        yield line.finding("algorithm", "integrityChain is no SHA-256")
    elif integrity_chain(entry.content_hash or "", previous) != entry.integrity_chain:
        yield line.finding("link", "integrityChain does not follow from the version before")
    if _record_digest(line) != line.record_digest:
        yield line.finding("record", "something written with this version differs from its digest")
    if entry.commit_id is None:
        yield line.finding("commit", "the commit that wrote this version is missing")


def _record_digest(line: Line) -> str:
    return record_digest(
        line.entry,
        namespace=line.namespace,
        branch=line.branch,
        kind=line.kind,
        success_count=line.entry.success_count,
        failure_count=line.entry.failure_count,
    )


def _current_findings(tx: Transaction, key_id: int, newest: Line) -> Iterator[Finding]:
    if tx.one(COPY, (key_id,)) != tx.one(ORIGINAL, (newest.version_id,)):
        yield newest.finding("link", "what is current differs from the newest version")
    entry = newest.entry
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
    for outcome_id, stored, reference, kind, agent, digest, commit_id in tx.each(OUTCOMES):
        try:
            record = record_of(stored)
            named = (record.outcome_ref, record.outcome_type, record.agent_id)
            success = is_success(outcome_type(kind))
            rows = tx.all(EFFECTS, (outcome_id,))
            effects = [_effect(row) for row in rows]
            holds = (
                outcome_digest(record, effects) == digest
                and named == (reference, kind, agent)
                and all(bool(row[9]) == success for row in rows)
            )
        except ValueError:
            holds = False
        if not holds:
            yield Finding(
                code="outcome",
                message=f"outcome {reference!r} or one of its effects differs from its digest",
                commit_id=commit_id,
            )


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
            yield Finding(
                code="order",
                message=f"commit {expected} is missing before commit {sequence}",
                commit_id=commit_id,
            )
        yield from _one_commit(tx, row, previous)
        previous, expected = digest, sequence + 1
    if tx.one(HEAD) != (expected - 1, previous):
        yield Finding(code="head", message="the newest commit is not the one the head names")


def _one_commit(tx: Transaction, row: Sequence[Any], previous: str) -> Iterator[Finding]:
    (
        sequence, namespace, branch, commit_id, kind, message, author, session_id,
        parents, tree, listed, describes, created_at, digest,
    ) = row  # fmt: skip
    written = tx.all(RECORD_DIGESTS, (sequence,))
    recomputed = tree_hash(str(content) for _, content in written) if written else tree
    try:
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
    except (ValueError, OverflowError):
        again = None
    if again != digest or recomputed != tree:
        yield Finding(
            code="commit",
            message="the commit, its versions or its outcomes differ from its digest",
            commit_id=commit_id,
        )
