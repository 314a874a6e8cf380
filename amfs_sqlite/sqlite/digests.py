"""Digests: what somebody compiled from entries, one for each type and scope of a branch, stored whole."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.overlays import here, seen
from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction

PUT = """
INSERT INTO digests (namespace, branch, digest_type, scope, compiled_at, record) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace, branch, digest_type, scope)
DO UPDATE SET compiled_at = excluded.compiled_at, record = excluded.record"""
DIGESTS = "SELECT d.record FROM digests AS d WHERE d.namespace = :namespace AND d.branch = :branch"
NEWEST_FIRST = "ORDER BY d.compiled_at DESC, d.digest_type, d.scope LIMIT :limit"
OF_TYPE = "d.digest_type = :digest_type"
OF_SCOPE = "d.scope = :scope"
AMONG = "d.scope IN (SELECT value FROM json_each(:scopes))"
NAMES = """EXISTS (SELECT 1 FROM json_each(:terms) AS s
                   WHERE s.value = d.scope OR instr(json_extract(d.record, '$.summary'), s.value))"""
PATHS = f"""
SELECT DISTINCT c.entity_path FROM current AS c
WHERE {entries.HERE} AND c.agent_id = :agent_id AND {entries.PRESENT}"""


class Asked(NamedTuple):
    """Which digests. ``terms`` are texts of which one is the scope or stands in the summary."""

    digest_type: str | None = None
    scope: str | None = None
    scopes: Sequence[str] | None = None
    terms: Sequence[str] = ()


def put(tx: Transaction, digest_type: str, scope: str, compiled_at: datetime, record: str) -> None:
    """Store a digest in place of the one that was there."""
    tx.run(PUT, (tx.namespace, tx.branch, digest_type, scope, microseconds(compiled_at), record))


def records(tx: Transaction, asked: Asked, limit: int | None = None) -> list[str]:
    """The text of each, the one that was compiled last first."""
    conditions = {
        OF_TYPE: asked.digest_type is not None,
        OF_SCOPE: asked.scope is not None,
        AMONG: asked.scopes is not None,
        NAMES: bool(asked.terms),
    }
    narrowed = "".join(f" AND {condition}" for condition, is_asked in conditions.items() if is_asked)
    parameters: dict[str, Any] = {
        "namespace": tx.namespace,
        "branch": tx.branch,
        "digest_type": asked.digest_type,
        "scope": asked.scope,
        "scopes": json.dumps([*asked.scopes] if asked.scopes is not None else []),
        "terms": json.dumps([*asked.terms]),
        "limit": -1 if limit is None else limit,
    }
    return [record for (record,) in tx.each(f"{DIGESTS}{narrowed} {NEWEST_FIRST}", parameters)]


def paths_of(tx: Transaction, agent_id: str) -> list[str]:
    """Where the agent wrote something that is current."""
    return [path for (path,) in tx.each(seen(tx, PATHS), here(tx) | {"agent_id": agent_id})]
