"""Lists of entries as the AMFS Python SDK asks for them: one path, an author, an order, a page."""

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.sqlite import entries, recalls
from amfs_sqlite.sqlite.overlays import here, seen
from amfs_sqlite.sqlite.predicates import scoped
from amfs_sqlite.sqlite.recalls import Recalled, Row
from amfs_sqlite.sqlite.rows import microseconds, optional_microseconds
from amfs_sqlite.sqlite.transaction import Transaction

OF_PATH = "c.entity_path = :entity_path"
WRITTEN_BY = "{each}.agent_id = :agent_id"
BY_WRITING = "{each}.written_at DESC, c.entity_path DESC, c.key DESC, {each}.version DESC"
ORDERS = {
    None: "",
    "written_at": BY_WRITING,
    "recall_count": f"coalesce(r.recall_count, 0) DESC, {BY_WRITING}",
}
ONE_VERSION = f"{OF_PATH} AND c.key = :key AND v.version = :version"
EXPIRED = "c.ttl_at IS NOT NULL AND c.ttl_at <= :now"
SOONEST_FIRST = "c.ttl_at, c.entity_path, c.key"
OF_AGENT = """
c.agent_id = :agent_id AND (:since IS NULL OR c.written_at >= :since)
AND (:until IS NULL OR c.written_at < :until) AND (:at IS NULL OR
    (c.written_at, c.entity_path, c.key, c.version) < (:at, :after_path, :after_key, :after_version))"""
COUNT = f"SELECT count(*) FROM current AS c WHERE {entries.HERE} AND {entries.PRESENT}"
COUNT_OF_VERSIONS = f"""
SELECT count(*) FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE {entries.HERE} AND v.value IS NOT NULL"""
COUNT_VERSIONS = f"""
SELECT count(*) FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE {entries.HERE} AND (:entity_path IS NULL OR {OF_PATH})"""
# A commit tells which of the branches and namespaces that have such an address is meant: the one that wrote
# the version, or that erased it.
COUNT_NAMED = f"""
WITH named (path, key, version, commit_id) AS (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
           json_extract(value, '$[3]') FROM json_each(:named))
SELECT count(DISTINCT v.id) FROM named AS n CROSS JOIN
versions AS v JOIN current AS c ON c.id = v.key_id
WHERE {entries.HERE} AND c.entity_path = n.path AND c.key = n.key AND v.version = n.version AND (
    n.commit_id IS NULL
    OR EXISTS (SELECT 1 FROM commits AS m WHERE m.sequence = v.sequence AND m.id = n.commit_id)
    OR EXISTS (SELECT 1 FROM commits AS m JOIN current AS k ON k.id = v.key_id AND k.branch = m.branch
               WHERE m.namespace = :namespace AND m.id = n.commit_id))"""

Named = tuple[str | None, str | None, int | None, str | None]
"""Path, key and version, and the commit of it, None where none is known."""
Scope = tuple[str, Sequence[Any]]
"""A predicate with its parameters; see ``predicates.scoped``."""


class Behind(NamedTuple):
    """The entry that a page begins behind, newest first; all None where it begins at the newest."""

    at: datetime | None = None
    path: str | None = None
    key: str | None = None
    version: int | None = None


def listed(
    tx: Transaction,
    entity_path: str | None,
    *,
    versions: bool,
    agent_id: str | None = None,
    scope: Scope | None = None,
    order_by: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> Iterator[Row]:
    """Entries, or all versions, of exactly this path, None and '' being everywhere; by path, key and version,
    or by ``written_at`` or ``recall_count``, highest first.
    """
    if order_by not in ORDERS:
        raise InvalidArgumentError(
            "order_by", f"is {quoted(order_by)}; choose 'written_at' or 'recall_count'"
        )
    conditions, parameters = _asked(tx, entity_path, agent_id, scope, versions=versions)
    return recalls.rows(
        tx,
        " AND ".join(conditions),
        parameters,
        versions=versions,
        order=ORDERS[order_by].format(each="v" if versions else "c"),
        limit=limit,
        offset=offset,
    )


def count(
    tx: Transaction,
    entity_path: str | None,
    *,
    versions: bool,
    agent_id: str | None = None,
    scope: Scope | None = None,
) -> int:
    """How many ``listed`` has."""
    conditions, parameters = _asked(tx, entity_path, agent_id, scope, versions=versions)
    sql = " AND ".join([COUNT_OF_VERSIONS if versions else COUNT, *conditions])
    return int(tx.value(seen(tx, sql), here(tx) | parameters))


def _asked(
    tx: Transaction, entity_path: str | None, agent_id: str | None, scope: Scope | None, *, versions: bool
) -> tuple[list[str], dict[str, Any]]:
    conditions = [OF_PATH] if entity_path else []
    conditions += [] if agent_id is None else [WRITTEN_BY.format(each="v" if versions else "c")]
    parameters: dict[str, Any] = {"entity_path": entity_path, "agent_id": agent_id}
    if scope is not None:
        condition, named = scoped(tx, *scope, versions=versions)
        conditions.append(condition)
        parameters |= named
    return conditions, parameters


def one_version(tx: Transaction, entity_path: str, key: str, version: int) -> Recalled | None:
    """A version that has a value; None where there is none."""
    at = {"entity_path": entity_path, "key": key, "version": version}
    return next(recalls.each(tx, ONE_VERSION, at, versions=True), None)


def expired(tx: Transaction, now: datetime, limit: int) -> Iterator[Recalled]:
    """Entries whose ttl has passed, the longest expired first."""
    return recalls.each(tx, EXPIRED, {"now": microseconds(now)}, order=SOONEST_FIRST, limit=limit)


def of_agent(
    tx: Transaction, agent_id: str, since: datetime | None, until: datetime | None, behind: Behind
) -> Iterator[Recalled]:
    """Entries by this agent, newest first; ``since`` is inclusive, ``until`` is not."""
    asked = {
        "agent_id": agent_id,
        "since": optional_microseconds(since),
        "until": optional_microseconds(until),
        "at": optional_microseconds(behind.at),
        "after_path": behind.path,
        "after_key": behind.key,
        "after_version": behind.version,
    }
    return recalls.each(tx, OF_AGENT, asked, order=BY_WRITING.format(each="c"))


def count_versions(tx: Transaction, entity_path: str | None) -> int:
    """How many versions there are, withdrawn ones too."""
    asked = here(tx) | {"entity_path": entity_path}
    found: int = tx.value(seen(tx, COUNT_VERSIONS), asked)
    return found


def count_named(tx: Transaction, named: Collection[Named]) -> int:
    """How many of these versions are of this namespace, and seen from this branch."""
    found: int = tx.value(seen(tx, COUNT_NAMED), here(tx) | {"named": json.dumps([*named])})
    return found
