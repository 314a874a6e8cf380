"""The harness sees what it looks for: stores and recordings that were made wrong on purpose."""

import asyncio
import doctest
import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.torture import (
    cancelling,
    checking,
    erasing,
    journal,
    judging,
    recording,
    rounds,
    telling,
    work,
)
from benchmarks.torture.journal import Journal, Told, told
from benchmarks.torture.judging import Truth, fill
from benchmarks.torture.recording import Call, after_power_cut, calls
from benchmarks.torture.rounds import Round, Tally, repeatable
from parity_tests.ledger import proves

FOLDER = Path("/f")
DB = "/f/store.db"
JOURNAL = "/f/c.journal"


@pytest.fixture
def round_(tmp_path: Path) -> Round:
    return Round(tmp_path, repeatable("test"), "test", Tally())


def settled(round_: Round) -> tuple[int, int, int]:
    """What is lost, what is there twice, and how many faults there are, of the store of a round."""
    checking.settle(round_)
    return round_.tally.lost, round_.tally.doubled, len(round_.tally.faults)


def change(round_: Round, *statements: str) -> None:
    """Change a store behind its back."""
    with closing(sqlite3.connect(round_.path, isolation_level=None)) as raw:
        for statement in statements:
            raw.execute(statement)


@pytest.fixture
def filled(round_: Round) -> Truth:
    """The store of the round, with twelve requests journaled beside it, and what it answers."""
    return asyncio.run(fill(round_.path, "c", 12))


@proves("torture.sees-faults")
def test_a_sound_store_has_no_fault(round_: Round, filled: Truth) -> None:
    assert settled(round_) == (0, 0, 0)
    assert round_.tally.acknowledged > 0


@proves("torture.sees-faults")
def test_what_was_acknowledged_and_is_not_there_is_lost(round_: Round, filled: Truth) -> None:
    line = Journal(round_.folder, "other")
    line.asks("othern1", {"kind": "write"})
    line.was_told("othern1", [("shared", "k1", 99, "othern1e0")])
    line.close()
    assert settled(round_) == (1, 0, 0)


@proves("torture.sees-faults")
def test_a_value_that_is_there_twice_is_doubled(round_: Round, filled: Truth) -> None:
    change(
        round_,
        "UPDATE versions SET value = (SELECT value FROM versions WHERE id = 1) WHERE id = 2",
    )
    lost, doubled, faults = settled(round_)
    assert (lost, doubled) == (1, 1)
    assert faults > 0


@proves("torture.sees-faults")
@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([{"asked": "c", "work": {"kind": "write"}}], None),
        ([{"asked": "c", "work": {"kind": "write"}}, {"declined": "c"}], "c was declined and is stored"),
        ([{"asked": "c", "work": {"kind": "batch"}}], "c is stored in part: 1 of its entries"),
        ([], "c is stored and was never asked for"),
    ],
    ids=["asked", "declined", "in-part", "never-asked"],
)
def test_what_is_stored_against_what_was_said_is_a_fault(
    lines: Sequence[dict[str, object]], fault: str | None
) -> None:
    said = Told()
    for line in lines:
        said.add(line)
    found = list(checking.contradictions(said, [("p", "k", 1, "ce0")]))
    assert found == ([] if fault is None else [fault])


@proves("torture.sees-faults")
def test_a_search_that_misses_an_entry_is_a_fault(round_: Round, filled: Truth) -> None:
    change(round_, "DELETE FROM text_index")
    problems = checking.examine(round_.path).problems
    assert any("a search for" in problem for problem in problems)
    assert settled(round_)[2] > 0


@proves("torture.sees-faults")
def test_a_line_that_was_cut_off_was_not_said(round_: Round) -> None:
    (round_.folder / "c.journal").write_text('{"asked": "a", "work": {}}\n{"acknowl', encoding="utf-8")
    assert told(round_.folder).unanswered() == {"a": {}}


@proves("torture.sees-faults")
def test_damage_that_nothing_tells_of_is_unnoticed(round_: Round, filled: Truth) -> None:
    other = Truth([*filled.versions[:-1], "another"], filled.commits, filled.words)
    judging.judge(round_, other, "nothing at all")
    assert (round_.tally.unnoticed, len(round_.tally.faults)) == (1, 1)


@proves("torture.sees-faults")
@pytest.mark.parametrize(
    ("cut", "verdict"),
    [(slice(None), "harmless"), (slice(0, 2), "unnoticed")],
)
def test_what_became_of_a_store_is_told(round_: Round, filled: Truth, cut: slice, verdict: str) -> None:
    judging.judge(round_, Truth(filled.versions[cut], filled.commits, filled.words), "this")
    assert round_.tally.damages["this"] == {verdict: 1}


@proves("torture.stories")
def test_every_operation_is_cancelled() -> None:
    assert cancelling.STORIES.keys() == cancelling.OPERATIONS
    assert {"write", "erase", "anchor", "backup", "import_from"} < cancelling.OPERATIONS


@proves("torture.stories")
def test_an_operation_that_is_not_cancelled_is_a_fault(
    round_: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancelling, "OPERATIONS", frozenset({"stats", "fly"}))
    monkeypatch.setattr(cancelling, "STORIES", {"stats": cancelling.STORIES["stats"]})
    cancelling.cancelled(round_)
    assert round_.tally.faults == ["test: how fly is cancelled is not told: it needs a story"]
    assert round_.tally.rounds > 0


@proves("torture.sees-faults")
@pytest.mark.parametrize("trace", ["xn1e0", work.imprint("xn1e0")[erasing.SHARED_CHARACTERS :]])
def test_a_trace_of_what_is_in_no_version_any_more_is_a_fault(
    round_: Round, filled: Truth, trace: str
) -> None:
    said = told(round_.folder)
    said.asked["xn1"] = {"kind": "write"}
    assert list(erasing.left_behind(round_.path, said)) == []
    round_.path.with_name("store.db-wal").write_text(f"free space, {trace}, free space", encoding="utf-8")
    assert list(erasing.left_behind(round_.path, said)) == [
        "xn1e0 is in no version any more, and still in store.db-wal"
    ]


@proves("torture.sees-faults")
def test_what_was_archived_and_is_still_there_is_a_fault(round_: Round, filled: Truth) -> None:
    said = Told(archived={"xn1"})
    assert len(list(erasing.not_archived(round_.path, said))) == 1


def write(offset: int, content: bytes) -> Call:
    return Call("write", DB, offset, content)


SYNC = Call("sync", DB)


def left(made: Sequence[Call], moment: int, loss: recording.Loss = "everything unsynced") -> bytes | None:
    """What a cut before this call leaves of the file."""
    return after_power_cut(made, moment, loss, repeatable("test"), FOLDER)[0].get("store.db")


@proves("torture.power")
def test_a_power_cut_takes_what_was_not_synced_and_nothing_else() -> None:
    made = [write(0, b"old"), SYNC, write(0, b"new"), Call("unlink", DB), Call("sync", "/f/other")]
    assert [left(made, moment) for moment in range(6)] == [None, None, b"old", b"old", b"old", None]
    assert left(made, 3, "nothing") == b"new"


@proves("torture.power")
def test_a_power_cut_may_leave_any_sector() -> None:
    old, new = b"o" * 1024, b"n" * 1024
    made = [write(0, old), SYNC, write(0, new)]
    seen = set()
    for seed in range(50):
        files, _ = after_power_cut(made, 3, "any sectors", repeatable(str(seed)), FOLDER)
        seen.add(files["store.db"])
    assert seen == {first * 512 + second * 512 for first in (b"o", b"n") for second in (b"o", b"n")}


@proves("torture.power")
def test_what_was_acknowledged_is_what_the_journal_said_before_the_cut() -> None:
    made = [
        Call("write", JOURNAL, 0, b'{"declined": "a"}\n'),
        write(0, b"x"),
        Call("write", JOURNAL, 0, b"later\n"),
    ]
    _, lines = after_power_cut(made, 2, "nothing", repeatable("test"), FOLDER)
    assert recording.told_by(lines) == [{"declined": "a"}]


@proves("torture.power")
def test_a_recording_is_read_call_by_call() -> None:
    path = "".join(f"\\x{byte:02x}" for byte in DB.encode())
    lines = [
        f'7  pwrite64(3<{path}>, "\\x61\\x62", 2, 4096) = 2\n',
        f"7  fdatasync(3<{path}> <unfinished ...>\n",
        f'8  write(4<{path}>, "\\x63", 1) = 1\n',
        "7  <... fdatasync resumed>) = 0\n",
        f"7  ftruncate(3<{path}>, 512) = 0\n",
        f'7  unlink("{path}") = 0\n',
        f'7  unlink("{path}") = -1 ENOENT (No such file or directory)\n',
        f"7  fdatasync(3<{path}>) = -1 EIO (Input/output error)\n",
        "7  +++ exited with 0 +++\n",
    ]
    assert list(calls(iter(lines))) == [
        write(4096, b"ab"),
        write(0, b"c"),
        SYNC,
        Call("truncate", DB, 512),
        Call("unlink", DB),
    ]


@pytest.mark.parametrize("module", [journal, recording, rounds, telling, work])
@proves("torture.sees-faults")
def test_the_examples_of_the_harness_are_true(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@proves("torture.page")
def test_the_figures_of_a_run_are_written_whole(tmp_path: Path) -> None:
    tally = Tally(rounds=2, damages={"cut": Counter({"refused": 2})}, notes=Counter({"a note": 1}))
    telling.write_json(tmp_path / "figures.json", {"disk: cut": tally})
    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["disk: cut"]
    assert (written["rounds"], written["damages"], written["notes"]) == (
        2,
        {"cut": {"refused": 2}},
        {"a note": 1},
    )
