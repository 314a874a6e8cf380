"""Access to branches: what may be granted, and how it is written down."""

from datetime import datetime

from amfs_sqlite.records.access import BranchAccess
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import check_name
from amfs_sqlite.rules.values import encode

ID_DIGITS = 32
API_KEY = "api_key"
"""The type of grantee that can be checked."""


def prepared(given: BranchAccess, access_id: str, namespace: str, now: datetime) -> BranchAccess:
    """A grant to be stored under this id. Raises InvalidArgumentError."""
    access = checked_model(given, BranchAccess, "access", id=access_id, namespace=namespace, granted_at=now)
    for argument in ("branch_name", "grantee_type", "grantee_id", "granted_by"):
        check_name(getattr(access, argument), argument)
    encode(access.model_extra or {}, "access")
    return access
