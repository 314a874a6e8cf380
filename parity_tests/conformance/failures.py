"""Failures: equal ones together, each with the promise it breaks and an excerpt that can be read."""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from parity_tests.conformance.results import ROWS, Problem, Result
from parity_tests.ledger import Behaviour

SHOWN_LIMIT = 10
"""How many different failures are shown."""
LINES_LIMIT = 12
WIDTH = 110
NAMES_LIMIT = 5

# What pytest says of a switch that this command does not have.
_ADVICE = re.compile(r"\buse '?-v", re.IGNORECASE)


@dataclass(frozen=True)
class Failure:
    """Tests that fail alike; the first is the example."""

    noun: str
    problem: Problem
    results: Sequence[Result]


def failures(results: Sequence[Result]) -> list[Failure]:
    """All failures: those of the most basic noun first, and of one noun those of most tests."""
    alike: defaultdict[tuple[str, str], list[Result]] = defaultdict(list)
    for each in results:
        if each.state == "fails" and each.problem:
            alike[each.problem.error, each.problem.raised or each.fault].append(each)
    found = []
    for of_these in alike.values():
        noun = min((each.fault for each in of_these), key=ROWS.index)
        # An example of the noun's own tests shows what is broken better than another's.
        of_these.sort(key=lambda each: each.noun != noun)
        if of_these[0].problem:
            found.append(Failure(noun, of_these[0].problem, of_these))
    return sorted(found, key=lambda each: (ROWS.index(each.noun), -len(each.results)))


def lines(found: Sequence[Failure], behaviours: Mapping[str, Behaviour], *, shows_all: bool) -> Iterator[str]:
    """What is to be told of the failures; of a bounded length, unless all is to be shown."""
    shown = found if shows_all else found[:SHOWN_LIMIT]
    for each in shown:
        yield from _failure(each, behaviours, shows_all=shows_all)
        yield ""
    if len(found) > len(shown):
        count = sum(len(each.results) for each in found[len(shown) :])
        yield f"{len(found) - len(shown)} more that fail otherwise, in {_tests(count)}: --all shows them."
        yield ""


def _failure(failure: Failure, behaviours: Mapping[str, Behaviour], *, shows_all: bool) -> Iterator[str]:
    example, *others = failure.results
    promise, *more = example.promises
    yield f"{failure.noun}: {behaviours[promise].says}"
    yield from (f"  and: {behaviours[each].says}" for each in more)
    yield f"  {example.name}"
    problem = failure.problem
    told = problem.whole if shows_all and problem.whole else "\n".join(_excerpt(problem))
    yield from (f"  | {line}" for line in told.splitlines())
    if others:
        yield from _others(others, shows_all=shows_all)


def _excerpt(problem: Problem) -> Iterator[str]:
    if problem.at:
        yield textwrap.shorten(problem.at, WIDTH, placeholder=" ...")
    said = [line for line in problem.error.splitlines() if line.strip() and not _ADVICE.search(line)]
    for line in said[:LINES_LIMIT]:
        yield line if len(line) <= WIDTH else f"{line[:WIDTH]} ..."
    if len(said) > LINES_LIMIT:
        yield f"... {len(said) - LINES_LIMIT} more lines"
    if problem.raised:
        yield f"at {problem.raised}"


def _others(others: Sequence[Result], *, shows_all: bool) -> Iterator[str]:
    if shows_all:
        yield f"  {_tests(len(others))} more alike:"
        yield from (f"    {each.name}" for each in others)
        return
    counts = Counter(each.name.partition("[")[0] for each in others)
    names = [f"{name} ({count})" if count > 1 else name for name, count in counts.items()]
    rest = [f"and {len(names) - NAMES_LIMIT} others"] if len(names) > NAMES_LIMIT else []
    text = f"{_tests(len(others))} more alike: {', '.join([*names[:NAMES_LIMIT], *rest])}"
    yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
