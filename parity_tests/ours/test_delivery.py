"""Our cursors, iterators and watches, beyond what every adapter's do."""

import asyncio
import base64
import json
import logging
from contextvars import ContextVar
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, InvalidCursorError, MemoryEntry, SearchQuery
from parity_tests.contract.test_changes import everything, waiting
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.listeners import WITHIN_S, shown, taken


def altered(cursor: str, *numbers: Any) -> str:
    """A cursor of the same store with other numbers in it."""
    store = json.loads(base64.urlsafe_b64decode(cursor + "=="))[0]
    return base64.urlsafe_b64encode(json.dumps([store, *numbers]).encode()).decode()


@proves("ours.forged-cursors")
@pytest.mark.parametrize(
    "numbers",
    [
        *((), (1,), (1, 1), (1, 1, 0, 0), (1, 1, "0"), (1, 1, None), (1, 1, True), (1, 1, 0.0)),
        *((-1, 1, 0), (10**30, 1, 0), (2, 1, 0), (1, 2, 0), (1, 1, 1), (0, 0, 0)),
    ],
    ids=str,
)
async def test_a_place_where_no_change_stands_is_refused(
    adapter: AmfsAdapter, numbers: tuple[Any, ...]
) -> None:
    await adapter.write(draft())
    [event] = await everything(adapter)
    assert await everything(adapter, after=altered(event.cursor, 1, 1, 0)) == []
    with pytest.raises(InvalidCursorError):
        await everything(adapter, after=altered(event.cursor, *numbers))


@proves("ours.iterators")
async def test_an_iterator_goes_on_after_its_consumer_was_cancelled(adapter: AmfsAdapter) -> None:
    changes = adapter.changes()
    for key in "ab":
        task = await waiting(changes, adapter)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await adapter.write(draft(key=key))
        assert shown(await taken(changes, 1)) == [f"write {key}@1"]


@proves("ours.iterators")
async def test_two_tasks_on_one_iterator_share_the_changes(adapter: AmfsAdapter) -> None:
    changes = adapter.changes()
    tasks = [asyncio.ensure_future(anext(changes)) for _ in range(4)]
    await adapter.write_batch([draft(key=key) for key in "abcd"])
    async with asyncio.timeout(WITHIN_S):
        events = await asyncio.gather(*tasks)
    assert sorted(shown(list(events))) == [f"write {key}@1" for key in "abcd"]


@proves("ours.last-pages")
async def test_no_cursor_is_given_where_nothing_follows(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", "a"), draft("p", "b")])
    for limit in (0, 2, 3, None):
        assert (await adapter.search(SearchQuery(limit=limit))).next_cursor is None


@proves("ours.viewers-cursors")
async def test_a_cursor_of_another_viewer_is_refused(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", "a"), draft("p", "b")])
    cursor = (await adapter.search(SearchQuery(limit=1))).next_cursor
    with pytest.raises(InvalidCursorError):
        await adapter.search(SearchQuery(limit=1, cursor=cursor), viewer="alice")


@proves("ours.callbacks")
async def test_a_callback_sees_the_context_it_was_set_up_in_and_not_the_writers(adapter: AmfsAdapter) -> None:
    who = ContextVar("who", default="nobody")
    seen: list[str] = []
    who.set("watcher")
    await adapter.watch(None, lambda _: seen.append(who.get()))
    who.set("writer")
    await adapter.write(draft())
    assert seen == ["watcher"]


@proves("ours.callbacks")
async def test_a_callback_that_raises_is_logged_once_by_our_name_with_the_watched_path(
    adapter: AmfsAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(entry: MemoryEntry) -> None:
        raise LookupError(entry.key)

    await adapter.watch("svc/a", fails)
    await adapter.write(draft())
    (logged,) = caplog.records
    assert (logged.name, logged.levelno) == ("amfs_sqlite", logging.ERROR)
    assert "'svc/a'" in logged.getMessage()
    assert "in fails" in (logged.exc_text or "")
