"""What `--help` says, and that looking leaves a store as it says."""

from pathlib import Path

import pytest

from bridge.cli import main
from bridge.cli.exits import EXIT_CODES
from parity_tests.cli.conftest import Run
from parity_tests.ledger import proves


@proves("cli.help", "cli.exit-codes")
@pytest.mark.parametrize(
    "words",
    [
        (),
        *[(name,) for name in main.app.commands if name not in ("mcp", "demo", "run")],
        *[("packets", name) for name in ("list", "show", "release", "cancel")],
    ],
    ids=" ".join,
)
def test_help_lists_the_exit_codes_and_the_settings_in_ascii_lines(run: Run, words: tuple[str, ...]) -> None:
    shown = run(*words, "--help")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.isascii()
    assert max(len(line) for line in shown.out.splitlines()) <= 80
    for code, meaning in EXIT_CODES.items():
        assert f"{code:>3}  {meaning}" in shown.out
    assert "MEMORY_DB" in shown.out
    if words and words != ("packets",):
        assert "JSON: {" in shown.out


@proves("cli.help")
def test_without_a_command_the_commands_are_listed(run: Run) -> None:
    shown = run()
    assert (shown.code, shown.out) == (2, run("--help").out)
    assert shown.err == "usage: no command was given; above they are listed\n"


@proves("cli.summaries")
@pytest.mark.parametrize("words", [(), ("packets",)], ids=" ".join)
def test_no_summary_in_the_list_of_commands_is_cut(
    run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = run(*words, "--help").out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(listed) == len(main.app.commands if not words else ("list", "show", "release", "cancel"))
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


@proves("cli.reads-beside-writers")
def test_looking_leaves_the_file_as_it_is_and_nothing_but_side_files(store: Path, run: Run) -> None:
    before = store.read_bytes()
    for how, left in (((), ["", "-lock"]), (("--read-only",), ["", "-lock", "-wal", "-shm"])):
        assert run("stats", *how).code == 0
        assert {each.name for each in store.parent.iterdir()} <= {f"{store.name}{each}" for each in left}
        assert store.read_bytes() == before


@proves("cli.help")
def test_the_version_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: {"amfs-sqlite": "1.2.3"}[name])
    assert run("--version").out == "amfs-sqlite 1.2.3\n"
