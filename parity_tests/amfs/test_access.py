"""Access to branches through the SDK's door: one grant for a grantee, whoever gives it."""

from pathlib import Path

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import BranchAccess, BranchAccessPermission

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.test_agents import THREADS, at_once
from parity_tests.ledger import proves


def grant(grantee_id: str = "k", grantee_type: str = "api_key", namespace: str = "default") -> BranchAccess:
    return BranchAccess(
        namespace=namespace,
        branch_name="trial",
        grantee_type=grantee_type,
        grantee_id=grantee_id,
        granted_by="alice",
    )


@proves("access.sdk")
def test_access_is_granted_changed_and_revoked(sdk_adapter: SyncSqliteAdapter) -> None:
    made = sdk_adapter.grant_branch_access(grant())
    assert made == grant().model_copy(update={"id": made.id, "granted_at": made.granted_at})
    assert made.granted_at is not None
    assert sdk_adapter.check_branch_access("trial", "k") == "read"
    writing = grant().model_copy(update={"permission": BranchAccessPermission.READ_WRITE})
    changed = sdk_adapter.grant_branch_access(writing)
    assert (changed.id, changed.permission) == (made.id, BranchAccessPermission.READ_WRITE)
    assert sdk_adapter.list_branch_access("trial") == [changed]
    assert sdk_adapter.check_branch_access("trial", "k") == "read_write"
    sdk_adapter.grant_branch_access(grant("alice", "user"))
    assert sdk_adapter.check_branch_access("trial", "alice") is None
    for _ in range(2):
        answered: object = sdk_adapter.revoke_branch_access("trial", "api_key", "k")
        assert answered is None
    assert sdk_adapter.check_branch_access("trial", "k") is None
    assert [each.grantee_id for each in list[BranchAccess](sdk_adapter.list_branch_access("trial"))] == [
        "alice"
    ]
    with pytest.raises(AdapterError, match="must be an amfs_core BranchAccess"):
        sdk_adapter.grant_branch_access({})  # type: ignore[arg-type]  # wrong on purpose


@proves("access.sdk")
def test_access_is_granted_in_the_namespace_that_is_meant(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "memory.db", namespace="team") as adapter:
        assert adapter.grant_branch_access(grant()).namespace == "team"
        assert adapter.grant_branch_access(grant(namespace="other")).namespace == "other"
        adapter.revoke_branch_access("trial", "api_key", "k", namespace="other")
        asked = ("default", "team", "other")
        assert [adapter.check_branch_access("trial", "k", each) for each in asked] == ["read", "read", None]
        assert [len(adapter.list_branch_access("trial", each)) for each in asked] == [1, 1, 0]


@proves("access.sdk")
def test_a_grantee_whom_many_threads_grant_access_has_one_grant(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path) as one, SyncSqliteAdapter(path) as other:
        calls = [
            lambda each=each: each.grant_branch_access(grant()) for each in (one, other) * (THREADS // 2)
        ]
        granted = at_once(*calls)
        listed = list[BranchAccess](one.list_branch_access("trial"))
    assert len(listed) == 1
    assert {each.id for each in granted} == {listed[0].id}
