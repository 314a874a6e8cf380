"""The command: what it reports, how it ends, and that it needs nothing around it."""

from pathlib import Path

import pytest

from parity_tests.__main__ import main
from parity_tests.conformance import report
from parity_tests.conformance.conftest import Elsewhere
from parity_tests.conformance.plugin import SHARING, Result, State
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS, lacking

# Opens and closes alone, so that few tests are run.
MINE = """
from amfs_sqlite import ReferenceAdapter
from amfs_sqlite.protocol import Lifecycle

class Mine(Lifecycle):
    def __init__(self, **options):
        self._inner = ReferenceAdapter(**options)

for name in ("namespace", "policy_name", "open", "close", "__aenter__", "__aexit__"):
    setattr(Mine, name, vars(ReferenceAdapter)[name])
Mine._store = property(lambda self: self._inner._store)
Mine._feed = property(lambda self: self._inner._feed)

def factory(path, **options):
    return Mine(**options)
"""
STRANGE = "[pytest]\naddopts = --no-such-option\nasyncio_mode = auto\n"


def result(noun: str, state: State, *needs: str) -> Result:
    return Result("mine", noun, "test_it.py::test_it", ("entries.list-order",), state, needs, "E  1 != 2")


def told(results: list[Result], *claims: str) -> list[str]:
    return list(report.lines(results, claims, lacking(object)))


@proves("conformance.report", "conformance.alone", "conformance.exit-codes")
def test_an_adapter_is_tried_from_any_folder_and_nothing_is_left_there(elsewhere: Elsewhere) -> None:
    (elsewhere.folder / "mine.py").write_text(MINE)
    (elsewhere.folder / "pytest.ini").write_text(STRANGE)
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory", PYTEST_ADDOPTS="--no-such-option")
    assert (done.returncode, done.stderr) == (0, "")
    *rows, empty, last = done.stdout.splitlines()
    assert [row.split()[0] for row in rows] == [*NOUNS, SHARING]
    assert [row.split()[0] for row in rows if "not claimed" not in row] == ["Lifecycle"]
    (own,) = (row.split()[1:4] for row in rows if row.startswith("Lifecycle"))
    assert own == ["holds", own[1], "hold;"]
    assert int(own[1]) > 5
    assert (empty, last) == ("", "Everything it claims holds.")
    assert {path.name for path in elsewhere.folder.iterdir()} == {"mine.py", "pytest.ini"}


@proves("conformance.exit-codes", "conformance.report")
def test_what_does_not_hold_is_told_with_its_promise_and_ends_with_1(elsewhere: Elsewhere) -> None:
    broken = MINE.replace("setattr(Mine, name,", "setattr(Mine, name, name == 'open' and print or")
    (elsewhere.folder / "mine.py").write_text(broken)
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory")
    assert (done.returncode, done.stderr) == (1, "")
    assert "Lifecycle   FAILS" in done.stdout
    assert "promised: Every operation of an adapter takes what the protocol's takes" in done.stdout


@proves("conformance.exit-codes")
@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("json", "names no factory; write it like package.module:factory"),
        (":factory", "names no factory"),
        ("no_such_module:factory", "cannot be imported"),
        ("json:no_such_name", "cannot be imported"),
        ("json:__name__", "is a str, which cannot be called"),
        ("json:loads", "does not take (path, *, namespace, outcomes, clock, ids)"),
        ("builtins:dict.fromkeys", "does not take"),
        ("types:SimpleNamespace", "does not take"),
    ],
)
def test_what_is_no_adapter_is_told_in_one_line(
    place: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--adapter", place]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert problem in said.err
    assert len(said.err.splitlines()) == 1


@proves("conformance.exit-codes")
def test_what_cannot_be_opened_cannot_be_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "never_opened.py").write_text("def factory(path, **options): return []")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["--adapter", "never_opened:factory"]) == 2
    assert "makes a list without namespace, policy_name, open" in capsys.readouterr().err


@proves("conformance.report")
def test_the_report_tells_what_was_not_run_and_for_want_of_what() -> None:
    results = [result("Entries", "holds"), result("Entries", "not run", "Commits", "Search")]
    rows = told([*results, result("Search", "not run", "Search")], "Entries")
    assert rows[0] == "Entries     holds        1 hold; 1 not run, for want of Commits, Search"
    assert rows[4] == "Search      not claimed  lacks search (1 not run)"
    assert rows[8] == "Sharing     not claimed  say --shares to claim it (0 not run)"
    assert rows[-1] == "Everything it claims holds."
    assert report.holds(results, ["Entries"])


@proves("conformance.report")
def test_the_report_tells_of_every_failing_test_what_was_promised() -> None:
    results = [result("Entries", "holds"), result("Entries", "fails")]
    rows = told(results, "Entries")
    assert rows[0] == "Entries     FAILS        1 hold; 1 fail"
    assert rows[10] == "Entries: test_it.py::test_it"
    assert rows[11].startswith("  promised: ")
    assert rows[12:] == ["  | E  1 != 2", "", "Not everything it claims holds. Tests that fail: 1."]
    assert not report.holds(results, ["Entries"])


@proves("conformance.exit-codes")
def test_what_is_claimed_and_could_not_be_tried_does_not_hold() -> None:
    results = [result("Integrity", "not run", "Entries")]
    rows = told(results, "Integrity")
    assert rows[6] == "Integrity   untried      0 hold; 1 not run, for want of Entries"
    assert rows[-1] == "Not everything it claims could be tried."
    assert not report.holds(results, ["Integrity"])
