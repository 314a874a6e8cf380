"""A trial: the tests run in a child, and in another one after each test that took its child along."""

import multiprocessing
import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from parity_tests.conformance.child import STARTING_S, Order, work
from parity_tests.conformance.messages import (
    Begun,
    Collected,
    Doing,
    Ended,
    Finished,
    Lacking,
    Message,
    Refused,
)
from parity_tests.conformance.problems import dumped, to_blame
from parity_tests.conformance.progress import Progress
from parity_tests.conformance.results import End, Problem, Result

GRACE_S = 2.0
"""How long after its time a test has for letting itself be stopped, before its process is ended."""
SLICE_S = 0.5
"""How often it is looked whether a child that says nothing is still there."""
LOSSES_LIMIT = 3
"""After so many tests that hung or ended in operations of one noun, no more that need it are run."""


class LostError(Exception):
    """A child was lost: it hung, or it ended before it had finished."""

    def __init__(self, how: str, end: End) -> None:
        super().__init__(how)
        self.end = end


class Child:
    """A process that runs the tests. Leaving it ends it."""

    def __init__(self, order: Order) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(theirs, order))
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    def messages(self, timeout_s: float, grace_s: float) -> Iterator[Message]:
        """What it tells, until it has finished. Raises LostError where it does not."""
        limit_s = STARTING_S
        while True:
            message = self._next(limit_s, grace_s)
            yield message
            if isinstance(message, Refused | Finished):
                return
            if isinstance(message, Doing):
                limit_s = message.timeout_s
            else:
                limit_s = STARTING_S if isinstance(message, Collected) else timeout_s

    def _next(self, limit_s: float, grace_s: float) -> Message:
        for _ in range(max(1, round((limit_s + grace_s) / SLICE_S))):
            # Whether it is there is asked first, so that nothing it told at its end is overlooked.
            is_there = self._process.is_alive()
            if self._connection.poll(SLICE_S if is_there else 0):
                return self._received()
            if not is_there:
                raise self._ended()
        raise LostError(f"no answer within {limit_s:g} s", "hung")

    def _received(self) -> Message:
        try:
            message: Message = self._connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            raise self._ended() from None
        return message

    def _ended(self) -> LostError:
        self._process.join(SLICE_S)
        code = self._process.exitcode
        if code is None:
            return LostError("its process tells nothing more", "ended")
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        return LostError(f"its process was ended {how}", "ended")


@dataclass
class Trial:
    """What is asked for, and what came of it.

    ``refused`` is why nothing could be tried, with its exit code; ``given_up`` are the nouns whose
    operations hung or ended their process too often.
    """

    adapter: str
    shares: bool = False
    nouns: frozenset[str] = frozenset()
    timeout_s: float = 10.0
    stops: bool = False
    progress: Progress = field(default_factory=Progress)
    lacks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    refused: Refused | None = None
    given_up: set[str] = field(default_factory=set)
    was_stopped: bool = False
    _doing: str = "starting"
    _running: Result | None = None

    def run(self) -> None:
        """Run all tests that are asked for."""
        with tempfile.TemporaryDirectory() as folder:
            while not self._is_over(Path(folder) / "dump.txt"):
                continue
        self.progress.done()

    def _is_over(self, dump: Path) -> bool:
        """Whether nothing is left to run after another child."""
        done, given_up = frozenset(self.results), frozenset(self.given_up)
        order = Order(self.adapter, self.shares, self.timeout_s, self.nouns, done, given_up, str(dump))
        self._doing, self._running = "starting", None
        with Child(order) as child:
            try:
                for message in child.messages(self.timeout_s, GRACE_S):
                    self.hear(message)
                    if self._is_enough():
                        return True
                    if isinstance(message, Ended) and (message.breaks_off or self.given_up != given_up):
                        return False
            except LostError as lost:
                return self._lose(lost, dump)
        return True

    def hear(self, message: Message) -> None:
        """Take up what a child tells."""
        match message:
            case Doing(what):
                self._doing = what
            case Refused():
                self.refused = message
            case Lacking(missing):
                self.lacks = missing
            case Collected(count):
                self.progress.collected(count, len(self.results))
            case Begun(result):
                self._running = result
                self.progress.begins(result)
            case Ended(result):
                self._keep(result)
            case Finished(not_run, broken):
                self.results = {each.test: each for each in not_run} | self.results
                if broken:
                    self.refused = Refused("\n".join(broken), 1)

    def _lose(self, lost: LostError, dump: Path) -> bool:
        if self._running is None:
            self.refused = Refused(f"{self.adapter} could not be tried: {self._doing}, {lost}", 1)
            return True
        place, noun = to_blame(dumped(dump.read_text(encoding="utf-8", errors="replace")))
        self._running.state = "fails"
        self._running.problem = Problem(str(lost), raised=str(place or ""), noun=noun, end=lost.end)
        self._keep(self._running)
        return self._is_enough()

    def _is_enough(self) -> bool:
        self.was_stopped = self.stops and any(each.state == "fails" for each in self.results.values())
        return self.was_stopped

    def _keep(self, result: Result) -> None:
        self.results[result.test] = result
        self._running = None
        if result.problem and result.problem.end != "failed":
            self.progress.loses(result)
            losses = Counter(
                each.fault for each in self.results.values() if each.problem and each.problem.end != "failed"
            )
            self.given_up |= {noun for noun, count in losses.items() if count >= LOSSES_LIMIT}
