"""What waits together crosses to the thread together and is committed together, yet fails alone."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from typing import Any

import aiosqlite
import pytest

from amfs_sqlite import (
    Commit,
    InvalidArgumentError,
    SearchQuery,
    SqliteAdapter,
    VersionConflictError,
    Write,
)
from amfs_sqlite.records.events import Event
from amfs_sqlite.sqlite.database import groups
from amfs_sqlite.sqlite.database.lanes import FunctionConnection
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.nouns import CAPABILITIES, operations
from parity_tests.sqlite.internals import settled, trace

CALLS = 1000
WRITERS = 100
FEW = 5
BEGIN = "BEGIN IMMEDIATE"

# Every operation that reaches the file, as one call of it.
READING: dict[str, Callable[[SqliteAdapter], Awaitable[Any]]] = {
    "read": lambda adapter: adapter.read("svc/a", "k"),
    "list": lambda adapter: adapter.list("svc", include_superseded=True),
    "history": lambda adapter: adapter.history("svc/a", "k"),
    "read_at_version": lambda adapter: adapter.read_at_version("svc/a", "k", 1),
    "list_outcomes": lambda adapter: adapter.list_outcomes(),
    "recorded_result": lambda adapter: adapter.recorded_result("request-1", author="alice"),
    "list_commits": lambda adapter: adapter.list_commits(),
    "get_commit": lambda adapter: adapter.get_commit("c"),
    "common_ancestor": lambda adapter: adapter.common_ancestor("c", "c"),
    "search": lambda adapter: adapter.search(SearchQuery(text="word")),
    "stats": lambda adapter: adapter.stats(),
    "scopes": lambda adapter: adapter.scopes(),
    "verify": lambda adapter: adapter.verify(),
    "anchor": lambda adapter: adapter.anchor(),
    "describe": lambda adapter: adapter.describe(),
    "watch": lambda adapter: adapter.watch(None, print),
    "changes": lambda adapter: anext(adapter.changes()),
    "list_events": lambda adapter: adapter.list_events("alice"),
}
IN_THE_LOOP = ("read", "read_at_version")
WRITING: dict[str, Callable[[SqliteAdapter], Awaitable[Any]]] = {
    "write": lambda adapter: adapter.write(draft(), idempotency_key="request-1"),
    "write_batch": lambda adapter: adapter.write_batch([draft(key=key) for key in "kkl"]),
    "commit_outcome": lambda adapter: adapter.commit_outcome(outcome("failure", "svc/a/k", at(key="k"))),
    "commit": lambda adapter: adapter.commit([Write(draft()), Write(draft(key="l"))], author="alice"),
    "save_commit": lambda adapter: adapter.save_commit(
        Commit(id="c", author_agent_id="alice", created_at="2026-01-01")  # type: ignore[arg-type]  # text will do
    ),
    "archive_expired": lambda adapter: adapter.archive_expired(author="alice"),
    "log_event": lambda adapter: adapter.log_event(Event(agent_id="alice", event_type="read")),
}
# What goes over the whole file takes longer than any crossing, and has tests of its own.
WHOLE_FILE = {"backup", "export_to", "import_from", "erase", "prune"}


@pytest.fixture
async def adapter(path: str) -> AsyncIterator[SqliteAdapter]:
    """An adapter on a file."""
    async with SqliteAdapter(path) as opened:
        await opened.write(draft(value="word"))
        yield opened


@pytest.fixture
async def begun(adapter: SqliteAdapter) -> list[str]:
    """The transactions that the writer begins from now on."""
    seen: list[str] = []
    await trace(adapter, lambda sql: seen.append(sql) if sql == BEGIN else None)
    return seen


@pytest.fixture
def crossings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that is handed to a connection's thread from now on."""
    seen: list[str] = []
    hand_over: Any = aiosqlite.Connection._execute

    async def counted(self: aiosqlite.Connection, function: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(str(function))
        return await hand_over(self, function, *args, **kwargs)

    monkeypatch.setattr(aiosqlite.Connection, "_execute", counted)
    return seen


@proves("grouping.one-hop")
@pytest.mark.parametrize("operation", READING)
async def test_a_reading_operation_crosses_once_and_begins_no_transaction_that_may_write(
    adapter: SqliteAdapter, begun: list[str], crossings: list[str], operation: str
) -> None:
    for call in (adapter.verify, adapter.list):  # their connections are opened when first needed
        await call()
    crossings.clear()
    await READING[operation](adapter)
    assert (len(crossings), len(begun)) == (operation not in IN_THE_LOOP, 0)


@proves("grouping.one-hop")
@pytest.mark.parametrize("operation", IN_THE_LOOP)
async def test_a_single_entry_crosses_where_the_loop_is_to_be_spared(
    path: str, crossings: list[str], operation: str
) -> None:
    async with SqliteAdapter(path, inline_reads=False) as adapter:
        await READING[operation](adapter)
        crossings.clear()
        await READING[operation](adapter)
        assert len(crossings) == 1


@proves("grouping.one-hop")
@pytest.mark.parametrize("operation", WRITING)
async def test_a_writing_operation_crosses_once_and_begins_one_transaction(
    adapter: SqliteAdapter, begun: list[str], crossings: list[str], operation: str
) -> None:
    await WRITING[operation](adapter)
    assert (len(crossings), len(begun)) == (1, 1)


def test_all_operations_are_among_those_counted() -> None:
    at_the_file = {name for name in vars(SqliteAdapter) if not name.startswith("_")}
    # Operations of a capability are all made in the same two ways: one of each is counted.
    alike = {name for noun in CAPABILITIES for name in operations(noun)} - {"list_events", "log_event"}
    elsewhere = {"namespace", "policy_name", "path", "open", "close"} | WHOLE_FILE | alike
    assert at_the_file - elsewhere == READING.keys() | WRITING.keys()


@proves("grouping.one-hop")
async def test_the_driver_passes_a_function_through_to_its_thread() -> None:
    def fail(_: sqlite3.Connection) -> None:
        raise ZeroDivisionError

    connection: Any = await aiosqlite.connect(":memory:", factory=FunctionConnection)
    try:
        answer = await connection.execute_fetchall(lambda raw: raw.execute("VALUES (7)").fetchone())
        assert answer == (7,)
        with pytest.raises(ZeroDivisionError):
            await connection.execute_fetchall(fail)
        assert await connection.execute_fetchall("VALUES (?)", (7,)) == [(7,)]
    finally:
        await connection.close()


@proves("grouping.short-reads")
@pytest.mark.parametrize(("together_s", "crossing_count"), [(3600.0, 1), (-1.0, FEW)])
async def test_reads_cross_together_while_they_take_little_time(
    adapter: SqliteAdapter,
    crossings: list[str],
    monkeypatch: pytest.MonkeyPatch,
    together_s: float,
    crossing_count: int,
) -> None:
    monkeypatch.setattr(groups, "READS_TOGETHER_S", together_s)
    for number in range(FEW):
        await adapter.write(draft(f"svc/{number}", value=number))
    await adapter.list()  # its connection is opened when first needed
    crossings.clear()
    found = await asyncio.gather(*(adapter.list(f"svc/{number}") for number in range(FEW)))
    assert [entry.value for (entry,) in found] == list(range(FEW))
    assert len(crossings) == crossing_count


@proves("grouping.shared-transactions")
async def test_many_writers_share_few_transactions(adapter: SqliteAdapter, begun: list[str]) -> None:
    written = await asyncio.gather(*(adapter.write(draft(value=each)) for each in range(WRITERS)))
    assert sorted(entry.version for entry in written) == list(range(2, WRITERS + 2))
    assert 1 <= len(begun) <= FEW


@proves("grouping.shared-transactions")
async def test_nobody_is_answered_before_the_commit(adapter: SqliteAdapter, path: str) -> None:
    with closing(sqlite3.connect(path)) as raw:

        async def write(number: int) -> bool:
            entry = await adapter.write(draft(key=f"k{number}"))
            found = raw.execute("SELECT version FROM current WHERE key = ?", (entry.key,)).fetchall()
            return found == [(1,)]

        assert all(await asyncio.gather(*map(write, range(WRITERS))))


@proves("grouping.fails-alone")
async def test_what_fails_among_others_fails_alone(adapter: SqliteAdapter, begun: list[str]) -> None:
    def request(number: int) -> Awaitable[Any]:
        if number % 10 == 3:
            return adapter.write(draft(key=f"k{number}"), expected_version=7)
        if number % 10 == 6:
            return adapter.write_batch([draft(key=f"k{number}"), draft(key="nan", value=float("nan"))])
        return adapter.write(draft(key=f"k{number}"))

    answers = await asyncio.gather(*map(request, range(WRITERS)), return_exceptions=True)
    failed = {number: type(each) for number, each in enumerate(answers) if isinstance(each, BaseException)}
    conflicts = dict.fromkeys(range(3, WRITERS, 10), VersionConflictError)
    assert failed == conflicts | dict.fromkeys(range(6, WRITERS, 10), InvalidArgumentError)
    keys = {entry.key for entry in await adapter.list()}
    assert keys == {"k"} | {f"k{number}" for number in range(WRITERS) if number not in failed}
    assert len(begun) <= WRITERS + FEW
    assert (await adapter.verify()).findings == ()
    assert (await adapter.write(draft(key="nan"))).version == 1


@proves("grouping.many-at-once")
async def test_a_thousand_calls_at_once_are_all_answered(adapter: SqliteAdapter) -> None:
    def conflicting(adapter: SqliteAdapter) -> Awaitable[Any]:
        return adapter.write(draft(), expected_version=0)

    operations = [*READING.values(), *WRITING.values(), conflicting]
    calls = [operations[each % len(operations)](adapter) for each in range(CALLS)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    failed = [each for each in answers if isinstance(each, BaseException)]
    assert {type(each) for each in failed} == {VersionConflictError}
    assert len(failed) == len(range(len(operations) - 1, CALLS, len(operations)))
    versions = [entry.version for entry in await adapter.history("svc/a", "k")]
    assert versions == list(range(1, len(versions) + 1))
    assert (await adapter.verify()).findings == ()
    await settled(adapter)


@proves("grouping.many-at-once")
async def test_many_calls_at_once_in_memory_are_all_answered() -> None:
    async with SqliteAdapter(":memory:") as adapter:
        operations = [*READING.values(), *WRITING.values()]
        await asyncio.gather(*(operations[each % len(operations)](adapter) for each in range(CALLS // 4)))
        versions = [entry.version for entry in await adapter.history("svc/a", "k")]
        assert versions == list(range(1, len(versions) + 1))
        assert (await adapter.verify()).findings == ()


@proves("grouping.many-at-once")
async def test_adapters_of_one_process_on_one_file_lose_nothing(path: str) -> None:
    async with SqliteAdapter(path) as one, SqliteAdapter(path) as other:
        adapters = [one, other, one, other]
        written = await asyncio.gather(
            *(adapters[each % 4].write(draft(value=each)) for each in range(WRITERS))
        )
        assert sorted(entry.version for entry in written) == list(range(1, WRITERS + 1))
        for adapter in (one, other):
            assert len(await adapter.history("svc/a", "k")) == WRITERS
            assert (await adapter.verify()).findings == ()
