"""The plugin of pytest that runs the contract on candidates, and keeps what came of every test."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from parity_tests import ledger
from parity_tests.adapters import AdapterKind
from parity_tests.conformance.candidates import Candidate
from parity_tests.conftest import KINDS_FOR
from parity_tests.nouns import NOUNS, noun_of

SHARING = "Sharing"
"""What is no noun, and claimed by a word: that several on one path, in several processes, see one store."""
FIXTURES = ("adapter_kind", "open_shared")

State = Literal["holds", "fails", "not run"]


@dataclass
class Result:
    """What came of one test. ``needs`` are the nouns not claimed that it needs; ``problem`` why it fails."""

    candidate: str
    noun: str
    test: str
    promises: tuple[str, ...]
    state: State = "holds"
    needs: tuple[str, ...] = ()
    problem: str = ""


@dataclass
class Suite:
    """Runs each contract test on the candidates that it concerns; ``claims`` is what each of them claims."""

    candidates: Sequence[Candidate]
    claims: Mapping[str, Sequence[str]]
    results: list[Result] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Why tests could not even be collected."""

    def __post_init__(self) -> None:
        self._promises = ledger.behaviours()
        self._running: dict[str, Result] = {}

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[KINDS_FOR] = self.kinds_for

    def kinds_for(self, metafunc: pytest.Metafunc) -> list[AdapterKind]:
        """The candidates that a test function is run on."""
        promised = {*_promised(metafunc.definition)}
        return [each.kind for each in self.candidates if each.promises is None or each.promises & promised]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            (kept if self._is_to_run(item) else left).append(item)
        items[:] = kept
        config.hook.pytest_deselected(items=left)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        candidate = self._candidate(item)
        if report.when == "setup":
            self._running[item.nodeid] = self._result(item, candidate)
            candidate.needed.clear()
        result = self._running[item.nodeid]
        if candidate.needed:
            result.state, result.needs = "not run", tuple(sorted(candidate.needed))
        elif report.failed:
            result.state = "fails"
            result.problem = result.problem or report.longreprtext
        elif report.skipped:
            result.state, result.problem = "not run", report.longreprtext
        if report.when == "teardown":
            self.results.append(self._running.pop(item.nodeid))
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid}: {report.longreprtext}")

    def _is_to_run(self, item: pytest.Item) -> bool:
        """Whether a test is run; of one that needs what is not claimed it is kept that it is not."""
        parameters = _parameters(item)
        kind = next((parameters[name] for name in FIXTURES if name in parameters), None)
        noun = self._noun(item)
        if noun == SHARING and not isinstance(kind, AdapterKind):
            self.results += [
                Result(each.name, SHARING, _name(item), tuple(_promised(item)), "not run", (SHARING,))
                for each in self.candidates
                if each.promises is None
            ]
        if noun is None or not isinstance(kind, AdapterKind):
            # Without an adapter it is of models and rules, which are the same for everybody.
            return False
        candidate = self._candidate(item)
        missing = self._needs(item, noun) - {*self.claims[candidate.name]}
        if missing:
            result = self._result(item, candidate)
            result.state, result.needs = "not run", tuple(sorted(missing))
            self.results.append(result)
        return not missing

    def _result(self, item: pytest.Item, candidate: Candidate) -> Result:
        return Result(candidate.name, self._noun(item) or "", _name(item), tuple(_promised(item)))

    def _candidate(self, item: pytest.Item) -> Candidate:
        parameters = _parameters(item)
        name = next(parameters[name].name for name in FIXTURES if name in parameters)
        return next(each for each in self.candidates if each.name == name)

    def _noun(self, item: pytest.Item) -> str | None:
        """The noun that a test is of: what its first promise is made by, or the operation it is about."""
        if "open_shared" in getattr(item, "fixturenames", ()):
            return SHARING
        for promise in _promised(item):
            for source in self._promises[promise].source:
                noun = source.partition(".")[0]
                if noun in NOUNS:
                    return noun
        return next(iter(sorted(_about(item))), None)

    def _needs(self, item: pytest.Item, noun: str) -> set[str]:
        return {noun, *_about(item)}


def _name(item: pytest.Item) -> str:
    return f"{item.path.name}::{item.name}"


def _promised(item: pytest.Item) -> Iterator[str]:
    for mark in item.iter_markers("behaviour"):
        yield from mark.args


def _parameters(item: pytest.Item) -> Mapping[str, Any]:
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else callspec.params


def _about(item: pytest.Item) -> set[str]:
    """The nouns that a test's parameters name, by an operation or by themselves."""
    parameters = _parameters(item)
    if "noun" in parameters:
        named = parameters["noun"].__name__
        return {named} if named in NOUNS else {*NOUNS}
    operation = parameters.get("operation")
    noun = noun_of(operation) if isinstance(operation, str) else None
    return set() if noun is None else {noun}
