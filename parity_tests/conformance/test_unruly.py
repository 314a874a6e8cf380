"""Whatever an adapter does to its process, there is a report, and it does not end with 0."""

import subprocess

import pytest

from parity_tests.conformance.conftest import Elsewhere
from parity_tests.ledger import proves

OPENING = """
import asyncio, os
from amfs_sqlite import ReferenceAdapter

class Mine(ReferenceAdapter):
    async def __aenter__(self):
        {opens}
        return await super().__aenter__()

    async def __aexit__(self, *raised):
        {closes}

def factory(path, **options):
    return Mine(**options)
"""
ENDINGS = {
    "changes": "ValueError: I/O operation on closed file",
    "commit_outcome": r"ValueError: \ud800",
    "list_outcomes": "no answer within 4 s",
    "search": "SystemExit: 0",
    "stats": "its process was ended with exit code 0",
    "scopes": "KeyboardInterrupt",
    "verify": "no answer within 4 s",
}


@pytest.fixture(scope="module")
def unruly(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What is told of an adapter whose operations do the worst."""
    adapter = ("--adapter", "parity_tests.conformance.unruly:factory")
    options = ("--noun", "Lifecycle", "--timeout", "4")
    return Elsewhere(tmp_path_factory.mktemp("unruly")).run("parity_tests", *adapter, *options)


@proves("conformance.endings", "conformance.timeouts")
@pytest.mark.parametrize("operation", ENDINGS)
def test_what_an_operation_does_to_its_process_is_told(
    unruly: subprocess.CompletedProcess[str], operation: str
) -> None:
    (told,) = [block for block in unruly.stdout.split("\n\n") if f"after_closing[{operation}]" in block]
    assert f"  | {ENDINGS[operation]}" in told
    assert f" in {operation}" in told.splitlines()[-1]


@proves("conformance.endings")
def test_the_tests_go_on_behind_one_that_took_its_process_along(
    unruly: subprocess.CompletedProcess[str],
) -> None:
    assert unruly.returncode == 1
    rows = {line.split()[0]: line.split()[1:6] for line in unruly.stdout.splitlines() if line[:1].isalpha()}
    assert rows["Lifecycle"][:1] == ["holds"]
    assert rows["Statistics"] == ["FAILS", "0", "hold;", "2", "fail"]
    assert f"Tests that fail: {len(ENDINGS)}." in unruly.stdout


@proves("conformance.progress")
def test_of_every_test_that_took_its_process_along_one_line_tells_at_once(
    unruly: subprocess.CompletedProcess[str],
) -> None:
    lines = unruly.stderr.splitlines()
    assert [line.split("after_closing")[1].split("]")[0] for line in lines] == [
        *("[list_outcomes", "[search", "[stats", "[scopes", "[verify")
    ]
    assert "Traceback" not in unruly.stderr


@proves("conformance.endings", "conformance.exit-codes")
@pytest.mark.parametrize(
    ("opens", "closes", "told"),
    [
        ("raise OSError('disk on fire')", "pass", "cannot be opened: OSError: disk on fire"),
        ("await asyncio.sleep(10**6)", "pass", "opening what mine:factory makes, no answer within 4 s"),
        ("pass", "raise OSError('late')", "cannot be closed: OSError: late"),
        ("os._exit(0)", "pass", "its process was ended with exit code 0"),
    ],
    ids=["raises", "hangs", "closing raises", "ends"],
)
def test_what_cannot_be_opened_and_closed_is_told_in_one_line(
    elsewhere: Elsewhere, opens: str, closes: str, told: str
) -> None:
    (elsewhere.folder / "mine.py").write_text(OPENING.format(opens=opens, closes=closes))
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory", "--timeout", "4")
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@proves("conformance.endings", "conformance.exit-codes")
@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("import sys; sys.exit(0)", 2, "'mine:factory' cannot be imported: SystemExit: 0"),
        ("import os; os._exit(0)", 1, "importing mine:factory, its process was ended with exit code 0"),
        ("async def factory(path, **options): ...", 2, "mine:factory makes a coroutine"),
    ],
    ids=["exits", "ends", "awaits"],
)
def test_a_module_that_ends_its_process_does_not_end_ours(
    elsewhere: Elsewhere, text: str, code: int, told: str
) -> None:
    (elsewhere.folder / "mine.py").write_text(text)
    done = elsewhere.run("parity_tests", "--adapter", "mine:factory")
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
