"""Groups of agents, and suggestions of groups that were dismissed."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.records.groups import AgentGroup
from amfs_sqlite.reference.store import State, Store
from amfs_sqlite.rules import groups as rules
from amfs_sqlite.rules.limits import check_is_text, check_name
from amfs_sqlite.rules.values import decode, encode


def create_agent_group(store: Store, group: AgentGroup) -> AgentGroup:
    made, members = rules.prepared(group, store.ids.hex(rules.ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> AgentGroup:
        state.groups[made.id] = encode(made.to_wire(), "group")
        state.group_of.update(dict.fromkeys(members, made.id))
        return _shown(state, made.id)

    return store.change(work)


def list_agent_groups(store: Store) -> Sequence[AgentGroup]:
    return sorted((_shown(store.state, group_id) for group_id in store.state.groups), key=_place)


def get_agent_group(store: Store, group_id: str) -> AgentGroup | None:
    check_is_text(group_id, "group_id")
    return _shown(store.state, group_id) if group_id in store.state.groups else None


def update_agent_group(
    store: Store,
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
    if group_id in store.state.groups and changes:
        changes |= {"updated_at": store.clock.now()}
        store.change(lambda state: _change(state, group_id, changes))
    return get_agent_group(store, group_id)


def delete_agent_group(store: Store, group_id: str) -> bool:
    check_is_text(group_id, "group_id")

    def work(state: State) -> bool:
        state.group_of = {agent: group for agent, group in state.group_of.items() if group != group_id}
        return state.groups.pop(group_id, None) is not None

    return store.change(work)


def add_agents_to_group(store: Store, group_id: str, agent_ids: Sequence[str], added_by: str = "user") -> int:
    check_is_text(group_id, "group_id")
    check_name(added_by, "added_by")
    members = rules.checked_members(agent_ids)
    if group_id not in store.state.groups:
        raise rules.not_found(group_id)
    store.change(lambda state: state.group_of.update(dict.fromkeys(members, group_id)))
    return len(members)


def remove_agents_from_group(store: Store, group_id: str, agent_ids: Sequence[str]) -> int:
    check_is_text(group_id, "group_id")
    leaving = rules.checked_members(agent_ids)

    def work(state: State) -> int:
        gone = [agent_id for agent_id in leaving if state.group_of.get(agent_id) == group_id]
        for agent_id in gone:
            del state.group_of[agent_id]
        return len(gone)

    return store.change(work)


def reorder_agent_groups(store: Store, positions: Sequence[tuple[str, float]]) -> None:
    wanted, now = rules.checked_positions(positions), store.clock.now()

    def work(state: State) -> None:
        for group_id in wanted.keys() & state.groups.keys():
            _change(state, group_id, {"position": wanted[group_id], "updated_at": now})

    store.change(work)


def dismiss_cluster_suggestion(store: Store, cluster_id: str, account_id: str) -> None:
    rules.check_dismissal(cluster_id, account_id)
    now = store.clock.now()
    store.change(lambda state: state.dismissed.setdefault((account_id, cluster_id), now))


def list_dismissed_cluster_ids(store: Store, account_id: str) -> Sequence[str]:
    check_is_text(account_id, "account_id")
    dismissed = [
        (at, cluster_id)
        for (account, cluster_id), at in store.state.dismissed.items()
        if account == account_id
    ]
    return [cluster_id for _, cluster_id in sorted(dismissed)]


def _change(state: State, group_id: str, changes: dict[str, object]) -> None:
    group = AgentGroup.from_wire(decode(state.groups[group_id])).copied(**changes)
    state.groups[group_id] = encode(group.to_wire(), "group")


def _shown(state: State, group_id: str) -> AgentGroup:
    members = sorted(agent_id for agent_id, group in state.group_of.items() if group == group_id)
    group = AgentGroup.from_wire(decode(state.groups[group_id]))
    return group.copied(agent_ids=tuple(members), member_count=len(members))


def _place(group: AgentGroup) -> tuple[float, datetime, str]:
    if group.created_at is None:
        raise ValueError("this group was never made: it has no created_at yet")
    return group.position, group.created_at, group.id
