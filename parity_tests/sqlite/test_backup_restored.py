"""Restoring puts a verified copy in place at once, keeps what was there, and waits for nobody's hands."""

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import (
    ForeignFileError,
    InvalidArgumentError,
    NewerSchemaError,
    SqliteAdapter,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
    restore,
)
from amfs_sqlite.clock import FixedClock
from amfs_sqlite.sqlite import Mode, migrate
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX
from parity_tests.concurrency.crew import received, started
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite import disk, others

OLDEST = Path(__file__).parent.parent / "migrations" / "files" / "schema_1.db"
NOON = FixedClock("2026-01-01T12:00:00Z")


@pytest.fixture
async def backup(tmp_path: Path) -> Path:
    """A backup of a store that says `then`."""
    async with SqliteAdapter(tmp_path / "before" / "store.db") as adapter:
        await adapter.write(draft(value="then"))
        return Path((await adapter.backup(tmp_path / "backup.db")).path)


@pytest.fixture
async def store(path: str) -> Path:
    """The store to be replaced, which says `now`."""
    await written(path, "now")
    return Path(path)


async def written(path: str | Path, value: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=value))


async def said_by(path: str | Path) -> object:
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.verify()).findings == ()
        entry = await adapter.read("svc/a", "k")
        return None if entry is None else entry.value


def everything_in(folder: Path) -> dict[str, bytes]:
    """All files, but for the lock beside a store, which holds nothing."""
    names = (each for each in folder.iterdir() if each.is_file() and not each.name.endswith(LOCK_SUFFIX))
    return {each.name: each.read_bytes() for each in names}


@proves("backups.restored")
async def test_a_backup_becomes_a_store_where_there_is_none(backup: Path, path: str) -> None:
    report = restore(backup, path)
    assert (report.path, report.kept, report.contents.version_count) == (path, None, 1)
    if os.name == "posix":
        assert disk.mode(path) == 0o600
    assert await said_by(path) == "then"
    await written(path, "later")
    assert await said_by(backup) == "then"


@proves("backups.restored")
async def test_a_backup_of_an_older_schema_is_migrated_on_the_way(path: str, tmp_path: Path) -> None:
    backup = tmp_path / "old.db"
    disk.private_copy(OLDEST, backup)
    report = restore(backup, path)
    assert report.contents.schema_version == migrate.NEWEST
    assert disk.data(backup) == disk.data(OLDEST)
    async with SqliteAdapter(path, mode="ro") as adapter:
        assert (await adapter.verify()).findings == ()
        first, second = await adapter.history("svc/api", "limit")
        assert (first.value, second.value) == ({"rate": 100}, {"rate": 250})


@proves("backups.kept")
async def test_a_store_that_is_replaced_is_kept_under_the_name_that_is_told(
    backup: Path, store: Path
) -> None:
    first = restore(backup, store, force=True, clock=NOON)
    assert first.kept == f"{store}.before-restore-20260101T120000Z"
    assert await said_by(first.kept) == "now"
    assert await said_by(store) == "then"
    again = restore(backup, store, force=True, clock=NOON)
    assert again.kept == f"{first.kept}-2"
    assert await said_by(again.kept) == "then"
    assert await said_by(first.kept) == "now"


@proves("backups.kept")
async def test_without_being_asked_nothing_is_replaced(backup: Path, store: Path) -> None:
    before = everything_in(store.parent)
    with pytest.raises(InvalidArgumentError, match="force=True"):
        restore(backup, store)
    with pytest.raises(InvalidArgumentError, match="the backup itself"):
        restore(backup, backup, force=True)
    assert everything_in(store.parent) == before


@proves("backups.in-use")
@pytest.mark.parametrize("mode", ["rw", "ro"])
async def test_a_store_open_in_another_process_is_not_replaced(backup: Path, store: Path, mode: Mode) -> None:
    with started(others.hold_open, str(store), mode) as (holder, pipe):
        assert received(pipe) == 1
        with pytest.raises(StoreBusyError, match="close every agent") as refused:
            restore(backup, store, force=True)
        assert refused.value.path == str(store)
        pipe.send("enough")
        holder.join()
    assert await said_by(store) == "now"
    assert restore(backup, store, force=True).kept is not None
    assert await said_by(store) == "then"


@proves("backups.in-use")
async def test_a_store_open_in_this_process_is_not_replaced(backup: Path, store: Path) -> None:
    async with SqliteAdapter(store) as adapter:
        await adapter.list()
        with pytest.raises(StoreBusyError):
            restore(backup, store, force=True)
        assert (await adapter.write(draft(value="still"))).version == 2
    assert await said_by(store) == "still"
    assert [name for name in disk.names(store.parent) if name.endswith(".part")] == []


async def left_by_a_killed_process(path: Path) -> None:
    """A store whose newest entry stands in its log alone, with nobody there."""
    made = path.with_name("made.db")
    async with SqliteAdapter(made) as adapter:
        await adapter.write(draft(value="in the log"))
        for suffix in ("", "-wal", "-shm"):
            shutil.copyfile(f"{made}{suffix}", f"{path}{suffix}")
    assert disk.data(f"{path}-wal")


@proves("backups.logs-apart")
async def test_the_log_of_the_old_file_goes_with_it(backup: Path, path: str) -> None:
    await left_by_a_killed_process(Path(path))
    report = restore(backup, path, force=True)
    assert [suffix for suffix in ("-wal", "-shm") if disk.stands(path + suffix)] == []
    assert await said_by(path) == "then"
    assert report.kept is not None
    assert await said_by(report.kept) == "in the log"


@proves("backups.logs-apart")
async def test_a_log_without_its_file_is_put_aside(backup: Path, path: str) -> None:
    await left_by_a_killed_process(Path(path))
    disk.remove(path)
    log = disk.data(f"{path}-wal")
    with pytest.raises(InvalidArgumentError, match="force=True"):
        restore(backup, path)
    report = restore(backup, path, force=True)
    assert await said_by(path) == "then"
    assert disk.data(f"{report.kept}-wal") == log


@proves("backups.kept")
async def test_a_damaged_store_is_kept_with_its_log_and_replaced(
    backup: Path, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    await left_by_a_killed_process(Path(path))
    disk.put(path, b"no database any more" * 500)
    report = restore(backup, path, force=True)
    assert "whether somebody has it open is not known" in caplog.text
    assert report.kept is not None
    assert disk.data(report.kept).startswith(b"no database any more")
    assert disk.stands(f"{report.kept}-wal")
    assert not disk.stands(f"{path}-wal")
    assert await said_by(path) == "then"


def tampered(backup: Path) -> None:
    with closing(sqlite3.connect(backup, isolation_level=None)) as raw:
        raw.execute("UPDATE versions SET agent_id = 'mallory'")


def cut(backup: Path) -> None:
    backup.write_bytes(backup.read_bytes()[: 3 * 4096])


def empty(backup: Path) -> None:
    backup.write_bytes(b"")


def missing(backup: Path) -> None:
    backup.unlink()


def foreign(backup: Path) -> None:
    backup.write_text("what somebody wrote down", encoding="utf-8")


def newer(backup: Path) -> None:
    with closing(sqlite3.connect(backup)) as raw:
        raw.execute(f"PRAGMA user_version = {migrate.NEWEST + 1}")


@proves("backups.damaged")
@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (tampered, StoreCorruptError),
        (cut, StoreCorruptError),
        (empty, StoreUnavailableError),
        (missing, StoreUnavailableError),
        (foreign, ForeignFileError),
        (newer, NewerSchemaError),
    ],
)
async def test_a_backup_that_is_none_leaves_everything_as_it_is(
    backup: Path, store: Path, spoil: Callable[[Path], None], error: type[StoreError]
) -> None:
    spoil(backup)
    before = everything_in(store.parent)
    with pytest.raises(error) as refused:
        restore(backup, store, force=True)
    assert refused.value.path == str(backup)
    assert "\n" not in str(refused.value)
    with pytest.raises(error):
        restore(backup, store.with_name("another.db"))
    assert everything_in(store.parent) == before
    assert await said_by(store) == "now"


@proves("backups.killed")
async def test_a_restoring_that_is_killed_leaves_the_old_store_and_can_be_done_again(
    backup: Path, store: Path
) -> None:
    before = disk.data(store)
    with started(others.stop_before_the_old_is_replaced, str(backup), str(store)) as (_, pipe):
        kept = received(pipe)
    assert disk.data(store) == disk.data(kept) != before  # In place, its log taken in.
    with pytest.raises(StoreUnavailableError, match="hard links"):
        await SqliteAdapter(store).open()
    assert restore(backup, store, force=True).path == str(store)
    assert await said_by(store) == "then"


@proves("backups.in-use")
async def test_while_a_store_is_replaced_nobody_can_open_it(
    backup: Path, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    kept, refused = Path.hardlink_to, []

    def looking(name: Path, target: str) -> None:
        with (
            closing(sqlite3.connect(target, timeout=0)) as raw,
            pytest.raises(sqlite3.OperationalError) as no,
        ):
            raw.execute("SELECT count(*) FROM versions").fetchone()
        refused.append(str(no.value))
        kept(name, target)

    monkeypatch.setattr(Path, "hardlink_to", looking)
    restore(backup, store, force=True)
    assert refused == ["database is locked"]
    assert await said_by(store) == "then"


@proves("backups.kept")
async def test_where_there_are_no_hard_links_the_old_store_is_kept_too(
    backup: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impossible(name: Path, target: str) -> None:
        raise PermissionError(1, "not permitted here", str(name), None, target)

    monkeypatch.setattr(Path, "hardlink_to", impossible)
    report = restore(backup, store, force=True)
    assert report.kept is not None
    assert await said_by(report.kept) == "now"
    assert await said_by(store) == "then"


@pytest.fixture
def in_place_refused(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Everything gets its name but the restored file."""
    replace = Path.replace

    def refused(name: Path, target: str) -> Path:
        if name.suffix == ".part":
            raise PermissionError(13, "Permission denied")
        return replace(name, target)

    monkeypatch.setattr(Path, "replace", refused)
    return monkeypatch


@proves("backups.undone")
@pytest.mark.parametrize("has_links", [True, False])
async def test_a_restoring_that_cannot_end_leaves_the_old_store_under_its_one_name(
    backup: Path, store: Path, in_place_refused: pytest.MonkeyPatch, has_links: bool
) -> None:
    def impossible(*_: object) -> None:
        raise PermissionError(1, "not permitted here")

    if not has_links:
        in_place_refused.setattr(Path, "hardlink_to", impossible)
    before = disk.names(store.parent)
    with pytest.raises(StoreError, match="Permission denied"):
        restore(backup, store, force=True)
    in_place_refused.undo()
    assert disk.names(store.parent) == before
    assert await said_by(store) == "now"
    restore(backup, store, force=True)
    assert await said_by(store) == "then"


@proves("backups.undone", "backups.logs-apart")
@pytest.mark.parametrize("has_file", [True, False], ids=["damaged", "missing"])
async def test_a_restoring_that_cannot_end_leaves_logs_where_they_were(
    backup: Path, path: str, in_place_refused: pytest.MonkeyPatch, has_file: bool
) -> None:
    await left_by_a_killed_process(Path(path))
    if has_file:
        disk.put(path, b"no database any more" * 500)
    else:
        disk.remove(path)
    names, before = sorted(everything_in(Path(path).parent)), disk.data(f"{path}-wal")
    with pytest.raises(StoreError, match="Permission denied"):
        restore(backup, path, force=True)
    in_place_refused.undo()
    assert sorted(everything_in(Path(path).parent)) == names
    assert disk.data(f"{path}-wal") == before
    assert disk.stands(path) == has_file


@proves("backups.kept", "backups.logs-apart")
async def test_what_is_kept_never_gets_a_name_with_the_log_of_another(backup: Path, path: str) -> None:
    await left_by_a_killed_process(Path(path))
    disk.remove(path)
    first = restore(backup, path, force=True, clock=NOON)
    assert disk.stands(f"{first.kept}-wal")
    second = restore(backup, path, force=True, clock=NOON)
    assert second.kept == f"{first.kept}-2"
    assert second.kept is not None
    assert await said_by(second.kept) == "then"
