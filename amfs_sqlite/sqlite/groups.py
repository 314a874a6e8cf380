"""Groups of agents, and suggestions of groups that were dismissed."""

from collections.abc import Sequence

from amfs_sqlite.records.groups import AgentGroup
from amfs_sqlite.rules import groups as rules
from amfs_sqlite.rules.limits import check_is_text, check_name
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.rows import microseconds, model_of
from amfs_sqlite.sqlite.transaction import Transaction

PUT = """
INSERT INTO agent_groups (namespace, group_id, position, created_at, record) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, group_id) DO UPDATE SET position = excluded.position, record = excluded.record"""
GROUP = "SELECT record FROM agent_groups WHERE namespace = ? AND group_id = ?"
GROUPS = "SELECT record FROM agent_groups WHERE namespace = ? ORDER BY position, created_at, group_id"
DELETE = "DELETE FROM agent_groups WHERE namespace = ? AND group_id = ?"

JOIN = """
INSERT INTO agent_group_members (namespace, agent_id, group_id, added_by, added_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, agent_id) DO UPDATE SET
       group_id = excluded.group_id, added_by = excluded.added_by, added_at = excluded.added_at"""
MEMBERS = "SELECT agent_id, group_id FROM agent_group_members WHERE namespace = ? ORDER BY agent_id"
LEAVE = "DELETE FROM agent_group_members WHERE namespace = ? AND group_id = ? AND agent_id = ?"
LEAVE_ALL = "DELETE FROM agent_group_members WHERE namespace = ? AND group_id = ?"

DISMISS = """
INSERT INTO dismissed_clusters (account_id, cluster_id, dismissed_at) VALUES (?, ?, ?)
ON CONFLICT (account_id, cluster_id) DO NOTHING"""
DISMISSED = """
SELECT cluster_id FROM dismissed_clusters WHERE account_id = ? ORDER BY dismissed_at, cluster_id"""


def create_agent_group(tx: Transaction, group: AgentGroup) -> AgentGroup:
    made, members = rules.prepared(group, tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now)
    _put(tx, made)
    add_agents_to_group(tx, made.id, members)
    return _shown(made, group_of_each(tx))


def list_agent_groups(tx: Transaction) -> Sequence[AgentGroup]:
    group_of = group_of_each(tx)
    return [_shown(model_of(record, AgentGroup), group_of) for (record,) in tx.all(GROUPS, (tx.namespace,))]


def get_agent_group(tx: Transaction, group_id: str) -> AgentGroup | None:
    check_is_text(group_id, "group_id")
    found = _stored(tx, group_id)
    return None if found is None else _shown(found, group_of_each(tx))


def update_agent_group(
    tx: Transaction,
    group_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    color: str | None = None,
    icon: str | None = None,
    position: float | None = None,
) -> AgentGroup | None:
    check_is_text(group_id, "group_id")
    changes = rules.changes(name=name, description=description, color=color, icon=icon, position=position)
    found = _stored(tx, group_id)
    if found is not None and changes:
        found = found.copied(**changes, updated_at=tx.now)
        _put(tx, found)
    return None if found is None else _shown(found, group_of_each(tx))


def delete_agent_group(tx: Transaction, group_id: str) -> bool:
    check_is_text(group_id, "group_id")
    tx.run(LEAVE_ALL, (tx.namespace, group_id))
    return tx.execute(DELETE, (tx.namespace, group_id)).rowcount > 0


def add_agents_to_group(
    tx: Transaction, group_id: str, agent_ids: Sequence[str], added_by: str = "user"
) -> int:
    check_is_text(group_id, "group_id")
    check_name(added_by, "added_by")
    members = rules.checked_members(agent_ids)
    if _stored(tx, group_id) is None:
        raise rules.not_found(group_id)
    for agent_id in members:
        tx.run(JOIN, (tx.namespace, agent_id, group_id, added_by, microseconds(tx.now)))
    return len(members)


def remove_agents_from_group(tx: Transaction, group_id: str, agent_ids: Sequence[str]) -> int:
    check_is_text(group_id, "group_id")
    leaving = rules.checked_members(agent_ids)
    return sum(tx.execute(LEAVE, (tx.namespace, group_id, agent_id)).rowcount for agent_id in leaving)


def reorder_agent_groups(tx: Transaction, positions: Sequence[tuple[str, float]]) -> None:
    for group_id, position in rules.checked_positions(positions).items():
        found = _stored(tx, group_id)
        if found is not None:
            _put(tx, found.copied(position=position, updated_at=tx.now))


def dismiss_cluster_suggestion(tx: Transaction, cluster_id: str, account_id: str) -> None:
    rules.check_dismissal(cluster_id, account_id)
    tx.run(DISMISS, (account_id, cluster_id, microseconds(tx.now)))


def list_dismissed_cluster_ids(tx: Transaction, account_id: str) -> Sequence[str]:
    check_is_text(account_id, "account_id")
    return [cluster_id for (cluster_id,) in tx.all(DISMISSED, (account_id,))]


def group_of_each(tx: Transaction) -> dict[str, str]:
    """The group of every agent that is in one, agents by code point."""
    return dict(tx.all(MEMBERS, (tx.namespace,)))


def _put(tx: Transaction, group: AgentGroup) -> None:
    made_at = microseconds(group.created_at or tx.now)
    tx.run(PUT, (tx.namespace, group.id, group.position, made_at, encode(group.to_wire(), "group")))


def _stored(tx: Transaction, group_id: str) -> AgentGroup | None:
    row = tx.one(GROUP, (tx.namespace, group_id))
    return None if row is None else model_of(row[0], AgentGroup)


def _shown(group: AgentGroup, group_of: dict[str, str]) -> AgentGroup:
    members = tuple(agent_id for agent_id, group_id in group_of.items() if group_id == group.id)
    return group.copied(agent_ids=members, member_count=len(members))
