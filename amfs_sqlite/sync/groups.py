"""Groups of agents as the SDK means them, kept under the namespace that it names."""

from amfs_core.models import AgentGroup

from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.records.groups import AgentGroup as StoredGroup
from amfs_sqlite.sqlite import groups
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def create_agent_group(tx: Transaction, group: AgentGroup, namespace: str = DEFAULT_NAMESPACE) -> AgentGroup:
    given = ours(checked(group, AgentGroup, "group"), StoredGroup, "group")
    with under(tx, namespace):
        return theirs(groups.create_agent_group(tx, given), AgentGroup)


def list_agent_groups(tx: Transaction, namespace: str = DEFAULT_NAMESPACE) -> list[AgentGroup]:
    with under(tx, namespace):
        return [theirs(group, AgentGroup) for group in groups.list_agent_groups(tx)]


def get_agent_group(tx: Transaction, group_id: str, namespace: str = DEFAULT_NAMESPACE) -> AgentGroup | None:
    with under(tx, namespace):
        found = groups.get_agent_group(tx, group_id)
    return None if found is None else theirs(found, AgentGroup)


def update_agent_group(
    tx: Transaction,
    group_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    color: str | None = None,
    icon: str | None = None,
    position: float | None = None,
    namespace: str = DEFAULT_NAMESPACE,
) -> AgentGroup | None:
    with under(tx, namespace):
        changed = groups.update_agent_group(
            tx, group_id, name=name, description=description, color=color, icon=icon, position=position
        )
    return None if changed is None else theirs(changed, AgentGroup)


def delete_agent_group(tx: Transaction, group_id: str, namespace: str = DEFAULT_NAMESPACE) -> bool:
    with under(tx, namespace):
        return groups.delete_agent_group(tx, group_id)


def add_agents_to_group(
    tx: Transaction,
    group_id: str,
    agent_ids: list[str],
    added_by: str = "user",
    namespace: str = DEFAULT_NAMESPACE,
) -> int:
    with under(tx, namespace):
        return groups.add_agents_to_group(tx, group_id, agent_ids, added_by)


def remove_agents_from_group(
    tx: Transaction, group_id: str, agent_ids: list[str], namespace: str = DEFAULT_NAMESPACE
) -> int:
    with under(tx, namespace):
        return groups.remove_agents_from_group(tx, group_id, agent_ids)


def reorder_agent_groups(
    tx: Transaction, positions: list[tuple[str, float]], namespace: str = DEFAULT_NAMESPACE
) -> None:
    with under(tx, namespace):
        groups.reorder_agent_groups(tx, positions)


def dismiss_cluster_suggestion(tx: Transaction, cluster_id: str, account_id: str) -> None:
    groups.dismiss_cluster_suggestion(tx, cluster_id, account_id)


def list_dismissed_cluster_ids(tx: Transaction, account_id: str) -> list[str]:
    return [*groups.list_dismissed_cluster_ids(tx, account_id)]
