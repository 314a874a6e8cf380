"""Access: who was given what on branches."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.access import BranchAccess, Permission


@runtime_checkable
class Access(Protocol):
    """What was granted, to be asked by whoever lets somebody in: the adapter itself keeps nobody out."""

    async def grant_branch_access(self, access: BranchAccess) -> BranchAccess:
        """Grant access to a branch, and return it as stored.

        A grantee has one grant for a branch at most: another takes its place and keeps its id. Raises
        InvalidArgumentError for a name of more than 4,096 characters and for what JSON cannot hold. Whether
        there is such a branch is not looked at.
        """
        ...

    async def revoke_branch_access(self, branch_name: str, grantee_type: str, grantee_id: str) -> None:
        """Take a grant back. Where there is none nothing happens."""
        ...

    async def list_branch_access(self, branch_name: str) -> Sequence[BranchAccess]:
        """The grants for a branch by ``granted_at``, the newest first, then by type and id of the grantee."""
        ...

    async def check_branch_access(self, branch_name: str, api_key_id: str) -> Permission | None:
        """What a grantee of type ``api_key`` may do on a branch; None where nothing was granted."""
        ...
