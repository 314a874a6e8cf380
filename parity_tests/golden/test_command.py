"""`python -m parity_tests.golden PATH`: what it prints, and how it ends."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from parity_tests.golden.__main__ import main
from parity_tests.golden.conftest import FOLDER
from parity_tests.golden.deviations import ROWS
from parity_tests.golden.stories import Content, call, callback, entry, story, watching, written
from parity_tests.ledger import proves

SMALL = "adapter-write-read-versions.json"
ROWS_SHOWN = f"1 of {len(ROWS)} rows exercised: hashes"
MET = f"met: 1 file, 14 steps, {ROWS_SHOWN}\n"


def copied(folder: Path) -> Path:
    shutil.copyfile(FOLDER / SMALL, folder / SMALL)
    return folder / SMALL


def saved(content: Content, folder: Path) -> Path:
    path = folder / "it.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@proves("golden.command")
def test_a_folder_that_is_met_ends_with_0_and_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(tmp_path)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{SMALL}: 14 steps, rows hashes\n{MET}"


@proves("golden.command")
def test_one_file_is_replayed_as_a_folder_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(copied(tmp_path))]) == 0
    assert capsys.readouterr().out.endswith(MET)


@proves("golden.command")
@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quietly_only_the_counts_are_printed(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(tmp_path)
    assert main([option, str(tmp_path)]) == 0
    assert capsys.readouterr().out == MET


@proves("golden.command")
def test_the_first_unexplained_difference_ends_with_1(tmp_path: Path) -> None:
    path = copied(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["steps"][4]["result"]["version"] = 7
    path.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-m", "parity_tests.golden", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ""
    first, expected, got, why, last = done.stdout.splitlines()
    assert first.startswith(f"{SMALL}: step 5 on the reference adapter: adapter.write(entry={{")
    assert expected.startswith("  expected, as recorded: {")
    assert '"version": 7' in expected
    assert got.startswith("  ours: {")
    assert '"version": 2' in got
    assert why == (
        "  why no row explains it: by the rows AMFS 0.3 would not answer as recorded: "
        "at $.version it would have 2, and 7 is recorded"
    )
    assert last == f"stopped after 0 files, 0 steps, {ROWS_SHOWN}"


@proves("golden.told")
def test_what_a_row_excuses_is_left_out_of_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = written() | {"result": entry("p", "k", 2)}
    assert main([str(saved(story(step), tmp_path))]) == 1
    told = capsys.readouterr().out
    assert "Hash" not in told
    assert "commitId" not in told
    first, expected, got, *_ = told.splitlines()
    assert first == 'it.json: step 3 on the reference adapter: mem.write(entityPath="p", key="k", value=1)'
    assert expected.split(": ", 1)[1].replace('"value": 2', '"value": 1') == got.split(": ", 1)[1]


@proves("golden.told")
def test_a_hash_that_no_row_excuses_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = written() | {"result": entry("p", "k", 1, contentHash="made up")}
    assert main([str(saved(story(step), tmp_path))]) == 1
    told = capsys.readouterr().out
    assert '"contentHash": "made up"' in told
    assert "at $.contentHash it would have None, and 'made up' is recorded" in told


@proves("golden.told")
def test_an_answer_instead_of_an_error_is_told_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scope = call("mem", "scope", {"entityPath": "p", "isReadonly": True}, entityPath="p")
    scope["args"]["options"] = {"readonly": True}
    write = call("scope", "write", entry("p", "k", 1), key="k", value=1)
    assert main([str(saved(story(scope | {"as": "scope"}, write), tmp_path))]) == 1
    _, _, got, why, _ = capsys.readouterr().out.splitlines()
    assert got.startswith('  ours: {"error": "scope \'p\' is read-only')
    assert why.endswith("at $ it would have the error Error 'Read-only scope', and no error is recorded")


@proves("golden.told")
def test_what_cannot_be_printed_is_escaped_and_what_is_long_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = "\x9b\u2028\ud800" + "x" * 2000
    listed = call("mem", "list", [entry("p", "k", value)])
    assert main([str(saved(story(listed), tmp_path))]) == 1
    told = capsys.readouterr().out
    assert all(line.isprintable() for line in told.split("\n"))
    assert max(map(len, told.split("\n"))) < 1200


@proves("golden.told")
def test_what_is_stored_otherwise_is_told_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parity_tests.golden.world.drafted", lambda *_: entry("p", "k", 2))
    assert main([str(saved(story(written()), tmp_path))]) == 1
    _, expected, got, why, _ = capsys.readouterr().out.splitlines()
    assert expected.startswith("  expected, from the calls so far: {")
    assert got.startswith("  held by our adapter: {")
    assert why == (
        "  why no row explains it: "
        "this is stored otherwise than asked: at $.value 2 is expected, and there is 1"
    )


@proves("golden.command")
def test_callbacks_of_every_kind_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reactions: tuple[Content, ...] = (
        callback("collect"),
        callback("write", on="mem", args={"entityPath": "q", "key": "k", "value": 2}),
        callback("cancel", handle="watching"),
        callback("addWatch", on="mem", entityPath="q", callback="heard", **{"as": "later"}),
        callback("mutate", property="confidence", value=0.5),
    )
    heard = call("heard", "received", [entry("p", "k", 1)])
    for reaction in reactions:
        kept = [written(), heard] if reaction["args"]["kind"] != "mutate" else []
        assert main(["-q", str(saved(story(reaction, watching(), *kept), tmp_path))]) == 0
    assert capsys.readouterr().err == ""


@proves("golden.command")
def test_where_there_is_no_recording_it_ends_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"no recordings (*.json) in {tmp_path}\n"
    assert main([str(tmp_path / "nothing")]) == 2
    assert capsys.readouterr().err == f"there is no file or folder {tmp_path / 'nothing'}\n"


@proves("golden.command")
@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--loud", "x"], 2), (["--help"], 0)])
def test_the_usage_is_told(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == code
    told = capsys.readouterr()
    usage = told.out if code == 0 else told.err
    assert usage.startswith("usage: python -m parity_tests.golden [-h] [-q] PATH\n")
