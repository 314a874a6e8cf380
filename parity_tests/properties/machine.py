"""The state machine: whatever is done and asked, the reference and SQLite answer alike."""

import asyncio
import difflib
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from amfs_sqlite import (
    AmfsAdapter,
    AmfsError,
    CountedIds,
    FixedClock,
    ReferenceAdapter,
    SearchPage,
    SearchQuery,
    SqliteAdapter,
)
from amfs_sqlite.models import ChangeEvent
from parity_tests.properties import changes, questions
from parity_tests.properties.questions import CHANGES
from parity_tests.properties.worlds import World, worlds
from parity_tests.scenarios.player import ALL_PAGES, Step
from parity_tests.state import answers, plain, text

Result = TypeVar("Result")

QUESTIONS_AT_ONCE = 3
ANOTHER: Sequence[dict[str, Any]] = ({}, {}, {"limit": 5}, {"key": "other"}, {"sort_by": "version"})
"""What the next page may be asked for otherwise; all but the limit makes it another query."""


@dataclass(frozen=True)
class Pages:
    """A search that can be gone on with: each adapter's own cursor, the reference's first."""

    query: SearchQuery
    viewer: str | None
    cursors: tuple[str, ...]


class SideBySide(RuleBasedStateMachine):
    """The same calls on both adapters, under one clock, with ids that count alike.

    After every step all reading answers are equal for all viewers, and both stores verify. The SQLite
    file is opened anew now and then, while the reference goes on. In about half of the runs it reads
    single entries in the event loop's own thread, in the others on a thread apart.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.clock = FixedClock()
        self.ids = CountedIds()
        self.done: list[Step] = []
        self.searches: list[Pages] = []
        self.heard: tuple[list[str], list[str]] = ([], [])
        self.world: World
        self.inline_reads = True
        self.pair: list[AmfsAdapter] = []

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Two empty stores, and something in them."""
        self.world = data.draw(worlds())
        self.inline_reads = data.draw(st.booleans())
        reference = ReferenceAdapter(outcomes=self.world.policy, clock=self.clock, ids=CountedIds())
        self.pair = [reference, self._made()]
        for adapter, heard in zip(self.pair, self.heard, strict=True):
            self._run(self._opened(adapter, heard))
        self._change(data.draw(changes.batches(self.world)))

    def _made(self) -> AmfsAdapter:
        """The adapter that is compared with the reference. What was acknowledged is kept while the
        process lives, which is all that is asked here, so nothing waits for the disk.
        """
        return SqliteAdapter(
            Path(self.folder.name) / "memory.db",
            outcomes=self.world.policy,
            durability="normal",
            inline_reads=self.inline_reads,
            clock=self.clock,
            ids=self.ids,
        )

    async def _opened(self, adapter: AmfsAdapter, heard: list[str]) -> None:
        """Open it, and listen to it as the owner and as somebody else."""
        await adapter.open()
        for viewer in self.world.viewers[:2]:
            await adapter.watch(None, lambda entry: heard.append(repr(entry)), viewer=viewer)

    @rule(data=st.data())
    def write_or_remove(self, data: st.DataObject) -> None:
        self._change(data.draw(changes.writes(self.world) | changes.removals(self.world)))

    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        drawn = [f"{number:016x}" for number in range(2, self.ids.count + 1)]
        kinds = changes.commits(self.world) | changes.batches(self.world) | changes.saves(self.world, drawn)
        self._change(data.draw(kinds))

    @rule(data=st.data())
    def report(self, data: st.DataObject) -> None:
        record = data.draw(changes.records(self.world))
        self._change(Step("commit_outcome", (record,)))

    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """An earlier change once more, as by somebody who lost its answer."""
        self._change(data.draw(st.sampled_from(self.done)))

    @rule(data=st.data())
    def move_clock(self, data: st.DataObject) -> None:
        """Forward or back."""
        self.clock.set(data.draw(st.sampled_from(self.world.instants)))

    @rule()
    def reopen(self) -> None:
        self._run(self.pair[1].close())
        self.pair[1] = self._made()
        self._run(self._opened(self.pair[1], self.heard[1]))

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        asked = questions.questions(self.world) | questions.searches(self.world)
        for step in data.draw(st.lists(asked, min_size=1, max_size=QUESTIONS_AT_ONCE)):
            event(step.operation)
            self._alike(step)

    @rule(data=st.data())
    def search(self, data: st.DataObject) -> None:
        """The first page of a search, with which another step may go on."""
        query = SearchQuery(**data.draw(questions.filters(self.world)))
        self._turn(Pages(query, data.draw(questions.viewers(self.world)), ("", "")))

    @precondition(lambda self: self.searches)
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """The next page, whatever was changed meanwhile; or as it is asked by mistake."""
        pages = data.draw(st.sampled_from(self.searches))
        other = data.draw(st.sampled_from(ANOTHER))
        self._turn(Pages(pages.query.model_copy(update=other), pages.viewer, pages.cursors))

    @invariant()
    def equal_for_all(self) -> None:
        """What every viewer is answered is equal, and both stores verify."""
        if self.pair:
            for viewer in self.world.viewers:
                equal([self._run(answers(adapter, viewer)) for adapter in self.pair], viewer)
            equal(self.heard, "what the watches heard")
            assert self._run(self.pair[0].verify()).ok

    def teardown(self) -> None:
        for adapter in self.pair:
            self._run(adapter.close())
        self.runner.close()
        self.folder.cleanup()

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        # Without the runner's care for signals, which is half of what so short a call takes.
        return self.runner.get_loop().run_until_complete(call)

    def _change(self, step: Step) -> None:
        self.done.append(step)
        event(step.operation)
        self._alike(step)

    def _alike(self, step: Step) -> None:
        """Both answer a step alike, or refuse it in the same words."""
        equal([self._run(performed(adapter, step)) for adapter in self.pair], step)

    def _turn(self, pages: Pages) -> None:
        found = [
            self._run(answered(adapter.search(at(pages.query, cursor), viewer=pages.viewer)))
            for adapter, cursor in zip(self.pair, pages.cursors, strict=True)
        ]
        if pages.query.sort_by == "relevance":
            # Which ones come first is not comparable, and so neither is where to go on.
            equal([isinstance(each, AmfsError) and each for each in found], pages)
            return
        equal([comparable([each]) if isinstance(each, SearchPage) else each for each in found], pages)
        cursors = tuple(each.next_cursor or "" for each in found if isinstance(each, SearchPage))
        if all(cursors) and cursors:
            self.searches.append(Pages(pages.query, pages.viewer, cursors))


async def performed(adapter: AmfsAdapter, step: Step) -> Any:
    """What a step returns, or the error it raises, as far as it is comparable."""
    if step.operation == ALL_PAGES:
        return await answered(all_of(adapter, *step.arguments))
    if step.operation == CHANGES:
        return await answered(told(adapter, **step.options))
    return await answered(getattr(adapter, step.operation)(*step.arguments, **step.options))


async def answered(call: Coroutine[Any, Any, Any]) -> Any:
    """What a call returns, or the error it raises on purpose."""
    try:
        return await call
    except AmfsError as error:
        return error


async def all_of(adapter: AmfsAdapter, query: SearchQuery, viewer: str | None) -> Any:
    """All pages of a search."""
    pages = [await adapter.search(query, viewer=viewer)]
    while pages[-1].next_cursor:
        pages.append(await adapter.search(at(query, pages[-1].next_cursor), viewer=viewer))
    if query.sort_by == "relevance":
        entries = sorted(repr(entry) for page in pages for entry in page.entries)
        return [len(pages), entries, pages[-1].below_confidence_count, pages[-1].expired_count]
    return comparable(pages)


async def told(adapter: AmfsAdapter, behind: int | None, **asked: Any) -> list[ChangeEvent]:
    """The changes behind so many others, or from the beginning; behind more than there are from nowhere."""
    after = None
    if behind is not None:
        cursors = [event.cursor async for event in adapter.changes(follow=False)]
        after = cursors[behind] if behind < len(cursors) else "nowhere"
    changes = adapter.changes(after=after, follow=False, **asked)
    return [event.model_copy(update={"cursor": ""}) async for event in changes]


def at(query: SearchQuery, cursor: str) -> SearchQuery:
    """A query from this place on; one without a place keeps the cursor it came with."""
    return query.model_copy(update={"cursor": cursor}) if cursor else query


def comparable(pages: Sequence[SearchPage]) -> list[SearchPage]:
    """The pages, and whether there is more; a cursor is opaque, so an adapter may make it as it likes."""
    return [page.model_copy(update={"next_cursor": str(bool(page.next_cursor))}) for page in pages]


def equal(pair: Sequence[Any], about: object) -> None:
    """The same to the last field: 1, 1.0 and true are three things, and order counts."""
    one, other = [repr(shown(each)) for each in pair]
    if one != other:
        expected, got = [text(each).splitlines() for each in pair]
        lines = difflib.unified_diff(expected, got, "the reference", "the other", lineterm="", n=1)
        raise AssertionError("\n".join([str(about), *lines]))


def shown(answer: Any) -> Any:
    """An answer whose `repr` says all of it."""
    if isinstance(answer, AmfsError):
        return plain(answer)
    if isinstance(answer, dict):
        return {name: shown(each) for name, each in answer.items()}
    return list(answer) if isinstance(answer, list | tuple) else answer
