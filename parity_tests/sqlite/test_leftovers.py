"""What lies beside a store or is left in it: found by what it is, and removed only where nobody needs it."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, get_args

import pytest

from amfs_sqlite import SqliteAdapter, StoreError
from amfs_sqlite.clock import FixedClock
from amfs_sqlite.rules import transfer
from amfs_sqlite.sqlite import visit
from amfs_sqlite.sqlite.database import files, scrubbing
from amfs_sqlite.sqlite.doctor import surroundings
from amfs_sqlite.sqlite.doctor.health import examine, treat
from amfs_sqlite.sqlite.doctor.surroundings import JOURNAL_HEADER
from amfs_sqlite.sqlite.doctor.symptoms import HealthCode
from parity_tests.concurrency.crew import left_in, started
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves
from parity_tests.sqlite import disk
from parity_tests.sqlite.test_health import (
    BUSY_S,
    changed_behind,
    folder_of,
    notes,
    only_linux,
    posix,
    problems,
)

NOON = FixedClock("2026-01-01T12:00:00Z")
WORD = "xylophonequartz"


OURS_HALF_MADE = ["copy.db.01234567", "store.db.89abcdef", "all.jsonl.00000000", "other.db.00000001"]
OTHERS_HALF_MADE = [
    "film.0123abcd.part",
    "copy.db.0123.part",
    "store.db.0123ABCD.part",
    "report.0123abcd.part-wal",
]
STRANGE = ["link", "dangling", "folder", "pipe", "device"]


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


def put_strange(place: Path, target: Path, kind: str) -> None:
    """Something that is no file; what it may lead to is another's, and closed to nobody."""
    if kind == "folder":
        place.mkdir(0o755)
    elif kind == "pipe":
        os.mkfifo(place, 0o644)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        place.symlink_to(target)
    if kind == "link":
        target.write_bytes(b"another's")
        target.chmod(0o644)


def copy_and_be_ended(pipe: Connection, path: str, part: str) -> None:
    """As a backup does, up to where some of it stands in the new file. Tells of the end."""

    def looking() -> None:
        if files.size(part):
            os._exit(1)

    with closing(sqlite3.connect(path)) as raw:
        raw.set_progress_handler(looking, 100)
        raw.execute("VACUUM INTO ?", (part,))
    pipe.send("done")


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
    ours = [folder / f"{name}.part" for name in OURS_HALF_MADE]
    shutil.copyfile(store, ours[0])
    ours[1].touch()
    ours[2].write_bytes(transfer.first_line("store"))
    ours[3].write_bytes(bytes(4096))  # SQLite writes the first page last.
    beside = [Path(f"{ours[0]}-wal"), Path(f"{ours[3]}-journal")]
    beside[1].write_bytes(JOURNAL_HEADER + b"and so on")
    others = [folder / name for name in OTHERS_HALF_MADE]
    for each in others:
        each.write_bytes(b"SQLite format 3\0 of another program" * 10)
    others += [folder / "download.deadbeef.part", folder / "film.89abcdef.part"]
    others[-1].write_bytes(bytes(4096))
    for each in (*ours, *beside, *others):
        left_alone(each, age)
    report = examine(store, clock=NOON)
    assert half_made_in(store) == {str(each) for each in ours}
    with ours[1].open("rb"):
        assert half_made_in(store) == {str(each) for each in ours if each != ours[1]}
    with beside[0].open("rb"):
        assert half_made_in(store) == {str(each) for each in ours[1:]}
    assert all(each.exists() for each in ours)
    assert treat(report, clock=NOON) == ()
    assert [each for each in (*ours, *beside) if each.exists()] == []
    assert all(each.exists() for each in others)
    assert examine(store, clock=NOON).ok


@proves("doctor.leftovers", "doctor.not-ours")
@only_linux
def test_what_a_real_process_left_half_made_is_known_as_ours(store: str) -> None:
    part = str(Path(store).with_name("copy.db.89abcdef.part"))
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT"
    with (
        changed_behind(store, f"CREATE TABLE much AS {numbers} zeroblob(2000) FROM n"),
        started(copy_and_be_ended, store, part) as (_, pipe),
    ):
        assert list(left_in(pipe)) == []
    assert surroundings.half_made(store) == [part]
    left_alone(Path(part), timedelta(hours=2))
    left_alone(Path(f"{part}-journal"), timedelta(hours=2))
    assert visit(store, fix=True, clock=NOON).fixed != ()
    assert [name for name in disk.names(Path(store).parent) if ".part" in name] == []


@proves("doctor.not-ours", "doctor.nothing-unasked")
@posix
@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["-lock", "-wal", "-shm", "-journal", ".before-schema-9", ".0123abcd.part"])
def test_what_is_no_file_is_told_and_neither_followed_nor_changed(store: str, name: str, kind: str) -> None:
    place, target = Path(store + name), Path(store).with_name("elsewhere")
    put_strange(place, target, kind)
    before = place.lstat()
    found = visit(store, fix=True)
    expected = [] if name.endswith(".part") else ["not_a_file"]
    assert [each.code for each in found.report.findings if each.path == str(place)] == expected
    assert (found.fixed, found.untreated) == ((), ())
    assert (place.lstat().st_mode, place.lstat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert target.exists() is (kind == "link")
    if kind == "link":
        assert (disk.mode(target), target.read_bytes()) == (0o644, b"another's")


@proves("doctor.not-ours")
@posix
def test_nothing_is_changed_beside_what_is_no_store_of_ours(store: str) -> None:
    left_alone(Path(store + ".89abcdef.part"), timedelta(hours=2))
    for name in ("", "-lock", ".before-schema-2"):
        Path(store + name).touch()
        Path(store + name).chmod(0o644)
    with changed_behind(store, "PRAGMA application_id = 7"):
        before = folder_of(store)
    found = visit(store, fix=True, clock=NOON)
    assert (found.fixed, found.untreated) == ((), ())
    assert "foreign_file" in problems(found.report)
    assert [each for each in found.report.findings if each.can_fix] == []
    assert folder_of(store) == before


@proves("doctor.not-ours")
@posix
def test_files_of_another_user_are_told_of_and_left_to_them(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(store).chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: Path(store).stat().st_uid + 1)
    found = visit(store, fix=True)
    (told,) = [each for each in found.report.findings if each.code == "wide_mode"]
    assert (told.can_fix, "--fix" in told.advice, disk.mode(store)) == (False, False, 0o644)


@proves("doctor.not-ours", "doctor.nothing-unasked")
@posix
def test_what_became_a_link_after_it_was_found_is_not_followed(store: str) -> None:
    lock, target = Path(store + "-lock"), Path(store).with_name("elsewhere")
    lock.touch()
    lock.chmod(0o644)
    report = examine(store)
    lock.unlink()
    put_strange(lock, target, "link")
    (untreated,) = treat(report)
    assert (untreated.finding.path, untreated.error.code) == (str(lock), "unavailable")
    assert disk.mode(target) == 0o644


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
