"""Changes: versions and the effects of outcomes in place, in the order they were made."""

from heapq import merge
from typing import Any

from amfs_sqlite.delivery import Asked, Batch, Placed
from amfs_sqlite.delivery.log import BATCH_LIMIT
from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.models import ChangeEvent
from amfs_sqlite.rules.cursors import ChangePosition, change_cursor
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.rows import entry_of
from amfs_sqlite.sqlite.transaction import Transaction

END = """
SELECT (SELECT sequence FROM head), (SELECT coalesce(max(id), 0) FROM versions),
       (SELECT coalesce(max(id), 0) FROM outcome_effects)"""
IS_VERSION = "SELECT count(*) FROM versions WHERE id = ? AND sequence = ?"
IS_EFFECT = """
SELECT count(*) FROM outcome_effects AS e JOIN outcomes AS o ON o.id = e.outcome_id
WHERE e.id = ? AND o.newest_version_id = ? AND o.sequence = ?"""

# In the order of the log: from the log on, then, and never by way of the keys.
COLUMNS = """v.version, v.value, v.amfs_version, v.agent_id, v.session_id, v.written_at, v.tags,
       v.shared, v.ttl_at, v.artifact_refs, v.extra, v.content_hash, v.integrity_chain"""
AS_WRITTEN = f"""
SELECT v.sequence, v.id, 0, iif(v.kind = 'outcome', 'outcome', 'write'), m.id,
       c.entity_path, c.key, {COLUMNS}, m.id,
       v.confidence, v.outcome_count, v.success_count, v.failure_count, NULL
FROM versions AS v CROSS JOIN current AS c ON c.id = v.key_id JOIN commits AS m ON m.sequence = v.sequence
WHERE v.id > :version AND (:until IS NULL OR v.sequence <= :until)"""
# What the outcomes up to this one had made of the version by then.
SO_FAR = """FROM outcome_effects AS b WHERE b.key_id = e.key_id AND b.version = e.version
       AND b.resulting_version = b.version AND b.id <= e.id"""
AS_MOVED = f"""
SELECT o.sequence, o.newest_version_id, e.id, 'outcome', m.id,
       c.entity_path, c.key, {COLUMNS}, w.id,
       e.confidence_after, v.outcome_count + (SELECT count(*) {SO_FAR}),
       v.success_count + (SELECT sum(b.success) {SO_FAR}),
       v.failure_count + (SELECT sum(1 - b.success) {SO_FAR}), NULL
FROM outcomes AS o CROSS JOIN outcome_effects AS e ON e.outcome_id = o.id
CROSS JOIN versions AS v ON v.key_id = e.key_id AND v.version = e.version
CROSS JOIN current AS c ON c.id = e.key_id
JOIN commits AS m ON m.sequence = o.sequence JOIN commits AS w ON w.sequence = v.sequence
WHERE o.sequence >= :sequence AND (o.newest_version_id, e.id) > (:version, :effect)
AND e.resulting_version = e.version AND (:until IS NULL OR o.sequence <= :until)"""


def end(tx: Transaction) -> ChangePosition:
    """Behind the newest change of the whole store."""
    return ChangePosition(*tx.row(END))


def check_position(tx: Transaction, position: ChangePosition) -> None:
    """Raise InvalidCursorError unless a change stands there: a file put back in time has fewer."""
    sequence, version, effect = position
    if effect == 0:
        found = tx.value(IS_VERSION, (version, sequence))
    else:
        found = tx.value(IS_EFFECT, (effect, version, sequence))
    if not found:
        raise InvalidCursorError("stands behind a change that is not in the store")


def read(tx: Transaction, after: ChangePosition, asked: Asked, until: int | None, *, store_id: str) -> Batch:
    """The next changes that are asked for, at most BATCH_LIMIT of them."""
    conditions = ["", entries.HERE, entries.VERSION_VISIBLE]
    if asked.entity_path:
        conditions.append(entries.BELOW)
    if not asked.include_system:
        conditions.append(entries.NOT_SYSTEM)
    filters = " AND ".join(conditions)
    parameters = {
        **after._asdict(),
        "until": until,
        "limit": BATCH_LIMIT,
        "namespace": tx.namespace,
        "branch": tx.branch,
        "entity_path": asked.entity_path,
        "viewer": asked.viewer,
    }
    written = tx.all(f"{AS_WRITTEN}{filters} ORDER BY v.id LIMIT :limit", parameters)
    moved = tx.all(f"{AS_MOVED}{filters} ORDER BY o.sequence, e.id LIMIT :limit", parameters)
    rows = list(merge(written, moved, key=lambda row: row[:3]))[:BATCH_LIMIT]
    page = [_placed(row, store_id) for row in rows]
    is_last = len(page) < BATCH_LIMIT
    return Batch(page, end(tx) if is_last else page[-1].position, is_last)


def _placed(row: tuple[Any, ...], store_id: str) -> Placed:
    position = ChangePosition(*row[:3])
    kind, commit_id = row[3:5]
    event = ChangeEvent(
        cursor=change_cursor(store_id, position),
        kind=kind,
        commit_id=commit_id,
        sequence=position.sequence,
        entry=entry_of(row[5:]),
    )
    return Placed(position, event)
