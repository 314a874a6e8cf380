"""Replays transcripts: each answer of ours is the recorded one, or the ledger says why it is not."""

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from amfs_sqlite import AmfsAdapter, FixedClock
from parity_tests.golden import wire
from parity_tests.golden.cast import Call, Cast
from parity_tests.golden.comparison import difference
from parity_tests.golden.deviations import ROWS, Case, Row
from parity_tests.golden.player import Player
from parity_tests.golden.reading import HASHES
from parity_tests.golden.recount import OurWorld, entries_in
from parity_tests.golden.sdk import SdkWorld
from parity_tests.golden.transcript import Answer, Step, Transcript

MakeAdapter = Callable[[FixedClock, str, str], AbstractAsyncContextManager[AmfsAdapter]]
"""Makes an adapter with this clock, this name in the transcript, and this namespace."""

CHANGING = frozenset({"write", "commit", "commitOutcome", "propagate", "propagateBatch"})
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


async def replay(transcript: Transcript, make: MakeAdapter, rows: Sequence[Row] = ROWS) -> Report:
    """Play a transcript, up to the first difference that these rows do not explain."""
    async with AsyncExitStack() as opened:

        async def open_adapter(clock: FixedClock, name: str, namespace: str) -> AmfsAdapter:
            return await opened.enter_async_context(make(clock, name, namespace))

        judged = Judgement(transcript, Player(transcript, open_adapter), rows)
        report = Report(transcript.name, judged.rows)
        for step in transcript.steps:
            report.difference = await judged.step(step)
            if report.difference is not None:
                break
        return report


class Judgement:
    """Follows a transcript on both sides, and judges each step."""

    def __init__(self, transcript: Transcript, player: Player, rows: Sequence[Row]) -> None:
        self.rows: set[str] = set()
        self._name = transcript.name
        self._player = player
        self._ledger = rows
        self._cast = Cast(transcript.clock_start)
        self._ours = OurWorld(self._cast)
        self._sdk = SdkWorld(self._cast, frozenset(row.id for row in rows), self._ours)

    async def step(self, step: Step) -> Difference | None:
        """Play a step; what is not explained about its answer."""
        call = self._cast.call(step)
        theirs = _snapshot(self._sdk.answer(self._cast.call(replace(step, args=copy.deepcopy(step.args)))))
        ours = _snapshot(self._ours.answer(call))
        got = (await self._player.play(step)).answer
        self._cast.enter(call)
        await self._observe(call, got)
        reason = self._unexplained(call, got, theirs, ours)
        if reason is None:
            return None
        return Difference(self._name, step, _said(step.recorded), _said(got), reason)

    async def _observe(self, call: Call, got: Answer) -> None:
        self._ours.remember(call.step, got.result)
        if call.op not in CHANGING or not call.actor.board:
            return
        adapter = self._player.resolve(call.actor.board)
        versions = [wire.answer(entry) for entry in await adapter.list(include_superseded=True)]
        commits = [wire.answer(commit) for commit in await adapter.list_commits()]
        self._ours.observe(call.step, call.actor.board, versions, commits)

    def _unexplained(self, call: Call, got: Answer, theirs: Answer, ours: Answer) -> str | None:
        recorded = call.step.recorded
        if call.op in NOT_COMPARED:
            return None
        if fault := self._ours.hash_fault(got.result):
            return fault
        has_hashes = any(row.id == "hashes" for row in self._ledger) and bool(entries_in(got.result))
        bare = _without_hashes if has_hashes else _as_it_is
        if _difference(recorded, got, bare) is None and (
            recorded.error is not None or _difference(_hashes(recorded), _hashes(theirs)) is None
        ):
            self.rows |= {"hashes"} if has_hashes else set()
            return None
        if theirs.is_void and not recorded.is_void:
            # Neither side has more to say about this call: nothing explains a difference.
            return _difference(recorded, got)
        if found := _difference(recorded, theirs):
            return f"no row makes the SDK answer so: {found}"
        if found := _difference(ours, got, bare):
            return f"this is not what we store: {found}"
        case = Case(call, recorded, self._ours.view(call), self._sdk.view(call))
        applying = {row.id for row in self._ledger if call.op in row.calls and row.when(case)}
        if not applying and not self._is_consequence(call):
            return "no row of the ledger applies"
        self.rows |= applying
        return None

    def _is_consequence(self, call: Call) -> bool:
        """Whether the two sides hold different things by now, because of what rows explained earlier."""
        return not self._sdk.holds_the_same(call, self._ours)


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
    bare = copy.deepcopy(answer)
    for entry in entries_in(bare):
        entry.update(dict.fromkeys(HASHES))
    return bare


def _hashes(answer: Answer) -> Answer:
    return replace(answer, result=[[entry[name] for name in HASHES] for entry in entries_in(answer.result)])
