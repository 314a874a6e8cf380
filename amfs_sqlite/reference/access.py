"""Access to branches: granting, revoking and asking for it."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.records.access import BranchAccess, Permission
from amfs_sqlite.reference.store import State, Store
from amfs_sqlite.rules import access as rules
from amfs_sqlite.rules.limits import check_is_text
from amfs_sqlite.rules.values import decode, encode


def grant_branch_access(store: Store, access: BranchAccess) -> BranchAccess:
    given = rules.prepared(access, store.ids.hex(rules.ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> BranchAccess:
        grantee = given.branch_name, given.grantee_type, given.grantee_id
        granted = given
        if grantee in state.access:
            granted = given.copied(id=_shown(state.access[grantee]).id)
        state.access[grantee] = encode(granted.to_wire(), "access")
        return _shown(state.access[grantee])

    return store.change(work)


def revoke_branch_access(store: Store, branch_name: str, grantee_type: str, grantee_id: str) -> None:
    check_is_text(branch_name, "branch_name")
    check_is_text(grantee_type, "grantee_type")
    check_is_text(grantee_id, "grantee_id")
    store.change(lambda state: state.access.pop((branch_name, grantee_type, grantee_id), None))


def list_branch_access(store: Store, branch_name: str) -> Sequence[BranchAccess]:
    check_is_text(branch_name, "branch_name")
    grants = [_shown(record) for _, record in sorted(store.state.access.items())]
    return sorted((each for each in grants if each.branch_name == branch_name), key=_granted_at, reverse=True)


def check_branch_access(store: Store, branch_name: str, api_key_id: str) -> Permission | None:
    check_is_text(branch_name, "branch_name")
    check_is_text(api_key_id, "api_key_id")
    record = store.state.access.get((branch_name, rules.API_KEY, api_key_id))
    return None if record is None else _shown(record).permission


def _shown(record: str) -> BranchAccess:
    return BranchAccess.from_wire(decode(record))


def _granted_at(access: BranchAccess) -> datetime:
    if access.granted_at is None:
        raise ValueError("this access was never granted: it has no granted_at yet")
    return access.granted_at
