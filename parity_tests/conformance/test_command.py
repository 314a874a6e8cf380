"""The command: what it reports, how it ends, and that it needs nothing around it."""

import pytest

from parity_tests.__main__ import main
from parity_tests.conformance.conftest import Elsewhere
from parity_tests.conformance.results import ROWS
from parity_tests.ledger import proves

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


@proves("conformance.report", "conformance.alone", "conformance.exit-codes")
def test_an_adapter_is_tried_from_any_folder_and_nothing_is_left_there(elsewhere: Elsewhere) -> None:
    (elsewhere.folder / "mine.py").write_text(MINE)
    (elsewhere.folder / "pytest.ini").write_text(STRANGE)
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory", PYTEST_ADDOPTS="--no-such-option")
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    rows, (empty, *untried, last) = said[: len(ROWS)], said[len(ROWS) :]
    assert [row.split()[0] for row in rows] == [*ROWS]
    assert [row.split()[0] for row in rows if "not claimed" not in row] == ["Lifecycle"]
    (own,) = (row.split()[1:4] for row in rows if row.startswith("Lifecycle"))
    assert own == ["holds", own[1], "hold;"]
    assert int(own[1]) > 5
    assert (empty, last) == ("", "Everything it claims holds, as far as it was tried.")
    assert untried[0].startswith("Promised and not tried: ")
    assert {path.name for path in elsewhere.folder.iterdir()} == {"mine.py", "pytest.ini"}


@proves("conformance.exit-codes", "conformance.report")
def test_what_does_not_hold_is_told_with_its_promise_and_ends_with_1(elsewhere: Elsewhere) -> None:
    broken = MINE.replace("setattr(Mine, name,", "setattr(Mine, name, name == 'policy_name' or")
    (elsewhere.folder / "mine.py").write_text(broken)
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory")
    assert (done.returncode, done.stderr) == (1, "")
    assert "Lifecycle   FAILS" in done.stdout
    assert "Lifecycle: An adapter tells its namespace and its outcome policy." in done.stdout
    stopped = elsewhere.run("parity_tests", "--adapter", "mine:factory", "-x")
    assert stopped.returncode == 1
    assert " 1 fail; " in stopped.stdout
    assert stopped.stdout.endswith("Not everything it claims holds: stopped at the first failure.\n")


@proves("conformance.nouns")
def test_a_noun_that_is_not_claimed_cannot_be_asked_for(elsewhere: Elsewhere) -> None:
    (elsewhere.folder / "mine.py").write_text(MINE)
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory", "--noun", "Search")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mine:factory does not claim Search\n"


@proves("conformance.nouns", "conformance.progress")
def test_one_noun_can_be_tried_and_followed(elsewhere: Elsewhere) -> None:
    (elsewhere.folder / "mine.py").write_text(MINE)
    options = ("--noun", "Lifecycle", "--progress")
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory", *options)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[:1]] == ["Lifecycle"]
    assert done.stderr.startswith("test 1 of ")
    assert done.stderr.endswith(", Lifecycle\n")


@proves("conformance.timeouts")
@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_is_a_number_of_seconds(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--adapter", "mine:factory", "--timeout", seconds])
    assert ended.value.code == 2
    assert f"{seconds!r} is no number of seconds above 0" in capsys.readouterr().err
