"""Events: they come back whole and in order, page by page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from amfs_sqlite import FixedClock, InvalidArgumentError, InvalidCursorError
from amfs_sqlite.protocol import Events
from amfs_sqlite.records.events import Event
from amfs_sqlite.rules.keysets import keyset_cursor
from parity_tests.ledger import proves
from parity_tests.state import plain

THEN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def event(agent: str = "alice", kind: str = "write", minute: int = 0, **fields: Any) -> Event:
    named = {"agent_id": agent, "event_type": kind, "created_at": THEN + timedelta(minutes=minute)}
    return Event.model_validate(named | fields)


@proves("events.logged")
async def test_an_event_comes_back_whole(adapter: Events) -> None:
    given = event(
        branch="b", summary="é\0", details={"n": 1.0, "deep": [None]}, actor_agent_id="bob", somethingNew=[1]
    )
    logged = await adapter.log_event(given)
    assert plain(await adapter.get_event(logged.id)) == plain(logged)
    assert plain(logged) == plain(given) | {"id": logged.id, "namespace": "default"}


@proves("events.logged")
async def test_each_logging_is_an_event_of_its_own_and_has_a_time(adapter: Events, clock: FixedClock) -> None:
    given = event(id="mine", created_at=None, namespace="elsewhere")
    logged = [await adapter.log_event(given) for _ in range(2)]
    assert len({each.id for each in logged} | {"mine"}) == 3
    assert {each.created_at for each in logged} == {clock.now()}
    assert {each.namespace for each in logged} == {"default"}
    assert await adapter.get_event("mine") is None


@proves("events.refused")
@pytest.mark.parametrize(
    ("given", "argument"),
    [
        (event(agent="x" * 4097), "agent_id"),
        (event(kind=""), "event_type"),
        (event(kind="\ud800"), "event_type"),
        (event(branch="x" * 4097), "branch"),
        (event(actor_agent_id="\ud800"), "actor_agent_id"),
        (event(details={"a": THEN}), "details.a"),
        (event(unknown=float("nan")), "event.unknown"),
        (event(summary="\ud800"), "event.summary"),
    ],
)
async def test_what_cannot_be_stored_is_refused_by_name(adapter: Events, given: Event, argument: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        await adapter.log_event(given)
    assert refused.value.argument == argument
    assert await adapter.list_events(given.agent_id) == []


async def some(adapter: Events) -> list[Event]:
    """Four events of alice, in the order that they are listed in, and one of bob."""
    logged = [
        await adapter.log_event(event(minute=1, kind="read")),
        await adapter.log_event(event(minute=3, branch="b")),
        await adapter.log_event(event(minute=2)),
        await adapter.log_event(event(minute=2)),
    ]
    await adapter.log_event(event("bob"))
    return [logged[1], *sorted(logged[2:], key=lambda each: each.id, reverse=True), logged[0]]


@proves("events.order")
@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ({}, [0, 1, 2, 3]),
        ({"branch": "b"}, [0]),
        ({"branch": "main", "event_type": "write"}, [1, 2]),
        ({"event_type": "read"}, [3]),
        ({"event_type": ""}, []),
        ({"since": THEN + timedelta(minutes=2)}, [0, 1, 2]),
        ({"until": "2026-01-01T12:02:00Z"}, [3]),
        ({"limit": 2}, [0, 1]),
        ({"limit": None, "offset": 3}, [3]),
        ({"limit": 0}, []),
        ({"offset": 9}, []),
    ],
    ids=str,
)
async def test_events_are_listed_newest_first_and_narrowed(
    adapter: Events, asked: dict[str, Any], places: list[int]
) -> None:
    listed = await some(adapter)
    found = await adapter.list_events("alice", **asked)
    assert [each.id for each in found] == [listed[place].id for place in places]


@proves("events.pages")
async def test_a_cursor_continues_behind_an_event_whatever_was_logged_meanwhile(adapter: Events) -> None:
    listed = await some(adapter)
    seen: list[Event] = []
    cursor = None
    while page := await adapter.list_events("alice", limit=1, cursor=cursor, offset=7 if cursor else 0):
        seen += page
        assert page[-1].created_at is not None
        cursor = keyset_cursor(page[-1].created_at, page[-1].id)
        await adapter.log_event(event(minute=4 + len(seen)))
    assert [each.id for each in seen] == [each.id for each in listed]


@proves("events.pages")
@pytest.mark.parametrize("cursor", ["x", "eyJ0IjoxfQ", keyset_cursor(THEN, ["p", "k", 1]), "\ud800"])
async def test_what_is_no_cursor_of_events_is_refused(adapter: Events, cursor: str) -> None:
    with pytest.raises(InvalidCursorError):
        await adapter.list_events("alice", cursor=cursor)
