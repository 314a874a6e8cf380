"""Events: what may be logged, how it is written down, and what is asked for."""

from datetime import datetime

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.records.events import Event
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import check_name, check_optional_name
from amfs_sqlite.rules.values import encode

ID_DIGITS = 32


def prepared(given: Event, event_id: str, namespace: str, now: datetime) -> tuple[Event, str]:
    """An event to be stored under this id, and its text. Raises InvalidArgumentError."""
    event = checked_model(given, Event, "event", id=event_id, namespace=namespace)
    check_name(event.agent_id, "agent_id")
    check_name(event.branch, "branch")
    check_name(event.event_type, "event_type")
    check_optional_name(event.actor_agent_id, "actor_agent_id")
    if not event.event_type:
        raise InvalidArgumentError("event_type", "is empty; say what happened")
    encode(event.details, "details")
    encode(event.model_extra or {}, "event")
    stored = event.model_copy(update={"created_at": event.created_at or now})
    return stored, encode(stored.to_wire(), "event")
