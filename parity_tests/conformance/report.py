"""The report: noun by noun what holds, what fails, and what is not claimed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from parity_tests import ledger
from parity_tests.conformance.plugin import SHARING, Result
from parity_tests.nouns import NOUNS

WIDTH = max(len(noun) for noun in (*NOUNS, SHARING)) + 2
ROWS = (*NOUNS, SHARING)


def holds(results: Sequence[Result], claims: Sequence[str]) -> bool:
    """Whether everything that is claimed was tried, and held."""
    return all(verdict(noun, results, claims) in ("holds", "not claimed") for noun in ROWS)


def verdict(noun: str, results: Sequence[Result], claims: Sequence[str]) -> str:
    """What is to be said of a noun: `holds`, `FAILS`, `not claimed`, or `untried`."""
    if noun not in claims:
        return "not claimed"
    states = {each.state for each in results if each.noun == noun}
    if "fails" in states:
        return "FAILS"
    return "holds" if "holds" in states else "untried"


def lines(
    results: Sequence[Result], claims: Sequence[str], lacks: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """The report, line by line: a row for each noun, then every test that fails."""
    for noun in ROWS:
        of_noun = [each for each in results if each.noun == noun]
        said = verdict(noun, results, claims)
        if noun in claims:
            yield f"{noun:<{WIDTH}}{said:<13}{_counts(of_noun)}".rstrip()
        else:
            why = f"lacks {', '.join(lacks[noun])}" if noun in lacks else "say --shares to claim it"
            yield f"{noun:<{WIDTH}}{said:<13}{why} ({len(of_noun)} not run)"
    yield ""
    failures = [each for each in results if each.state == "fails"]
    for each in failures:
        yield from _failure(each)
    if failures:
        yield f"Not everything it claims holds. Tests that fail: {len(failures)}."
    elif holds(results, claims):
        yield "Everything it claims holds."
    else:
        yield "Not everything it claims could be tried."


def _counts(results: Sequence[Result]) -> str:
    states = Counter(each.state for each in results)
    parts = [f"{states['holds']} hold"]
    if states["fails"]:
        parts.append(f"{states['fails']} fail")
    if states["not run"]:
        needs = Counter(noun for each in results for noun in each.needs)
        named = [noun for noun in ROWS if noun in needs]
        parts.append(f"{states['not run']} not run" + (f", for want of {', '.join(named)}" if named else ""))
    return "; ".join(parts)


def _failure(result: Result) -> Iterator[str]:
    yield f"{result.noun}: {result.test}"
    promises = ledger.behaviours()
    for promise in result.promises:
        yield f"  promised: {promises[promise].says}"
    yield from (f"  | {line}" for line in result.problem.splitlines())
    yield ""
