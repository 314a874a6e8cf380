"""Every outcome and its effects against their digest, and effects against what they moved."""

from collections.abc import Iterator, Sequence
from typing import Any

from amfs_sqlite.models import Finding, OutcomeEffect
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import outcome_digest
from amfs_sqlite.rules.progress import Meter
from amfs_sqlite.sqlite.checks.findings import Beside, Part, finding
from amfs_sqlite.sqlite.rows import UNREADABLE, UnreadableRowError, record_of
from amfs_sqlite.sqlite.transaction import Transaction

OUTCOMES = """
SELECT o.id, o.record, o.namespace, o.outcome_ref, o.outcome_type, o.agent_id, o.digest,
       m.namespace, m.id,
       coalesce(o.newest_version_id <= (SELECT max(c.version_id) FROM current AS c), 1)
       AND coalesce((SELECT v.sequence FROM versions AS v WHERE v.id = o.newest_version_id) <= o.sequence, 1)
       AND coalesce((SELECT v.sequence FROM versions AS v WHERE v.id > o.newest_version_id
                     ORDER BY v.id LIMIT 1) >= o.sequence, 1)
FROM outcomes AS o LEFT JOIN commits AS m ON m.sequence = o.sequence
WHERE o.sequence >= :first ORDER BY o.id"""
EFFECTS = """
SELECT e.outcome_id, c.entity_path, c.key, e.version, e.policy, e.confidence_before, e.confidence_after,
       e.applied, e.reason, e.resulting_version, e.success
FROM outcome_effects AS e LEFT JOIN current AS c ON c.id = e.key_id
WHERE e.outcome_id >= (SELECT min(o.id) FROM outcomes AS o WHERE o.sequence >= :first)
ORDER BY e.outcome_id, e.id"""
ORPHANS = """
SELECT c.entity_path, c.key, e.version FROM outcome_effects AS e
LEFT JOIN outcomes AS o ON o.id = e.outcome_id LEFT JOIN current AS c ON c.id = e.key_id
WHERE o.id IS NULL OR c.id IS NULL ORDER BY e.id"""
UNCAUSED = """
SELECT c.entity_path, c.key, v.version FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE v.kind = 'outcome' AND v.sequence >= :first AND NOT EXISTS (
    SELECT 1 FROM outcome_effects AS e
    WHERE e.key_id = v.key_id AND e.version = v.version - 1 AND e.resulting_version = v.version
    AND e.applied = 1 AND e.confidence_after = v.confidence)
ORDER BY v.id"""


def outcome_findings(tx: Transaction, part: Part, meter: Meter) -> Iterator[Finding]:
    """What does not hold, in the order of the reports."""
    beside = Beside(tx.each(EFFECTS, part.bound))
    for outcome_id, stored, *copied, digest, namespace, commit_id, in_place in tx.each(OUTCOMES, part.bound):
        _, reference, kind, _ = copied
        try:
            record = record_of(stored)
            named = [namespace, record.outcome_ref, record.outcome_type, record.agent_id]
            success = is_success(outcome_type(kind))
            rows = beside.of(outcome_id)
            effects = [_effect(row) for row in rows]
            holds = (
                outcome_digest(record.to_wire(), effects) == digest
                and named == copied
                and all(bool(row[10]) == success for row in rows)
            )
        except (UnreadableRowError, *UNREADABLE):
            holds = False
        if holds and not in_place:
            message = f"outcome {reference!a} does not stand among the versions of its commit"
            yield finding("order", message, commit_id=commit_id)
        if not holds:
            message = f"outcome {reference!a} or one of its effects differs from its digest"
            yield finding("outcome", message, commit_id=commit_id)
        meter.count()


def uncaused_findings(tx: Transaction, part: Part) -> Iterator[Finding]:
    """Effects of nothing, and versions that an outcome is to have made and none did."""
    for path, key, version in tx.each(ORPHANS):
        yield finding("outcome", "an effect without its outcome or entry", (path, key), version=version)
    for path, key, version in tx.each(UNCAUSED, part.bound):
        message = "an outcome's version is not what any recorded effect made"
        yield finding("outcome", message, (path, key), version=version)


def _effect(row: Sequence[Any]) -> OutcomeEffect:
    _, path, key, version, policy, before, after, applied, reason, resulting_version, _ = row
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
