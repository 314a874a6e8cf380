"""Tags: named points in time of branches."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.tags import Tag


@runtime_checkable
class Tags(Protocol):
    """Names for what branches were at an instant: each stands once in a namespace, whatever the branch."""

    async def create_tag(self, tag: Tag) -> Tag:
        """Make a tag under a new id, and return it as stored.

        Raises InvalidArgumentError for a name that is empty, has more than 4,096 characters, or is a tag
        already, and for what JSON cannot hold. Of several that make one name at once one succeeds. Whether
        there is such a branch is not looked at.
        """
        ...

    async def get_tag(self, name: str) -> Tag | None:
        """The tag of this name, or None."""
        ...

    async def list_tags(self, *, branch: str | None = None) -> Sequence[Tag]:
        """All tags, or those of a branch, by ``tagged_at``, the latest first, then by name."""
        ...

    async def delete_tag(self, name: str) -> None:
        """Delete a tag; its name is free then. Raises InvalidArgumentError where there is none."""
        ...
