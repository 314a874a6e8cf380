"""Pull requests and their reviews, as AMFS has them."""

from typing import Literal

from amfs_sqlite.modelling import OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH, Instant

PullRequestStatus = Literal["open", "approved", "merged", "closed"]
PRReviewStatus = Literal["approved", "changes_requested", "commented"]


class PullRequest(OpenModel):
    """A request to merge a branch. Unknown fields are kept.

    ``namespace``, the times, ``merged_by`` and ``closed_by`` of a request to be made are ignored: the adapter
    gives its own, and an ``id`` where it has none. It is made with the ``status`` that it has.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    title: str
    description: str | None = None
    source_branch: str
    target_branch: str = MAIN_BRANCH
    status: PullRequestStatus = "open"
    created_by: str
    created_at: Instant | None = None
    updated_at: Instant | None = None
    merged_at: Instant | None = None
    merged_by: str | None = None
    closed_at: Instant | None = None
    closed_by: str | None = None
    merge_strategy: str | None = None


class PRReview(OpenModel):
    """What somebody said of a pull request. Unknown fields are kept.

    ``namespace`` and ``created_at`` of a review to be added are ignored: the adapter gives its own, and an
    ``id`` where it has none.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    pr_id: str
    reviewer: str
    status: PRReviewStatus
    comment: str | None = None
    entry_path: str | None = None
    created_at: Instant | None = None
