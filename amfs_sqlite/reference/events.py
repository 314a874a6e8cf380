"""Events: logging them, and reading timelines."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.records.events import Event
from amfs_sqlite.reference.store import State, Store
from amfs_sqlite.rules.events import ID_DIGITS, prepared
from amfs_sqlite.rules.keysets import checked_page
from amfs_sqlite.rules.limits import check_instant, check_is_text, check_optional_text
from amfs_sqlite.rules.values import decode


def log_event(store: Store, event: Event) -> Event:
    logged, record = prepared(event, store.ids.hex(ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> Event:
        state.events[logged.id] = record
        return _shown(record)

    return store.change(work)


def list_events(
    store: Store,
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
    events = [_shown(record) for record in store.state.events.values()]
    found = [
        event
        for event in sorted(events, key=_place, reverse=True)
        if event.agent_id == agent_id
        and branch in (None, event.branch)
        and event_type in (None, event.event_type)
        and (since_instant is None or _place(event)[0] >= since_instant)
        and (until_instant is None or _place(event)[0] < until_instant)
        and (page.behind is None or _place(event) < page.behind)
    ]
    return found[page.offset :][: page.limit]


def get_event(store: Store, event_id: str) -> Event | None:
    check_is_text(event_id, "event_id")
    record = store.state.events.get(event_id)
    return None if record is None else _shown(record)


def _shown(record: str) -> Event:
    return Event.from_wire(decode(record))


def _place(event: Event) -> tuple[datetime, str]:
    if event.created_at is None:
        raise ValueError("this event was never logged: it has no created_at yet")
    return event.created_at, event.id
