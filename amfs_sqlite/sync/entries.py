"""Entries: reading and listing them as the SDK means it."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from amfs_core.models import MemoryEntry
from amfs_core.scope import SqlScope

from amfs_sqlite.errors import InvalidArgumentError, InvalidCursorError, quoted
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.keysets import keyset_position
from amfs_sqlite.rules.limits import (
    check_asked,
    check_count,
    check_finite,
    check_flag,
    check_instant,
    check_is_text,
    check_optional_text,
    check_texts,
    check_version,
    check_whole_number,
)
from amfs_sqlite.rules.visibility import is_expired
from amfs_sqlite.sqlite import recalls
from amfs_sqlite.sqlite.predicates import scoped
from amfs_sqlite.sqlite.recalls import Recalled
from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.translation import shown_entry

EXACTLY = "c.entity_path = :entity_path"
WRITTEN_BY = "{each}.agent_id = :agent_id"
BY_WRITING = "{each}.written_at DESC, c.entity_path DESC, c.key DESC, {each}.version DESC"
ORDERS = {
    None: None,
    "written_at": BY_WRITING,
    "recall_count": f"coalesce(r.recall_count, 0) DESC, {BY_WRITING}",
}
EXPIRED = "c.ttl_at IS NOT NULL AND c.ttl_at <= :now"
SOONEST_FIRST = "c.ttl_at, c.entity_path, c.key"
OF_AGENT = """
c.agent_id = :agent_id AND (:since IS NULL OR c.written_at >= :since)
AND (:until IS NULL OR c.written_at < :until) AND (:at IS NULL OR
    (c.written_at, c.entity_path, c.key, c.version) < (:at, :after_path, :after_key, :after_version))"""
NEWEST_FIRST = BY_WRITING.format(each="c")


def read(
    tx: Transaction, entity_path: str, key: str, *, min_confidence: float = 0.0, branch: str = MAIN_BRANCH
) -> MemoryEntry | None:
    check_asked(entity_path, key, None)
    check_finite(min_confidence, "min_confidence")
    with tx.elsewhere(branch=branch):
        found = recalls.read(tx, entity_path, key)
    if found is None or found.entry.confidence < min_confidence or is_expired(found.entry.ttl_at, tx.now):
        return None
    return shown(found, branch)


def list_entries(
    tx: Transaction,
    entity_path: str | None = None,
    *,
    include_superseded: bool = False,
    branch: str = MAIN_BRANCH,
    scope: SqlScope | None = None,
    agent_id: str | None = None,
    order_by: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[MemoryEntry]:
    """Entries of exactly this path, expired ones too, by path, key and version, or in the ``order_by`` of the
    SDK's server: ``written_at`` or ``recall_count``, both highest first; those that ``scope`` lets through.
    """
    check_optional_text(entity_path, "entity_path")
    check_flag(include_superseded, "include_superseded")
    check_optional_text(agent_id, "agent_id")
    check_count(limit, "limit")
    check_whole_number(offset, "offset")
    if order_by not in ORDERS:
        raise InvalidArgumentError(
            "order_by", f"is {quoted(order_by)}; choose 'written_at' or 'recall_count'"
        )
    each = "v" if include_superseded else "c"
    conditions = [] if entity_path is None else [EXACTLY]
    conditions += [] if agent_id is None else [WRITTEN_BY.format(each=each)]
    asked: dict[str, Any] = {"entity_path": entity_path, "agent_id": agent_id}
    if scope is not None:
        condition, named = scoped(tx, scope.clause, scope.params, versions=include_superseded)
        conditions.append(condition)
        asked |= named
    order = ORDERS[order_by]
    with tx.elsewhere(branch=branch):
        found = recalls.each(
            tx,
            " AND ".join(conditions),
            asked,
            versions=include_superseded,
            order=order and order.format(each=each),
            limit=limit,
            offset=offset,
        )
        return [shown(one, branch) for one in found]


def read_at_version(tx: Transaction, entity_path: str, key: str, version: int) -> MemoryEntry | None:
    check_asked(entity_path, key, None)
    check_version(version)
    at = {"entity_path": entity_path, "key": key, "version": version}
    found = recalls.each(tx, f"{EXACTLY} AND c.key = :key AND v.version = :version", at, versions=True)
    one = next(found, None)
    return None if one is None else shown(one)


def list_expired(
    tx: Transaction, *, now: datetime | None = None, branch: str = MAIN_BRANCH, limit: int = 1000
) -> list[MemoryEntry]:
    """Current entries whose ttl has passed, the longest expired first."""
    at = check_instant(now, "now") or tx.now
    check_whole_number(limit, "limit")
    with tx.elsewhere(branch=branch):
        found = recalls.each(tx, EXPIRED, {"now": microseconds(at)}, order=SOONEST_FIRST, limit=limit)
        return [shown(one, branch) for one in found]


def list_entries_for_agent(
    tx: Transaction,
    agent_id: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int = 100,
    exclude_prefixes: tuple[str, ...] = ("_system/",),
) -> list[MemoryEntry]:
    """Current entries by this agent, newest first, behind the cursor; ``until`` is exclusive."""
    check_is_text(agent_id, "agent_id")
    first, last = check_instant(since, "since"), check_instant(until, "until")
    check_whole_number(limit, "limit")
    check_texts(exclude_prefixes, "exclude_prefixes")
    at, (path, key, version) = _position(cursor)
    asked = {
        "agent_id": agent_id,
        "since": None if first is None else microseconds(first),
        "until": None if last is None else microseconds(last),
        "at": None if at is None else microseconds(at),
        "after_path": path,
        "after_key": key,
        "after_version": version,
    }
    found = recalls.each(tx, OF_AGENT, asked, order=NEWEST_FIRST)
    shown_ones = (one for one in found if not one.entry.entity_path.startswith(exclude_prefixes))
    return [shown(one) for one in islice(shown_ones, max(1, limit))]


def _position(cursor: str | None) -> tuple[datetime | None, Sequence[Any]]:
    """Where a page begins: behind the entry of this time, path, key and version, or at the newest."""
    at, after = keyset_position(cursor, list) or (None, [None, None, None])
    if len(after) != len(("path", "key", "version")):
        raise InvalidCursorError("is of another list")
    return at, after


def shown(found: Recalled, branch: str = MAIN_BRANCH) -> MemoryEntry:
    """As the SDK has it."""
    return shown_entry(found.entry, found.recall, branch)
