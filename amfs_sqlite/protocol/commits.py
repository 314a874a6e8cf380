"""Commits: several changes, all or nothing, and the log of everything that ever changed."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import Change, Commit, CommitResult


@runtime_checkable
class Commits(Protocol):
    """The commit log. Every write, batch and outcome is one commit; this is the general form."""

    async def commit(
        self,
        changes: Sequence[Change],
        *,
        author: str,
        message: str = "",
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> CommitResult:
        """Apply the changes in order as one commit, all or nothing.

        What is asked for is taken as it is at the call. Raises what ``write`` and
        ``commit_outcome`` raise, and InvalidArgumentError for no change at all or more than 10,000.
        ``idempotency_key`` is scoped by namespace and ``author``.
        """
        ...

    async def recorded_result(self, idempotency_key: str, *, author: str) -> CommitResult | None:
        """What the first call with this idempotency key returned, or None if there was none."""
        ...

    async def list_commits(
        self,
        *,
        limit: int | None = None,
        before: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[Commit]:
        """The commit log, newest first. ``before`` continues behind a commit's ``sequence``.

        For a viewer, entries and effects on versions hidden from it are left out, and commits of
        other authors that had nothing else are too.
        """
        ...

    async def get_commit(self, commit_id: str, *, viewer: str | None = None) -> Commit | None:
        """One commit, or None."""
        ...

    async def save_commit(self, commit: Commit) -> Commit:
        """Add a commit to the log as AMFS's engine does; return it as the log shows it. Twice is
        once.

        An id that a ``write_batch`` already used gets the message, author and session as an
        appended description; its entries and parents stay what they are. A new id becomes a commit
        without versions of its own, with the entries and parents it names (never itself; no parents
        named: the newest commit of its branch). Raises InvalidArgumentError for an empty id, and
        for that of a commit of which its author cannot see everything.
        """
        ...

    async def common_ancestor(self, commit_a: str, commit_b: str) -> str | None:
        """The id of the nearest commit both descend from, itself included; None where there is
        none.

        Equal ids are their own common ancestor, stored or not. Nearest is the fewest steps in sum,
        ties to the newer commit.
        """
        ...
