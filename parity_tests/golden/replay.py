"""Replays transcripts: each answer of ours is the recorded one, or the ledger says why it is not."""

import copy
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from amfs_sqlite import AmfsAdapter, FixedClock
from parity_tests.golden import reading, wire
from parity_tests.golden.cast import Call, Cast
from parity_tests.golden.comparison import difference
from parity_tests.golden.deviations import ROWS, Case, Row
from parity_tests.golden.player import Player
from parity_tests.golden.recount import HOLDS_ENTRIES, OurWorld, entries_in, is_entry
from parity_tests.golden.sdk import SdkWorld
from parity_tests.golden.transcript import Answer, Step, Transcript
from parity_tests.golden.view import HASHES, View, address, joined

MakeAdapter = Callable[[FixedClock, str, str], AbstractAsyncContextManager[AmfsAdapter]]
"""Makes an adapter with this clock, this name in the transcript, and this namespace."""

CHANGING = frozenset({"write", "commit", "commitOutcome", "propagate", "propagateBatch"})
ROUNDS = 100
NOT_COMPARED = frozenset({"probe", "defineCallback", "newInMemoryAdapter", "newOutcomeBackPropagator"})


@dataclass(frozen=True)
class Difference:
    """A step whose answer is neither the recorded one nor explained."""

    transcript: str
    step: Step
    expected: Any
    got: Any
    reason: str

    def __str__(self) -> str:
        place = f"{self.transcript} step {self.step.n}: {self.step.on}.{self.step.op}"
        return f"{place}: {self.reason}\n  expected {self.expected!r}\n  got      {self.got!r}"


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
            reason = judged.unexplained(sides, step.recorded)
            if reason is not None:
                expected, got = _said(step.recorded), _said(sides.got)
                unexplained = Difference(transcript.name, step, expected, got, reason)
                return Report(transcript.name, judged.rows, unexplained)
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
    """One step as it was played: what we answered, and what either side should have."""

    call: Call
    got: Answer
    sdk: Answer
    ours: Answer


class Judgement:
    """Follows a transcript on both sides, and judges each step."""

    def __init__(self, transcript: Transcript, player: Player, ledger: Sequence[Row]) -> None:
        self.rows: set[str] = set()
        self._player = player
        self._ledger = ledger
        has_hashes = any(row.id == "hashes" for row in ledger)
        self._spelled = _without_hashes if has_hashes else _as_it_is
        self._cast = Cast(transcript.clock_start)
        self._ours = OurWorld(self._cast)
        self._sdk = SdkWorld(self._cast, frozenset(row.id for row in ledger), self._ours)

    async def play(self, step: Step) -> Sides:
        """Play a step on an adapter, and on both sides."""
        call = self._cast.call(step)
        # The SDK keeps what it is given, so its side is given objects of its own.
        theirs = self._cast.call(replace(step, args=copy.deepcopy(step.args)))
        sdk, ours = _snapshot(self._sdk.answer(theirs)), _snapshot(self._ours.answer(call))
        got = (await self._player.play(step)).answer
        self._cast.enter(call)
        self._ours.remember(step, got.result)
        if call.op in CHANGING and call.actor.board:
            # Callbacks may write in their turn; one that never ends is left alone.
            for _ in range(ROUNDS):
                if not any([await self._observe(step, board) for board in self._cast.boards()]):
                    break
                await self._player.hear(self._ours.call_counts)
        return Sides(call, got, sdk, ours)

    async def _observe(self, step: Step, board: str) -> bool:
        adapter = self._player.resolve(board)
        versions = [wire.answer(entry) for entry in await adapter.list(include_superseded=True)]
        commits = [wire.answer(commit) for commit in await adapter.list_commits()]
        return self._ours.observe(step, board, versions, commits)

    def is_met(self, sides: Sides, recorded: Answer) -> bool:
        """Whether we answered as recorded, hashes apart, which must be as the SDK has them."""
        met = _difference(recorded, sides.got, self._spelled) is None
        return met and _has_hashes_of(recorded, sides.sdk)

    def unexplained(self, sides: Sides, recorded: Answer) -> str | None:
        """What no row explains, were this the recorded answer of the step played last."""
        call, got = sides.call, sides.got
        if not is_compared(call.step):
            return None
        if fault := self._ours.hash_fault(got.result):
            return fault
        if self.is_met(sides, recorded):
            if _difference(recorded, got) is not None:
                self.rows.add("hashes")
            return None
        if sides.sdk.is_void and not recorded.is_void:
            # Neither side has more to say about this call: nothing explains a difference.
            return _difference(recorded, got)
        if found := _difference(recorded, sides.sdk):
            return f"no row makes the SDK answer so: {found}"
        if found := _difference(sides.ours, got, self._spelled):
            return f"this is not what we store: {found}"
        case = Case(
            call,
            recorded,
            view=self._ours.view(call),
            sdk_view=self._sdk.view(call),
            watching=self._sdk.watching(call.actor.board),
        )
        applying = {row.id for row in self._ledger if call.op in row.calls and row.when(case)}
        if not applying and not self._is_consequence(sides):
            return "no row of the ledger applies"
        self.rows |= applying
        return None

    def _is_consequence(self, sides: Sides) -> bool:
        """Whether the sides answer otherwise only because, by earlier rows, they hold something else."""
        call = sides.call
        if call.op not in reading.READINGS:
            told = [*entries_in(sides.got.result), *entries_in(sides.sdk.result)]
            texts = [joined(*address(entry)) for entry in told]
            if {"entityPath", "key"} <= call.args.keys():
                texts.append(joined(call.args["entityPath"], call.args["key"]))
            return not self._sdk.held_the_same(call, self._ours, texts)
        stored = self._ours.versions(call.actor.board)
        view = View(stored, self._sdk.manner, call.actor.agent, call.now)
        return _difference(reading.answer(view, call.op, call.args), sides.ours) is None


def is_compared(step: Step) -> bool:
    """Whether the answer of a step says anything about the store."""
    return step.op not in NOT_COMPARED


def disagreement(sides: Sides, recorded: Answer) -> str | None:
    """Where a side does not answer as it should: the SDK's as recorded, ours as we do."""
    if not is_compared(sides.call.step) or sides.sdk.is_void:
        return None
    found = _difference(recorded, sides.sdk) or _difference(sides.ours, sides.got, _without_hashes)
    return found and f"{sides.call.op}: {found}"


def _said(answer: Answer) -> Any:
    return answer.result if answer.error is None else f"{answer.error_type or 'error'}: {answer.error}"


def _snapshot(answer: Answer) -> Answer:
    """The answer as it stands, whatever is done later to what it is made of."""
    return replace(answer, result=copy.deepcopy(answer.result))


def _difference(
    expected: Answer, got: Answer, spelled: Callable[[Any], Any] = lambda answer: answer
) -> str | None:
    if (expected.error is None) != (got.error is None):
        told = (
            f"raises {answer.error!r}" if answer.error is not None else "answers"
            for answer in (expected, got)
        )
        return " is not ".join(told)
    if expected.error is not None or expected.is_void or got.is_void:
        return None
    return difference(spelled(expected.result), spelled(got.result))


def _as_it_is(answer: Any) -> Any:
    return answer


def _without_hashes(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_without_hashes(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    if is_entry(answer):
        return answer | {name: None for name in HASHES if name in answer}
    inner = {name: _without_hashes(answer[name]) for name in HOLDS_ENTRIES if name in answer}
    return answer | inner


def _has_hashes_of(recorded: Answer, sdk: Answer) -> bool:
    """Whether the hashes are the SDK's: null, or what a caller put there."""
    if recorded.error is not None or sdk.error is not None:
        return recorded.error is not None
    told, known = _hashes(recorded), _hashes(sdk)
    return told == known or (len(told) != len(known) and all(each == _NO_HASHES for each in told))


def _hashes(answer: Answer) -> list[dict[str, Any]]:
    entries = entries_in(answer.result)
    return [{name: entry[name] for name in HASHES if name in entry} for entry in entries]


_NO_HASHES = dict.fromkeys(HASHES)
