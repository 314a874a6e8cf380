"""Branches lie over what they were made from: the rows of ``current`` and ``versions`` as a branch sees them.

A statement says ``current AS c``, about ``:namespace`` and ``:branch``. On the main branch that is the table.
On another it is put together: of each key what the branch wrote itself, or else what stood below when it was
made.
"""

import json
from typing import Any

from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.branches import check_active, never_made
from amfs_sqlite.sqlite.rows import UnreadableRowError
from amfs_sqlite.sqlite.transaction import Transaction

EVERYTHING = 2**62
BASE = "SELECT parent_branch, base_sequence FROM branches WHERE namespace = ? AND name = ?"
STATUS = "SELECT status FROM branches WHERE namespace = ? AND name = ?"
BASE_COMMIT = """
SELECT m.id FROM branches AS b JOIN commits AS m ON m.namespace = b.namespace AND m.branch = b.parent_branch
AND m.kind <> 'description' AND m.sequence <= b.base_sequence
WHERE b.namespace = ? AND b.name = ? ORDER BY m.sequence DESC LIMIT 1"""
BRANCH_OF = "SELECT branch FROM current WHERE id = ?"

# The branch itself and those below it, nearest first, and up to which commit each of them counts.
LINEAGE = """lineage (rank, branch, until) AS (
    SELECT key, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:lineage))"""
WRITES = """SELECT 1 FROM versions AS x WHERE x.key_id = {key} AND x.sequence <= {until}"""
NEARER = f"""
SELECT 1 FROM lineage AS n JOIN current AS o ON o.namespace = k.namespace AND o.branch = n.branch
AND o.entity_path = k.entity_path AND o.key = k.key
WHERE n.rank < l.rank AND EXISTS ({WRITES.format(key="o.id", until="n.until")})"""
IN_PLACE = (
    "FROM outcome_effects AS e"
    " WHERE e.key_id = s.key_id AND e.version = s.version AND e.resulting_version = s.version"
)
# Where a key stands in a list: by the row of whoever of the lineage wrote it first.
FIRST = f"""(
    SELECT min(o.id) FROM lineage AS n JOIN current AS o ON o.namespace = k.namespace AND o.branch = n.branch
    AND o.entity_path = k.entity_path AND o.key = k.key
    WHERE EXISTS ({WRITES.format(key="o.id", until="n.until")})) AS first_id"""
CURRENT = f"""(
    WITH {LINEAGE}
    SELECT k.id, {FIRST}, k.namespace, :branch AS branch, k.entity_path, k.key,
           s.id AS version_id, s.version, s.kind, s.value,
           s.amfs_version, s.agent_id, s.session_id, s.written_at, s.tags, s.shared, s.ttl_at,
           s.artifact_refs, s.extra, s.content_hash, s.integrity_chain, s.sequence,
           coalesce((SELECT e.confidence_after {IN_PLACE} ORDER BY e.id DESC LIMIT 1), s.confidence)
               AS confidence,
           s.outcome_count + (SELECT count(*) {IN_PLACE}) AS outcome_count,
           s.success_count + (SELECT coalesce(sum(e.success), 0) {IN_PLACE}) AS success_count,
           s.failure_count + (SELECT coalesce(sum(1 - e.success), 0) {IN_PLACE}) AS failure_count
    FROM lineage AS l CROSS JOIN current AS k ON k.namespace = :namespace AND k.branch = l.branch
    CROSS JOIN versions AS s ON s.key_id = k.id AND s.version = (
        SELECT max(x.version) FROM versions AS x WHERE x.key_id = k.id AND x.sequence <= l.until)
    WHERE NOT EXISTS ({NEARER})) AS c"""
WRITTEN_OF = "versions AS v JOIN current AS c ON c.id = v.key_id"
# Each key once for every branch of the lineage that wrote it: its versions are numbered through.
VERSIONS = f"""versions AS v JOIN (
    WITH {LINEAGE}
    SELECT k.id, {FIRST}, k.namespace, :branch AS branch, k.entity_path, k.key, l.until
    FROM lineage AS l CROSS JOIN current AS k ON k.namespace = :namespace AND k.branch = l.branch
) AS c ON c.id = v.key_id AND v.sequence <= c.until"""

# When the next version was written, in whose row it lies.
NEXT_WRITTEN = """
       (SELECT n.written_at FROM versions AS n WHERE n.key_id = v.key_id AND n.version = v.version + 1)"""
NEXT_WRITTEN_HERE = """
       (SELECT n.written_at FROM json_each(:lineage) AS l
        JOIN current AS o ON o.namespace = c.namespace AND o.branch = json_extract(l.value, '$[0]')
        AND o.entity_path = c.entity_path AND o.key = c.key
        JOIN versions AS n ON n.key_id = o.id AND n.version = v.version + 1
        AND n.sequence <= json_extract(l.value, '$[1]'))"""


def seen(tx: Transaction, sql: str) -> str:
    """The statement as it is to be run on the branch of the transaction.

    Raises ValueError for one that would be run there as it is on main.
    """
    if tx.branch == MAIN_BRANCH:
        return sql
    here = sql.replace(NEXT_WRITTEN, NEXT_WRITTEN_HERE)
    here = here.replace(WRITTEN_OF, VERSIONS).replace("FROM current AS c", f"FROM {CURRENT}")
    if LINEAGE not in here:
        raise ValueError(f"not a statement that a branch can be read with: {sql}")
    return here.replace("ORDER BY c.id", "ORDER BY c.first_id")


def is_own(tx: Transaction, key_id: int) -> bool:
    """Whether this row is of the very branch of the transaction, and not of one below it."""
    return tx.branch == MAIN_BRANCH or tx.value(BRANCH_OF, (key_id,)) == tx.branch


def base_commit_id(tx: Transaction) -> str | None:
    """The commit that the first one of a branch follows: the newest of what lay below when it was made."""
    if tx.branch == MAIN_BRANCH:
        return None
    row = tx.one(BASE_COMMIT, (tx.namespace, tx.branch))
    return None if row is None else row[0]


def check_may_write(tx: Transaction) -> None:
    """Raise InvalidArgumentError for a branch that was never made, or is merged or closed."""
    if tx.branch == MAIN_BRANCH:
        return
    row = tx.one(STATUS, (tx.namespace, tx.branch))
    if row is None:
        raise never_made(tx.branch)
    check_active(tx.branch, row[0])


def here(tx: Transaction) -> dict[str, Any]:
    """The parameters that say where: namespace and branch, and what lies below a branch.

    Raises InvalidArgumentError for a branch that was never made.
    """
    place: dict[str, Any] = {"namespace": tx.namespace, "branch": tx.branch}
    if tx.branch != MAIN_BRANCH:
        place["lineage"] = json.dumps(lineage(tx))
    return place


def lineage(tx: Transaction) -> list[tuple[str, int]]:
    """The branch and those below it, nearest first, each with the sequence up to which it counts."""
    found = [(tx.branch, EVERYTHING)]
    branch, until = found[0]
    while branch != MAIN_BRANCH:
        row = tx.one(BASE, (tx.namespace, branch))
        if row is None:
            raise never_made(branch)
        branch, until = row[0], min(until, row[1])
        found.append((branch, until))
        if len({name for name, _ in found}) < len(found):
            raise UnreadableRowError("branches lie over each other in a circle; verify tells which")
    return found
