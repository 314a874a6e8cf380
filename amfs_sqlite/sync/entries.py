"""Entries: reading and listing them as the SDK means it."""

from datetime import datetime
from itertools import islice

from amfs_core.models import MemoryEntry
from amfs_core.scope import SqlScope

from amfs_sqlite.errors import InvalidCursorError
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
from amfs_sqlite.sqlite import listings, recalls
from amfs_sqlite.sqlite.listings import Behind
from amfs_sqlite.sqlite.recalls import Recalled
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.rows import entry_of_row
from amfs_sqlite.sync.translation import shown_entry


def read(
    tx: Transaction, entity_path: str, key: str, *, min_confidence: float = 0.0, branch: str = MAIN_BRANCH
) -> MemoryEntry | None:
    check_asked(entity_path, key, None)
    check_finite(min_confidence, "min_confidence")
    check_is_text(branch, "branch")
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
    SDK's server: ``written_at`` or ``recall_count``, both highest first.
    """
    check_optional_text(entity_path, "entity_path")
    check_flag(include_superseded, "include_superseded")
    check_optional_text(agent_id, "agent_id")
    check_count(limit, "limit")
    check_whole_number(offset, "offset")
    check_is_text(branch, "branch")
    with tx.elsewhere(branch=branch):
        found = listings.listed(
            tx,
            entity_path,
            versions=include_superseded,
            agent_id=agent_id,
            scope=None if scope is None else (scope.clause, scope.params),
            order_by=order_by,
            limit=limit,
            offset=offset,
        )
        return [entry_of_row(row, branch) for row in found]


def read_at_version(tx: Transaction, entity_path: str, key: str, version: int) -> MemoryEntry | None:
    check_asked(entity_path, key, None)
    check_version(version)
    found = listings.one_version(tx, entity_path, key, version)
    return None if found is None else shown(found)


def list_expired(
    tx: Transaction, *, now: datetime | None = None, branch: str = MAIN_BRANCH, limit: int = 1000
) -> list[MemoryEntry]:
    """Current entries whose ttl has passed, the longest expired first."""
    at = check_instant(now, "now") or tx.now
    check_whole_number(limit, "limit")
    check_is_text(branch, "branch")
    with tx.elsewhere(branch=branch):
        return [shown(one, branch) for one in listings.expired(tx, at, limit)]


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
    check_whole_number(limit, "limit")
    check_texts(exclude_prefixes, "exclude_prefixes")
    first, last = check_instant(since, "since"), check_instant(until, "until")
    found = listings.of_agent(tx, agent_id, first, last, _behind(cursor))
    asked_for = (one for one in found if not one.entry.entity_path.startswith(tuple(exclude_prefixes)))
    return [shown(one) for one in islice(asked_for, max(1, limit))]


def _behind(cursor: str | None) -> Behind:
    position = keyset_position(cursor, list)
    if position is None:
        return Behind()
    at, place = position
    if len(place) != len(Behind._fields) - 1:
        raise InvalidCursorError("is of another list")
    return Behind(at, *place)


def shown(found: Recalled, branch: str = MAIN_BRANCH) -> MemoryEntry:
    """As the SDK has it."""
    return shown_entry(found.entry, found.recall, branch)
