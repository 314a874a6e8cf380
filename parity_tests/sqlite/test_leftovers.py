"""What lies beside a store or is left in it: found by what it is, and removed only where nobody needs it."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn, get_args

import pytest

from amfs_sqlite import SqliteAdapter, StoreError
from amfs_sqlite.clock import FixedClock
from amfs_sqlite.sqlite import visit
from amfs_sqlite.sqlite.database import scrubbing
from amfs_sqlite.sqlite.health import examine, treat
from amfs_sqlite.sqlite.symptoms import HealthCode
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves
from parity_tests.sqlite import disk
from parity_tests.sqlite.test_health import BUSY_S, changed_behind, notes, only_linux, problems

NOON = FixedClock("2026-01-01T12:00:00Z")
WORD = "xylophonequartz"


class KilledError(Exception):
    """What stands for the end of the process."""


def left_alone(path: Path, age: timedelta) -> Path:
    """A file that is its owner's, and was last changed so long before noon."""
    path.touch()
    path.chmod(0o600)
    changed_s = (NOON.now() - age).timestamp()
    os.utime(path, (changed_s, changed_s))
    return path


def half_made_in(path: str) -> set[str]:
    """The unfinished copies that are told of."""
    return {each.path for each in examine(path, clock=NOON).findings if each.code == "half_made_copy"}


@pytest.fixture
async def erased(path: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store whose writer was ended between an erasure and what follows it."""

    def cut_short(*_: object) -> NoReturn:
        raise KilledError

    async with SqliteAdapter(path) as adapter:
        await adapter.write_batch([draft(value=WORD), draft(key="other")])
    with monkeypatch.context() as patched:
        patched.setattr(scrubbing, "scrub", cut_short)
        adapter = SqliteAdapter(path)
        await adapter.open()
        with pytest.raises(KilledError):
            await adapter.erase([at()], author="owner")
        with pytest.raises(KilledError):
            await adapter.close()
    return path


@proves("doctor.leftovers", "doctor.nothing-unasked")
@only_linux
def test_of_unfinished_copies_only_ours_are_removed_and_none_that_is_being_made(store: str) -> None:
    folder, age = Path(store).parent, timedelta(hours=1)
    copied = folder / "copy.db.01234567.part"
    shutil.copyfile(store, copied)
    ours = [copied, folder / "store.db.89abcdef.part", folder / "copy.db.01234567.part-wal"]
    others = [folder / "film.0123abcd.part", folder / "copy.db.0123.part", folder / "store.db.0123ABCD.part"]
    for each in others:
        each.write_bytes(b"SQLite format 3\0 of another program" * 10)
    for each in (*ours, *others):
        left_alone(each, age)
    report = examine(store, clock=NOON)
    assert half_made_in(store) == {str(each) for each in ours}
    with ours[1].open("rb"):
        assert half_made_in(store) == {str(ours[0]), str(ours[2])}
    with ours[2].open("rb"):
        assert half_made_in(store) == {str(ours[1])}
    assert all(each.exists() for each in ours)
    assert treat(report, clock=NOON) == ()
    assert [each for each in ours if each.exists()] == []
    assert all(each.exists() for each in others)
    assert examine(store, clock=NOON).ok


@proves("doctor.leftovers")
@only_linux
def test_a_copy_that_was_changed_within_the_hour_is_left_alone(store: str) -> None:
    part = left_alone(Path(store + ".89abcdef.part"), timedelta(minutes=59))
    assert half_made_in(store) == set()
    assert visit(store, fix=True, clock=NOON).report.ok
    assert part.exists()
    left_alone(part, timedelta(hours=2))
    log = left_alone(Path(f"{part}-journal"), timedelta(minutes=1))
    assert half_made_in(store) == set()
    log.unlink()
    found = visit(store, fix=True, clock=NOON)
    assert [each.code for each in found.fixed] == ["half_made_copy"]
    assert not part.exists()


@proves("doctor.leftovers", "doctor.nothing-unasked")
@only_linux
def test_a_copy_that_somebody_took_up_after_it_was_found_is_not_removed(store: str) -> None:
    part = left_alone(Path(store + ".89abcdef.part"), timedelta(hours=2))
    report = examine(store, clock=NOON)
    assert problems(report) == ["half_made_copy"]
    with part.open("rb"):
        (untreated,) = treat(report, clock=NOON)
    assert (untreated.finding.path, untreated.error.code) == (str(part), "busy")
    left_alone(part, timedelta(minutes=1))
    assert [each.error.code for each in treat(report, clock=NOON)] == ["busy"]
    assert part.exists()
    part.unlink()
    assert treat(report, clock=NOON) == ()


@proves("doctor.leftovers")
def test_finished_copies_are_told_of_and_kept(store: str) -> None:
    names = [".before-restore-20260101T000000Z", ".before-restore-20260101T000000Z-wal", ".before-schema-2"]
    for name in names:
        shutil.copyfile(store, store + name)
        Path(store + name).chmod(0o600)
    report = examine(store)
    assert (problems(report), notes(report)) == ([], ["kept_copy"] * 3)
    assert treat(report) == ()
    assert all(Path(store + name).exists() for name in names)


@proves("doctor.leftovers")
def test_where_the_folder_cannot_be_listed_that_is_told(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refused(folder: Path | str) -> Any:
        if Path(folder) == Path(store).parent:
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refused)
    report = examine(store)
    assert (problems(report), notes(report)) == ([], ["folder_unread"])


@proves("doctor.scrub")
async def test_an_erasure_that_was_cut_short_is_a_problem_that_is_ended_when_asked(erased: str) -> None:
    assert WORD.encode() in disk.data(erased)
    assert problems(examine(erased)) == ["scrub_due"]
    assert WORD.encode() in disk.data(erased)
    found = visit(erased, fix=True)
    assert [each.code for each in found.fixed] == ["scrub_due"]
    assert (found.report.ok, found.untreated) == (True, ())
    assert WORD.encode() not in disk.data(erased)
    async with SqliteAdapter(erased) as adapter:
        assert (await adapter.verify()).ok


@proves("doctor.scrub", "doctor.nothing-unasked")
async def test_what_others_keep_of_what_was_erased_is_told_and_stays_a_problem(erased: str) -> None:
    with closing(sqlite3.connect(erased)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        found = visit(erased, fix=True, busy_timeout_s=BUSY_S)
        raw.execute("ROLLBACK")
    assert problems(found.report) == ["scrub_due"]
    assert found.fixed == ()
    (untreated,) = found.untreated
    assert (untreated.finding.code, untreated.error.code) == ("scrub_due", "busy")
    assert "may still hold it" in untreated.error.problem
    # A copy from before is kept, and no reason to begin anew.
    with changed_behind(erased):
        disk.private_copy(Path(erased), erased + ".before-schema-9")
    found = visit(erased, fix=True)
    assert (problems(found.report), notes(found.report), found.untreated) == ([], ["kept_copy"], ())


@proves("doctor.codes")
def test_whatever_a_store_cannot_be_opened_for_has_a_code_of_a_finding() -> None:
    kinds: list[type[StoreError]] = [
        StoreError,
        *(each for each in StoreError.__subclasses__() if each.__module__ == "amfs_sqlite.errors"),
    ]
    assert {each.code for each in kinds} <= set(get_args(HealthCode))
