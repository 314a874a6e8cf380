"""Agents as the SDK means them, registered under the namespace that it names."""

from collections.abc import Sequence
from typing import Any

from amfs_core.models import Agent, AgentCapability, AgentProfile, MemoryContract

from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.records import agents as records
from amfs_sqlite.rules.limits import check_several
from amfs_sqlite.sqlite import agents
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def ensure_agent(tx: Transaction, agent_id: str, namespace: str = DEFAULT_NAMESPACE) -> Agent:
    """Its ``entry_count`` is 0: counting would take longer than registering, which goes with each write."""
    with under(tx, namespace):
        return _shown(agents.ensure_agent(tx, agent_id))


def get_agent(tx: Transaction, agent_id: str, namespace: str = DEFAULT_NAMESPACE) -> Agent | None:
    with under(tx, namespace):
        found = agents.get_agent(tx, agent_id)
    return None if found is None else _shown(found)


def list_agents(tx: Transaction, namespace: str = DEFAULT_NAMESPACE) -> list[Agent]:
    with under(tx, namespace):
        return [_shown(agent) for agent in agents.list_agents(tx)]


def update_agent_profile(
    tx: Transaction, agent_id: str, profile: AgentProfile, namespace: str = DEFAULT_NAMESPACE
) -> Agent:
    """Its ``entry_count`` is 0, as it is of whatever else changes an agent: see ``ensure_agent``."""
    said = ours(checked(profile, AgentProfile, "profile"), records.AgentProfile, "profile")
    with under(tx, namespace):
        return _shown(agents.update_agent_profile(tx, agent_id, said))


def update_agent_capabilities(
    tx: Transaction, agent_id: str, capabilities: list[AgentCapability], namespace: str = DEFAULT_NAMESPACE
) -> Agent:
    check_several(capabilities, "capabilities")
    said = [
        ours(checked(each, AgentCapability, "capabilities"), records.AgentCapability, "capabilities")
        for each in capabilities
    ]
    with under(tx, namespace):
        return _shown(agents.update_agent_capabilities(tx, agent_id, said))


def update_agent_contracts(
    tx: Transaction, agent_id: str, contracts: list[MemoryContract], namespace: str = DEFAULT_NAMESPACE
) -> Agent:
    check_several(contracts, "contracts")
    said = [
        ours(checked(each, MemoryContract, "contracts"), records.MemoryContract, "contracts")
        for each in contracts
    ]
    with under(tx, namespace):
        return _shown(agents.update_agent_contracts(tx, agent_id, said))


def discover_agents(
    tx: Transaction,
    *,
    capability: str | None = None,
    entity_path: str | None = None,
    namespace: str = DEFAULT_NAMESPACE,
) -> list[Agent]:
    with under(tx, namespace):
        found = agents.discover_agents(tx, capability=capability, entity_path=entity_path)
    return [_shown(agent) for agent in found]


def list_agents_enriched(
    tx: Transaction,
    namespace: str = DEFAULT_NAMESPACE,
    *,
    agent_ids: Sequence[str] | None = None,
    q: str | None = None,
    platform: str | None = None,
    sort: str = "last_active",
    limit: int | None = None,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """With a ``limit`` every line has ``total`` and ``active_7d``; without one the ``offset`` is nothing."""
    with under(tx, namespace):
        page = agents.list_agents_enriched(
            tx,
            agent_ids=agent_ids,
            q=q,
            platform=platform,
            sort=sort,
            limit=limit,
            offset=0 if limit is None else max(offset, 0),
        )
    counts = {} if limit is None else {"total": page.total, "active_7d": page.active_7d}
    # As lists, which JSON has too: so the SDK's servers have them.
    return [
        counts | {name: list(each) if isinstance(each, tuple) else each for name, each in agent}
        for agent in page.agents
    ]


def get_agent_activity_histogram(
    tx: Transaction, agent_id: str, days: int = 7, namespace: str = DEFAULT_NAMESPACE
) -> list[int]:
    with under(tx, namespace):
        return [*agents.get_agent_activity_histogram(tx, agent_id, days)]


def _shown(stored: records.Agent) -> Agent:
    return theirs(stored.copied(entry_count=stored.entry_count or 0), Agent)
