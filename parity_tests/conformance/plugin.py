"""The plugin of pytest that runs the contract on candidates, and keeps what came of every test."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any

import pytest

from parity_tests import ledger
from parity_tests.adapters import AdapterKind
from parity_tests.conformance import concerns
from parity_tests.conformance.candidates import Candidate
from parity_tests.conformance.problems import HungError, problem_of
from parity_tests.conformance.results import ROWS, SHARING, End, Result
from parity_tests.conftest import KINDS_FOR

ENDING = (SystemExit, KeyboardInterrupt)
"""After one of these was raised, neither the event loop nor pytest can be relied on."""


class Listener:
    """Is told of the tests while they run; this one does not care."""

    def collected(self, count: int) -> None:
        """So many tests will be run."""

    def begins(self, result: Result) -> None:
        """A test begins; nothing has come of it yet."""

    def ends(self, result: Result) -> None:
        """Something has come of a test."""

    def breaks_off(self, result: Result) -> None:
        """A test has raised what ends a process: what comes after it tells nothing."""


@dataclass(frozen=True)
class Choice:
    """Which tests are run: those of these nouns (none: of all) that are not done, each for so long."""

    nouns: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    timeout_s: float | None = None


@dataclass
class Suite:
    """Runs each contract test on the candidates that it concerns; ``claims`` is what each of them claims."""

    candidates: Sequence[Candidate]
    claims: Mapping[str, Sequence[str]]
    choice: Choice = field(default_factory=Choice)
    listener: Listener = field(default_factory=Listener)
    results: list[Result] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Why tests could not even be collected."""

    def __post_init__(self) -> None:
        self._promises = ledger.behaviours()
        self._running: dict[str, Result] = {}

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[KINDS_FOR] = self.kinds_for
        # What pytest tells of a failure is not used, and its own style takes a tenth of a second.
        config.option.tbstyle = "native"

    def kinds_for(self, metafunc: pytest.Metafunc) -> list[AdapterKind]:
        """The candidates that a test function is run on."""
        promised = {*concerns.promised(metafunc.definition)}
        return [each.kind for each in self.candidates if each.promises is None or each.promises & promised]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            (kept if self._is_to_run(item) else left).append(item)
        items[:] = sorted(kept, key=lambda item: ROWS.index(self._noun(item) or SHARING))
        config.hook.pytest_deselected(items=left)
        self.listener.collected(len(items))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        seconds = self.choice.timeout_s
        if seconds is not None and isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            item.obj = within(item.obj, seconds)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        candidate = self._candidate(item)
        candidate.needed.clear()
        self._running[item.nodeid] = self._result(item, candidate)
        self.listener.begins(self._running[item.nodeid])
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        result = self._running[item.nodeid]
        needed = self._candidate(item).needed
        if needed:
            result.state, result.needs, result.problem = "not run", tuple(sorted(needed)), None
        elif report.failed and call.excinfo is not None:
            self._fails(result, call.excinfo.value)
        elif report.skipped:
            result.state = "not run"
        if report.when == "teardown":
            self._ends(item.nodeid)
        return report

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        for nodeid, result in tuple(self._running.items()):
            self._fails(result, excinfo.value)
            self._ends(nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid}: {report.longreprtext}")

    def _fails(self, result: Result, error: BaseException) -> None:
        end: End = "failed"
        if isinstance(error, HungError):
            end = "hung"
        elif isinstance(error, ENDING):
            end = "ended"
        result.state = "fails"
        result.problem = result.problem or problem_of(error, end)
        if end == "ended":
            self.listener.breaks_off(result)

    def _ends(self, nodeid: str) -> None:
        result = self._running.pop(nodeid)
        self.results.append(result)
        self.listener.ends(result)

    def _is_to_run(self, item: pytest.Item) -> bool:
        """Whether a test is run; of one that needs what is not claimed it is kept that it is not."""
        kind, noun = concerns.adapter_kind(item), self._noun(item)
        if self.choice.nouns and noun not in self.choice.nouns:
            return False
        if noun == SHARING and kind is None:
            self.results += [
                Result(
                    *(each.name, SHARING, concerns.name(item), tuple(concerns.promised(item))),
                    *("not run", (SHARING,)),
                )
                for each in self.candidates
                if each.promises is None
            ]
        if kind is None:
            # Without an adapter it is of models and rules, which are the same for everybody.
            return False
        if noun is None:
            self.broken.append(f"{concerns.name(item)}: proves nothing that an operation promises")
            return False
        candidate = self._candidate(item)
        missing = {noun, *concerns.about(item)} - {*self.claims[candidate.name]}
        if missing:
            result = self._result(item, candidate)
            result.state, result.needs = "not run", tuple(sorted(missing))
            self.results.append(result)
        return not missing and concerns.name(item) not in self.choice.done

    def _result(self, item: pytest.Item, candidate: Candidate) -> Result:
        name, promised = concerns.name(item), tuple(concerns.promised(item))
        return Result(candidate.name, self._noun(item) or "", name, promised)

    def _candidate(self, item: pytest.Item) -> Candidate:
        kind = concerns.adapter_kind(item)
        return next(each for each in self.candidates if each.kind is kind)

    def _noun(self, item: pytest.Item) -> str | None:
        return concerns.noun(item, self._promises)


def within(test: Callable[..., Awaitable[None]], seconds: float) -> Callable[..., Awaitable[None]]:
    """A test that is stopped after so many seconds, if it can be, and so shows where it hung."""

    @functools.wraps(test)
    async def timed(**arguments: Any) -> None:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                await test(**arguments)
        except TimeoutError as late:
            if not limit.expired():
                raise
            raise HungError(f"no answer within {seconds:g} s") from late

    return timed
