"""Changes: every one, in order, from any cursor on, with nothing held in between."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import (
    AdapterClosedError,
    AmfsAdapter,
    Commit,
    InvalidArgumentError,
    InvalidCursorError,
    MemoryEntry,
    Outcome,
    RandomIds,
    SearchQuery,
    VersionConflictError,
    Write,
)
from amfs_sqlite.clock import instant
from amfs_sqlite.delivery.log import BATCH_LIMIT
from amfs_sqlite.models import ChangeEvent
from parity_tests.adapters import AdapterOpener
from parity_tests.cursors import damaged
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.listeners import WITHIN_S, shown, taken


async def everything(adapter: AmfsAdapter, **asked: Any) -> list[ChangeEvent]:
    """All changes up to the present."""
    async with asyncio.timeout(WITHIN_S):
        return [event async for event in adapter.changes(follow=False, **asked)]


async def waiting(changes: AsyncIterator[ChangeEvent], adapter: AmfsAdapter) -> "asyncio.Future[ChangeEvent]":
    """A consumer that waits for the next change, and has found that there is none yet."""
    task = asyncio.ensure_future(anext(changes))
    for _ in range(5):  # What it reads was asked for before, and so is answered before.
        await adapter.list()
    assert not task.done()
    return task


async def writings(adapter: AmfsAdapter) -> list[str]:
    """Changes by writing alone; what they are."""
    await adapter.write(draft(key="a"))
    await adapter.write_batch([draft(key="b"), draft(key="a", value=2)])
    await adapter.write(draft(key="c"))
    return ["write a@1", "write b@1", "write a@2", "write c@1"]


async def story(adapter: AmfsAdapter) -> list[str]:
    """Changes of each kind under HANDOFF, alone and within one commit; what they are."""
    await adapter.write(draft(key="a", confidence=0.5))
    await adapter.write_batch([draft(key="b"), draft(key="a", value=2, confidence=0.5)])
    await adapter.commit_outcome(outcome("success", at(key="a")))
    await adapter.commit(
        [
            Outcome(outcome("failure", at(key="a"), at(key="b"), outcome_ref="run-2")),
            Write(draft(key="a", value=3, confidence=0.5)),
            Outcome(outcome("success", at(key="a"), outcome_ref="run-3")),
            Outcome(outcome("success", at(key="a"), outcome_ref="run-3")),
            Write(draft(key="c")),
        ],
        author="alice",
    )
    return [
        "write a@1",
        *("write b@1", "write a@2"),
        "outcome a@2",
        *("outcome a@2", "outcome b@1", "write a@3", "outcome a@3", "write c@1"),
    ]


STORIES = pytest.mark.parametrize("told", [writings, story])


@proves("changes.all-in-order")
async def test_every_version_written_is_a_change_in_order(adapter: AmfsAdapter) -> None:
    expected = await writings(adapter)
    events = await everything(adapter)
    assert shown(events) == expected
    assert [event.sequence for event in events] == [1, 2, 2, 3]
    assert [event.commit_id for event in events] == [event.entry.commit_id for event in events]
    assert len({event.cursor for event in events}) == len(events)


@proves("changes.all-in-order")
async def test_changes_come_in_the_order_of_commits_and_within_one_in_the_order_they_were_given(
    handoff_adapter: AmfsAdapter,
) -> None:
    expected = await story(handoff_adapter)
    events = await everything(handoff_adapter)
    assert shown(events) == expected
    assert [event.sequence for event in events] == [1, 2, 2, 3, *[4] * 5]
    commits = {commit.sequence: commit.id for commit in await handoff_adapter.list_commits()}
    assert [event.commit_id for event in events] == [commits[event.sequence] for event in events]
    assert len({event.cursor for event in events}) == len(events)


@proves("changes.all-in-order")
async def test_a_version_that_an_outcome_makes_is_an_outcome(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(key="a"))
    [moved] = await adapter.commit_outcome(outcome("failure", at(key="a")))
    events = await everything(adapter)
    assert shown(events) == ["write a@1", "outcome a@2"]
    assert events[1].entry == moved


@proves("changes.as-it-stood")
async def test_a_superseded_entry_comes_as_it_was_written(adapter: AmfsAdapter) -> None:
    returned = [await adapter.write(draft(value=n, outcome_count=n)) for n in range(3)]
    entries = [event.entry for event in await everything(adapter)]
    assert entries == returned
    assert {entry.superseded_at for entry in entries} == {None}


@proves("changes.as-it-stood")
async def test_an_entry_comes_as_it_stood_right_after_its_change(handoff_adapter: AmfsAdapter) -> None:
    returned: list[MemoryEntry] = [await handoff_adapter.write(draft(confidence=0.5, outcome_count=3))]
    for number, kind in enumerate(["success", "failure", "success"]):
        reported = outcome(kind, at(), outcome_ref=f"run-{number}")
        returned += await handoff_adapter.commit_outcome(reported)
    returned.append(await handoff_adapter.write(draft(value=2)))
    returned += await handoff_adapter.commit_outcome(outcome("failure", at(), outcome_ref="run-9"))
    entries = [event.entry for event in await everything(handoff_adapter)]
    assert entries == returned
    assert [entry.outcome_count for entry in entries] == [3, 4, 5, 6, 0, 1]
    assert [(entry.success_count, entry.failure_count) for entry in entries] == [
        *((0, 0), (1, 0), (1, 1), (2, 1)),
        *((0, 0), (0, 1)),
    ]
    assert {entry.superseded_at for entry in entries} == {None}


@proves("changes.only-changes")
async def test_what_writes_nothing_is_no_change(adapter: AmfsAdapter) -> None:
    for _ in range(2):
        await adapter.write(draft(), idempotency_key="once")
    await adapter.write_batch([])
    with pytest.raises(VersionConflictError):
        await adapter.write(draft(), expected_version=7)
    with pytest.raises(InvalidArgumentError):
        await adapter.write_batch([draft(key="lost"), draft("")])
    assert shown(await everything(adapter)) == ["write k@1"]


@proves("changes.only-changes")
async def test_what_changes_no_entry_is_no_change(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(draft(confidence=0.5), idempotency_key="once")
    await handoff_adapter.write(draft(confidence=0.5), idempotency_key="once")
    await handoff_adapter.commit_outcome(outcome("success", at()))
    await handoff_adapter.commit_outcome(outcome("success", at()))
    await handoff_adapter.write_batch([])
    saved = Commit(id="saved", author_agent_id="eve", created_at=instant("2025-12-31"))
    await handoff_adapter.save_commit(saved)
    await handoff_adapter.save_commit(saved.model_copy(update={"message": "said later"}))
    with pytest.raises(VersionConflictError):
        await handoff_adapter.commit(
            [Write(draft(key="lost")), Write(draft(), expected_version=7)], author="alice"
        )
    assert shown(await everything(handoff_adapter)) == ["write k@1", "outcome k@1"]


@proves("changes.cursors")
@STORIES
async def test_from_every_cursor_on_come_exactly_the_changes_behind_it(
    handoff_adapter: AmfsAdapter, told: Callable[[AmfsAdapter], Awaitable[list[str]]]
) -> None:
    await told(handoff_adapter)
    events = await everything(handoff_adapter)
    for number, event in enumerate(events, 1):
        assert await everything(handoff_adapter, after=event.cursor) == events[number:]
    await handoff_adapter.write(draft(key="later"))
    assert shown(await everything(handoff_adapter, after=events[-1].cursor)) == ["write later@1"]


@proves("changes.cursors")
async def test_a_cursor_of_what_was_narrowed_down_stands_at_the_same_place_for_all(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write_batch([draft("p", "a"), draft("q", "b"), draft("p", "c")])
    narrow = await everything(adapter, entity_path="q")
    assert shown(await everything(adapter, after=narrow[0].cursor)) == ["write c@1"]


@proves("changes.cursors")
async def test_a_cursor_of_one_change_of_a_commit_leads_to_the_next_of_any_kind(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft("p", "a", confidence=0.5))
    await handoff_adapter.commit(
        [Outcome(outcome("success", at("p", "a"))), Write(draft("q", "b")), Write(draft("p", "c"))],
        author="alice",
    )
    narrow = await everything(handoff_adapter, entity_path="q")
    assert shown(await everything(handoff_adapter, after=narrow[0].cursor)) == ["write c@1"]


@proves("changes.cursors")
async def test_a_cursor_outlives_the_adapter_that_gave_it(open_shared: AdapterOpener) -> None:
    first = await open_shared(store="one")
    for key in "abc":
        await first.write(draft(key=key))
    events = await everything(first)
    await first.close()
    second = await open_shared(store="one")
    assert shown(await everything(second, after=events[0].cursor)) == ["write b@1", "write c@1"]


@proves("changes.foreign-cursors")
async def test_a_cursor_of_another_store_is_refused(open_adapter: AdapterOpener) -> None:
    one, other = await open_adapter(ids=RandomIds()), await open_adapter(ids=RandomIds())
    await one.write(draft())
    await other.write(draft())
    [event] = await everything(other)
    with pytest.raises(InvalidCursorError):
        await everything(one, after=event.cursor)


@proves("changes.foreign-cursors")
async def test_a_damaged_cursor_is_refused_or_goes_on_and_breaks_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key=key) for key in "abc"])
    events = await everything(adapter)
    behind = [events[number:] for number in range(len(events) + 1)]
    refused = 0
    for each in damaged(events[1].cursor):
        try:
            assert await everything(adapter, after=each) in behind
        except InvalidCursorError:
            refused += 1
    assert refused


@proves("changes.foreign-cursors")
@pytest.mark.parametrize("cursor", ["", "x", "é", "WzFd", "bnVsbA", "1 2", "'; --", "[" * 9999])
async def test_what_is_no_cursor_is_refused(adapter: AmfsAdapter, cursor: str) -> None:
    await adapter.write(draft())
    with pytest.raises(InvalidCursorError):
        await everything(adapter, after=cursor)


@proves("changes.foreign-cursors")
async def test_a_cursor_of_a_search_is_none_of_changes(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key="a"), draft(key="b")])
    page = await adapter.search(SearchQuery(limit=1))
    with pytest.raises(InvalidCursorError):
        await everything(adapter, after=page.next_cursor)


@proves("changes.filters")
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "abcdef"),
        ({"entity_path": ""}, "abcdef"),
        ({"entity_path": "p"}, "ab"),
        ({"entity_path": "p/q"}, "b"),
        ({"entity_path": "p_"}, ""),
        ({"include_system": False}, "abcf"),
        ({"include_system": False, "entity_path": "_system"}, ""),
        ({"entity_path": "_system"}, "de"),
    ],
    ids=str,
)
async def test_a_path_covers_itself_and_what_is_below_it(
    adapter: AmfsAdapter, asked: dict[str, Any], expected: str
) -> None:
    paths = ["p", "p/q", "pq", "_system", "_system/handoff", "_systems"]
    await adapter.write_batch([draft(path, key) for path, key in zip(paths, "abcdef", strict=True)])
    assert "".join(event.entry.key for event in await everything(adapter, **asked)) == expected


@proves("privacy.changes")
async def test_another_viewer_gets_no_private_version(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(key="open"))
    await adapter.write(private(key="hidden"))
    await adapter.write(draft(key="hidden"))
    assert shown(await everything(adapter, viewer="bob")) == ["write open@1", "write hidden@2"]
    everyones = ["write open@1", "write hidden@1", "write hidden@2"]
    assert shown(await everything(adapter, viewer="alice")) == everyones
    assert shown(await everything(adapter)) == everyones


@proves("privacy.changes")
async def test_another_viewer_gets_no_private_version_and_no_outcome_of_one(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft(key="open", confidence=0.5))
    await handoff_adapter.write(private(key="hidden", confidence=0.5))
    await handoff_adapter.commit_outcome(outcome("success", at(key="hidden"), at(key="open")))
    everyones = ["write open@1", "outcome open@1"]
    own = ["write open@1", "write hidden@1", "outcome hidden@1", "outcome open@1"]
    assert shown(await everything(handoff_adapter, viewer="bob")) == everyones
    assert shown(await everything(handoff_adapter, viewer="alice")) == own
    assert shown(await everything(handoff_adapter)) == own


@proves("changes.namespaces")
async def test_another_namespace_of_the_file_has_changes_of_its_own(open_shared: AdapterOpener) -> None:
    one = await open_shared(store="one")
    other = await open_shared(store="one", namespace="other")
    await one.write(draft(key="a"))
    await other.write(draft(key="b"))
    await one.write(draft(key="c"))
    assert shown(await everything(one)) == ["write a@1", "write c@1"]
    assert shown(await everything(other)) == ["write b@1"]


@proves("changes.follow")
async def test_who_follows_gets_what_there_is_and_then_waits_for_more(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(key="a"))
    changes = adapter.changes()
    assert shown(await taken(changes, 1)) == ["write a@1"]
    more = await waiting(changes, adapter)
    await adapter.write_batch([draft(key="b"), draft(key="c")])
    assert shown([await more, *await taken(changes, 1)]) == ["write b@1", "write c@1"]


@proves("changes.follow")
async def test_who_follows_gets_what_another_adapter_writes(open_shared: AdapterOpener) -> None:
    here, there = await open_shared(store="one"), await open_shared(store="one")
    changes = here.changes()
    for key in "ab":
        more = await waiting(changes, here)
        await there.write(draft(key=key))
        async with asyncio.timeout(WITHIN_S):
            assert shown([await more]) == [f"write {key}@1"]


@proves("changes.follow")
async def test_many_changes_come_once_each_whoever_follows(adapter: AmfsAdapter) -> None:
    count = 3 * BATCH_LIMIT + 1
    changes = [adapter.changes() for _ in range(3)]
    for number in range(0, count, 7):
        batch = [draft(key=str(each)) for each in range(number, min(number + 7, count))]
        await adapter.write_batch(batch)
    for each in changes:
        keys = [event.entry.key for event in await taken(each, count)]
        assert keys == [str(number) for number in range(count)]
    assert len(await everything(adapter)) == count


@proves("changes.present")
async def test_who_does_not_follow_ends_at_the_present_though_it_writes_meanwhile(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write_batch([draft(key="a"), draft(key="b")])
    seen = []
    async with asyncio.timeout(WITHIN_S):
        async for event in adapter.changes(follow=False):
            seen.append(event)
            await adapter.write(draft(key=f"{event.entry.key} again"))
    assert shown(seen) == ["write a@1", "write b@1"]
    assert len(await everything(adapter)) == 4


@proves("changes.nothing-held")
async def test_a_consumer_may_write_take_its_time_and_walk_away(open_shared: AdapterOpener) -> None:
    here, there = await open_shared(store="one"), await open_shared(store="one")
    await here.write_batch([draft(key=str(each)) for each in range(2 * BATCH_LIMIT)])
    changes = here.changes()
    async with asyncio.timeout(WITHIN_S):
        async for event in changes:
            await here.write(draft(value=event.entry.key))
            await there.write(draft(value=event.entry.key))
            if event.entry.key == "2":
                break
    await there.write(draft(value="walked away"))
    assert len(await everything(there)) == 2 * BATCH_LIMIT + 7
    assert shown(await taken(changes, 1)) == ["write 3@1"]


@proves("changes.cancelled-consumer")
async def test_behind_the_cursor_of_a_consumer_cancelled_while_it_waits_nothing_is_lost(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write(draft(key="a"))
    changes = adapter.changes()
    [event] = await taken(changes, 1)
    task = await waiting(changes, adapter)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await adapter.write(draft(key="b"))
    assert shown(await taken(adapter.changes(after=event.cursor), 1)) == ["write b@1"]


@proves("changes.closing")
async def test_closing_ends_who_follows(open_adapter: AdapterOpener) -> None:
    adapter = open_adapter.closed()
    async with adapter:
        await adapter.write_batch([draft(key="a"), draft(key="b")])
        idle, halfway, waiter = adapter.changes(), adapter.changes(), adapter.changes()
        await taken(halfway, 1)
        await taken(waiter, 2)
        more = await waiting(waiter, adapter)
    with pytest.raises(StopAsyncIteration):
        await more
    for changes in (idle, halfway, waiter):
        assert await anext(changes, None) is None
        assert await anext(changes, None) is None


@proves("changes.closing")
async def test_closing_does_not_pass_for_the_present(open_adapter: AdapterOpener) -> None:
    adapter = open_adapter.closed()
    async with adapter:
        await adapter.write(draft())
        changes = adapter.changes(follow=False)
    # Who has looked before may still tell; to end as if there were nothing would be wrong.
    [told] = await asyncio.gather(anext(changes), return_exceptions=True)
    assert isinstance(told, AdapterClosedError | ChangeEvent)


@proves("changes.copies")
async def test_what_a_consumer_does_to_a_value_changes_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(value={"list": [1]}))
    for _ in range(2):
        [event] = await everything(adapter)
        assert event.entry.value == {"list": [1]}
        event.entry.value["list"].append(2)
    entry = await adapter.read("svc/a", "k")
    assert entry is not None
    assert entry.value == {"list": [1]}
