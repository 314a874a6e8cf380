"""Events through the SDK's door: a timeline by its own cursors, while others write to it."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import Event, EventType
from amfs_core.pagination import InvalidCursorError, encode_cursor, page_from_overfetch

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN
from parity_tests.ledger import proves

MANY = 2_000
MORE = 200


def event(n: int = 0, kind: EventType = EventType.WRITE, **fields: Any) -> Event:
    """Several of each second, so that ids have to break ties."""
    named: dict[str, Any] = {
        "agent_id": "scout",
        "event_type": kind,
        "created_at": BEGAN + timedelta(seconds=n // 3),
    }
    return Event(**named | fields)


@proves("events.sdk")
def test_two_thousand_events_page_by_cursor_while_others_are_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path, durability="normal") as adapter:
        logged = [adapter.log_event(event(n)).id for n in range(MANY)]
        went_on = threading.Event()

        def write() -> None:
            with SyncSqliteAdapter(path, durability="normal") as other:
                for n in range(MORE):
                    other.log_event(event(MANY + n))
                    went_on.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert went_on.wait(60)
        seen: list[str] = []
        cursor = None
        while True:
            rows = list[Event](adapter.list_events("scout", limit=98, cursor=cursor))
            page = page_from_overfetch(
                rows, limit=97, timestamp=lambda each: each.created_at, tiebreak=lambda each: each.id
            )
            seen += [each.id for each in page.items]
            if not page.has_more:
                break
            cursor = page.next_cursor
        writer.join()
        everything = list[Event](adapter.list_events("scout", limit=MANY + MORE))
    assert len(seen) == len({*seen})
    assert {*logged} <= {*seen}
    assert len(everything) == MANY + MORE
    assert [each.id for each in everything if each.id in {*seen}] == seen


@proves("events.sdk")
def test_an_event_comes_back_whole_in_its_namespace(sdk_adapter: SyncSqliteAdapter) -> None:
    given = event(
        kind=EventType.CONSOLIDATION_PROPOSED,
        namespace="team",
        branch="b",
        summary="s",
        details={"a": [1.5, None]},
        actor_agent_id="smith",
    )
    logged = sdk_adapter.log_event(given)
    assert logged == given.model_copy(update={"id": logged.id})
    assert sdk_adapter.get_event(logged.id, "team") == logged
    assert sdk_adapter.list_events("scout", "team", branch="b") == [logged]
    assert sdk_adapter.get_event(logged.id) is None
    assert sdk_adapter.list_events("scout") == []


@proves("events.sdk")
def test_a_timeline_is_narrowed_as_the_sdk_asks(sdk_adapter: SyncSqliteAdapter) -> None:
    read, written = (sdk_adapter.log_event(event(n * 3, kind)) for n, kind in enumerate(EVENT_KINDS))
    later = BEGAN + timedelta(seconds=1)
    assert sdk_adapter.list_events("scout", event_type=EventType.READ) == [read]
    assert sdk_adapter.list_events("scout", since=later) == [written]
    assert sdk_adapter.list_events("scout", until=later) == [read]
    assert sdk_adapter.list_events("scout", limit=1, offset=1) == [read]
    assert sdk_adapter.list_events("scout", cursor=encode_cursor(later, written.id), offset=9) == [read]


EVENT_KINDS = (EventType.READ, EventType.WRITE)


@proves("events.sdk", "events.refused")
def test_what_is_no_event_and_no_cursor_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    given: Any = "event"
    with pytest.raises(AdapterError, match="event is"):
        sdk_adapter.log_event(given)
    with pytest.raises(InvalidCursorError):
        sdk_adapter.list_events("scout", cursor="none")
