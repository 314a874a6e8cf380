"""Agents: who works with the store."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.records.agents import Agent, AgentCapability, AgentPage, AgentProfile, MemoryContract


@runtime_checkable
class Agents(Protocol):
    """The register of agents. Nothing has to be in it: whoever is not can read and write all the same.

    It is its namespace's, and counts what the owner of the file sees, private entries included.
    """

    async def ensure_agent(self, agent_id: str) -> Agent:
        """Register an agent, once however many call at once, and note that it is active now.

        ``entry_count`` of the answer is None: nothing is counted here. Raises InvalidArgumentError for a name
        of more than 4,096 characters.
        """
        ...

    async def get_agent(self, agent_id: str) -> Agent | None:
        """The registered agent of this name, or None."""
        ...

    async def list_agents(self) -> Sequence[Agent]:
        """All registered agents, the last active first, then by name."""
        ...

    async def update_agent_profile(self, agent_id: str, profile: AgentProfile) -> Agent:
        """Replace what the agent says of itself, as ``ensure_agent`` registering it, and counting nothing.

        Raises InvalidArgumentError for what JSON cannot hold.
        """
        ...

    async def update_agent_capabilities(
        self, agent_id: str, capabilities: Sequence[AgentCapability]
    ) -> Agent:
        """Replace what the agent is good at; otherwise as ``update_agent_profile``."""
        ...

    async def update_agent_contracts(self, agent_id: str, contracts: Sequence[MemoryContract]) -> Agent:
        """Replace what the agent promises; otherwise as ``update_agent_profile``."""
        ...

    async def discover_agents(
        self, *, capability: str | None = None, entity_path: str | None = None
    ) -> Sequence[Agent]:
        """The registered agents that have a capability of this name and that this path concerns.

        A path concerns an agent where one of its capabilities or of its profile's ``auto_context_paths`` has
        a path that begins with this one, or that this one begins with, as AMFS compares them: by characters.
        None and empty are any. Order: as ``list_agents``.
        """
        ...

    async def list_agents_enriched(
        self,
        *,
        agent_ids: Sequence[str] | None = None,
        q: str | None = None,
        platform: str | None = None,
        sort: str = "last_active",
        limit: int | None = None,
        offset: int = 0,
    ) -> AgentPage:
        """The registered agents with what they did.

        ``agent_ids`` keeps those agents; ``q`` those that have this text, whatever its case, in their name,
        description, model, platform or primary repo; ``platform`` is exact. ``sort`` is ``last_active``,
        ``entries_written`` or ``created_at``, the latest or most first and then by name, or ``agent_id``; any
        other raises InvalidArgumentError.
        """
        ...

    async def get_agent_activity_histogram(self, agent_id: str, days: int = 7) -> Sequence[int]:
        """How many events the agent's timeline has for each of the last days, today last; days are UTC's.

        ``days`` is from 0 to 3,660.
        """
        ...
