"""Branches: what may be made, what differs, what is in conflict, and which side a merge takes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self, get_args

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MAIN_BRANCH, MemoryEntry
from amfs_sqlite.records.branches import (
    Branch,
    DiffEntry,
    FieldChange,
    MergeConflict,
    MergeStrategy,
    Side,
)
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import check_name, check_optional_name
from amfs_sqlite.rules.values import encode

ID_DIGITS = 32


def prepared(given: Branch, branch_id: str, namespace: str, now: datetime) -> Branch:
    """A branch to be made under this id. Raises InvalidArgumentError."""
    own = {"id": branch_id, "namespace": namespace, "status": "active", "branched_at": now, "created_at": now}
    later = dict.fromkeys(("merged_at", "merged_by", "head_commit_id", "base_commit_id"))
    branch = checked_model(given, Branch, "branch", **own, **later)
    for argument in ("name", "parent_branch", "created_by"):
        check_name(getattr(branch, argument), argument)
    check_optional_name(branch.description, "description")
    if not branch.name or branch.name == MAIN_BRANCH:
        raise InvalidArgumentError("name", f"is {quoted(branch.name)}; a branch needs a name of its own")
    encode(branch.model_extra or {}, "branch")
    return branch


def taken(name: str) -> InvalidArgumentError:
    """What is said where a name has been given before."""
    return InvalidArgumentError("name", f"{quoted(name)} is a branch already; choose another name")


def check_active(name: str, status: str, so: str = "nothing is written there") -> None:
    """Raise InvalidArgumentError for a branch that is merged or closed."""
    if status != "active":
        raise InvalidArgumentError("branch", f"{quoted(name)} is {status}, so {so}; make another branch")


def never_made(name: str) -> InvalidArgumentError:
    """What is said where there is no branch of this name."""
    if name == MAIN_BRANCH:
        return InvalidArgumentError("branch", "'main' is what branches come from; name one that was made")
    return InvalidArgumentError("branch", f"{quoted(name)} was never made; make it with create_branch")


class Sides(NamedTuple):
    """A key as it stood when the branch was made, as the branch has it, and as its parent has it now; None
    where nothing is there.
    """

    base: MemoryEntry | None
    branch: MemoryEntry | None
    parent: MemoryEntry | None
    address: tuple[str, str]

    @property
    def spelling(self) -> str:
        """As whoever decides a conflict names it; several addresses may share one."""
        return "/".join(self.address)

    @property
    def differs(self) -> bool:
        """Whether the branch changed something that its parent does not say as well."""
        return not same(self.branch, self.base) and not same(self.branch, self.parent)

    @property
    def is_in_conflict(self) -> bool:
        """Whether the parent wrote it too, and otherwise. Outcomes that move its confidence write nothing."""
        return self.differs and not same(self.parent, self.base, but_confidence=True)


def same(one: MemoryEntry | None, other: MemoryEntry | None, *, but_confidence: bool = False) -> bool:
    """Whether two entries say the same, or both nothing."""
    if one is None or other is None:
        return one is other
    said = (one.content_hash, one.shared, one.tags)
    return said == (other.content_hash, other.shared, other.tags) and (
        but_confidence or one.confidence == other.confidence
    )


def difference(sides: Sides) -> DiffEntry:
    """What the branch says otherwise than its parent."""
    branch, parent = sides.branch, sides.parent
    path, key = sides.address
    changes = () if branch is None or parent is None else tuple(field_changes(parent.value, branch.value))
    return DiffEntry(
        entity_path=path,
        key=key,
        diff_type="deleted" if branch is None else "added" if parent is None else "modified",
        branch_value=branch.value if branch else None,
        parent_value=parent.value if parent else None,
        branch_confidence=branch.confidence if branch else None,
        parent_confidence=parent.confidence if parent else None,
        branch_shared=branch.shared if branch else None,
        field_changes=changes,
    )


def conflict(sides: Sides) -> MergeConflict:
    """A key that changed on both sides."""
    branch, parent = sides.branch, sides.parent
    path, key = sides.address
    return MergeConflict(
        entity_path=path,
        key=key,
        branch_value=branch.value if branch else None,
        main_value=parent.value if parent else None,
        branch_version=branch.version if branch else 0,
        main_version=parent.version if parent else 0,
        reason="both_modified" if branch and parent else "deleted_and_modified",
    )


def field_changes(old: Any, new: Any, path: str = "") -> Iterator[FieldChange]:
    """Where two values differ: members by name, items by position, anything else whole.

    >>> [(each.path, each.operation) for each in field_changes({"a": 1, "b": [1]}, {"a": 2, "b": [1, 3]})]
    [('/a', 'replace'), ('/b/1', 'add')]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _changed(old, new, name, name in old, name in new, path)
    elif isinstance(old, list) and isinstance(new, list):
        both = min(len(old), len(new))
        # What is gone, from the end: who applies the changes one by one finds each where it is said to be.
        for place in (*range(both), *range(both, len(new)), *reversed(range(both, len(old)))):
            yield from _changed(old, new, place, place < len(old), place < len(new), path)
    elif type(old) is not type(new) or old != new:
        yield FieldChange(path=path or "/", operation="replace", old_value=old, new_value=new)


def _changed(old: Any, new: Any, at: Any, is_old: bool, is_new: bool, path: str) -> Iterator[FieldChange]:  # noqa: PLR0917 - two values, each with whether it is there
    below = f"{path}/{at}"
    if not is_old:
        yield FieldChange(path=below, operation="add", new_value=new[at])
    elif not is_new:
        yield FieldChange(path=below, operation="remove", old_value=old[at])
    else:
        yield from field_changes(old[at], new[at], below)


class Resolution(NamedTuple):
    """How a merge decides where both sides changed a key."""

    strategy: MergeStrategy
    chosen: Mapping[str, Side]

    def side(self, sides: Sides) -> Side | None:
        """The side to take; None where nobody said."""
        if not sides.is_in_conflict:
            return "branch"
        if self.strategy == "branch_wins":
            return "branch"
        if self.strategy == "main_wins":
            return "main"
        return self.chosen.get(sides.spelling)

    def among(self, changed: Sequence[Sides]) -> Self:
        """The same, less the choices that would decide several conflicts at once: nobody said of which."""
        spelled = Counter(sides.spelling for sides in changed if sides.is_in_conflict)
        return self._replace(
            chosen={spelling: side for spelling, side in self.chosen.items() if spelled[spelling] < 2}
        )


def resolution(strategy: str, resolve_conflicts: Mapping[str, str] | None) -> Resolution:
    """Raises InvalidArgumentError for what is no strategy or no side."""
    if strategy not in get_args(MergeStrategy):
        known = ", ".join(get_args(MergeStrategy))
        raise InvalidArgumentError("strategy", f"is {quoted(strategy)}; choose one of {known}")
    if not isinstance(resolve_conflicts, Mapping | None):
        raise InvalidArgumentError(
            "resolve_conflicts", f"is {quoted(resolve_conflicts)}; it must be a mapping of path/key to a side"
        )
    for address, side in (resolve_conflicts or {}).items():
        if side not in get_args(Side):
            raise InvalidArgumentError(
                "resolve_conflicts", f"says {quoted(side)} of {quoted(address)}; choose 'branch' or 'main'"
            )
    return Resolution(strategy, resolve_conflicts or {})  # type: ignore[arg-type]  # checked above
