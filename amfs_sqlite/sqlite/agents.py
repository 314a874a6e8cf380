"""Agents: registering and finding them, and what they did."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from amfs_sqlite.records.agents import Agent, AgentCapability, AgentPage, AgentProfile, MemoryContract
from amfs_sqlite.rules import agents as rules
from amfs_sqlite.rules.limits import check_is_text
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite import groups
from amfs_sqlite.sqlite.entries import HERE, PRESENT
from amfs_sqlite.sqlite.rows import microseconds, model_of, moment
from amfs_sqlite.sqlite.transaction import Transaction

DAY = 24 * 60 * 60 * 1_000_000

AGENT = "SELECT record FROM agents WHERE namespace = ? AND agent_id = ?"
AGENTS = "SELECT record FROM agents WHERE namespace = ? ORDER BY last_active_at DESC, agent_id"
PUT = """
INSERT INTO agents (namespace, agent_id, created_at, last_active_at, record) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, agent_id) DO UPDATE SET
       last_active_at = excluded.last_active_at, record = excluded.record"""
ENTRY_COUNT = f"SELECT count(*) FROM current AS c WHERE {HERE} AND {PRESENT} AND c.agent_id = :agent_id"
ENTRY_COUNTS = f"SELECT c.agent_id, count(*) FROM current AS c WHERE {HERE} AND {PRESENT} GROUP BY c.agent_id"
WORK = f"""
SELECT c.agent_id, c.entity_path,
       CASE WHEN json_type(c.extra, '$.memory_type') = 'text' THEN json_extract(c.extra, '$.memory_type')
            ELSE :usual_type END AS memory_type, count(*), max(c.written_at)
FROM current AS c WHERE {HERE} AND {PRESENT} GROUP BY c.agent_id, c.entity_path, memory_type"""
COLLABORATORS = """
SELECT target_entity, source_entity FROM graph_edges
WHERE namespace = :namespace AND branch = :branch AND relation = :relation"""
ACTIVITY = f"""
SELECT created_at / {DAY}, count(*) FROM events
WHERE namespace = :namespace AND agent_id = :agent_id AND created_at >= :since GROUP BY 1"""


def ensure_agent(tx: Transaction, agent_id: str) -> Agent:
    return _registered(tx, agent_id, lambda agent: agent)


def get_agent(tx: Transaction, agent_id: str) -> Agent | None:
    check_is_text(agent_id, "agent_id")
    found = _known(tx, agent_id)
    return None if found is None else _counted(tx, found)


def list_agents(tx: Transaction) -> Sequence[Agent]:
    counts = dict(tx.all(ENTRY_COUNTS, _here(tx)))
    return [agent.copied(entry_count=counts.get(agent.agent_id, 0)) for agent in _all(tx)]


def update_agent_profile(tx: Transaction, agent_id: str, profile: AgentProfile) -> Agent:
    said = rules.checked_said(profile, AgentProfile, "profile")
    return _registered(tx, agent_id, lambda agent: agent.copied(profile=said))


def update_agent_capabilities(
    tx: Transaction, agent_id: str, capabilities: Sequence[AgentCapability]
) -> Agent:
    said = rules.checked_each(capabilities, AgentCapability, "capabilities")
    return _registered(tx, agent_id, lambda agent: agent.copied(capabilities=said))


def update_agent_contracts(tx: Transaction, agent_id: str, contracts: Sequence[MemoryContract]) -> Agent:
    said = rules.checked_each(contracts, MemoryContract, "contracts")
    return _registered(tx, agent_id, lambda agent: agent.copied(contracts=said))


def discover_agents(
    tx: Transaction, *, capability: str | None = None, entity_path: str | None = None
) -> Sequence[Agent]:
    rules.check_discovery(capability, entity_path)
    return [agent for agent in list_agents(tx) if rules.is_discovered(agent, capability, entity_path)]


def list_agents_enriched(
    tx: Transaction,
    *,
    agent_ids: Sequence[str] | None = None,
    q: str | None = None,
    platform: str | None = None,
    sort: str = "last_active",
    limit: int | None = None,
    offset: int = 0,
) -> AgentPage:
    asked = rules.Asked(agent_ids, q, platform, sort, limit, offset).checked()
    work: dict[str, list[rules.Work]] = {}
    for agent_id, path, kind, count, newest in tx.all(WORK, _here(tx, usual_type=rules.USUAL_MEMORY_TYPE)):
        work.setdefault(agent_id, []).append(rules.Work(path, kind, count, moment(newest)))
    collaborators: dict[str, list[str]] = {}
    for agent_id, other in tx.all(COLLABORATORS, _here(tx, relation=rules.LEARNED_FROM)):
        collaborators.setdefault(agent_id, []).append(other)
    group_of = groups.group_of_each(tx)
    summaries = (
        rules.summary(
            agent,
            work.get(agent.agent_id, []),
            collaborators.get(agent.agent_id, []),
            group_of.get(agent.agent_id),
        )
        for agent in _all(tx)
    )
    return asked.page(summaries, tx.now)


def get_agent_activity_histogram(tx: Transaction, agent_id: str, days: int = 7) -> Sequence[int]:
    rules.check_days(agent_id, days)
    asked = rules.last_days(days, tx.now)
    if not asked:
        return []
    since = microseconds(datetime(asked[0].year, asked[0].month, asked[0].day, tzinfo=UTC))
    counts = dict(tx.all(ACTIVITY, _here(tx, agent_id=agent_id, since=since)))
    return [counts.get(since // DAY + day, 0) for day in range(days)]


def _registered(tx: Transaction, agent_id: str, say: Callable[[Agent], Agent]) -> Agent:
    rules.check_agent_id(agent_id)
    known = _known(tx, agent_id)
    agent = say(rules.registered(agent_id, known, lambda: tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now))
    times = [microseconds(at) for at in (agent.created_at, agent.last_active_at) if at is not None]
    tx.run(PUT, (tx.namespace, agent_id, *times, encode(agent.to_wire(), "agent")))
    return agent


def _known(tx: Transaction, agent_id: str) -> Agent | None:
    row = tx.one(AGENT, (tx.namespace, agent_id))
    return None if row is None else model_of(row[0], Agent)


def _all(tx: Transaction) -> list[Agent]:
    return [model_of(record, Agent) for (record,) in tx.all(AGENTS, (tx.namespace,))]


def _counted(tx: Transaction, agent: Agent) -> Agent:
    return agent.copied(entry_count=tx.value(ENTRY_COUNT, _here(tx, agent_id=agent.agent_id)))


def _here(tx: Transaction, **more: Any) -> dict[str, Any]:
    return {"namespace": tx.namespace, "branch": tx.branch} | more
