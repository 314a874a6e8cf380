"""`amfs-sqlite run`: a program runs as if it had been started itself, and knows the adapter."""

import signal
import subprocess
import sys
from typing import Any

import pytest

from bridge.cli.main import main
from parity_tests.amfs.programs.processes import RUN, TEST_PATIENCE_S, Place, needs
from parity_tests.ledger import proves

pytestmark = pytest.mark.timeout(TEST_PATIENCE_S)

# A program beside ours, as an installer would leave it.
METADATA = "Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n"
ENTRY_POINTS = "[console_scripts]\nstranger = stranger:main\n"
STRANGER = """
import multiprocessing
import sys


def known() -> None:
    from amfs import factory

    print(sorted(factory._ADAPTER_REGISTRY), flush=True)


def main() -> object:
    print(sys.argv, flush=True)
    what = sys.argv[1]
    if what == "known":
        known()
    elif what == "spawn":
        child = multiprocessing.get_context("spawn").Process(target=known)
        child.start()
        child.join()
        return child.exitcode
    elif what == "echo":
        sys.stdout.buffer.write(sys.stdin.buffer.read())
    elif what == "wait":
        sys.stdin.read()
    elif what == "fail":
        raise ValueError("its own")
    return int(what) if what.isdecimal() else "sorry" if what == "text" else None
"""
STRANGER_RUN = (*RUN, "stranger")


@pytest.fixture
def beside(place: Place) -> Place:
    """A place beside which a program of somebody else is installed."""
    packages = place.folder.parent / "packages"
    described = packages / "stranger-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(METADATA, encoding="utf-8")
    (described / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (packages / "stranger.py").write_text(STRANGER, encoding="utf-8")
    place.environment["PYTHONPATH"] = str(packages)
    return place


@proves("programs.run")
def test_a_program_is_given_its_arguments_and_its_input_as_they_are(beside: Place) -> None:
    assert beside.said(*STRANGER_RUN, "x", "--db", "--help") == "['stranger', 'x', '--db', '--help']\n"
    done = subprocess.run(
        [*STRANGER_RUN, "echo"],
        cwd=beside.folder,
        env=beside.environment,
        input=b"\x00\r\n\xff",
        capture_output=True,
        check=True,
    )
    assert (done.stdout.splitlines(keepends=True)[1:], done.stderr) == ([b"\x00\r\n", b"\xff"], b"")


@proves("programs.run")
@pytest.mark.parametrize(("what", "code", "complaint"), [("0", 0, ""), ("7", 7, ""), ("text", 1, "sorry\n")])
def test_a_program_ends_as_it_ends(beside: Place, what: str, code: int, complaint: str) -> None:
    done = beside.started(*STRANGER_RUN, what)
    assert (done.returncode, done.stderr) == (code, complaint)


@proves("programs.run")
def test_what_a_program_raises_is_told_as_python_tells_it(beside: Place) -> None:
    done = beside.started(*STRANGER_RUN, "fail")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith("\nValueError: its own\n")


@proves("programs.run")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_signal_reaches_a_program_as_if_it_ran_alone(beside: Place) -> None:
    with subprocess.Popen(
        [*STRANGER_RUN, "wait"],
        cwd=beside.folder,
        env=beside.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert complaint.endswith("\nKeyboardInterrupt\n")


@proves("programs.run")
@pytest.mark.parametrize("what", ["known", "spawn"])
def test_a_program_and_the_processes_it_spawns_know_the_adapter(beside: Place, what: str) -> None:
    assert "'sqlite'" in beside.said(*STRANGER_RUN, what).splitlines()[1]


@proves("programs.run")
@needs("amfs_cli", "amfs-cli")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("nothing",), ("inspect", "read", "one")])
def test_the_sdks_command_says_what_it_says_by_itself(place: Place, arguments: tuple[str, ...]) -> None:
    alone = "import sys; from amfs_cli.main import app; sys.argv[0] = 'amfs'; sys.exit(app())"
    by_itself = place.started(sys.executable, "-c", alone, *arguments)
    run = place.started(*RUN, "amfs", *arguments)
    assert (run.returncode, run.stdout, run.stderr) == (
        by_itself.returncode,
        by_itself.stdout,
        by_itself.stderr,
    )


@proves("programs.run-refused")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run",), "usage: Missing argument 'PROGRAM'."),
        (("run", "what"), "usage: 'what' is no program here. Of the SDK's there are: "),
        (("--db", "x.db", "run", "amfs"), "usage: --db is no setting of the program: an amfs.yaml names"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    place: Place, arguments: tuple[str, ...], complaint: str
) -> None:
    done = place.started(*RUN[:-1], *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(complaint)
    assert done.stderr.count("\n") == 1


@proves("programs.run-refused")
@pytest.mark.parametrize(
    ("lookup", "found", "complaint"),
    [
        ("entry_points", (), "usage: amfs-http is not installed here: pip install amfs-http-server. See "),
        (
            "find_spec",
            None,
            "usage: The AMFS Python SDK is not installed here: pip install 'amfs-sqlite[amfs]'",
        ),
    ],
)
def test_what_is_not_installed_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lookup: str,
    found: Any,
    complaint: str,
) -> None:
    monkeypatch.setattr(f"bridge.cli.sdk.{lookup}", lambda *_, **__: found)
    assert main(["run", "amfs-http"]) == 2
    assert capsys.readouterr().err.startswith(complaint)
