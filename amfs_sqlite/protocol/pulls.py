"""Pull requests, and what reviewers say of them."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.pulls import PRReview, PullRequest


@runtime_checkable
class Pulls(Protocol):
    """Requests to merge branches. They are kept and never acted on: ``merge_branch`` merges."""

    async def create_pull_request(self, pr: PullRequest) -> PullRequest:
        """Make a request, and return it as stored.

        Raises InvalidArgumentError for an id that a request has already, a name of more than 4,096
        characters, a description of more than 65,536, and for what JSON cannot hold. Whether there are such
        branches is not looked at.
        """
        ...

    async def get_pull_request(self, pr_id: str) -> PullRequest | None:
        """The request of this id, or None."""
        ...

    async def list_pull_requests(self, *, status: str | None = None) -> Sequence[PullRequest]:
        """All requests, or those of a status, by ``created_at``, the newest first, then by id."""
        ...

    async def update_pull_request_status(self, pr_id: str, status: str, *, by: str = "") -> PullRequest:
        """Give a request another status: ``open``, ``approved``, ``merged`` or ``closed``.

        ``merged`` and ``closed`` are noted with their time and with ``by``, and stay noted. Raises
        InvalidArgumentError where there is no such request, and for any other status.
        """
        ...

    async def add_pr_review(self, review: PRReview) -> PRReview:
        """Add a review to a request, and return it as stored; the request stays as it is.

        Raises InvalidArgumentError where there is no such request, for an id that a review has already, a
        name of more than 4,096 characters, a comment of more than 65,536, and for what JSON cannot hold.
        """
        ...

    async def list_pr_reviews(self, pr_id: str) -> Sequence[PRReview]:
        """The reviews of a request by ``created_at``, the first first, then by id."""
        ...
