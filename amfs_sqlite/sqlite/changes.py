"""Changes: versions and the effects of outcomes in place, in the order they were made."""

from collections.abc import Iterable, Iterator
from contextlib import closing
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
       v.confidence, v.outcome_count, v.success_count, v.failure_count, NULL, v.kind
FROM versions AS v CROSS JOIN current AS c ON c.id = v.key_id JOIN commits AS m ON m.sequence = v.sequence
WHERE v.id > :version AND (:until IS NULL OR v.sequence <= :until)"""
AS_MOVED = f"""
SELECT o.sequence, o.newest_version_id, e.id, 'outcome', m.id,
       c.entity_path, c.key, {COLUMNS}, w.id,
       e.confidence_after, v.outcome_count, v.success_count, v.failure_count, NULL, v.kind,
       e.key_id, e.version, e.success
FROM outcomes AS o CROSS JOIN outcome_effects AS e ON e.outcome_id = o.id
CROSS JOIN versions AS v ON v.key_id = e.key_id AND v.version = e.version
CROSS JOIN current AS c ON c.id = e.key_id
JOIN commits AS m ON m.sequence = o.sequence JOIN commits AS w ON w.sequence = v.sequence
WHERE o.sequence >= :sequence AND (o.newest_version_id, e.id) > (:version, :effect)
AND e.resulting_version = e.version AND (:until IS NULL OR o.sequence <= :until)"""
# How many successes and failures had moved the version in place before this effect.
BEFORE = """
SELECT coalesce(sum(e.success), 0), coalesce(sum(1 - e.success), 0) FROM outcome_effects AS e
WHERE e.key_id = ? AND e.version = ? AND e.resulting_version = e.version AND e.id < ?"""

VALUE = 8
"""Its place among the columns."""
BATCH_CHARACTERS = 4 * 1024 * 1024
"""Where the values of a batch are longer than this together, it ends early."""


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
    """The next changes that are asked for, at most BATCH_LIMIT of them and BATCH_CHARACTERS of values."""
    conditions = ["", entries.HERE, entries.VERSION_VISIBLE]
    if asked.entity_path:
        conditions.append(entries.BELOW)
    if not asked.include_system:
        conditions.append(entries.NOT_SYSTEM)
    filters = " AND ".join(conditions)
    parameters = {
        **after._asdict(),
        "until": until,
        "namespace": tx.namespace,
        "branch": tx.branch,
        "entity_path": asked.entity_path,
        "viewer": asked.viewer,
    }
    page: list[Placed] = []
    characters = 0
    # Both go through the log in its own order, and no further than they are followed.
    with (
        closing(tx.execute(f"{AS_WRITTEN}{filters} ORDER BY v.id", parameters)) as written,
        closing(tx.execute(f"{AS_MOVED}{filters} ORDER BY o.sequence, o.id, e.id", parameters)) as moved,
    ):
        for row in merge(written, _counted(tx, moved), key=_place):
            page.append(_placed(row, store_id))
            characters += len(row[VALUE] or "")
            if len(page) == BATCH_LIMIT or characters > BATCH_CHARACTERS:
                return Batch(page, page[-1].position, is_last=False)
    return Batch(page, end(tx), is_last=True)


def _place(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return row[:3]


def _counted(tx: Transaction, moved: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Each entry moved in place, with the counts that the outcomes up to this one had left it with."""
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for *row, key_id, version, success in moved:
        successes, failures = counts.get((key_id, version)) or tx.row(BEFORE, (key_id, version, row[2]))
        successes, failures = counts[key_id, version] = successes + success, failures + 1 - success
        *rest, outcome_count, success_count, failure_count, superseded_at, kind = row
        yield (
            *rest,
            outcome_count + successes + failures,
            success_count + successes,
            failure_count + failures,
            superseded_at,
            kind,
        )


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
