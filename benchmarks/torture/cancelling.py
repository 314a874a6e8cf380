"""Each operation of an adapter, cancelled at the first place where it waits, at the second, and so on."""

import asyncio
import inspect
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

from amfs_sqlite import (
    HANDOFF,
    AmfsAdapter,
    Commit,
    EntryRef,
    MemoryEntry,
    OutcomeRecord,
    SearchQuery,
    SqliteAdapter,
)
from amfs_sqlite.protocol import Access, Agents, Branches, Events, Graph, Groups, Pulls, Tags, Traces
from amfs_sqlite.protocol.transfer import Transfer
from amfs_sqlite.rules.export_reading import ExportReader
from benchmarks.torture.checking import read_by_hand, settle
from benchmarks.torture.erasing import Withdrawal, left_behind, let_go, put
from benchmarks.torture.journal import Journal, told
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.torture.work import Work, attempt, client_of

MOST_STEPS = 60
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
AT = EntryRef(entity_path="stage", key="k")
ALIKE = frozenset(
    name
    for noun in (Access, Agents, Branches, Events, Graph, Groups, Pulls, Tags, Traces)
    for name, _ in inspect.getmembers(noun, inspect.isfunction)
    if not name.startswith("_")
)
"""Operations that all cross by the same two ways as those of entries do."""
OPERATIONS = (
    frozenset(
        name
        for kind in (AmfsAdapter, Transfer, SqliteAdapter)
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    )
    - ALIKE
)
"""Everything else that can be asked of an adapter that stores in a file."""


class Stepping:
    """Awaits something and counts where it waits; cancels its own task at the place it is told to."""

    def __init__(self, awaited: Coroutine[Any, Any, Any], cancelled_at: int) -> None:
        self._awaited = awaited
        self._cancelled_at = cancelled_at
        self.steps = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        """Pass on what is waited for; the cancellation comes while that is so, as any other would."""
        task = asyncio.current_task()
        inner = self._awaited.__await__()
        resume: Callable[[], Any] = partial(inner.send, None)
        while True:
            try:
                waited_for = resume()
            except StopIteration as done:
                return done.value
            self.steps += 1
            if self.steps == self._cancelled_at and task is not None:
                asyncio.get_running_loop().call_soon(task.cancel)
            try:
                resume = partial(inner.send, (yield waited_for))
            except BaseException as raised:  # noqa: BLE001 - whatever it is, it is passed on
                resume = partial(inner.throw, raised)


class Stage:
    """Where the stories play: an open store, its journal, and what is to be done next."""

    def __init__(self, store: SqliteAdapter, journal: Journal, works: Iterator[tuple[str, Work]]) -> None:
        self.store = store
        self.journal = journal
        self.path = Path(store.path)
        self._works = works
        self._numbers = count(1)

    def next_number(self) -> int:
        """A number that nothing here has had."""
        return next(self._numbers)

    async def work(self, kind: str) -> None:
        """One request of this kind, under the next mark."""
        mark, work = next(self._works)
        await attempt(self.store, self.journal, mark, {**work, "kind": kind})

    async def withdraw(self, how: Withdrawal) -> None:
        """Store something of its own and let it go in this way."""
        mark, _ = next(self._works)
        await put(self.store, self.journal, mark, how)
        await let_go(self.store, self.journal, mark, how)


Story = Callable[[Stage], Coroutine[Any, Any, Any]]


async def _open_and_close(stage: Stage) -> None:
    async with SqliteAdapter(stage.path, outcomes=HANDOFF) as store:
        await store.stats()


async def _write_and_close(stage: Stage) -> None:
    async with SqliteAdapter(stage.path, outcomes=HANDOFF) as store:
        await store.write(_unmarked("closing"))


async def _abandon_changes(stage: Stage) -> None:
    async with SqliteAdapter(stage.path, outcomes=HANDOFF) as store, _first_change(store):
        await store.stats()


@asynccontextmanager
async def _first_change(store: SqliteAdapter) -> AsyncIterator[None]:
    changes = store.changes()
    await anext(changes)
    yield


async def _import(stage: Stage) -> None:
    """What another store holds, which this one does not."""
    exported = BytesIO()
    async with SqliteAdapter(":memory:", outcomes=HANDOFF) as other:
        await other.write(_unmarked(f"imported{stage.next_number()}"))
        await other.export_to(exported.write)
    exported.seek(0)
    await stage.store.import_from(ExportReader(exported.readline))


def _record(number: int) -> OutcomeRecord:
    return OutcomeRecord(outcome_ref=f"told{number}", outcome_type="success", agent_id="c", refs=(AT,))


def _described(stage: Stage) -> Commit:
    return Commit(id=f"described{stage.next_number()}", author_agent_id="c", created_at=LONG_AGO)


def _unmarked(key: str) -> MemoryEntry:
    return MemoryEntry.draft(AT.entity_path, key, {"of": key}, agent_id="c")


STORIES: Mapping[str, Story] = {
    "open": _open_and_close,
    "close": _write_and_close,
    "describe": lambda stage: stage.store.describe(),
    "write": lambda stage: stage.work("write"),
    "write_batch": lambda stage: stage.work("batch"),
    "commit": lambda stage: stage.work("commit"),
    "read": lambda stage: stage.store.read(AT.entity_path, AT.key),
    "list": lambda stage: stage.store.list(include_superseded=True),
    "history": lambda stage: stage.store.history(AT.entity_path, AT.key),
    "read_at_version": lambda stage: stage.store.read_at_version(AT.entity_path, AT.key, 1),
    "watch": lambda stage: stage.store.watch("shared", lambda _: None),
    "changes": _abandon_changes,
    "commit_outcome": lambda stage: stage.store.commit_outcome(_record(stage.next_number())),
    "list_outcomes": lambda stage: stage.store.list_outcomes(),
    "recorded_result": lambda stage: stage.store.recorded_result("nothing", author="c"),
    "list_commits": lambda stage: stage.store.list_commits(),
    "get_commit": lambda stage: stage.store.get_commit("nothing"),
    "save_commit": lambda stage: stage.store.save_commit(_described(stage)),
    "common_ancestor": lambda stage: stage.store.common_ancestor("one", "another"),
    "search": lambda stage: stage.store.search(SearchQuery(text="lorem")),
    "stats": lambda stage: stage.store.stats(),
    "scopes": lambda stage: stage.store.scopes(),
    "verify": lambda stage: stage.store.verify(),
    "anchor": lambda stage: stage.store.anchor(),
    "erase": lambda stage: stage.withdraw("erase"),
    "prune": lambda stage: stage.withdraw("prune"),
    "archive_expired": lambda stage: stage.withdraw("archive"),
    "backup": lambda stage: stage.store.backup(stage.path.with_name(f"copy-{stage.next_number()}.db")),
    "export_to": lambda stage: stage.store.export_to(BytesIO().write),
    "import_from": _import,
}


def cancelled(round_: Round) -> None:
    """Cancel each operation at the first place where it waits, at the second, and so on until it is done."""
    for name in sorted(OPERATIONS - STORIES.keys()):
        round_.fault(f"how {name} is cancelled is not told: it needs a story")
    asyncio.run(_cancel_everything(round_))
    settle(round_)
    for copy in round_.folder.glob("copy-*.db"):
        for problem in read_by_hand(copy)[1]:
            round_.fault(f"{copy.name}: {problem}")
    for problem in left_behind(round_.path, told(round_.folder)):
        round_.fault(problem)


async def _cancel_everything(round_: Round) -> None:
    client = client_of(round_, "c")
    journal = client.journal()
    async with SqliteAdapter(round_.path, outcomes=HANDOFF) as store:
        stage = Stage(store, journal, client.works())
        await store.write(_unmarked(AT.key))
        for name, story in STORIES.items():
            await _cancel_step_by_step(round_, name, stage, story)
            await stage.work("write")
            if not _may_write(round_.path):
                round_.fault(f"{name}, cancelled, left the file locked")
    journal.close()


async def _cancel_step_by_step(round_: Round, name: str, stage: Stage, story: Story) -> None:
    for step in range(1, MOST_STEPS + 1):
        stepping = Stepping(story(stage), step)
        task = asyncio.ensure_future(_awaited(stepping))
        await asyncio.wait({task})
        round_.tally.rounds += 1
        if not task.cancelled() and (error := task.exception()) is not None:
            round_.fault(f"{name}, cancelled at step {step}, raised {type(error).__name__}: {error}")
        if stepping.steps < step:
            return
    round_.fault(f"{name} still waits after {MOST_STEPS} steps")


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _may_write(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        other.execute("ROLLBACK")
        return True


SCENARIOS = (
    Scenario("loop: cancelled", "Cancel each operation wherever it waits, in turn.", 10, 1, cancelled),
)
