"""Replays transcripts: each answer of ours is the recorded one, or the ledger says why it is not."""

import copy
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from amfs_sqlite import AmfsAdapter, FixedClock
from parity_tests.golden import wire
from parity_tests.golden.answers import between, entries_in, has_hashes_of, said, without_hashes
from parity_tests.golden.cast import Call, Cast
from parity_tests.golden.deviations import ROWS, Case, Row
from parity_tests.golden.listing import Fault, Listing
from parity_tests.golden.logs import Commit
from parity_tests.golden.player import Player
from parity_tests.golden.state import State
from parity_tests.golden.transcript import Answer, Step, Transcript
from parity_tests.golden.world import World

MakeAdapter = Callable[[FixedClock, str, str], AbstractAsyncContextManager[AmfsAdapter]]
"""Makes an adapter with this clock, this name in the transcript, and this namespace."""

OURS: frozenset[str] = frozenset()
NOT_COMPARED = frozenset({"probe", "defineCallback", "newInMemoryAdapter", "newOutcomeBackPropagator"})


@dataclass(frozen=True)
class Difference:
    """A step whose answer is neither the recorded one nor explained, or that stored something else."""

    transcript: str
    step: Step
    fault: Fault

    def __str__(self) -> str:
        place = f"{self.transcript} step {self.step.n}: {self.step.on}.{self.step.op}"
        fault = self.fault
        return f"{place}: {fault.reason}\n  expected {fault.expected!r}\n  got      {fault.got!r}"


@dataclass
class Report:
    """What a replay came to: the rows that explained something, and the first difference none explains."""

    transcript: str
    rows: set[str] = field(default_factory=set)
    difference: Difference | None = None


async def replay(transcript: Transcript, make: MakeAdapter, ledger: Sequence[Row] = ROWS) -> Report:
    """Play a transcript, up to the first difference that these rows do not explain."""
    async with judging(transcript, make, ledger) as judged:
        for step in transcript.steps:
            sides = await judged.play(step)
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
        return between(recorded, sides.got, self._spelled) is None and has_hashes_of(recorded, sides.sdk)

    def unexplained(self, sides: Sides, recorded: Answer) -> Fault | None:
        """What no row explains, were this the recorded answer of the step played last."""
        if not is_compared(sides.call.step):
            return None
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
            reason = "no row of the ledger explains this"
        return Fault(reason, said(recorded), said(sides.got))

    def _hash_fault(self, got: Answer) -> Fault | None:
        for entry in entries_in(got.result):
            faults = [listing.hash_fault(entry) for listing in self._listings.values()]
            if all(faults):
                return faults[0]
        return None

    def misfit(self, sides: Sides, recorded: Answer) -> str | None:
        """Where a side does not answer as it should: the SDK's as recorded, ours as we do."""
        if sides.sdk.is_void and not recorded.is_void:
            # Neither side has more to say about this call: nothing explains a difference.
            return between(recorded, sides.got)
        if found := between(recorded, sides.sdk):
            return f"no row makes the SDK answer so: {found}"
        if found := between(sides.ours, sides.got, self._spelled):
            return f"this does not follow from what was asked: {found}"
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
