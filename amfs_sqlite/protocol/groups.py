"""Groups: agents that someone put together."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.groups import AgentGroup


@runtime_checkable
class Groups(Protocol):
    """Groups of agents: an agent is in one of its namespace at most, registered or not."""

    async def create_agent_group(self, group: AgentGroup) -> AgentGroup:
        """Make a group under a new id; its ``agent_ids`` become its members, moved from where they were.

        Raises InvalidArgumentError for a name of more than 4,096 characters, a position that is not finite,
        and for what JSON cannot hold.
        """
        ...

    async def list_agent_groups(self) -> Sequence[AgentGroup]:
        """All groups by position, then ``created_at``, then id."""
        ...

    async def get_agent_group(self, group_id: str) -> AgentGroup | None:
        """The group of this id, or None."""
        ...

    async def update_agent_group(
        self,
        group_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        color: str | None = None,
        icon: str | None = None,
        position: float | None = None,
    ) -> AgentGroup | None:
        """Change what is not None; the group then, or None where there is none of this id."""
        ...

    async def delete_agent_group(self, group_id: str) -> bool:
        """Delete a group, its members being in none then; whether there was one."""
        ...

    async def add_agents_to_group(
        self, group_id: str, agent_ids: Sequence[str], added_by: str = "user"
    ) -> int:
        """Move agents into a group; how many they are, each counted once, those that were in it included.

        Raises InvalidArgumentError where there is no such group.
        """
        ...

    async def remove_agents_from_group(self, group_id: str, agent_ids: Sequence[str]) -> int:
        """Take agents out of a group; how many of them were in it."""
        ...

    async def reorder_agent_groups(self, positions: Sequence[tuple[str, float]]) -> None:
        """Give groups, by id, new positions. An id that no group has any more is passed over."""
        ...

    async def dismiss_cluster_suggestion(self, cluster_id: str, account_id: str) -> None:
        """Note that an account does not want to see a suggested group again."""
        ...

    async def list_dismissed_cluster_ids(self, account_id: str) -> Sequence[str]:
        """What an account dismissed, the first first, then by id. Accounts are beyond namespaces."""
        ...
