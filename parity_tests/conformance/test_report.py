"""The report: what it says of every noun, of what was not tried, and of what fails, in bounded length."""

import io
from collections.abc import Sequence

from parity_tests.conformance.failures import LINES_LIMIT, SHOWN_LIMIT
from parity_tests.conformance.progress import Progress
from parity_tests.conformance.report import Report
from parity_tests.conformance.results import ROWS, Problem, Result, State
from parity_tests.ledger import proves
from parity_tests.nouns import lacking

END = len(ROWS) + 1
"""Where a report goes on behind its rows of nouns and a line between."""


def result(
    noun: str, state: State, *needs: str, test: str = "test_it", promise: str = "entries.list-order"
) -> Result:
    problem = (
        Problem("AssertionError: 1 != 2", at="test_it.py:7: assert 1 == 2") if state == "fails" else None
    )
    return Result("mine", noun, f"test_it.py::{test}[mine]", (promise,), state, needs, problem)


def failing(noun: str, test: str, error: str, *, raised: str = "", fault: str = "") -> Result:
    problem = Problem(error, raised=raised, noun=fault, whole=f"all of {error}")
    return Result("mine", noun, f"test_it.py::{test}", ("entries.history",), "fails", (), problem)


def report(results: Sequence[Result], *claims: str) -> Report:
    return Report(results, claims, lacking(object))


def told(results: Sequence[Result], *claims: str, shows_all: bool = False) -> list[str]:
    return list(report(results, *claims).lines(shows_all=shows_all))


@proves("conformance.report")
def test_the_report_tells_what_was_not_run_and_for_want_of_what() -> None:
    results = [result("Entries", "holds"), result("Entries", "not run", "Commits", "Search")]
    rows = told([*results, result("Search", "not run", "Search")], "Entries")
    assert rows[0].startswith("Lifecycle   not claimed")
    assert rows[1] == "Entries     holds        1 hold; 1 not run, for want of Commits, Search"
    assert rows[5] == "Search      not claimed  lacks search (1 not run)"
    assert rows[END - 2] == "Sharing     not claimed  say --shares to claim it (0 not run)"
    assert rows[-1] == "Everything it claims holds."
    assert report(results, "Entries").holds()


@proves("conformance.report")
def test_the_report_lists_what_is_promised_and_was_not_tried() -> None:
    kept = result("Entries", "holds", promise="entries.history")
    results = [kept, result("Entries", "not run", "Commits"), result("Search", "not run", "Search")]
    rows = told(results, "Entries")
    assert rows[END] == "Promised and not tried: 1."
    assert rows[END + 1].startswith("  Entries: A list keeps the order")
    assert rows[-1] == "Everything it claims holds, as far as it was tried."


@proves("conformance.report")
def test_the_report_tells_of_a_failing_test_what_was_promised_first() -> None:
    results = [result("Entries", "holds"), result("Entries", "fails")]
    rows = told(results, "Entries")
    assert rows[1] == "Entries     FAILS        1 hold; 1 fail"
    assert rows[END].startswith("Entries: A list keeps the order in which keys were first written")
    assert rows[END + 1 : END + 5] == [
        *("  test_it.py::test_it", "  | test_it.py:7: assert 1 == 2", "  | AssertionError: 1 != 2", "")
    ]
    assert rows[END + 5 :] == ["Not everything it claims holds. Tests that fail: 1."]
    assert not report(results, "Entries").holds()


@proves("conformance.exit-codes")
def test_what_is_claimed_and_could_not_be_tried_does_not_hold() -> None:
    results = [result("Integrity", "not run", "Entries")]
    rows = told(results, "Integrity")
    assert rows[7] == "Integrity   untried      0 hold; 1 not run, for want of Entries"
    assert rows[-1] == "Not everything it claims could be tried."
    assert not report(results, "Integrity").holds()


@proves("conformance.grouped")
def test_equal_failures_are_told_once_and_count_against_the_noun_whose_operation_failed() -> None:
    lost = [
        failing(noun, f"test_{n}", "NotImplementedError", raised="mine.py:3 in verify", fault="Integrity")
        for n, noun in enumerate(["Entries", "Entries", "Integrity", "Lifecycle"])
    ]
    rows = told([*lost, result("Lifecycle", "holds")], "Lifecycle", "Entries", "Integrity")
    assert rows[0] == "Lifecycle   holds        1 hold; 1 not run, for want of Integrity"
    assert rows[1] == "Entries     untried      0 hold; 2 not run, for want of Integrity"
    assert rows[7] == "Integrity   FAILS        0 hold; 4 fail"
    text = "\n".join(rows)
    assert text.count("NotImplementedError") == 1
    assert "  test_it.py::test_2\n" in text
    assert "  3 tests more alike: test_it.py::test_0, test_it.py::test_1, test_it.py::test_3" in text


@proves("conformance.grouped")
def test_failures_of_the_most_basic_noun_come_first() -> None:
    results = [failing(noun, "test_it", f"Error: {noun}") for noun in ("Search", "Entries", "Lifecycle")]
    told_of = [row.split(":")[0] for row in told(results, "Search", "Entries", "Lifecycle")[END - 1 :]]
    assert [each for each in told_of if each in ("Search", "Entries", "Lifecycle")] == [
        *("Lifecycle", "Entries", "Search")
    ]


@proves("conformance.grouped")
def test_a_report_is_of_bounded_length_unless_all_is_asked_for() -> None:
    long = "\n".join(f"line {number} {'x' * 500}" for number in range(1000))
    results = [failing("Entries", f"test_{n}", f"Error {n}: {long}") for n in range(500)]
    rows = told(results, "Entries")
    assert len(rows) < 20 + SHOWN_LIMIT * (LINES_LIMIT + 6)
    assert max(map(len, rows[END:])) < 200
    assert (
        rows[-3]
        == f"{500 - SHOWN_LIMIT} more that fail otherwise, in {500 - SHOWN_LIMIT} tests: --all shows them."
    )
    assert "\n".join(told(results, "Entries", shows_all=True)).count("all of Error") == 500


@proves("conformance.progress")
def test_progress_is_one_line_that_is_written_over_on_a_terminal() -> None:
    stream = io.StringIO()
    progress = Progress(stream, is_told=True, is_live=True)
    progress.collected(2, before=0)
    for _ in range(2):
        progress.begins(result("Entries", "holds"))
    progress.done()
    assert "\n" not in stream.getvalue()
    assert "\rtest 2 of 2, Entries: test_it.py::test_it" in stream.getvalue()
    assert stream.getvalue().endswith(" \r")
