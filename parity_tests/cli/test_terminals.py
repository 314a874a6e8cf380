"""Whatever is stored, and wherever it is shown: any encoding, any width, a pipe, a reader who left."""

import errno
import io
import os
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import TextIO

import pytest
from rich.cells import cell_len

from bridge.cli.main import main
from parity_tests.cli.conftest import Run
from parity_tests.cli.stories import HOSTILE_KEY, HOSTILE_VALUE
from parity_tests.cli.test_exits import CHANGING, READING
from parity_tests.ledger import proves

SCOPE = f"scope {HOSTILE_KEY}"
HOSTILE_READING = [
    ("show", SCOPE, HOSTILE_KEY),
    ("show", "plain", HOSTILE_KEY, "--full"),
    ("show", "caf\u00e9/\u6771\u4eac/\u2603"),
    ("show", "plain/more"),
    ("search",),
    ("search", "--tag", HOSTILE_KEY),
    ("history", SCOPE, HOSTILE_KEY),
    ("log",),
    ("log", "--full"),
    ("packets", "list"),
    ("packets", "show", "h_6b86b273"),
    ("outcomes",),
    ("verify",),
    ("stats",),
    ("show", SCOPE, "nothing"),
    ("packets", "show", HOSTILE_KEY),
    ("packets", "cancel", HOSTILE_VALUE.replace("\x00", "")),
]
COMMAND = (sys.executable, "-m", "bridge.cli")
PATIENCE_S = 30


class Screen(io.TextIOWrapper):
    """A stream of an encoding that knows no mercy; a terminal, or a pipe."""

    def __init__(self, encoding: str, *, terminal: bool) -> None:
        self.written = io.BytesIO()
        self.terminal = terminal
        super().__init__(self.written, encoding=encoding, errors="strict", newline="\n")

    def isatty(self) -> bool:
        return self.terminal

    @property
    def text(self) -> str:
        """What was written."""
        self.flush()
        return self.written.getvalue().decode(self.encoding)


def shown(
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    encoding: str = "utf-8",
    *,
    terminal: bool = False,
) -> str:
    """Standard output and standard error on such a stream."""
    screen = Screen(encoding, terminal=terminal)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", screen)
        main(arguments)
    return screen.text


@proves("cli.stored-contained")
@pytest.mark.usefixtures("hostile_store")
@pytest.mark.parametrize("columns", [100, 60, 20])
@pytest.mark.parametrize(
    "arguments", HOSTILE_READING, ids=[f"{each[0]}-{i}" for i, each in enumerate(HOSTILE_READING)]
)
def test_no_stored_text_reaches_the_terminal_as_anything_but_text(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = shown(monkeypatch, arguments).split("\n")
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("not_found: a second line") for line in lines)


@proves("cli.stored-contained", "cli.documents")
@pytest.mark.usefixtures("hostile_store")
def test_a_document_holds_hostile_text_exactly_and_in_ascii(run: Run) -> None:
    entry = run("show", SCOPE, HOSTILE_KEY, "--json").document["entry"]
    assert (entry["entityPath"], entry["key"], entry["value"]) == (SCOPE, HOSTILE_KEY, HOSTILE_VALUE)
    (packet,) = run("packets", "list", "--json").document["packets"]
    assert (packet["summary"], packet["toAgent"]) == (HOSTILE_VALUE, f"agent {HOSTILE_VALUE}")
    for arguments in HOSTILE_READING:
        said_by = run(*arguments, "--json")
        if said_by.code == 0:
            assert all(line.isprintable() for line in said_by.out.split("\n"))
            assert isinstance(said_by.document, dict)


@proves("cli.stored-contained")
@pytest.mark.usefixtures("hostile_store")
def test_a_text_of_several_lines_is_shown_line_by_line_behind_a_bar(run: Run) -> None:
    lines = run("show", SCOPE, HOSTILE_KEY).out.splitlines()
    assert "text         │ first" in lines
    assert (
        r"             │ \u001b]0;title\u0007\u009b2J\u2028\u202egnp\u2066\u0000\u007f\u200b\udb40\udc41 last"
        in lines
    )


@proves("cli.encodings")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "euc-jp", "utf-16"])
@pytest.mark.parametrize("story", ["store", "hostile_store"])
def test_every_command_works_in_every_encoding(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, story: str, encoding: str
) -> None:
    request.getfixturevalue(story)
    reading = READING if story == "store" else HOSTILE_READING
    for arguments in [*reading, ("--help",), ("log", "--help"), ("no\u2603such",)]:
        for form in ((), ("--json",)):
            assert shown(monkeypatch, (*arguments, *form), encoding, terminal=True)


@proves("cli.encodings")
@pytest.mark.usefixtures("hostile_store")
def test_what_an_encoding_does_not_have_is_escaped_and_the_rest_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = ("show", "caf\u00e9/\u6771\u4eac/\u2603")
    assert "caf\u00e9/\u6771\u4eac/\u2603@1" in shown(monkeypatch, arguments)
    assert "caf\u00e9/\\u6771\\u4eac/\\u2603@1" in shown(monkeypatch, arguments, "latin-1")
    assert "text         | na\\u00efve \\u4eca\\u5929\n" in shown(monkeypatch, arguments, "ascii")
    assert "\n*   chain" not in shown(monkeypatch, ("history", *arguments[1:]), "ascii")
    assert "\n+   chain" in shown(monkeypatch, ("history", *arguments[1:]), "ascii")


@proves("cli.widths")
@pytest.mark.parametrize("columns", [200, 100, 60, 40])
@pytest.mark.parametrize("story", ["store", "hostile_store"])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, story: str, columns: int
) -> None:
    request.getfixturevalue(story)
    for arguments in READING if story == "store" else HOSTILE_READING[:14]:
        monkeypatch.setenv("COLUMNS", "1000")
        whole = shown(monkeypatch, arguments)
        monkeypatch.setenv("COLUMNS", str(columns))
        narrow = shown(monkeypatch, arguments)
        assert max(cell_len(line) for line in narrow.split("\n")) <= columns
        assert _told(narrow) == _told(whole)


def _told(text: str) -> str:
    """All that is told, without the gutters and the headings of columns."""
    headings = re.compile(r"(record +confidence +written|packet +state +from) .*\n")
    return re.sub(r"[\s\u25cf\u2502\u250a\u25c6]", "", headings.sub("", text))


@proves("cli.colour")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "arguments", [("log",), ("history", "listing/553/assessment"), ("outcomes",), ("stats",)]
)
def test_colour_is_for_terminals_and_says_nothing_that_is_not_said_without(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    plain = shown(monkeypatch, arguments)
    coloured = shown(monkeypatch, arguments, terminal=True)
    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert "\x1b" not in shown(monkeypatch, (*arguments, "--json"), terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(monkeypatch, arguments, terminal=True) == plain
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert shown(monkeypatch, arguments) == plain


@proves("cli.ends")
@pytest.mark.usefixtures("store")
def test_no_command_leaves_a_thread_behind(run: Run) -> None:
    before = set(threading.enumerate())
    for arguments in [*READING, *CHANGING, ("show", "not/there"), ("packets", "release", "h_00000000")]:
        run(*arguments)
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@proves("cli.ends", "cli.encodings")
@pytest.mark.usefixtures("hostile_store")
@pytest.mark.parametrize(
    "arguments", [("log",), ("show", "caf\u00e9/\u6771\u4eac", "\u2603", "--json"), ("verify",)]
)
def test_a_process_ends_and_speaks_ascii_where_it_must(arguments: tuple[str, ...]) -> None:
    done = _process(*arguments, encoding="ascii:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout


@proves("cli.ends", "cli.exit-codes")
def test_a_process_that_fails_ends_with_its_code_and_one_line(tmp_path: Path) -> None:
    done = _process("log", "--db", str(tmp_path / "\u2603.db"), encoding="ascii:strict")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"no_store: ")
    assert rb"\u2603.db" in done.stderr
    assert done.stderr.count(b"\n") == 1


@proves("cli.reader-left", "cli.ends")
@pytest.mark.parametrize(("damage", "code"), [(b"", 0), (b"maybe: fee cut to $900", 1)])
def test_a_reader_who_left_is_no_error_and_changes_no_exit_code(
    store: Path, damage: bytes, code: int
) -> None:
    if damage:
        store.write_bytes(store.read_bytes().replace(b"maybe: fee cut to $400", damage))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = _process("verify", stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (code, b"")


@proves("cli.reader-left")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(("number", "code"), [(errno.EPIPE, 0), (errno.EINVAL, 0), (errno.ENOSPC, 3)])
def test_output_that_cannot_be_written_is_an_error_unless_nobody_reads_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: tuple[str, ...], number: int, code: int
) -> None:
    told = io.StringIO()
    with (tmp_path / "output").open("w", encoding="utf-8") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", _Full(file, number))
        patch.setattr(sys, "stderr", told)
        assert main(["log", *form]) == code
    assert told.getvalue() == (
        f"output: standard output cannot be written: {os.strerror(number)}\n" if code else ""
    )


@proves("cli.documents")
def test_a_number_that_json_does_not_have_is_null_in_a_document(run: Run, store: Path) -> None:
    # Confidences are eight bytes, and nothing hinders another program to write these.
    content = store.read_bytes()
    assert struct.pack(">d", 0.39) in content
    store.write_bytes(content.replace(struct.pack(">d", 0.39), struct.pack(">d", float("inf"))))
    answer = run("show", "source/boards/rate-limit", "--json").document
    assert answer["entry"]["confidence"] is None
    assert "confidence   inf%" in run("show", "source/boards/rate-limit").out
    assert run("verify").code == 1


class _Full:
    """A file that nothing can be written to."""

    encoding = "utf-8"

    def __init__(self, file: TextIO, number: int) -> None:
        self._file = file
        self._number = number

    def write(self, _: str) -> int:
        raise OSError(self._number, os.strerror(self._number))

    def flush(self) -> None:
        self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return False


def _process(
    *arguments: str, encoding: str = "utf-8", stdout: int = subprocess.PIPE
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"},
        timeout=PATIENCE_S,
        check=False,
    )
