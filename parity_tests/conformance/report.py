"""The report: noun by noun what holds, what fails, and what is not claimed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from parity_tests import ledger
from parity_tests.conformance import failures
from parity_tests.conformance.concerns import noun_of_promise
from parity_tests.conformance.results import ROWS, SHARING, Result

WIDTH = max(len(noun) for noun in ROWS) + 2
UNTRIED_LIMIT = 10
HOLDS = "Everything it claims holds."


@dataclass
class Report:
    """What came of the tests of an adapter, which ``claims`` these nouns and ``lacks`` operations of others.

    ``rows`` are the nouns to be told of, ``given_up`` those of which not all tests were run, since their
    operations hung or ended their process.
    """

    results: Sequence[Result]
    claims: Sequence[str]
    lacks: Mapping[str, Sequence[str]]
    rows: Sequence[str] = ROWS
    given_up: Sequence[str] = ()
    is_whole: bool = True
    promises: Mapping[str, ledger.Behaviour] = field(default_factory=ledger.behaviours)

    def holds(self) -> bool:
        """Whether everything that is claimed was tried, and held."""
        said = all(self.verdict(noun) in ("holds", "not claimed") for noun in self.rows)
        return self.is_whole and said and not self._failing()

    def verdict(self, noun: str) -> str:
        """What is to be said of a noun: `holds`, `FAILS`, `not claimed`, or `untried`."""
        if noun not in self.claims:
            return "not claimed"
        if any(each.fault == noun for each in self._failing()):
            return "FAILS"
        return "holds" if any(each.state == "holds" for each in self._of(noun)) else "untried"

    def untried(self) -> list[str]:
        """The promises of what is claimed that no test tried, for want of something else."""
        tried = {promise for each in self.results if each.was_tried for promise in each.promises}
        claimed = {*self.claims} & {*self.rows}
        asked = {promise for each in self.results if each.noun in claimed for promise in each.promises}
        claimed -= {*self.given_up}
        return [each for each in self.promises if each in asked - tried and self._noun(each) in claimed]

    def lines(self, *, shows_all: bool = False) -> Iterator[str]:
        """The report, line by line: a row for each noun, what was not tried, and what fails."""
        yield from (self._row(noun) for noun in self.rows)
        yield ""
        if self.given_up:
            yield f"Given up, since operations hung or ended their process: {', '.join(self.given_up)}."
            yield ""
        yield from self._untried(shows_all=shows_all)
        found = failures.failures(self.results)
        yield from failures.lines(found, self.promises, shows_all=shows_all)
        yield self._end()

    def _row(self, noun: str) -> str:
        said = f"{noun:<{WIDTH}}{self.verdict(noun):<13}"
        if noun in self.claims:
            return f"{said}{self._counts(noun)}".rstrip()
        why = f"lacks {', '.join(self.lacks[noun])}" if noun in self.lacks else "say --shares to claim it"
        return f"{said}{why} ({len(self._of(noun))} not run)"

    def _counts(self, noun: str) -> str:
        states = Counter(each.state for each in self._of(noun) if each.was_tried or each.state == "not run")
        parts = [f"{states['holds']} hold"]
        fails = [each for each in self._failing() if each.fault == noun]
        if fails:
            parts.append(f"{len(fails)} fail")
        not_run = [each for each in self._of(noun) if not each.was_tried]
        if not_run:
            needs = {need for each in not_run for need in (each.needs or {each.fault})} - {noun}
            named = ", ".join(each for each in ROWS if each in needs)
            parts.append(f"{len(not_run)} not run" + (f", for want of {named}" if named else ""))
        return "; ".join(parts)

    def _untried(self, *, shows_all: bool) -> Iterator[str]:
        untried = self.untried()
        if untried:
            yield f"Promised and not tried: {len(untried)}."
            shown = untried if shows_all else untried[:UNTRIED_LIMIT]
            yield from (f"  {self._noun(each)}: {self.promises[each].says}" for each in shown)
            if len(untried) > len(shown):
                yield f"  and {len(untried) - len(shown)} more: --all shows them"
            yield ""

    def _end(self) -> str:
        failing = len(self._failing())
        if not self.is_whole:
            return "Not everything it claims holds: stopped at the first failure."
        if failing:
            return f"Not everything it claims holds. Tests that fail: {failing}."
        if not self.holds():
            return "Not everything it claims could be tried."
        return "Everything it claims holds, as far as it was tried." if self.untried() else HOLDS

    def _failing(self) -> list[Result]:
        return [each for each in self.results if each.state == "fails"]

    def _of(self, noun: str) -> list[Result]:
        return [each for each in self.results if each.noun == noun]

    def _noun(self, promise: str) -> str:
        return noun_of_promise(self.promises[promise]) or SHARING
