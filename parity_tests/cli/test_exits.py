"""Exit codes and errors: one line, a code, what to do; and nothing made or changed on the way."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

from amfs_sqlite import HANDOFF, AmfsError, SqliteAdapter, errors
from bridge import errors as bridge_errors
from bridge.cli import addresses, main, output, store
from bridge.cli.exits import EXIT_CODES, exit_code
from bridge.operations import entries
from bridge.session import Session
from bridge.settings import SettingError
from parity_tests.cli.conftest import Ran, Run, looked
from parity_tests.cli.test_logs import CLAIMED, OPEN
from parity_tests.drafts import draft
from parity_tests.ledger import proves

READING = [
    ("show", "listing/482/assessment"),
    ("show", "listing/482", "assessment", "--at", "1", "--full"),
    ("search",),
    ("search", "apply", "--scope", "listing"),
    ("history", "listing/482", "assessment"),
    ("log",),
    ("packets", "list"),
    ("packets", "show", CLAIMED),
    ("outcomes",),
    ("verify",),
    ("stats",),
]
CHANGING = [("packets", "release", CLAIMED), ("packets", "cancel", OPEN)]
# Programs, and commands with tests of their own.
ELSEWHERE = {"anchor", "archive", "backup", "copy", "demo", "doctor", "erase"}
ELSEWHERE |= {"export", "import", "install-hook", "mcp", "prune", "restore", "run"}


def said(ran: Ran, code: int, error: str) -> str:
    """The message of a run that must end with this code and this error, and say nothing else."""
    assert (ran.code, ran.out) == (code, "")
    (line,) = ran.err.splitlines()
    assert line.isprintable()
    assert ran.err == f"{line}\n"
    name, _, message = line.partition(": ")
    assert name == error
    return message


@contextmanager
def write_lock(path: Path) -> Iterator[None]:
    """Another connection holds the write lock of the file."""
    held, enough = threading.Event(), threading.Event()

    def hold(transaction: object) -> None:
        held.set()
        enough.wait(30)

    async def holding() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            await adapter._database.write(hold)

    thread = threading.Thread(target=lambda: asyncio.run(holding()))
    thread.start()
    try:
        assert held.wait(30)
        yield
    finally:
        enough.set()
        thread.join()


@proves("cli.no-file", "cli.exit-codes")
@pytest.mark.parametrize("arguments", [*READING, *CHANGING], ids=" ".join)
def test_without_a_file_every_command_says_so_and_makes_none(
    tmp_path: Path, run: Run, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "not" / "there.db"
    for form in ([], ["--json"]):
        message = said(run(*arguments, *form, "--db", str(path)), 3, "no_store")
        assert message.startswith(f"'{path}': does not exist; ")
    assert list(tmp_path.iterdir()) == []


@proves("cli.no-file", "cli.exit-codes")
def test_the_default_file_is_not_made_either(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.settings.user_data_path", lambda *_, **__: tmp_path / "data")
    assert str(tmp_path / "data" / "memory.db") in said(run("stats"), 3, "no_store")
    assert list(tmp_path.iterdir()) == []


@proves("cli.no-file", "cli.exit-codes")
def test_an_empty_file_and_a_path_below_a_file_hold_no_store(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    assert "is empty" in said(run("stats", "--db", str(path)), 3, "no_store")
    assert "does not exist" in said(run("stats", "--db", str(path / "below.db")), 3, "no_store")
    assert (path.stat().st_size, list(tmp_path.iterdir())) == (0, [path])


@proves("cli.exit-codes")
@pytest.mark.parametrize(
    "content", [b"not a store, but long enough to be one " * 10, b"SQLite format 3\0" + bytes(84)]
)
def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, run: Run, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    path.chmod(0o600)
    said(run("log", "--db", str(path)), 3, "foreign_file")
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@proves("cli.reads-beside-writers")
def test_looking_changes_nothing(store: Path, run: Run) -> None:
    before = looked(store, lambda adapter: adapter.list_commits())
    for arguments in READING:
        assert run(*arguments).code == 0
    assert looked(store, lambda adapter: adapter.list_commits()) == before


@proves("cli.exit-codes")
@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_warning_of_the_store_is_one_line_beside_the_answer(store: Path, run: Run) -> None:
    expected = run("log").out
    store.chmod(0o644)
    ran = run("log")
    assert (ran.code, ran.out) == (0, expected)
    assert (
        ran.err
        == f"warning: {store.resolve()} can be read by other users (mode 644); chmod 600 keeps it private\n"
    )


@proves("cli.reads-beside-writers")
def test_reading_waits_for_no_writer_and_changing_says_that_the_store_is_busy(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long a checkpoint is tried for at the end, which nothing that is shown depends on.
    monkeypatch.setattr("amfs_sqlite.sqlite.database.tidying.CLOSE_TIMEOUT_S", 0)
    before = {arguments: run(*arguments, "--json").out for arguments in READING if arguments != ("stats",)}
    with write_lock(store):
        for arguments, shown in before.items():
            assert run(*arguments, "--json", "--busy-timeout-s", "0").out == shown
        message = said(run("packets", "release", CLAIMED, "--busy-timeout-s", "0"), 3, "busy")
        assert str(store.resolve()) in message
    assert {arguments: run(*arguments, "--json").out for arguments in before} == before


@proves("cli.wrong-use", "cli.exit-codes")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("arguments", "error", "part"),
    [
        (("what",), "usage", "No such command 'what'"),
        (("--what", "log"), "usage", "No such option '--what'"),
        (("log", "--what"), "usage", "See 'amfs-sqlite log --help'."),
        (("log", "too", "many"), "usage", "unexpected extra arguments"),
        (("log", "--limit"), "usage", "'--limit' requires an argument"),
        (("log", "--limit", "x"), "usage", "'x' is not a valid integer range"),
        (("log", "--limit", "0"), "usage", "0 is not in the range"),
        (("log", "--limit", "9" * 30), "invalid_argument", "limit is "),
        (("log", "--before", "-1"), "usage", "-1 is not in the range"),
        (("show",), "usage", "Missing argument"),
        (("show", "a", "b", "c"), "usage", "These are 3 words"),
        (("show", "no-slash"), "invalid_argument", "write it as scope/key"),
        (("show", "a", "b", "--at", "0"), "usage", "0 is not in the range"),
        (("show", "listing/553/assessment@1", "--at", "1"), "invalid_argument", "leave one out"),
        (("show", "_system/handoff", CLAIMED), "reserved_path", "'_system/handoff'"),
        (("search", "--scope", "_system"), "reserved_path", "'_system'"),
        (("search", "--min-confidence", "nan"), "invalid_argument", "min_confidence is nan"),
        (("search", "--min-confidence", "high"), "usage", "'high' is not a valid float"),
        (("search", "--min-confidence", "80"), "usage", "80.0 is not in the range 0<=x<=1"),
        (("search", "--min-confidence=-0.1"), "usage", "-0.1 is not in the range 0<=x<=1"),
        (("search", "--cursor", "abc"), "invalid_cursor", "start again without a cursor"),
        (("search", "-apply"), "usage", "No such option"),
        (("packets", "show"), "usage", "Missing argument 'ID'"),
        (("packets", "list", "--state", "lost"), "usage", "'lost' is not one of"),
        (("log", "--db", ""), "invalid_setting", "--db is empty"),
        (("log", "--db", "."), "invalid_setting", "a folder; name a file in it"),
        (("--db", "file:x.db", "log"), "invalid_setting", "write a path, not a URI"),
        (("log", "--db", "$HOME/x.db"), "invalid_setting", "variables are not expanded"),
        (("log", "--db", ":memory:"), "invalid_argument", "db is in memory"),
        (("log", "--namespace", " "), "invalid_setting", "--namespace is empty"),
        (("log", "--busy-timeout-s", "soon"), "invalid_setting", "must be a number of seconds from 0 to "),
        (("what\n\x1b[31m\u202e",), "usage", r"what\n\x1b[31m\u202e"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_wrong_use_is_told_in_one_line_and_ends_with_2(
    run: Run, arguments: tuple[str, ...], error: str, part: str
) -> None:
    assert part in said(run(*arguments), 2, error)


@proves("cli.wrong-use")
@pytest.mark.usefixtures("store")
def test_a_wrong_variable_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BUSY_TIMEOUT_S", "soon")
    assert said(run("log"), 2, "invalid_setting").startswith("MEMORY_BUSY_TIMEOUT_S is 'soon'")


@proves("cli.wrong-use")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("show", "scope\udcff", "k"), 1, "not_found"),
        (("show", "scope\udcff/k"), 2, "invalid_argument"),
        (("history", "scope", "k\udcff"), 1, "not_found"),
        (("packets", "show", "h_\udcff"), 1, "packet_not_found"),
        (("search", "--scope", "x\udcff"), 0, ""),
        (("search", "w\udcff"), 2, "invalid_argument"),
        (("outcomes", "--ref", "r\udcff"), 0, ""),
        (("log", "--namespace", "n\udcff"), 2, "invalid_setting"),
    ],
)
def test_arguments_that_are_not_utf_8_find_nothing_or_are_refused(
    run: Run, arguments: tuple[str, ...], code: int, error: str
) -> None:
    ran = run(*arguments)
    assert ran.code == code
    assert ran.err.startswith(error)
    assert ran.err.count("\n") == bool(error)


@proves("cli.exit-codes")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("show", "listing/482/nothing"), "not_found"),
        (("show", "listing/482/assessment@9"), "not_found"),
        (("show", "listing/482", "assessment", "--at", "9"), "not_found"),
        (("show", "", "assessment"), "not_found"),
        (("history", "listing", "482"), "not_found"),
        (("packets", "show", "h_00000000"), "packet_not_found"),
        (("packets", "release", "h_00000000"), "packet_not_found"),
        (("packets", "cancel", ""), "packet_not_found"),
    ],
)
def test_what_is_not_there_ends_with_1(run: Run, arguments: tuple[str, ...], error: str) -> None:
    said(run(*arguments), 1, error)
    said(run(*arguments, "--json"), 1, error)


@proves("cli.scopes", "cli.exit-codes")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("command", ["show", "history"])
@pytest.mark.parametrize(
    ("scope", "named"),
    [
        ("listing/553", "listing/553/assessment"),
        ("listing", "listing/553/assessment, listing/482/assessment"),
        ("notes/", "notes/draft"),
    ],
)
def test_a_scope_in_place_of_a_record_is_told_with_what_it_holds(
    run: Run, command: str, scope: str, named: str
) -> None:
    expected = f"'{scope.rstrip('/')}' is a scope, not a record; name one in it: {named}"
    assert said(run(command, scope), 1, "scope_named") == expected


@proves("cli.scopes")
def test_of_a_scope_with_many_records_a_few_are_named(store: Path, run: Run) -> None:
    async def write(adapter: SqliteAdapter) -> None:
        for number in range(7):
            await entries.remember(Session(adapter, "alice", "s"), "many/things", f"k{number}", number)

    looked(store, write)
    message = said(run("show", "many/things"), 1, "scope_named")
    assert message.endswith(
        "many/things/k6, many/things/k5, many/things/k4, many/things/k3, many/things/k2, and more"
    )


@proves("cli.names-exact", "cli.wrong-use")
def test_names_are_told_apart_to_the_last_byte(store: Path, run: Run) -> None:
    names = [
        "Foo",
        "foo",
        "FOO",
        "foo ",
        " foo",
        "foo/",
        "/foo",
        "..",
        ".",
        "a//b",
        "..\\x",
        "C:\\x",
        "stra\u00dfe",
    ]

    async def write(adapter: SqliteAdapter) -> None:
        for name in names:
            await adapter.write(draft(name, name, value=name))

    looked(store, write)
    for name in names:
        assert run("show", "--json", "--", name, name).document["entry"]["value"] == name
    said(run("show", "STRASSE", "STRASSE"), 1, "not_found")
    assert sorted(path.name for path in store.parent.iterdir()) == sorted({"memory.db", *_beside(store)})


def _beside(store: Path) -> list[str]:
    return [path.name for path in store.parent.glob("memory.db-*")]


@proves("cli.wrong-use")
def test_an_ambiguous_reference_names_its_readings(store: Path, run: Run) -> None:
    async def write(adapter: SqliteAdapter) -> None:
        session = Session(adapter, "alice", "s")
        await entries.remember(session, "a/b", "c", 1)
        await entries.remember(session, "a", "b/c", 2)

    looked(store, write)
    message = said(run("show", "a/b/c"), 2, "ambiguous_reference")
    assert "scope 'a/b' key 'c', scope 'a' key 'b/c'" in message
    assert run("show", "a", "b/c", "--json").document["entry"]["value"] == 2


@proves("cli.settings")
def test_the_file_is_named_before_or_behind_the_command_or_by_a_variable(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run("packets", "list").out
    monkeypatch.setenv("MEMORY_DB", str(store.parent / "another.db"))
    path = str(store)
    for arguments in (
        ("--db", path, "packets", "list"),
        ("packets", "--db", path, "list"),
        ("packets", "list", "--db", path),
        ("--db", "elsewhere.db", "packets", "list", f"--db={path}"),
    ):
        assert run(*arguments).out == expected
    said(run("packets", "list"), 3, "no_store")


@proves("cli.settings")
def test_a_home_folder_is_understood_and_the_whole_path_is_told(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(store.parent))
    monkeypatch.setenv("USERPROFILE", str(store.parent))
    monkeypatch.chdir(store.parent)
    for spelled in ("~/memory.db", "memory.db", "./x/../memory.db"):
        assert run("stats", "--json", "--db", spelled).document["store"]["path"] == str(store.resolve())


@proves("cli.exit-codes")
def test_every_error_has_its_exit_code() -> None:
    kinds = set(_kinds(AmfsError))
    codes = {kind.code: exit_code(kind.__new__(kind)) for kind in kinds if kind.__module__ in _OURS}
    assert (
        codes.items()
        >= {
            "not_found": 1,
            "packet_not_found": 1,
            "scope_named": 1,
            "invalid_argument": 2,
            "invalid_cursor": 2,
            "invalid_setting": 2,
            "ambiguous_reference": 2,
            "reserved_path": 2,
            "no_store": 3,
            "unavailable": 3,
            "busy": 3,
            "full": 3,
            "read_only": 3,
            "corrupt": 3,
            "foreign_file": 3,
            "newer_schema": 3,
            "closed": 3,
            "output": 3,
            "packet_state": 4,
            "packet_not_yours": 4,
            "packet_unreadable": 4,
            "version_conflict": 4,
        }.items()
    )
    assert set(codes.values()) <= EXIT_CODES.keys()


_OURS = {module.__name__ for module in (errors, bridge_errors, addresses, output, store)}
_OURS |= {SettingError.__module__}


def _kinds(kind: type[AmfsError]) -> Iterator[type[AmfsError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _kinds(each)


@proves("cli.exit-codes")
@pytest.mark.usefixtures("store")
def test_an_interrupt_ends_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(session: Session, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bridge.operations.integrity.verify", interrupted)
    ran = run("verify")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.strip() == "interrupted: ended before it was done"


@proves("cli.programs")
@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (("mcp",), []),
        (("mcp", "--db", "x.db", "--lease-s", "60", "--help"), ["--db", "x.db", "--lease-s", "60", "--help"]),
        (("--db", "x.db", "--namespace=n", "mcp", "--version"), ["--db=x.db", "--namespace=n", "--version"]),
        (("demo",), []),
        (("--db", "x.db", "--namespace=n", "demo", "--help"), ["--db=x.db", "--help"]),
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_a_program_is_given_its_arguments_and_its_exit_code_is_ours(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], passed: list[str], code: int
) -> None:
    given: list[Any] = []

    def program(words: list[str], **_: str) -> int:
        given.append(words)
        return code

    for name in ("bridge.mcp_server.main", "demo.__main__"):
        stand_in = ModuleType(name)
        stand_in.__dict__["main"] = program
        monkeypatch.setitem(sys.modules, name, stand_in)
    assert run(*arguments) == Ran(code, "", "")
    assert given == [passed]


@proves("cli.programs")
@pytest.mark.parametrize(("name", "program"), [("mcp", "amfs-sqlite-mcp"), ("demo", "amfs-sqlite demo")])
def test_a_program_that_exits_by_itself_exits_the_command(run: Run, name: str, program: str) -> None:
    helped = run(name, "--help")
    assert (helped.code, helped.err) == (0, "")
    assert helped.out.startswith(f"usage: {program} [-h]")
    assert "--db" in helped.out
    wrong = run(name, "--what")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--what" in wrong.err


def test_click_has_no_command_that_is_not_tested_here() -> None:
    named = {arguments[0] for arguments in READING} | ELSEWHERE
    assert set(main.app.commands) == named
    group = main.app.commands["packets"]
    assert isinstance(group, click.Group)
    assert set(group.commands) == {words[1] for words in [*READING, *CHANGING] if words[0] == "packets"}
