"""Events as the SDK means them, filed under the namespace that it names."""

import logging
from datetime import datetime

from amfs_core.models import Event

from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.records.events import Event as StoredEvent
from amfs_sqlite.rules.events import ID_DIGITS, prepared
from amfs_sqlite.sqlite import events
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.database.lanes import Answer
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, in_its_own, under
from amfs_sqlite.sync.translation import all_theirs, ours, theirs

_log = logging.getLogger("amfs_sqlite")


def log_event(database: BlockingDatabase, event: Event) -> Event:
    """Log an event under a new id, and return it with that.

    It is stored with the next transaction, or within LATER_S: the SDK logs one beside every read and write,
    and a transaction for each would take longer than what it tells of. Whoever asks this adapter for events
    sees it at once. A process that is killed loses the events of that while.
    """
    event = checked(event, Event, "event")
    namespace = in_its_own(event.namespace, database.namespace)
    given = ours(event, StoredEvent, "event")
    logged, record = prepared(given, database.ids.hex(ID_DIGITS), namespace, database.now())
    database.defer(lambda tx: events.put(tx, logged, record), _tell)
    return theirs(logged, Event)


def _tell(answer: Answer) -> None:
    if answer.error is not None:
        _log.error("an event could not be stored: %s", answer.error)


def list_events(
    tx: Transaction,
    agent_id: str,
    namespace: str = DEFAULT_NAMESPACE,
    *,
    branch: str | None = None,
    event_type: str | None = None,
    since: datetime | None = None,
    limit: int = 100,
    offset: int = 0,
    cursor: str | None = None,
    until: datetime | None = None,
) -> list[Event]:
    """Newest first. Those of a type that the SDK does not have are left out, and others fill the page."""
    wanted = limit
    with under(tx, namespace):
        while True:
            found = events.list_events(
                tx,
                agent_id,
                branch=branch,
                event_type=event_type,
                since=since,
                limit=wanted,
                offset=offset,
                cursor=cursor,
                until=until,
            )
            listed = all_theirs(found, Event)
            if limit is None or len(listed) >= limit or len(found) < wanted:
                return listed[:limit]
            wanted *= 2


def get_event(tx: Transaction, event_id: str, namespace: str = DEFAULT_NAMESPACE) -> Event | None:
    """None also of an event of a type that the SDK does not have."""
    with under(tx, namespace):
        found = events.get_event(tx, event_id)
    return next(iter(all_theirs([] if found is None else [found], Event)), None)
