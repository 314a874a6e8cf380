"""Examining a store: what is found in and around it, what is put right, and that looking changes nothing."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.doctor import health, surroundings, symptoms
from amfs_sqlite.sqlite.doctor.health import HealthReport, examine, treat
from parity_tests.concurrency.crew import received, started
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import settled

RELEASED = Path(__file__).parents[1] / "migrations" / "files"
BUSY_S = 0.05
only_linux = pytest.mark.skipif(not surroundings.PROC.is_dir(), reason="only Linux tells of processes")
posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")


def problems(report: HealthReport) -> list[str]:
    """The codes of what is to be done something about."""
    return [each.code for each in report.findings if each.level == "problem"]


def notes(report: HealthReport) -> list[str]:
    """The codes of what is only to be known, but for what every store on this SQLite has."""
    found = [each.code for each in report.findings if each.level == "note"]
    return [code for code in found if code != "sqlite_fault"]


def folder_of(path: str) -> dict[str, tuple[int, int, bytes]]:
    """Everything beside the store and itself: mode, instant of the last change, content."""
    return {
        each.name: (each.stat().st_mode, each.stat().st_mtime_ns, each.read_bytes())
        for each in Path(path).parent.iterdir()
    }


def hold_snapshot(pipe: Connection, path: str) -> None:
    """Read, and go on reading as of that moment until told."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("BEGIN")
        raw.execute("SELECT count(*) FROM versions").fetchone()
        pipe.send(os.getpid())
        pipe.recv()


def examine_without_rights(pipe: Connection, path: str) -> None:
    """As nobody, to whom the file is closed."""
    examine(path)  # Libraries load parts of themselves when first used.
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    else:
        Path(path).chmod(0)
    pipe.send(examine(path).findings)


@contextmanager
def changed_behind(path: str, *statements: str) -> Iterator[None]:
    """What somebody did to the file with another program."""
    with closing(sqlite3.connect(path)) as raw:
        for statement in statements:
            raw.execute(statement)
        raw.commit()
    yield


@proves("doctor.sound")
def test_of_a_sound_store_nothing_is_to_be_done_and_looking_leaves_no_trace(store: str) -> None:
    before = folder_of(store)
    report = examine(store)
    assert (report.ok, problems(report), notes(report)) == (True, [], [])
    assert report.schema_version == migrate.NEWEST
    assert report.file_bytes == Path(store).stat().st_size
    assert report.page_count is not None
    assert report.page_count > 0
    assert report.disk_free_bytes is not None
    assert folder_of(store) == before
    assert treat(report) == ()
    assert folder_of(store) == before


@proves("doctor.sound")
async def test_a_store_that_is_being_written_is_sound(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        for number in range(10):
            await adapter.write(draft(key=f"k{number}"))
            assert examine(path).ok
        await settled(adapter)
        assert (await adapter.verify()).ok


@proves("doctor.sqlite")
@pytest.mark.parametrize(
    ("faults", "told"), [((), []), (("it may lose a commit",), ["it may lose a commit"])]
)
def test_known_faults_of_the_sqlite_in_use_are_told(
    store: str, monkeypatch: pytest.MonkeyPatch, faults: tuple[str, ...], told: list[str]
) -> None:
    monkeypatch.setattr(symptoms, "known_faults", lambda: faults)
    report = examine(store)
    assert [each.problem for each in report.findings if each.code == "sqlite_fault"] == told
    assert report.sqlite_version == sqlite3.sqlite_version
    assert report.ok


@proves("doctor.unusable")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "no_store"),
        (b"no store, but long enough to be one " * 100, "foreign_file"),
        (b"SQLite format 3\0" + bytes(84), "foreign_file"),
    ],
    ids=["empty", "text", "header"],
)
def test_what_is_no_store_is_a_finding_and_is_left_alone(path: str, content: bytes, code: str) -> None:
    Path(path).write_bytes(content)
    Path(path).chmod(0o644)
    before = folder_of(path)
    report = examine(path)
    assert problems(report) == [code]
    assert report.schema_version is None
    assert treat(report) == ()
    assert folder_of(path) == before


@proves("doctor.unusable")
def test_a_missing_file_and_a_folder_are_findings(tmp_path: Path) -> None:
    missing, below = str(tmp_path / "no.db"), str(tmp_path / "no" / "way.db")
    found = [problems(examine(each)) for each in (missing, below, str(tmp_path))]
    assert found == [["no_store"], ["no_store"], ["unavailable"]]
    assert list(tmp_path.iterdir()) == []


@proves("doctor.unusable")
def test_another_programs_file_and_a_newer_schema_are_findings(store: str) -> None:
    with changed_behind(store, "PRAGMA user_version = 99"):
        assert problems(examine(store)) == ["newer_schema"]
    with changed_behind(store, "PRAGMA application_id = 7"):
        assert problems(examine(store)) == ["foreign_file"]


@proves("doctor.unusable")
def test_an_older_schema_is_told_and_not_migrated(path: str) -> None:
    shutil.copyfile(RELEASED / "schema_1.db", path)
    Path(path).chmod(0o600)
    before = folder_of(path)
    report = examine(path)
    assert (problems(report), notes(report), report.schema_version) == ([], ["older_schema"], 1)
    assert folder_of(path) == before


@proves("doctor.unusable")
def test_damaged_pages_are_a_finding(store: str) -> None:
    content = bytearray(Path(store).read_bytes())
    page = int.from_bytes(content[16:18])
    for start in range(2 * page, len(content), page):
        content[start : start + 64] = b"\xff" * 64
    Path(store).write_bytes(content)
    report = examine(store)
    assert set(problems(report)) <= {"damaged", "corrupt"}
    assert not report.ok
    assert Path(store).read_bytes() == content


@proves("doctor.unusable")
def test_a_file_that_was_cut_is_a_finding(store: str) -> None:
    os.truncate(store, Path(store).stat().st_size // 2)
    assert set(problems(examine(store))) <= {"damaged", "corrupt"}
    assert not examine(store).ok


@proves("doctor.unusable")
@posix
def test_a_file_that_may_not_be_read_is_a_finding(store: str) -> None:
    with started(examine_without_rights, store) as (_, pipe):
        found = received(pipe)
    assert {each.code for each in found if each.level == "problem"} <= {"unavailable", "read_only"}
    assert any(each.level == "problem" for each in found)


@proves("doctor.sound", "doctor.unusable")
async def test_a_log_that_nobody_has_taken_up_is_told_and_not_taken_up(path: str, tmp_path: Path) -> None:
    copied = tmp_path / "elsewhere"
    copied.mkdir()
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        for suffix in ("", "-wal"):
            shutil.copyfile(path + suffix, copied / f"store.db{suffix}")
            (copied / f"store.db{suffix}").chmod(0o600)
    there = str(copied / "store.db")
    before = folder_of(there)
    report = examine(there)
    assert (problems(report), notes(report)) == ([], ["log_not_taken_up"])
    assert folder_of(there) == before


@proves("doctor.network")
@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
@pytest.mark.parametrize("name", ["share", "my share"])
def test_a_network_file_system_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    system, share = tmp_path / "proc", tmp_path / name
    (system / "self").mkdir(parents=True)
    share.mkdir()
    point = str(share).replace(" ", "\\040")
    mounts = f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:50 / {point} rw shared:1 - {kind} host:/x rw\n"
    (system / "self" / "mountinfo").write_text(mounts)
    monkeypatch.setattr(surroundings, "PROC", system)
    assert surroundings.filesystem(str(tmp_path / "memory.db")) == "ext4"
    report = examine(str(share / "memory.db"))
    assert report.filesystem == kind
    assert "network_filesystem" in problems(report)


@proves("doctor.network", "doctor.holders")
def test_where_the_system_tells_nothing_nothing_is_made_up(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "PROC", tmp_path / "nowhere")
    report = examine(store)
    assert (report.filesystem, report.holders, report.ok) == (None, (), True)


@proves("doctor.modes")
@posix
def test_every_file_that_others_may_read_is_named_and_made_private_when_asked(store: str) -> None:
    names = ["", "-wal", "-shm", "-lock", ".before-schema-2", ".before-restore-20260101T000000Z"]
    names.append(".0123abcd.part")
    for name in names:
        Path(store + name).touch()
        Path(store + name).chmod(0o644)
    report = examine(store)
    wide = [each for each in report.findings if each.code == "wide_mode"]
    assert sorted(each.path for each in wide) == sorted(store + name for name in names)
    assert all(each.can_fix and "mode 644" in each.problem for each in wide)
    assert Path(store).stat().st_mode & 0o777 == 0o644
    assert treat(report) == ()
    assert [code for code in problems(examine(store)) if code == "wide_mode"] == []
    assert {Path(store + name).stat().st_mode & 0o777 for name in names[:-1]} == {0o600}


@proves("doctor.modes")
@posix
@pytest.mark.parametrize(
    ("mode", "found"), [(0o755, []), (0o770, ["wide_folder"]), (0o777, ["wide_folder"]), (0o1777, [])]
)
def test_a_folder_that_others_may_write_is_named(store: str, mode: int, found: list[str]) -> None:
    folder = Path(store).parent
    folder.chmod(mode)
    try:
        assert problems(examine(store)) == found
    finally:
        folder.chmod(0o700)


@proves("doctor.room")
def test_a_second_hard_link_is_a_problem_that_is_not_touched(store: str) -> None:
    Path(store).with_name("other.db").hardlink_to(store)
    report = examine(store)
    assert problems(report) == ["hard_links"]
    assert treat(report) == ()
    assert Path(store).stat().st_nlink == 2


@proves("doctor.room")
@pytest.mark.parametrize(("free", "level"), [(1_000, "problem"), (70_000_000, "note"), (10**12, None)])
def test_little_room_on_the_disk_is_told(
    store: str, monkeypatch: pytest.MonkeyPatch, free: int, level: str | None
) -> None:
    with Path(store).open("r+b") as file:
        file.truncate(80_000_000)  # As much as SQLite is not told of, and a copy would take.
    usage = shutil.disk_usage(store)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    found = [each.level for each in examine(store).findings if each.code == "disk_space"]
    assert found == ([] if level is None else [level])


@proves("doctor.room")
def test_many_free_pages_are_told(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "MANY_FREE_PAGES", 10)
    make = ["CREATE TABLE much (x)", "INSERT INTO much VALUES (zeroblob(2000000))", "DROP TABLE much"]
    with changed_behind(store, *make):
        report = examine(store)
    assert (problems(report), notes(report)) == ([], ["free_pages"])
    assert report.free_page_count is not None
    assert report.free_page_count > 100


@proves("doctor.holders")
@only_linux
async def test_the_processes_that_have_it_open_are_named(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        with started(hold_snapshot, path) as (_, pipe):
            reader = received(pipe)
            report = examine(path)
            pipe.send(None)
    assert {os.getpid(), reader} <= {holder.pid for holder in report.holders}
    assert all(holder.name for holder in report.holders)
    # Looking into the log would have cost this process its locks.
    assert report.log is None


@proves("doctor.holders")
@only_linux
async def test_a_process_on_a_file_that_was_replaced_is_named(store: str) -> None:
    with started(hold_snapshot, store) as (_, pipe):
        reader = received(pipe)
        copy = Path(store).with_name("copy.db")
        shutil.copyfile(store, copy)
        copy.chmod(0o600)
        copy.replace(store)
        report = examine(store)
        pipe.send(None)
    assert problems(report) == ["deleted_while_open"]
    (found,) = [each for each in report.findings if each.code == "deleted_while_open"]
    assert f"process {reader} " in found.problem


@proves("doctor.log", "doctor.nothing-unasked")
@only_linux
async def test_a_large_log_is_told_with_who_keeps_it_and_emptied_once_nobody_does(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symptoms, "WAL_BYTES_KEPT", 1_000)
    with started(hold_snapshot, store) as (_, pipe):
        reader = received(pipe)
        async with SqliteAdapter(store) as adapter:
            for number in range(30):
                await adapter.write(draft("svc", f"more{number}", "x" * 2_000))
        report = examine(store)
        assert problems(report) == ["large_log"]
        (found,) = [each for each in report.findings if each.code == "large_log"]
        assert report.log is not None
        assert report.log.readers == (reader,)
        assert report.log.reachable_count < report.log.frame_count
        assert f" while {reader} (" in found.problem
        (untreated,) = treat(report, busy_timeout_s=BUSY_S)
        assert (untreated.finding, untreated.error.code) == (found, "busy")
        assert problems(examine(store)) == ["large_log"]
        # Somebody else keeps the log there when the reader has ended.
        with started(hold_snapshot, store) as (_, other):
            received(other)
            pipe.send(None)
            report = examine(store)
            assert problems(report) == ["large_log"]
            assert report.log is not None
            assert reader not in report.log.readers
            other.send(None)
    assert treat(examine(store)) == ()
    report = examine(store)
    assert (problems(report), report.wal_bytes) == ([], 0)
    async with SqliteAdapter(store) as adapter:
        assert len(await adapter.list()) == 50
        assert (await adapter.verify()).ok
