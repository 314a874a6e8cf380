"""Pull requests and their reviews."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.records.pulls import PRReview, PullRequest
from amfs_sqlite.reference.store import State, Store
from amfs_sqlite.rules import pulls as rules
from amfs_sqlite.rules.limits import check_is_text, check_optional_text
from amfs_sqlite.rules.values import decode, encode


def create_pull_request(store: Store, pr: PullRequest) -> PullRequest:
    made = rules.prepared(pr, store.ids.hex(rules.ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> PullRequest:
        if made.id in state.pulls:
            raise rules.taken("pull request", made.id)
        return _put(state, made)

    return store.change(work)


def get_pull_request(store: Store, pr_id: str) -> PullRequest | None:
    check_is_text(pr_id, "pr_id")
    return _shown(store.state, pr_id) if pr_id in store.state.pulls else None


def list_pull_requests(store: Store, *, status: str | None = None) -> Sequence[PullRequest]:
    check_optional_text(status, "status")
    pulls = [_shown(store.state, pr_id) for pr_id in sorted(store.state.pulls)]
    return sorted((pr for pr in pulls if status in (None, pr.status)), key=_made_at, reverse=True)


def update_pull_request_status(store: Store, pr_id: str, status: str, *, by: str = "") -> PullRequest:
    rules.check_update(pr_id, by)
    given, now = rules.known_status(status), store.clock.now()

    def work(state: State) -> PullRequest:
        if pr_id not in state.pulls:
            raise rules.not_found(pr_id)
        return _put(state, rules.updated(_shown(state, pr_id), given, by, now))

    return store.change(work)


def add_pr_review(store: Store, review: PRReview) -> PRReview:
    added = rules.prepared_review(review, store.ids.hex(rules.ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> PRReview:
        if added.pr_id not in state.pulls:
            raise rules.not_found(added.pr_id)
        if added.id in state.reviews:
            raise rules.taken("review", added.id)
        state.reviews[added.id] = encode(added.to_wire(), "review")
        return _review(state.reviews[added.id])

    return store.change(work)


def list_pr_reviews(store: Store, pr_id: str) -> Sequence[PRReview]:
    check_is_text(pr_id, "pr_id")
    reviews = [_review(record) for _, record in sorted(store.state.reviews.items())]
    return sorted((review for review in reviews if review.pr_id == pr_id), key=_made_at)


def _put(state: State, pr: PullRequest) -> PullRequest:
    state.pulls[pr.id] = encode(pr.to_wire(), "pr")
    return _shown(state, pr.id)


def _shown(state: State, pr_id: str) -> PullRequest:
    return PullRequest.from_wire(decode(state.pulls[pr_id]))


def _review(record: str) -> PRReview:
    return PRReview.from_wire(decode(record))


def _made_at(made: PullRequest | PRReview) -> datetime:
    if made.created_at is None:
        raise ValueError("this was never stored: it has no created_at yet")
    return made.created_at
