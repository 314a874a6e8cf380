"""Commits as the SDK means them: what was written under a message, or is said to have been."""

from amfs_core.models import Commit

from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH
from amfs_sqlite.models import Commit as StoredCommit
from amfs_sqlite.rules.limits import check_is_text, check_whole_number
from amfs_sqlite.sqlite import commits, told
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def save_commit(tx: Transaction, commit: Commit) -> None:
    """Add a commit, or what it says to the one of its id that a ``write_batch`` made."""
    commit = checked(commit, Commit, "commit")
    with under(tx, commit.namespace, commit.branch):
        told.save(tx, ours(commit, StoredCommit, "commit"))


def get_commit(tx: Transaction, commit_id: str) -> Commit | None:
    check_is_text(commit_id, "commit_id")
    found = told.anywhere(tx, commit_id) or commits.get_commit(tx, commit_id)
    return None if found is None else theirs(found, Commit)


def list_commits(
    tx: Transaction, *, branch: str = MAIN_BRANCH, limit: int = 50, namespace: str = DEFAULT_NAMESPACE
) -> list[Commit]:
    """Newest first. A single write is a commit too, and is listed once something is said of it."""
    check_whole_number(limit, "limit")
    with under(tx, namespace, branch):
        return [theirs(found, Commit) for found in told.newest(tx, limit=limit)]


def common_ancestor(tx: Transaction, commit_a_id: str, commit_b_id: str) -> str | None:
    return commits.common_ancestor(tx, commit_a_id, commit_b_id)
