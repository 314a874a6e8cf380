"""A trial: when operations are given up, and what is blamed."""

from pathlib import Path

import pytest

from amfs_sqlite import ReferenceAdapter
from parity_tests.conformance import problems
from parity_tests.conformance.broken import factory_of
from parity_tests.conformance.candidates import Candidate
from parity_tests.conformance.messages import Begun, Ended, Finished
from parity_tests.conformance.problems import Place, dumped, one_line, problem_of, to_blame
from parity_tests.conformance.results import Problem, Result
from parity_tests.conformance.run import claims, lacks
from parity_tests.conformance.trial import LOSSES_LIMIT, Trial
from parity_tests.ledger import proves

TEST = str(Path(problems.CONTRACT) / "test_it.py")
DUMP = """Timeout (0:00:02)!
Thread 0x01 (most recent call first):
  File "/elsewhere/threads.py", line 5 in search

Thread 0x02 (most recent call first):
  File "/elsewhere/locks.py", line 3 in wait
  File "/elsewhere/mine.py", line 2 in scopes
  File "{test}", line 1 in test_it
"""


def lost(number: int) -> Result:
    problem = Problem("no answer within 1 s", noun="Search", end="hung")
    return Result("mine", "Entries", f"test_{number}", ("entries.history",), "fails", (), problem)


@proves("conformance.timeouts")
def test_a_noun_whose_operations_hang_is_given_up_and_no_other() -> None:
    trial = Trial("mine:factory")
    for number in range(LOSSES_LIMIT):
        assert trial.given_up == set()
        trial.hear(Begun(lost(number)))
        trial.hear(Ended(lost(number)))
    assert trial.given_up == {"Search"}
    not_run = Result("mine", "Search", "test_0", ("entries.history",), "not run", ("Search",))
    trial.hear(Finished([not_run], []))
    assert trial.results["test_0"].state == "fails"


@proves("conformance.timeouts")
def test_what_was_given_up_counts_as_not_claimed() -> None:
    candidate = Candidate("mine", factory_of(ReferenceAdapter), shares=True, without=frozenset({"Search"}))
    claimed = claims(candidate, lacks(candidate))
    assert "Search" not in claimed
    assert {"Entries", "Sharing"} <= {*claimed}


@proves("conformance.grouped")
@pytest.mark.parametrize(
    ("functions", "place", "noun"),
    [
        (["verify"], "mine.py:1 in verify", "Integrity"),
        (["verify", "list"], "mine.py:2 in list", "Integrity"),
        (["make_up", "search", "find"], "mine.py:3 in find", "Search"),
        (["make_up"], None, ""),
        (["__aenter__"], None, ""),
    ],
)
def test_the_noun_to_blame_is_that_of_the_operation_that_was_called(
    functions: list[str], place: str | None, noun: str
) -> None:
    called = [Place("/elsewhere/mine.py", line, name) for line, name in enumerate(functions, 1)]
    found, blamed = to_blame([Place(TEST, 9, "list"), *called])
    assert (found and str(found), blamed) == (place, noun)


@proves("conformance.grouped")
def test_the_place_where_a_process_hung_is_read_from_the_thread_of_the_tests() -> None:
    found, blamed = to_blame(dumped(DUMP.format(test=TEST)))
    assert (str(found), blamed) == ("locks.py:3 in wait", "Statistics")


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError


@proves("conformance.endings")
def test_an_error_is_told_whatever_its_message_does() -> None:
    assert one_line(UnspeakableError()) == "UnspeakableError: (its message cannot be read)"
    assert one_line(ValueError("a\ud800b\n\x1b[31m c")) == r"ValueError: a\ud800b \x1b[31m c"
    assert len(problem_of(ValueError("x" * 10**6)).error) < 5000
