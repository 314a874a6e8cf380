"""Groups of agents: what may be made and changed, and how it is written down."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.records.groups import AgentGroup
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import (
    check_finite,
    check_is_text,
    check_name,
    check_optional_name,
    check_several,
    check_texts,
)
from amfs_sqlite.rules.values import encode

ID_DIGITS = 32


def prepared(given: AgentGroup, group_id: str, namespace: str, now: datetime) -> tuple[AgentGroup, list[str]]:
    """A group to be stored under this id, without members, and those. Raises InvalidArgumentError."""
    own = {"id": group_id, "namespace": namespace, "created_at": now, "updated_at": now, "member_count": 0}
    group = checked_model(given, AgentGroup, "group", **own)
    check_name(group.name, "name")
    check_name(group.description, "description")
    check_finite(group.position, "position")
    for argument in ("color", "icon", "account_id", "source_cluster_id"):
        check_optional_name(getattr(group, argument), argument)
    members = checked_members(group.agent_ids)
    encode(group.model_extra or {}, "group")
    return group.copied(agent_ids=()), members


def changes(
    *, name: str | None, description: str | None, color: str | None, icon: str | None, position: float | None
) -> dict[str, Any]:
    """What of a group is to be changed. Raises InvalidArgumentError."""
    texts = {"name": name, "description": description, "color": color, "icon": icon}
    for argument, text in texts.items():
        check_optional_name(text, argument)
    given: dict[str, Any] = {field: text for field, text in texts.items() if text is not None}
    if position is not None:
        check_finite(position, "position")
        given["position"] = position + 0.0
    return given


def checked_members(agent_ids: Sequence[str]) -> list[str]:
    """The agents of a group, each once. Raises InvalidArgumentError."""
    check_texts(agent_ids, "agent_ids")
    for agent_id in agent_ids:
        check_name(agent_id, "agent_ids")
    return sorted(set(agent_ids))


def checked_positions(positions: Sequence[tuple[str, float]]) -> dict[str, float]:
    """New positions by id, the last of an id. Raises InvalidArgumentError."""
    check_several(positions, "positions")
    checked: dict[str, float] = {}
    for each in positions:
        if isinstance(each, str) or not isinstance(each, Sequence) or len(each) != 2:
            raise InvalidArgumentError("positions", f"hold {quoted(each)}; give pairs of id and position")
        group_id, position = each
        check_is_text(group_id, "positions")
        check_finite(position, "positions")
        checked[group_id] = position + 0.0
    return checked


def not_found(group_id: str) -> InvalidArgumentError:
    """That there is no such group."""
    return InvalidArgumentError("group_id", f"is {quoted(group_id)}, which no group has; list them to see")


def check_dismissal(cluster_id: str, account_id: str) -> None:
    """A suggested group, and who does not want to see it."""
    check_name(cluster_id, "cluster_id")
    check_name(account_id, "account_id")
