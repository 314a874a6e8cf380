"""Access to branches that somebody was given, as AMFS has it."""

from typing import Literal

from amfs_sqlite.modelling import OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, Instant

Permission = Literal["read", "read_write"]


class BranchAccess(OpenModel):
    """What somebody may do on a branch. Unknown fields are kept.

    ``id``, ``namespace`` and ``granted_at`` of a grant to be made are ignored: the adapter gives its own.
    ``grantee_type`` is any name, such as AMFS's ``user``, ``team`` and ``api_key``.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    branch_name: str
    grantee_type: str
    grantee_id: str
    permission: Permission = "read"
    granted_by: str
    granted_at: Instant | None = None
