"""Events: logging them, and reading timelines."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.records.events import Event
from amfs_sqlite.rules.events import ID_DIGITS, prepared
from amfs_sqlite.rules.keysets import checked_page
from amfs_sqlite.rules.limits import check_instant, check_is_text, check_optional_text
from amfs_sqlite.sqlite.rows import model_of, optional_microseconds
from amfs_sqlite.sqlite.traces import page_parameters
from amfs_sqlite.sqlite.transaction import Transaction

INSERT = """
INSERT INTO events (namespace, event_id, agent_id, branch, event_type, created_at, record)
VALUES (?, ?, ?, ?, ?, ?, ?)"""
EVENT = "SELECT record FROM events WHERE namespace = ? AND event_id = ?"
EVENTS = "SELECT e.record FROM events AS e WHERE e.namespace = :namespace AND e.agent_id = :agent_id"
BEHIND = "(e.created_at, e.event_id) < (:at, :tiebreak)"
NEWEST_FIRST = "ORDER BY e.created_at DESC, e.event_id DESC LIMIT :limit OFFSET :offset"


def log_event(tx: Transaction, event: Event) -> Event:
    logged, record = prepared(event, tx.ids.hex(ID_DIGITS), tx.namespace, tx.now)
    put(tx, logged, record)
    return model_of(record, Event)


def put(tx: Transaction, logged: Event, record: str) -> None:
    """Store an event that is whole, and the text of its record."""
    named = (logged.namespace, logged.id, logged.agent_id, logged.branch, logged.event_type)
    tx.run(INSERT, (*named, optional_microseconds(logged.created_at), record))


def list_events(
    tx: Transaction,
    agent_id: str,
    *,
    branch: str | None = None,
    event_type: str | None = None,
    since: datetime | str | None = None,
    limit: int | None = 100,
    offset: int = 0,
    cursor: str | None = None,
    until: datetime | str | None = None,
) -> Sequence[Event]:
    check_is_text(agent_id, "agent_id")
    check_optional_text(branch, "branch")
    check_optional_text(event_type, "event_type")
    since_instant, until_instant = check_instant(since, "since"), check_instant(until, "until")
    page = checked_page(limit, offset, cursor)
    asked = {
        "namespace": tx.namespace,
        "agent_id": agent_id,
        "branch": branch,
        "event_type": event_type,
        "since": optional_microseconds(since_instant),
        "until": optional_microseconds(until_instant),
    }
    conditions = {
        "e.branch = :branch": branch,
        "e.event_type = :event_type": event_type,
        "e.created_at >= :since": since_instant,
        "e.created_at < :until": until_instant,
        BEHIND: page.behind,
    }
    narrowed = "".join(f" AND {condition}" for condition, given in conditions.items() if given is not None)
    rows = tx.all(f"{EVENTS}{narrowed} {NEWEST_FIRST}", asked | page_parameters(page))
    return [model_of(record, Event) for (record,) in rows]


def get_event(tx: Transaction, event_id: str) -> Event | None:
    check_is_text(event_id, "event_id")
    row = tx.one(EVENT, (tx.namespace, event_id))
    return None if row is None else model_of(row[0], Event)
