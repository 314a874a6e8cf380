"""Commit by commit: each against its digest and the one before it, and the newest against the head."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from amfs_sqlite.models import CommitEntry, Finding
from amfs_sqlite.rules.hashing import commit_digest, tree_hash
from amfs_sqlite.rules.progress import Meter
from amfs_sqlite.rules.values import decode
from amfs_sqlite.sqlite.checks.findings import Beside, Part, finding
from amfs_sqlite.sqlite.checks.versions import named_in
from amfs_sqlite.sqlite.rows import UNREADABLE, moment
from amfs_sqlite.sqlite.transaction import Transaction

COMMITS = """
SELECT sequence, namespace, branch, id, kind, message, author, session_id, parent_ids, tree_hash,
       listed, describes, created_at, digest FROM commits WHERE sequence >= :first ORDER BY sequence"""
RECORD_DIGESTS = """
SELECT sequence, record_digest, content_hash FROM versions WHERE sequence >= :first ORDER BY sequence, id"""
OUTCOME_DIGESTS = "SELECT sequence, digest FROM outcomes WHERE sequence >= :first ORDER BY sequence, id"
HEAD = "SELECT sequence, digest FROM head"
IS_ERASED = """
SELECT count(*) FROM current AS c JOIN versions AS v ON v.key_id = c.id
JOIN erasures AS x ON x.version_id = v.id
WHERE c.namespace = ? AND c.branch = ? AND c.entity_path = ? AND c.key = ? AND v.version = ?
AND v.content_hash = ? AND x.sequence = ?"""


def commit_findings(tx: Transaction, part: Part, meter: Meter) -> Iterator[Finding]:
    """What does not hold, in the order of the log."""
    previous, expected = part.digest, part.checked_from
    records = Beside(tx.each(RECORD_DIGESTS, part.bound))
    outcomes = Beside(tx.each(OUTCOME_DIGESTS, part.bound))
    for row in tx.each(COMMITS, part.bound):
        sequence, commit_id, kind, digest = row[0], row[3], row[4], row[13]
        if sequence != expected:
            message = f"commit {expected} is missing before commit {sequence}"
            yield finding("order", message, commit_id=commit_id)
        if not _holds(row, previous, records.of(sequence), outcomes.of(sequence)):
            message = "the commit, its versions or its outcomes differ from its digest"
            yield finding("commit", message, commit_id=commit_id)
        if kind == "erase":
            yield from _unerased(tx, row)
        previous, expected = digest, sequence + 1
        meter.count()
    if tx.one(HEAD) != (expected - 1, previous):
        yield finding("head", "the newest commit is not the one the head names")


def _holds(
    row: Sequence[Any], previous: str, records: Sequence[Sequence[Any]], outcomes: Sequence[Sequence[Any]]
) -> bool:
    (
        sequence, namespace, branch, commit_id, kind, message, author, session_id,
        parents, tree, listed, describes, created_at, digest,
    ) = row  # fmt: skip
    try:
        if records and tree_hash(content for _, _, content in records) != tree:
            return False
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
            record_digests=[record for _, record, _ in records],
            outcome_digests=[own for _, own in outcomes],
        )
    except UNREADABLE:
        return False
    return bool(again == digest)


def _unerased(tx: Transaction, row: Sequence[Any]) -> Iterator[Finding]:
    """What a commit says it erased, and is not recorded as erased by it: somebody put it back."""
    sequence, namespace, branch, commit_id, listed = row[0], row[1], row[2], row[3], row[10]
    for path, key, version, content in sorted(named_in(listed)):
        if not tx.value(IS_ERASED, (namespace, branch, path, key, version, content, sequence)):
            message = f"commit {sequence} erased the version, and that is not recorded with it"
            yield finding("erasure", message, (path, key), version=version, commit_id=commit_id)
