"""Access to branches: granting, revoking and asking for it."""

from collections.abc import Sequence

from amfs_sqlite.records.access import BranchAccess, Permission
from amfs_sqlite.rules import access as rules
from amfs_sqlite.rules.limits import check_is_text
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.rows import microseconds, model_of
from amfs_sqlite.sqlite.transaction import Transaction

PUT = """
INSERT INTO branch_access (namespace, branch_name, grantee_type, grantee_id, granted_at, record)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace, branch_name, grantee_type, grantee_id) DO UPDATE SET
       granted_at = excluded.granted_at, record = excluded.record"""
GRANT = """
SELECT record FROM branch_access
WHERE namespace = ? AND branch_name = ? AND grantee_type = ? AND grantee_id = ?"""
GRANTS = """
SELECT record FROM branch_access WHERE namespace = ? AND branch_name = ?
ORDER BY granted_at DESC, grantee_type, grantee_id"""
REVOKE = """
DELETE FROM branch_access
WHERE namespace = ? AND branch_name = ? AND grantee_type = ? AND grantee_id = ?"""


def grant_branch_access(tx: Transaction, access: BranchAccess) -> BranchAccess:
    granted = rules.prepared(access, tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now)
    grantee = granted.branch_name, granted.grantee_type, granted.grantee_id
    before = _stored(tx, *grantee)
    if before is not None:
        granted = granted.copied(id=before.id)
    record = encode(granted.to_wire(), "access")
    tx.run(PUT, (tx.namespace, *grantee, microseconds(tx.now), record))
    return model_of(record, BranchAccess)


def revoke_branch_access(tx: Transaction, branch_name: str, grantee_type: str, grantee_id: str) -> None:
    check_is_text(branch_name, "branch_name")
    check_is_text(grantee_type, "grantee_type")
    check_is_text(grantee_id, "grantee_id")
    tx.run(REVOKE, (tx.namespace, branch_name, grantee_type, grantee_id))


def list_branch_access(tx: Transaction, branch_name: str) -> Sequence[BranchAccess]:
    check_is_text(branch_name, "branch_name")
    return [model_of(record, BranchAccess) for (record,) in tx.all(GRANTS, (tx.namespace, branch_name))]


def check_branch_access(tx: Transaction, branch_name: str, api_key_id: str) -> Permission | None:
    check_is_text(branch_name, "branch_name")
    check_is_text(api_key_id, "api_key_id")
    found = _stored(tx, branch_name, rules.API_KEY, api_key_id)
    return None if found is None else found.permission


def _stored(tx: Transaction, branch_name: str, grantee_type: str, grantee_id: str) -> BranchAccess | None:
    row = tx.one(GRANT, (tx.namespace, branch_name, grantee_type, grantee_id))
    return None if row is None else model_of(row[0], BranchAccess)
