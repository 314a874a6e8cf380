"""Replays transcripts: each answer of ours is the recorded one, or the ledger says why it is not."""

import copy
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from amfs_sqlite import AmfsAdapter, FixedClock
from parity_tests.golden import wire
from parity_tests.golden.answers import (
    beside,
    between,
    entries_in,
    has_hashes_of,
    leaving_out_hashes,
    said,
    unnamed,
    without_hashes,
)
from parity_tests.golden.cast import Call, Cast
from parity_tests.golden.comparison import Gap
from parity_tests.golden.deviations import ROWS, Case, Row
from parity_tests.golden.listing import Fault, Listing
from parity_tests.golden.logs import Commit
from parity_tests.golden.operations import ANSWERING, MAKES
from parity_tests.golden.player import Player
from parity_tests.golden.report import Difference, Report
from parity_tests.golden.state import State
from parity_tests.golden.transcript import Answer, Step, Transcript, TranscriptError
from parity_tests.golden.world import World

MakeAdapter = Callable[[FixedClock, str, str], AbstractAsyncContextManager[AmfsAdapter]]
"""Makes an adapter with this clock, this name in the transcript, and this namespace."""

OURS: frozenset[str] = frozenset()
NOT_COMPARED = frozenset({"probe", "defineCallback", "newInMemoryAdapter", "newOutcomeBackPropagator"})


async def replay(transcript: Transcript, make: MakeAdapter, ledger: Sequence[Row] = ROWS) -> Report:
    """Play a transcript, up to the first difference that these rows do not explain.

    Raises TranscriptError where a step cannot be played after those before it.
    """
    async with judging(transcript, make, ledger) as judged:
        for step in transcript.steps:
            try:
                sides = await judged.play(step)
            except TranscriptError as wrong:
                raise wrong.at(f"{transcript.name}: step {step.n}") from wrong
            if fault := sides.fault or judged.unexplained(sides, step.recorded):
                return Report(transcript.name, judged.rows, Difference(transcript.name, step, fault))
        return Report(transcript.name, judged.rows)


@asynccontextmanager
async def judging(
    transcript: Transcript, make: MakeAdapter, ledger: Sequence[Row] = ROWS
) -> "AsyncIterator[Judgement]":
    """A judgement of a transcript's steps, whose adapters are closed at the end."""
    async with AsyncExitStack() as opened:

        async def open_adapter(clock: FixedClock, name: str, namespace: str) -> AmfsAdapter:
            return await opened.enter_async_context(make(clock, name, namespace))

        yield Judgement(transcript, Player(transcript, open_adapter), ledger)


@dataclass(frozen=True)
class Sides:
    """One step as it was played: what we answered, what either side should have, and what we held before.

    `fault` is where what we store is not what the calls so far ask for.
    """

    call: Call
    got: Answer
    sdk: Answer
    ours: Answer
    before: State
    fault: Fault | None


class Judgement:
    """Follows a transcript on both sides, and judges each step."""

    def __init__(self, transcript: Transcript, player: Player, ledger: Sequence[Row]) -> None:
        self.rows: set[str] = set()
        self._player = player
        self._ledger = ledger
        manner = frozenset(row.id for row in ledger)
        self._spelled = without_hashes if "hashes" in manner else _as_it_is
        self._cast = Cast(transcript.clock_start)
        self._logs: dict[str, list[Commit]] = {}
        self._ours = World(self._cast, OURS, State(log=self._logs))
        self._sdk = World(self._cast, manner, State(log=self._logs))
        self._listings: dict[str, Listing] = {}

    async def play(self, step: Step) -> Sides:
        """Play a step on an adapter, and on both sides."""
        call = self._cast.call(step)
        # The SDK keeps what it is given, and gives it back, so its side has objects of its own.
        sdk = self._sdk.answer(self._cast.call(replace(step, args=copy.deepcopy(step.args))))
        sdk = replace(sdk, result=copy.deepcopy(sdk.result))
        before = self._ours.state.fork()
        ours = self._ours.answer(call)
        got = (await self._player.play(step)).answer
        if got.error is None:
            self._cast.enter(call)
        await self._player.hear(self._ours.state.call_counts)
        faults = [await self._listed(board) for board in self._cast.boards()]
        return Sides(call, got, sdk, ours, before, next((fault for fault in faults if fault), None))

    async def _listed(self, board: str) -> Fault | None:
        adapter, state = self._player.resolve(board), self._ours.state
        versions = wire.answer(await adapter.list(include_superseded=True))
        log = self._logs[board] = wire.answer(await adapter.list_commits())
        listing = self._listings.setdefault(board, Listing())
        return listing.fault(self._ours.stored(board), state.commits.get(board, ()), versions, log)

    def is_met(self, sides: Sides, recorded: Answer) -> bool:
        """Whether we answered as recorded, hashes apart, which must be as the SDK has them."""
        return (
            between(recorded, sides.got, self._spelled) is None
            and _beside(sides, recorded) is None
            and unnamed(sides.ours, sides.got) is None
            and has_hashes_of(recorded, sides.sdk)
        )

    def unexplained(self, sides: Sides, recorded: Answer) -> Fault | None:
        """What no row explains, were this the recorded answer of the step played last."""
        op = sides.call.op
        if not is_compared(sides.call.step):
            is_unmade = op in MAKES and (recorded.error is None) != (sides.got.error is None)
            return self._fault(f"no row is about {op}", sides, recorded) if is_unmade else None
        if fault := self._hash_fault(sides.got):
            return fault
        if self.is_met(sides, recorded):
            if between(recorded, sides.got) is not None:
                self.rows.add("hashes")
            return None
        reason = self.misfit(sides, recorded)
        if reason is None:
            rows = self._explaining(sides, recorded)
            if rows is not None:
                self.rows |= rows
                return None
            reason = f"the rows about {op} that may apply here do not turn the recorded answer into ours"
        return self._fault(reason, sides, recorded)

    def _fault(self, reason: str, sides: Sides, recorded: Answer) -> Fault:
        """A fault without what a row excuses, which are hashes, unless it is they that are not excused."""
        is_other = between(recorded, sides.got, self._spelled) is not None or has_hashes_of(
            recorded, sides.sdk
        )
        shown = leaving_out_hashes if is_other and self._spelled is without_hashes else _as_it_is
        return Fault(reason, shown(said(recorded)), shown(said(sides.got)), is_answer=True)

    def _hash_fault(self, got: Answer) -> Fault | None:
        for entry in entries_in(got.result):
            faults = [listing.hash_fault(entry) for listing in self._listings.values()]
            if all(faults):
                return faults[0]
        return None

    def misfit(self, sides: Sides, recorded: Answer) -> str | None:
        """Where a side does not answer as it should: the SDK's as recorded, ours as we do."""
        got, sdk = sides.got, sides.sdk
        if gap := _beside(sides, recorded):
            return _is_recorded_otherwise(gap)
        if sdk.is_void and not recorded.is_void:
            # Neither side has more to say about this call: nothing explains a difference.
            gap = between(recorded, got)
            return gap and f"no row is about {sides.call.op}: {gap}"
        if gap := between(recorded, sdk):
            return _is_recorded_otherwise(gap)
        if gap := between(sides.ours, got, self._spelled) or unnamed(sides.ours, got):
            return f"with every row, ours must be another answer: {gap}"
        return None

    def _explaining(self, sides: Sides, recorded: Answer) -> set[str] | None:
        """The rows that turn the SDK's answer, from what we hold, into ours; None if those that apply do not.

        None are needed where the SDK would answer as we do, and only holds something else by earlier rows.
        """
        call = sides.call
        views = (self._ours.view(call), self._sdk.view(call))
        case = Case(call, recorded, *views, watching=self._sdk.watching(call.actor.board))
        needed = {row.id for row in self._ledger if call.op in row.calls and row.when(case)}
        if not self._is_ours(sides, without=needed):
            return None
        for row in sorted(needed):
            if self._is_ours(sides, without=needed - {row}):
                needed -= {row}
        return needed

    def _is_ours(self, sides: Sides, without: set[str]) -> bool:
        """Whether the SDK would answer as we do, were these rows not, and did it hold what we do."""
        world = World(self._cast, self._sdk.manner - without, sides.before.fork())
        return between(world.answer(sides.call), sides.ours, self._spelled) is None


def is_compared(step: Step) -> bool:
    """Whether the answer of a step says anything about the store."""
    return step.op not in NOT_COMPARED


def _as_it_is(result: Any) -> Any:
    return result


def _beside(sides: Sides, recorded: Answer) -> Gap | None:
    if recorded.is_void and sides.call.op in ANSWERING:
        return Gap("$", "nothing (undefined)", "an answer")
    return beside(recorded, sides.sdk)


def _is_recorded_otherwise(gap: Gap) -> str:
    return (
        f"by the rows AMFS 0.3 would not answer as recorded: "
        f"at {gap.place} it would have {gap.got}, and {gap.expected} is recorded"
    )
