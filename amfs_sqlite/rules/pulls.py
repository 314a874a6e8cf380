"""Pull requests and reviews: what may be made of them, and what is said where that cannot be."""

from datetime import datetime
from typing import get_args

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.records.pulls import PRReview, PullRequest, PullRequestStatus
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import MAX_NOTE_CHARACTERS, check_is_text, check_name, check_optional_name
from amfs_sqlite.rules.values import encode

ID_DIGITS = 32


def prepared(given: PullRequest, new_id: str, namespace: str, now: datetime) -> PullRequest:
    """A request to be stored, under this id where it has none. Raises InvalidArgumentError."""
    own = {"namespace": namespace, "created_at": now, "updated_at": now}
    not_yet = {"merged_at": None, "merged_by": None, "closed_at": None, "closed_by": None}
    pr = checked_model(given, PullRequest, "pr", **own, **not_yet)
    for argument in ("id", "title", "source_branch", "target_branch", "created_by"):
        check_name(getattr(pr, argument), argument)
    check_name(pr.description or "", "description", MAX_NOTE_CHARACTERS)
    check_optional_name(pr.merge_strategy, "merge_strategy")
    encode(pr.model_extra or {}, "pr")
    return pr.copied(id=pr.id or new_id)


def prepared_review(given: PRReview, new_id: str, namespace: str, now: datetime) -> PRReview:
    """A review to be stored, under this id where it has none. Raises InvalidArgumentError."""
    review = checked_model(given, PRReview, "review", namespace=namespace, created_at=now)
    for argument in ("id", "pr_id", "reviewer"):
        check_name(getattr(review, argument), argument)
    check_name(review.comment or "", "comment", MAX_NOTE_CHARACTERS)
    check_optional_name(review.entry_path, "entry_path")
    encode(review.model_extra or {}, "review")
    return review.copied(id=review.id or new_id)


def known_status(status: str) -> PullRequestStatus:
    """A status to be given. Raises InvalidArgumentError for what is none."""
    check_is_text(status, "status")
    for known in get_args(PullRequestStatus):
        if status == known:
            return known  # type: ignore[no-any-return]  # one of the names of the type
    names = ", ".join(get_args(PullRequestStatus))
    raise InvalidArgumentError("status", f"is {quoted(status)}; choose one of {names}")


def check_update(pr_id: str, by: str) -> None:
    """Which request is to have another status, and who says so."""
    check_is_text(pr_id, "pr_id")
    check_name(by, "by")


def updated(pr: PullRequest, status: PullRequestStatus, by: str, now: datetime) -> PullRequest:
    """A request with another status."""
    noted = {f"{status}_at": now, f"{status}_by": by} if status in ("merged", "closed") else {}
    return pr.copied(status=status, updated_at=now, **noted)


def taken(kind: str, given_id: str) -> InvalidArgumentError:
    """What is said where an id has been given before."""
    return InvalidArgumentError("id", f"{quoted(given_id)} is a {kind} already; leave it out for a new one")


def not_found(pr_id: str) -> InvalidArgumentError:
    """That there is no such request."""
    return InvalidArgumentError("pr_id", f"is {quoted(pr_id)}, which no pull request has; list them to see")
