"""`python -m demo`, as a newcomer runs it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from amfs_sqlite import Finding, VerifyReport
from bridge.operations import integrity
from bridge.session import Session
from demo import __main__ as walkthrough
from demo import transcript
from demo.command import typed_command
from parity_tests.demo.processes import ROOT, started

TRANSCRIPT = ROOT / "docs" / "demo-transcript.md"

PROMISED = """\
--- 1. pick up whatever is waiting --------------------------------
  . packet h_1f4089bf from scout-agent: Two listings worth an application, one source caveat
  . next: Draft an application for listing/482 (supplier catalogue scrape, $900)
  . next: Draft an application for listing/553 (price monitor, $600)
  . open: Is the 60s backoff enough, or does the board keep a longer penalty window?
  . 4 pinned record versions arrived with the packet
  . stale: listing/553/assessment was pinned at v1, now at v2
--- 3. re-read anything the warning touched -----------------------
  . listing/553 v2 now says "maybe" (budget edited down to $400 and 17 more applicants arrived)
  . dropping listing/553 - acting on the pinned v1 would be wrong
--- 5. report what actually happened ------------------------------
  . success on listing/482/assessment: confidence 80% -> 84%
  . failure on source/boards-example/rate-limit: confidence 60% -> 39%
""".splitlines()


@pytest.fixture(scope="module")
def output() -> str:
    done = started("demo")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def bridge_output() -> str:
    done = started("demo.amfs_bridge")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_demo_prints_the_same_every_time(output: str, snapshot: SnapshotAssertion) -> None:
    assert transcript.masked(output) == snapshot


def test_the_story_is_told_in_the_promised_lines(output: str) -> None:
    promised = transcript.masked("\n".join(PROMISED)).splitlines()
    lines = transcript.masked(output).splitlines()
    assert [line for line in lines if line in promised] == promised


def test_every_rule_is_67_characters_wide(output: str) -> None:
    assert {len(line) for line in output.splitlines() if line.startswith("---")} == {67}


def test_no_line_is_wider_than_100_characters(output: str) -> None:
    assert [line for line in transcript.masked(output).splitlines() if len(line) > 100] == []


def test_the_transcript_is_what_the_demos_print(output: str, bridge_output: str) -> None:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("only a clone has the documentation; this is an installed copy")
    assert TRANSCRIPT.read_bytes().decode("ascii") == transcript.document(output, bridge_output)


def test_the_transcript_is_made_by_a_command(
    tmp_path: Path, output: str, bridge_output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = {"demo": output, "demo.amfs_bridge": bridge_output}
    monkeypatch.setattr(transcript, "printed", outputs.__getitem__)
    assert transcript.main([str(tmp_path / "made.md")]) == 0
    assert (tmp_path / "made.md").read_bytes().decode("ascii") == transcript.document(output, bridge_output)
    assert transcript.main([]) == 2


def test_the_agents_are_two_processes_that_are_told_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    starts: list[tuple[list[str], dict[str, Any]]] = []
    run = subprocess.run

    def spied_on(command: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        starts.append((command[1:], options))
        return run(command, **options)

    monkeypatch.setenv("MEMORY_DB", "not-this-one.db")
    monkeypatch.setattr(subprocess, "run", spied_on)
    assert walkthrough.main(["--db", str(tmp_path / "kept.db")]) == 0
    assert [command for command, _ in starts] == [["-m", "demo.scout"], ["-m", "demo.executor"]]
    for _, options in starts:
        assert options["env"]["MEMORY_DB"] == str((tmp_path / "kept.db").resolve())
        assert options["stdin"] == subprocess.DEVNULL
    assert "dropping listing/553" in capfd.readouterr().out
    assert (tmp_path / "kept.db").is_file()


def test_without_a_path_nothing_is_left_behind(tmp_path: Path) -> None:
    done = started("demo", temporary=tmp_path)
    assert done.returncode == 0
    assert f"MEMORY_DB={tmp_path}" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_it_invites_to_can_be_typed_where_it_was_started(output: str, tmp_path: Path) -> None:
    invited = [shlex.split(line[2:]) for line in output.splitlines() if line.endswith(" --db demo.db")]
    assert [words[-3] for words in invited] == ["demo", "log", "demo"]
    printed = []
    for words in invited:
        command = [*words[:-1], str(tmp_path / "demo.db")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout)
    assert "--- 1. pick up whatever is waiting" in printed[2].partition("demo.executor")[0]
    assert "--- 1. crawl the job board" in printed[0]


@pytest.mark.skipif(os.name != "posix", reason="the paths are spelled as POSIX spells them")
@pytest.mark.parametrize(
    ("python", "script", "typed"),
    [
        ("venv/bin", "beside", "venv/bin/amfs-sqlite"),
        ("venv/bin", "on PATH", "amfs-sqlite"),
        ("venv/bin", "none", "venv/bin/python -m bridge.cli"),
        ("my tools/bin", "beside", "'my tools/bin/amfs-sqlite'"),
        ("", "beside", "{here}/amfs-sqlite"),
        ("../elsewhere", "beside", "{above}/elsewhere/amfs-sqlite"),
    ],
)
def test_the_command_is_typed_as_it_can_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, script: str, typed: str
) -> None:
    here = tmp_path / "here"
    folder = Path(os.path.normpath(here / python))
    for each in (here, folder):
        each.mkdir(parents=True, exist_ok=True)
    if script != "none":
        (folder / "amfs-sqlite").touch(mode=0o700)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder if script == "on PATH" else here / "nothing"))
    assert typed_command() == typed.format(here=here, above=tmp_path)


@pytest.mark.parametrize("path", ["", " ", ":memory:"])
def test_what_two_processes_cannot_share_is_refused(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        walkthrough.main(["--db", path])
    assert ended.value.code == 2
    assert "--db must name a file" in capsys.readouterr().err


def test_a_file_that_is_not_ours_ends_it_with_one_line_and_stays_as_it_is(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", encoding="ascii")
    done = started("demo", "--db", str(notes))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "choose another path" in done.stderr
    assert notes.read_text(encoding="ascii") == "mine"


async def test_a_file_that_does_not_verify_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def found(session: Session) -> VerifyReport:
        finding = Finding(code="content", message="listing/553/assessment@1 was changed")
        counts = {"key_count": 1, "version_count": 1, "commit_count": 1, "outcome_count": 0}
        return VerifyReport(**counts, findings=(finding,))

    monkeypatch.setattr(integrity, "verify", found)
    assert started("demo.scout", memory_db=tmp_path / "shared.db").returncode == 0
    assert await walkthrough.look_into(str(tmp_path / "shared.db")) == 1
    said = capsys.readouterr().out
    assert "listing/553/assessment@1 was changed" in said
    assert "as it was written" not in said
