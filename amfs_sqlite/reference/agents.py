"""Agents: registering and finding them, and what they did."""

from collections.abc import Callable, Sequence

from amfs_sqlite.records.agents import Agent, AgentCapability, AgentPage, AgentProfile, MemoryContract
from amfs_sqlite.records.events import Event
from amfs_sqlite.reference import graph
from amfs_sqlite.reference.store import State, Store, StoredVersion
from amfs_sqlite.rules import agents as rules
from amfs_sqlite.rules.limits import check_is_text
from amfs_sqlite.rules.values import decode, encode


def ensure_agent(store: Store, agent_id: str) -> Agent:
    return _registered(store, agent_id, lambda agent: agent)


def get_agent(store: Store, agent_id: str) -> Agent | None:
    check_is_text(agent_id, "agent_id")
    record = store.state.agents.get(agent_id)
    return None if record is None else _counted(store.state, _shown(record))


def list_agents(store: Store) -> Sequence[Agent]:
    agents = [_counted(store.state, _shown(record)) for record in store.state.agents.values()]
    by_name = sorted(agents, key=lambda agent: agent.agent_id)
    return sorted(by_name, key=rules.moment_of, reverse=True)


def update_agent_profile(store: Store, agent_id: str, profile: AgentProfile) -> Agent:
    said = rules.checked_said(profile, AgentProfile, "profile")
    return _registered(store, agent_id, lambda agent: agent.copied(profile=said))


def update_agent_capabilities(store: Store, agent_id: str, capabilities: Sequence[AgentCapability]) -> Agent:
    said = rules.checked_each(capabilities, AgentCapability, "capabilities")
    return _registered(store, agent_id, lambda agent: agent.copied(capabilities=said))


def update_agent_contracts(store: Store, agent_id: str, contracts: Sequence[MemoryContract]) -> Agent:
    said = rules.checked_each(contracts, MemoryContract, "contracts")
    return _registered(store, agent_id, lambda agent: agent.copied(contracts=said))


def discover_agents(
    store: Store, *, capability: str | None = None, entity_path: str | None = None
) -> Sequence[Agent]:
    rules.check_discovery(capability, entity_path)
    return [agent for agent in list_agents(store) if rules.is_discovered(agent, capability, entity_path)]


def list_agents_enriched(
    store: Store,
    *,
    agent_ids: Sequence[str] | None = None,
    q: str | None = None,
    platform: str | None = None,
    sort: str = "last_active",
    limit: int | None = None,
    offset: int = 0,
) -> AgentPage:
    asked = rules.Asked(agent_ids, q, platform, sort, limit, offset).checked()
    learned = graph.list_graph_edges(store, relation=rules.LEARNED_FROM, limit=None)
    summaries = [
        rules.summary(
            agent,
            [_work(version) for version in _current(store.state, agent.agent_id)],
            [edge.source_entity for edge in learned if edge.target_entity == agent.agent_id],
            store.state.group_of.get(agent.agent_id),
        )
        for agent in list_agents(store)
    ]
    return asked.page(summaries, store.clock.now())


def get_agent_activity_histogram(store: Store, agent_id: str, days: int = 7) -> Sequence[int]:
    rules.check_days(agent_id, days)
    events = [Event.from_wire(decode(record)) for record in store.state.events.values()]
    active = [each.created_at.date() for each in events if each.agent_id == agent_id and each.created_at]
    return [active.count(day) for day in rules.last_days(days, store.clock.now())]


def _registered(store: Store, agent_id: str, say: Callable[[Agent], Agent]) -> Agent:
    rules.check_agent_id(agent_id)

    def work(state: State) -> Agent:
        record = state.agents.get(agent_id)
        known = None if record is None else _shown(record)
        agent = say(
            rules.registered(
                agent_id, known, lambda: store.ids.hex(rules.ID_DIGITS), store.namespace, store.clock.now()
            )
        )
        state.agents[agent_id] = encode(agent.to_wire(), "agent")
        return _shown(state.agents[agent_id])

    return store.change(work)


def _shown(record: str) -> Agent:
    return Agent.from_wire(decode(record))


def _counted(state: State, agent: Agent) -> Agent:
    return agent.copied(entry_count=len(_current(state, agent.agent_id)))


def _current(state: State, agent_id: str) -> list[StoredVersion]:
    current = [key.current for key in state.keys.values()]
    return [each for each in current if each.written.agent_id == agent_id and not each.withdrawn]


def _work(version: StoredVersion) -> rules.Work:
    entry = version.as_written()
    written_at = entry.provenance.written_at
    if written_at is None:
        raise ValueError("this version was never written: it has no time yet")
    return rules.Work(entry.entity_path, rules.memory_type(entry.model_extra or {}), 1, written_at)
