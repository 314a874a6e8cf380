"""Entries: reading versions, and appending the next one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.rules.commits import PreparedWrite
from amfs_sqlite.rules.hashing import content_hash, integrity_chain, record_digest
from amfs_sqlite.rules.limits import (
    check_asked,
    check_count,
    check_flag,
    check_instant,
    check_min_confidence,
    check_optional_text,
    check_version,
    check_whole_number,
)
from amfs_sqlite.rules.values import decode, encode
from amfs_sqlite.rules.versions import check_expected, next_version
from amfs_sqlite.rules.visibility import SYSTEM_PATH, is_expired, is_visible
from amfs_sqlite.sqlite.drafts import CommitDraft, Line
from amfs_sqlite.sqlite.overlays import NEXT_WRITTEN, check_may_write, here, is_own, seen
from amfs_sqlite.sqlite.rows import entry_of, microseconds, version_columns
from amfs_sqlite.sqlite.transaction import Transaction, weight

# The commit is appended after its versions: until then it has no id to join.
ENTRY = """
SELECT c.entity_path, c.key, c.version, c.value, c.amfs_version, c.agent_id, c.session_id,
       c.written_at, c.tags, c.shared, c.ttl_at, c.artifact_refs, c.extra, c.content_hash,
       c.integrity_chain, m.id, c.confidence, c.outcome_count, c.success_count, c.failure_count, NULL, c.kind
FROM current AS c LEFT JOIN commits AS m ON m.sequence = c.sequence
"""
VALUE = 3
"""Its place among the columns of ``ENTRY`` and ``ENTRY_VERSION``."""
HERE = "c.namespace = :namespace AND c.branch = :branch"
AT = f"{HERE} AND c.entity_path = :entity_path AND c.key = :key"
# Not IS NOT NULL, for which SQLite would fetch all of a long value.
PRESENT = "typeof(c.value) <> 'null'"
VISIBLE = "(:viewer IS NULL OR c.shared = 1 OR c.agent_id = :viewer)"
# One range that an index can walk, and within it the rule: the path itself, or below it.
BELOW = (
    "(c.entity_path >= :entity_path AND c.entity_path < :entity_path || '0'"
    " AND (c.entity_path = :entity_path OR c.entity_path >= :entity_path || '/'))"
)
NOT_SYSTEM = (
    f"NOT (c.entity_path = '{SYSTEM_PATH}'"
    f" OR (c.entity_path >= '{SYSTEM_PATH}/' AND c.entity_path < '{SYSTEM_PATH}0'))"
)

# A version as it last stood: as written, then what the outcomes that moved it in place left.
IN_PLACE = (
    "FROM outcome_effects AS e"
    " WHERE e.key_id = v.key_id AND e.version = v.version AND e.resulting_version = v.version"
)
ENTRY_VERSION = f"""
SELECT c.entity_path, c.key, v.version, v.value, v.amfs_version, v.agent_id, v.session_id,
       v.written_at, v.tags, v.shared, v.ttl_at, v.artifact_refs, v.extra, v.content_hash,
       v.integrity_chain, m.id,
       coalesce((SELECT e.confidence_after {IN_PLACE} ORDER BY e.id DESC LIMIT 1), v.confidence),
       v.outcome_count + (SELECT count(*) {IN_PLACE}),
       v.success_count + (SELECT coalesce(sum(e.success), 0) {IN_PLACE}),
       v.failure_count + (SELECT coalesce(sum(1 - e.success), 0) {IN_PLACE}),{NEXT_WRITTEN},
       v.kind
FROM versions AS v JOIN current AS c ON c.id = v.key_id
LEFT JOIN commits AS m ON m.sequence = v.sequence
"""
VERSION_VISIBLE = "(:viewer IS NULL OR v.shared = 1 OR v.agent_id = :viewer)"

CURRENT_ENTRY = f"{ENTRY} WHERE {AT}"
HISTORY = f"""{ENTRY_VERSION} WHERE {AT} AND {VERSION_VISIBLE} AND v.version > :after_version
AND (:since IS NULL OR v.written_at >= :since) AND (:until IS NULL OR v.written_at <= :until)
ORDER BY v.version LIMIT :limit"""
VERSION_AT = f"{ENTRY_VERSION} WHERE {AT} AND v.version = :version AND {VERSION_VISIBLE}"

# Of what was withdrawn no tags are kept beside the row.
BUILT_ON = f"""
c.id, c.version_id, c.version, c.integrity_chain, c.agent_id, c.shared,
iif({PRESENT}, c.tags, '[]'), c.outcome_count, {PRESENT}"""
STANDING = f"SELECT {BUILT_ON} FROM current AS c WHERE {AT}"
FOUND = f"""
SELECT {BUILT_ON},
       {ENTRY.lstrip().removeprefix("SELECT ")} WHERE {AT}"""
INSERT_CURRENT = """
INSERT INTO current (value, amfs_version, agent_id, session_id, written_at, tags, shared, ttl_at,
                     artifact_refs, extra, content_hash, integrity_chain, version_id, version, kind,
                     sequence, confidence, outcome_count, success_count, failure_count,
                     namespace, branch, entity_path, key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE_CURRENT = """
UPDATE current SET value = ?, amfs_version = ?, agent_id = ?, session_id = ?, written_at = ?, tags = ?,
       shared = ?, ttl_at = ?, artifact_refs = ?, extra = ?, content_hash = ?, integrity_chain = ?,
       version_id = ?, version = ?, kind = ?, sequence = ?, confidence = ?, outcome_count = ?,
       success_count = ?, failure_count = ?
WHERE id = ?"""
INSERT_VERSION = """
INSERT INTO versions (value, amfs_version, agent_id, session_id, written_at, tags, shared, ttl_at,
                      artifact_refs, extra, content_hash, integrity_chain, id, version, kind,
                      sequence, confidence, outcome_count, success_count, failure_count, key_id,
                      extra_hash, record_digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
NO_EXTRA_HASH = content_hash({})
BRANCH_OFF = "INSERT INTO branch_points (key_id, version_id) VALUES (?, ?)"
UNTAG = "DELETE FROM entry_tags WHERE tag = ? AND key_id = ?"
TAG = "INSERT OR IGNORE INTO entry_tags (tag, key_id) VALUES (?, ?)"


class Standing(NamedTuple):
    """What the next version of a key is built on."""

    key_id: int
    version_id: int
    version: int
    integrity_chain: str
    agent_id: str
    shared: int
    tags: str
    outcome_count: int
    is_present: int


class Found(NamedTuple):
    """What stands at an address: to build on, to show, and the text of its value."""

    standing: Standing
    entry: MemoryEntry
    value: str


def place(tx: Transaction, entity_path: str, key: str) -> dict[str, Any]:
    """The parameters of ``AT``."""
    return here(tx) | {"entity_path": entity_path, "key": key}


def own_place(tx: Transaction, entity_path: str, key: str) -> dict[str, Any]:
    """As ``place``, of what the branch wrote itself."""
    return {"namespace": tx.namespace, "branch": tx.branch, "entity_path": entity_path, "key": key}


def read(
    tx: Transaction,
    entity_path: str,
    key: str,
    *,
    min_confidence: float | None = None,
    include_expired: bool = False,
    viewer: str | None = None,
) -> MemoryEntry | None:
    check_asked(entity_path, key, viewer)
    check_min_confidence(min_confidence)
    check_flag(include_expired, "include_expired")
    entry = current(tx, entity_path, key, viewer)
    if entry is None or (is_expired(entry.ttl_at, tx.now) and not include_expired):
        return None
    if min_confidence and entry.confidence < min_confidence:
        return None
    return entry


def current(tx: Transaction, entity_path: str, key: str, viewer: str | None) -> MemoryEntry | None:
    """The current version, expired or not; None where it was withdrawn."""
    row = tx.one(seen(tx, CURRENT_ENTRY), place(tx, entity_path, key))
    if row is None or row[VALUE] is None:
        return None
    tx.check_length(row[VALUE])
    entry = entry_of(row)
    return entry if is_visible(entry.shared, entry.agent_id, viewer) else None


def list_entries(
    tx: Transaction,
    entity_path: str | None = None,
    *,
    include_superseded: bool = False,
    descendants: bool = True,
    include_system: bool = True,
    viewer: str | None = None,
) -> Sequence[MemoryEntry]:
    check_optional_text(entity_path, "entity_path")
    check_flag(include_superseded, "include_superseded")
    check_flag(descendants, "descendants")
    check_flag(include_system, "include_system")
    check_optional_text(viewer, "viewer")
    conditions = [HERE, *([VERSION_VISIBLE] if include_superseded else [VISIBLE, PRESENT])]
    if entity_path:
        conditions.append(BELOW if descendants else "c.entity_path = :entity_path")
    if not include_system:
        conditions.append(NOT_SYSTEM)
    select, order = (ENTRY_VERSION, "c.id, v.version") if include_superseded else (ENTRY, "c.id")
    sql = f"{select} WHERE {' AND '.join(conditions)} ORDER BY {order}"
    parameters = here(tx) | {"entity_path": entity_path, "viewer": viewer}
    return [entry_of(row) for row in tx.each(seen(tx, sql), parameters)]


def history(
    tx: Transaction,
    entity_path: str,
    key: str,
    *,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    after_version: int = 0,
    limit: int | None = None,
    viewer: str | None = None,
) -> Sequence[MemoryEntry]:
    check_asked(entity_path, key, viewer)
    first, last = check_instant(since, "since"), check_instant(until, "until")
    check_whole_number(after_version, "after_version")
    check_count(limit, "limit")
    parameters = place(tx, entity_path, key) | {
        "viewer": viewer,
        "after_version": after_version,
        "since": None if first is None else microseconds(first),
        "until": None if last is None else microseconds(last),
        "limit": -1 if limit is None else limit,
    }
    return [entry_of(row) for row in tx.each(seen(tx, HISTORY), parameters)]


def read_at_version(
    tx: Transaction, entity_path: str, key: str, version: int, *, viewer: str | None = None
) -> MemoryEntry | None:
    check_asked(entity_path, key, viewer)
    check_version(version)
    row = tx.one(seen(tx, VERSION_AT), place(tx, entity_path, key) | {"version": version, "viewer": viewer})
    if row is None:
        return None
    tx.check_length(row[VALUE])
    return entry_of(row)


def stored_version(tx: Transaction, entity_path: str, key: str, version: int) -> MemoryEntry:
    """A version that is known to be stored."""
    at = place(tx, entity_path, key) | {"version": version, "viewer": None}
    return entry_of(tx.row(seen(tx, VERSION_AT), at))


def standing(tx: Transaction, entity_path: str, key: str) -> Standing | None:
    """What is there to build on, whoever may see it."""
    row = tx.one(seen(tx, STANDING), place(tx, entity_path, key))
    return None if row is None else Standing(*row)


def key_id(tx: Transaction, entity_path: str, key: str) -> int:
    """The row of a key that is known to be there."""
    at = place(tx, entity_path, key)
    return int(tx.value(f"SELECT c.id FROM current AS c WHERE {AT}", at))


def found(tx: Transaction, entity_path: str, key: str) -> Found | None:
    """What stands there, whoever may see it, expired or not."""
    row = tx.one(seen(tx, FOUND), place(tx, entity_path, key))
    if row is None:
        return None
    standing, entry = Standing(*row[: len(Standing._fields)]), row[len(Standing._fields) :]
    return Found(standing, entry_of(entry), entry[VALUE] or encode(None))


def write(tx: Transaction, draft: CommitDraft, change: PreparedWrite) -> MemoryEntry:
    """Append the entry as the next version of its key."""
    entry = change.entry
    before = standing(tx, entry.entity_path, entry.key)
    there = before if before is not None and before.is_present else None
    known = there is not None and is_visible(bool(there.shared), there.agent_id, entry.agent_id)
    check_expected(
        change.expected_version,
        there and there.version,
        there.agent_id if there and known else None,
        (entry.entity_path, entry.key),
    )
    changes: dict[str, Any] = {"value": decode(change.value), "content_hash": change.content_hash}
    if entry.provenance.written_at is None:
        changes["provenance"] = entry.provenance.copied(written_at=tx.now)
    if change.carries_outcome_count:
        changes["outcome_count"] = there.outcome_count if there and known else 0
    return append(tx, draft, entry, changes, change.value, before=before)


def append(
    tx: Transaction,
    draft: CommitDraft,
    entry: MemoryEntry,
    changes: dict[str, Any],
    value: str | None,
    *,
    before: Standing | None,
    kind: str = "write",
) -> MemoryEntry:
    """Store the entry with these changes as the next version behind what stands there: hashes, both rows,
    tags, and its line in the commit. ``value`` is the text of its value, None in a tombstone.

    ``success_count`` and ``failure_count`` are taken from the entry.
    """
    content = changes.get("content_hash") or entry.content_hash or ""
    entry = entry.copied(
        **changes,
        version=next_version(before and before.version),
        integrity_chain=integrity_chain(content, before and before.integrity_chain),
    )
    extra = content_hash(entry.model_extra) if entry.model_extra else NO_EXTRA_HASH
    digest = record_digest(entry, namespace=tx.namespace, branch=tx.branch, kind=kind, extra_hash=extra)
    put(tx, draft, entry, value, before=before, kind=kind, extra_hash=extra, digest=digest)
    return entry


def put(
    tx: Transaction,
    draft: CommitDraft,
    entry: MemoryEntry,
    value: str | None,
    *,
    before: Standing | None,
    kind: str,
    extra_hash: str,
    digest: str,
) -> None:
    """Store a version that is whole, hashes and all: both rows, tags, and its line in the commit.

    ``value`` is the text of its value, None where there is none; it then has no tags to be found by.
    """
    check_may_write(tx)
    ground = draft.ground
    base, before = before, before if before is None or is_own(tx, before.key_id) else None
    ground.newest_version_id += 1
    ground.newest_key_id += before is None
    key_id = before.key_id if before else ground.newest_key_id
    columns = (
        *version_columns(entry, value),
        ground.newest_version_id,
        entry.version,
        kind,
        draft.sequence,
        entry.confidence,
        entry.outcome_count,
        entry.success_count,
        entry.failure_count,
    )
    if before is None:
        tx.run(INSERT_CURRENT, (*columns, tx.namespace, tx.branch, entry.entity_path, entry.key))
        if base is not None:
            tx.run(BRANCH_OFF, (key_id, base.version_id))
    else:
        tx.run(UPDATE_CURRENT, (*columns, key_id))
    tx.run(INSERT_VERSION, (*columns, key_id, extra_hash, digest))
    tags = () if value is None else entry.provenance.pattern_refs
    retag(tx, key_id, before.tags if before else "[]", tags)
    tx.unindexed_written += weight(value)
    draft.add_version(Line.of(entry), digest)


def retag(tx: Transaction, key_id: int, stored: str, new: Sequence[str]) -> None:
    """Let these tags lead to the key, in place of those that are stored as text."""
    old = () if stored == "[]" else tuple(decode(stored))
    if old == tuple(new):
        return
    for tag in set(old) - set(new):
        tx.run(UNTAG, (tag, key_id))
    for tag in set(new) - set(old):
        tx.run(TAG, (tag, key_id))
