"""Pull requests and reviews as the SDK means them, kept under the namespace that it names."""

from amfs_core.models import PRReview, PullRequest

from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.records.pulls import PRReview as StoredReview
from amfs_sqlite.records.pulls import PullRequest as StoredPull
from amfs_sqlite.sqlite import pulls
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def create_pull_request(tx: Transaction, pr: PullRequest) -> PullRequest:
    given = ours(checked(pr, PullRequest, "pr"), StoredPull, "pr")
    with under(tx, pr.namespace):
        return theirs(pulls.create_pull_request(tx, given), PullRequest)


def get_pull_request(tx: Transaction, pr_id: str, namespace: str = DEFAULT_NAMESPACE) -> PullRequest | None:
    with under(tx, namespace):
        found = pulls.get_pull_request(tx, pr_id)
    return None if found is None else theirs(found, PullRequest)


def list_pull_requests(
    tx: Transaction, namespace: str = DEFAULT_NAMESPACE, *, status: str | None = None
) -> list[PullRequest]:
    with under(tx, namespace):
        return [theirs(pr, PullRequest) for pr in pulls.list_pull_requests(tx, status=status)]


def update_pull_request_status(
    tx: Transaction, pr_id: str, status: str, *, by: str = "", namespace: str = DEFAULT_NAMESPACE
) -> PullRequest:
    with under(tx, namespace):
        return theirs(pulls.update_pull_request_status(tx, pr_id, status, by=by), PullRequest)


def add_pr_review(tx: Transaction, review: PRReview) -> PRReview:
    given = ours(checked(review, PRReview, "review"), StoredReview, "review")
    with under(tx, review.namespace):
        return theirs(pulls.add_pr_review(tx, given), PRReview)


def list_pr_reviews(tx: Transaction, pr_id: str, namespace: str = DEFAULT_NAMESPACE) -> list[PRReview]:
    with under(tx, namespace):
        return [theirs(review, PRReview) for review in pulls.list_pr_reviews(tx, pr_id)]
