"""Branches as the SDK means them, kept under the namespace that it names."""

from datetime import datetime

from amfs_core.models import Branch, DiffEntry, MergeResult, MergeStrategy

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH
from amfs_sqlite.records.branches import Branch as StoredBranch
from amfs_sqlite.sqlite import branches
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, in_its_own, under
from amfs_sqlite.sync.translation import ours, theirs


def create_branch(tx: Transaction, branch: Branch) -> Branch:
    branch = checked(branch, Branch, "branch")
    if (namespace := in_its_own(branch.namespace, tx.namespace)) != tx.namespace:
        raise InvalidArgumentError(
            "namespace",
            f"is {quoted(namespace)}; a branch is made in the adapter's own namespace, "
            f"{quoted(tx.namespace)}: open another adapter with namespace={quoted(namespace)}",
        )
    return theirs(branches.create_branch(tx, ours(branch, StoredBranch, "branch")), Branch)


def get_branch(tx: Transaction, name: str, namespace: str = DEFAULT_NAMESPACE) -> Branch | None:
    with under(tx, namespace):
        found = branches.get_branch(tx, name)
    return None if found is None else theirs(found, Branch)


def list_branches(
    tx: Transaction, namespace: str = DEFAULT_NAMESPACE, *, status: str | None = None
) -> list[Branch]:
    with under(tx, namespace):
        return [theirs(branch, Branch) for branch in branches.list_branches(tx, status=status)]


def close_branch(tx: Transaction, name: str, namespace: str = DEFAULT_NAMESPACE) -> Branch:
    with under(tx, namespace):
        return theirs(branches.close_branch(tx, name), Branch)


def diff_branch(tx: Transaction, name: str, namespace: str = DEFAULT_NAMESPACE) -> list[DiffEntry]:
    with under(tx, namespace):
        return [theirs(each, DiffEntry) for each in branches.diff_branch(tx, name)]


def merge_branch(
    tx: Transaction,
    name: str,
    namespace: str = DEFAULT_NAMESPACE,
    *,
    strategy: MergeStrategy = MergeStrategy.FAST_FORWARD,
    resolve_conflicts: dict[str, str] | None = None,
) -> MergeResult:
    with under(tx, namespace):
        merged = branches.merge_branch(
            tx, name, strategy=getattr(strategy, "value", strategy), resolve_conflicts=resolve_conflicts
        )
    return theirs(merged, MergeResult)


def rollback_to_timestamp(
    tx: Transaction, agent_id: str, branch: str, timestamp: datetime, namespace: str = DEFAULT_NAMESPACE
) -> int:
    with under(tx, namespace):
        return branches.rollback_to_timestamp(tx, agent_id, branch, timestamp)


def fork_agent(
    tx: Transaction,
    source_agent_id: str,
    target_agent_id: str,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    branch: str = MAIN_BRANCH,
) -> int:
    with under(tx, namespace):
        return branches.fork_agent(tx, source_agent_id, target_agent_id, branch=branch)
