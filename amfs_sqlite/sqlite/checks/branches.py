"""Branches: what they were made over, and whether what they wrote goes on from there."""

import json
from collections.abc import Iterator
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MAIN_BRANCH, Finding
from amfs_sqlite.records.branches import Branch
from amfs_sqlite.sqlite import overlays
from amfs_sqlite.sqlite.checks.findings import finding, shown
from amfs_sqlite.sqlite.entries import AT, HERE
from amfs_sqlite.sqlite.rows import UnreadableRowError, model_of
from amfs_sqlite.sqlite.transaction import Transaction

BRANCHES = f"""
SELECT namespace, name, parent_branch, status, record FROM branches
UNION SELECT namespace, branch, NULL, NULL, NULL FROM current AS c
WHERE branch <> '{MAIN_BRANCH}' AND NOT EXISTS (
    SELECT 1 FROM branches AS b WHERE b.namespace = c.namespace AND b.name = c.branch)
ORDER BY 1, 2"""
OWN = f"""
SELECT c.entity_path, c.key, p.version_id FROM current AS c LEFT JOIN branch_points AS p ON p.key_id = c.id
WHERE {HERE} ORDER BY c.id"""
BELOW = f"SELECT c.version_id FROM current AS c WHERE {AT}"
STRAYS = f"""
SELECT c.entity_path, c.key FROM branch_points AS p LEFT JOIN current AS c ON c.id = p.key_id
WHERE c.id IS NULL OR c.branch = '{MAIN_BRANCH}' ORDER BY p.key_id"""


def branch_findings(tx: Transaction) -> Iterator[Finding]:
    """What does not hold of each branch. What was not written to since is held by no hash."""
    for namespace, name, parent, status, record in tx.all(BRANCHES):
        with tx.elsewhere(namespace=namespace, branch=name):
            try:
                here = overlays.here(tx)
            except (InvalidArgumentError, UnreadableRowError):
                yield finding("link", f"what the branch {shown(name)} lies over is not known")
                continue
            if not _is_as_made(tx, parent, status, record):
                yield finding("link", f"the branch {shown(name)} is not what its record says")
            yield from _own_findings(tx, here)
    for path, key in tx.all(STRAYS):
        yield finding("link", "goes on from a version below a branch, and is on none", (path, key))


def _is_as_made(tx: Transaction, parent: str, status: str, record: str) -> bool:
    """Whether the columns and the record tell of one branch."""
    try:
        branch = model_of(record, Branch)
    except UnreadableRowError:
        return False
    told = (branch.namespace, branch.name, branch.parent_branch, branch.status, branch.base_commit_id)
    return told == (tx.namespace, tx.branch, parent, status, overlays.base_commit_id(tx))


def _own_findings(tx: Transaction, here: dict[str, Any]) -> Iterator[Finding]:
    """Of each key that the branch wrote, whether it goes on from what the branch showed until then."""
    below = here | {"lineage": json.dumps(json.loads(here["lineage"])[1:])}
    for path, key, built_on in tx.all(OWN, here):
        row = tx.one(overlays.seen(tx, BELOW), below | {"entity_path": path, "key": key})
        if (None if row is None else row[0]) != built_on:
            yield finding(
                "link", "does not go on from what stood there when the branch was made", (path, key)
            )
