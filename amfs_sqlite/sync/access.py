"""Access to branches as the SDK means it, kept under the namespace that it names."""

from amfs_core.models import BranchAccess

from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.records.access import BranchAccess as StoredAccess
from amfs_sqlite.sqlite import access as grants
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def grant_branch_access(tx: Transaction, access: BranchAccess) -> BranchAccess:
    given = ours(checked(access, BranchAccess, "access"), StoredAccess, "access")
    with under(tx, access.namespace):
        return theirs(grants.grant_branch_access(tx, given), BranchAccess)


def revoke_branch_access(
    tx: Transaction,
    branch_name: str,
    grantee_type: str,
    grantee_id: str,
    namespace: str = DEFAULT_NAMESPACE,
) -> None:
    with under(tx, namespace):
        grants.revoke_branch_access(tx, branch_name, grantee_type, grantee_id)


def list_branch_access(
    tx: Transaction, branch_name: str, namespace: str = DEFAULT_NAMESPACE
) -> list[BranchAccess]:
    with under(tx, namespace):
        return [theirs(each, BranchAccess) for each in grants.list_branch_access(tx, branch_name)]


def check_branch_access(
    tx: Transaction, branch_name: str, api_key_id: str, namespace: str = DEFAULT_NAMESPACE
) -> str | None:
    with under(tx, namespace):
        return grants.check_branch_access(tx, branch_name, api_key_id)
