"""Branches: a memory to try things on, laid over another as it stood, brought back whole or not at all."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.protocol.entries import Entries
from amfs_sqlite.records.branches import Branch, DiffEntry, MergeResult


@runtime_checkable
class Branches(Protocol):
    """Branches of the adapter's namespace, copied on write.

    What a branch has not written stands there as it stood on its parent when the branch was made, whatever
    the parent writes later. The first version that a branch writes of such a key goes on from that one: its
    number is the next, its integrityChain follows. No number is given twice. Confidence and counts that
    outcomes move in place are those of now. Watches and ``changes`` tell of main alone; the branch belongs to
    what an idempotency key stands for. Whoever names a branch that was never made gets
    InvalidArgumentError, and so does whoever writes on one that is merged or closed.
    """

    def on_branch(self, name: str) -> Entries:
        """The entries of a branch, ``main`` among them, to be read and written as those of main are.

        Whether there is such a branch is told by what is called on it.
        """
        ...

    async def create_branch(self, branch: Branch) -> Branch:
        """Make a branch, active, over what its parent holds now.

        Raises InvalidArgumentError for a name that is empty, ``main``, or given to a branch before, and for a
        parent that was never made. Of several that make one name at once one succeeds.
        """
        ...

    async def get_branch(self, name: str) -> Branch | None:
        """The branch of this name, or None."""
        ...

    async def list_branches(self, *, status: str | None = None) -> Sequence[Branch]:
        """All branches, or those of a status, made last first."""
        ...

    async def close_branch(self, name: str) -> Branch:
        """Close an active branch: it can be read, and is written to and merged no more."""
        ...

    async def diff_branch(self, name: str) -> Sequence[DiffEntry]:
        """What a branch changed and its parent does not say as well, by path and key.

        The same value, confidence, tags and sharing is no change, however often it was written.
        """
        ...

    async def merge_branch(
        self,
        name: str,
        *,
        strategy: str = "fast_forward",
        resolve_conflicts: Mapping[str, str] | None = None,
    ) -> MergeResult:
        """Write on the parent, in one commit, what ``diff_branch`` tells; the branch is then merged.

        A key that both sides changed is in conflict. ``fast_forward`` and ``manual`` take the side that
        ``resolve_conflicts`` names under ``path/key``, ``branch`` or ``main``; ``branch_wins`` and
        ``main_wins`` take theirs. Where a side is missing nothing is merged and the branch stays active: the
        result names all conflicts. One ``path/key`` that spells several of them decides none. Each key gets
        its parent's next version, with the author and the record of outcomes that it has on the branch, or a
        tombstone. Raises InvalidArgumentError for a branch that is not active and for an unknown strategy or
        side.
        """
        ...

    async def rollback_to_timestamp(self, agent_id: str, branch: str, timestamp: datetime | str) -> int:
        """Let a branch say again what it said at an instant, by new versions, in one commit of the agent.

        A version counts from when it was stored, whatever its ``written_at`` says. What was first stored
        later gets a tombstone. Returns how many keys changed.
        """
        ...

    async def fork_agent(
        self, source_agent_id: str, target_agent_id: str, *, branch: str = MAIN_BRANCH
    ) -> int:
        """Copy to main, as the target's own and with their history, those entries of a branch that the source
        can see and that were never written on main. Returns how many keys were copied.
        """
        ...
