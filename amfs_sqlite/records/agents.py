"""Agents: who works with the store, what an agent says of itself, and what it did, as AMFS has them."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from amfs_sqlite.modelling import Model, OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, LISTS_TOO, MAIN_BRANCH, Confidence, Instant, Strings


class AgentProfile(OpenModel):
    """What an agent says of itself. Unknown fields are kept."""

    model_config = ConfigDict(revalidate_instances="always")

    description: str = ""
    default_branch: str = MAIN_BRANCH
    auto_context_paths: Strings = ()
    tags: Strings = ()
    session_metadata: dict[str, Any] | None = None


class AgentCapability(OpenModel):
    """Something an agent is good at, and under which paths. Unknown fields are kept."""

    model_config = ConfigDict(revalidate_instances="always")

    name: str
    description: str = ""
    entity_paths: Strings = ()


class MemoryContract(OpenModel):
    """What an agent promises of the entries it writes. Unknown fields are kept; nothing enforces it here."""

    model_config = ConfigDict(revalidate_instances="always")

    entity_path: str
    key_pattern: str = "*"
    min_confidence: Confidence = 0.0
    max_confidence: Confidence = 1.0
    required_fields: Strings = ()
    ttl_required: bool = False
    description: str = ""


class Agent(OpenModel):
    """A registered agent.

    ``entry_count`` is how many current entries it wrote, private and expired ones included; None where nobody
    counted.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    agent_id: str
    display_name: str | None = None
    created_at: Instant | None = None
    last_active_at: Instant | None = None
    entry_count: int | None = None
    profile: AgentProfile | None = None
    capabilities: Annotated[tuple[AgentCapability, ...], LISTS_TOO] = ()
    contracts: Annotated[tuple[MemoryContract, ...], LISTS_TOO] = ()


class AgentSummary(Model):
    """A registered agent with what it did: a line of a directory.

    ``last_active`` is its newest current entry or its last registration, whichever is later.
    ``primary_repo`` is the first part of the paths that most of its entries have. ``type_dist`` counts its
    entries by memory type. ``collaborators`` are the agents that the graph says ``learned_from`` it.
    """

    agent_id: str
    created_at: Instant
    entries_written: int = 0
    entities_touched: int = 0
    last_active: Instant
    primary_repo: str | None = None
    entity_paths: Strings = ()
    type_dist: dict[str, int] = Field(default_factory=dict)
    collaborators: Strings = ()
    group_id: str | None = None
    platform: str | None = None
    model: str | None = None
    inferred_tags: Strings = ()
    description: str | None = None


class AgentPage(Model):
    """A page of a directory; ``total`` and ``active_7d`` count all that was asked for, on any page."""

    agents: Annotated[tuple[AgentSummary, ...], LISTS_TOO]
    total: int
    active_7d: int
