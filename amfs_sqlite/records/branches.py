"""Branches, what differs on them, and what came of merging them, as AMFS has them."""

from typing import Annotated, Any, Literal

from amfs_sqlite.modelling import Model, OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, LISTS_TOO, MAIN_BRANCH, Instant

BranchStatus = Literal["active", "merged", "closed"]
DiffType = Literal["added", "modified", "deleted"]
MergeStrategy = Literal["fast_forward", "branch_wins", "main_wins", "manual"]
Side = Literal["branch", "main"]


class Branch(OpenModel):
    """A branch. Unknown fields are kept.

    ``id``, ``namespace``, ``status``, the times and the commits of a branch to be made are ignored: the
    adapter gives its own. ``base_commit_id`` is the newest commit of the parent when it was made,
    ``head_commit_id`` the newest of the branch.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    name: str
    parent_branch: str = MAIN_BRANCH
    branched_at: Instant | None = None
    created_by: str
    description: str | None = None
    status: BranchStatus = "active"
    merged_at: Instant | None = None
    merged_by: str | None = None
    created_at: Instant | None = None
    head_commit_id: str | None = None
    base_commit_id: str | None = None


class FieldChange(Model):
    """One place where two values differ. ``path`` is AMFS's: member names and positions, each behind a slash;
    ``/`` for the whole value.
    """

    path: str
    operation: Literal["add", "remove", "replace"]
    old_value: Any = None
    new_value: Any = None


class DiffEntry(Model):
    """What a branch says otherwise than its parent does now."""

    entity_path: str
    key: str
    diff_type: DiffType
    branch_value: Any = None
    parent_value: Any = None
    branch_confidence: float | None = None
    parent_confidence: float | None = None
    branch_shared: bool | None = None
    field_changes: Annotated[tuple[FieldChange, ...], LISTS_TOO] = ()


class MergeConflict(Model):
    """A key that changed on both sides. A version is 0 where nothing is there."""

    entity_path: str
    key: str
    branch_value: Any = None
    main_value: Any = None
    branch_version: int = 0
    main_version: int = 0
    reason: str = "both_modified"


class MergeResult(Model):
    """What came of a merge: all of it, or, with ``conflicts``, nothing."""

    branch_name: str
    status: Literal["merged", "conflicts"]
    merged_entries: int = 0
    conflicts: Annotated[tuple[MergeConflict, ...], LISTS_TOO] = ()
