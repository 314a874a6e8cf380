"""Tags: named points in time of a branch, as AMFS has them."""

from amfs_sqlite.modelling import OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH, Instant


class Tag(OpenModel):
    """A name for a branch as it stood at an instant. Unknown fields are kept.

    ``id``, ``namespace`` and ``created_at`` of a tag to be made are ignored: the adapter gives its own.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    name: str
    branch: str = MAIN_BRANCH
    tagged_at: Instant
    description: str | None = None
    created_by: str
    created_at: Instant | None = None
    event_id: str | None = None
