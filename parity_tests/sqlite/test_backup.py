"""A backup is whole, consistent beside writers, and either there under its name or not at all."""

import asyncio
import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest

from amfs_sqlite import (
    HANDOFF,
    AdapterClosedError,
    BackupReport,
    InvalidArgumentError,
    SearchQuery,
    SqliteAdapter,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from amfs_sqlite.sqlite import visit
from amfs_sqlite.sqlite.copying import backup, copies
from amfs_sqlite.sqlite.doctor.health import examine
from parity_tests.concurrency.crew import left_in, received, started
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.sqlite import disk, others
from parity_tests.sqlite.internals import write_directly
from parity_tests.sqlite.test_health import only_linux

REMOVED = "what was removed for good"


class RefusingConnection(sqlite3.Connection):
    """A source whose copy fails as the test says."""

    code = sqlite3.SQLITE_FULL

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql != backup.COPY_INTO:
            return super().execute(sql, *parameters)
        error = sqlite3.OperationalError("it does not go")
        error.sqlite_errorcode = self.code
        raise error


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


async def fill(adapter: SqliteAdapter) -> None:
    await adapter.write(draft(value="first"))
    await adapter.write_batch([draft(value="second", tags=("t",)), private(key="mine", agent="bob")])
    await adapter.commit_outcome(outcome("success", at(version=2)))


def content(path: str) -> list[str]:
    """All that a file holds, but for the text index, which comes later."""
    with closing(sqlite3.connect(path)) as raw:
        return [line for line in raw.iterdump() if "text_index" not in line and "text_state" not in line]


@proves("backups.whole")
async def test_a_backup_holds_everything_and_is_its_owners_alone(path: str, tmp_path: Path) -> None:
    dest = tmp_path / "backup.db"
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await fill(adapter)
        report = await adapter.backup(dest)
        schema = (await adapter.describe()).schema_version
    assert content(str(dest)) == content(path)
    assert report == BackupReport(
        path=str(dest),
        file_bytes=dest.stat().st_size,
        schema_version=schema,
        key_count=2,
        version_count=3,
        commit_count=3,
        outcome_count=1,
        head_sequence=3,
        head_digest=report.head_digest,
    )
    with closing(sqlite3.connect(dest)) as raw:
        assert raw.execute("SELECT digest FROM head").fetchone() == (report.head_digest,)
    if os.name == "posix":
        assert disk.mode(dest) == 0o600
    async with SqliteAdapter(dest) as copy:
        page = await copy.search(SearchQuery(text="second"))
        assert [entry.version for entry in page.entries] == [2]
        assert (await copy.write(draft(value="third"))).version == 3
        assert (await copy.verify()).findings == ()


@proves("backups.whole")
async def test_a_store_in_memory_is_backed_up_too(tmp_path: Path) -> None:
    async with SqliteAdapter(":memory:", outcomes=HANDOFF) as adapter:
        await fill(adapter)
        report = await adapter.backup(tmp_path / "backup.db")
        assert (await adapter.write(draft(value="third"))).version == 3
    async with SqliteAdapter(report.path) as copy:
        assert [entry.value for entry in await copy.history("svc/a", "k")] == ["first", "second"]


@proves("backups.beside-writers")
async def test_a_backup_beside_other_processes_is_one_state_with_all_acknowledged_before(
    path: str, tmp_path: Path
) -> None:
    with started(others.write_pairs_until_killed, path) as (_, pipe):
        for number in range(4):
            acknowledged = received(pipe)
            while pipe.poll():
                acknowledged = pipe.recv()
            async with SqliteAdapter(path) as adapter:
                report = await adapter.backup(tmp_path / f"backup-{number}.db")
            async with SqliteAdapter(report.path) as copy:
                left, right = await copy.list()
                assert left.value == right.value >= acknowledged
                assert left.version == right.version == left.value
                assert (await copy.verify()).commit_count == report.commit_count == left.value


@proves("backups.beside-writers")
async def test_an_adapter_goes_on_reading_and_writing_while_it_is_backed_up(
    path: str, tmp_path: Path
) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write_batch([draft(key=str(each), value="x" * 1000) for each in range(500)])
        taking = asyncio.ensure_future(adapter.backup(tmp_path / "backup.db"))
        written = [await adapter.write(draft(key="beside")) for _ in range(20)]
        report = await taking
        assert [entry.version for entry in written] == list(range(1, 21))
        assert 500 <= report.version_count <= 520


@proves("backups.beside-writers")
async def test_a_cancelled_backup_is_whole_or_not_there(path: str, tmp_path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        taking = asyncio.ensure_future(adapter.backup(tmp_path / "backup.db"))
        await asyncio.sleep(0)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
    async with SqliteAdapter(tmp_path / "backup.db", mode="ro") as copy:
        assert (await copy.verify()).version_count == 1
    assert [name for name in disk.names(tmp_path) if name.endswith(".part")] == []


@proves("backups.new-file")
@pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal"])
async def test_a_backup_replaces_nothing_and_takes_no_name_with_a_log_beside_it(
    path: str, tmp_path: Path, beside: str
) -> None:
    dest = tmp_path / "backup.db"
    taken = Path(f"{dest}{beside}")
    disk.put(taken, b"mine")
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        with pytest.raises(InvalidArgumentError, match="stands there") as refused:
            await adapter.backup(dest)
        assert str(taken) in str(refused.value)
        assert disk.data(taken) == b"mine"
        with pytest.raises(InvalidArgumentError):
            await adapter.backup(path)
    assert [name for name in disk.names(tmp_path) if name.endswith(".part")] == []


@proves("backups.new-file")
async def test_a_backup_that_cannot_be_made_is_refused_by_its_own_name(path: str, tmp_path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        dest = tmp_path / "missing" / "backup.db"
        with pytest.raises(StoreUnavailableError) as refused:
            await adapter.backup(dest)
        assert refused.value.path == str(dest)
        with pytest.raises(StoreUnavailableError):
            await adapter.backup("")
    with pytest.raises(AdapterClosedError):
        await adapter.backup(tmp_path / "backup.db")


@proves("backups.new-file")
async def test_a_backup_that_cannot_get_its_name_leaves_nothing_under_it(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> NoReturn:
        raise OSError(5, "Input/output error")

    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        before = disk.names(tmp_path)
        for place, name in ((Path, "hardlink_to"), (copies, "sync_folder")):
            with monkeypatch.context() as patched:
                patched.setattr(place, name, refused)
                with pytest.raises(StoreUnavailableError, match="Input/output error"):
                    await adapter.backup(tmp_path / "backup.db")
            assert disk.names(tmp_path) == before


@proves("backups.new-file")
@pytest.mark.parametrize("is_taken", [False, True])
async def test_where_files_have_one_name_alone_a_backup_gets_it_too_and_replaces_nothing(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    def no_links(dest: Path, _: str) -> NoReturn:
        if is_taken:  # Just now, by another.
            disk.put(dest, b"mine")
        raise OSError(errno.EPERM, "Operation not permitted")

    dest = tmp_path / "backup.db"
    monkeypatch.setattr(Path, "hardlink_to", no_links)
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        if is_taken:
            with pytest.raises(StoreUnavailableError, match="exists"):
                await adapter.backup(dest)
            assert disk.data(dest) == b"mine"
        else:
            assert (await adapter.backup(dest)).file_bytes == dest.stat().st_size
            with monkeypatch.context() as patched:
                patched.setattr(Path, "replace", no_links)
                with pytest.raises(StoreError, match="not permitted"):
                    await adapter.backup(tmp_path / "other.db")
            assert not disk.stands(tmp_path / "other.db")
    assert [name for name in disk.names(tmp_path) if name.endswith(".part")] == []


@proves("backups.whole", "doctor.leftovers")
@only_linux
async def test_a_backup_is_there_though_doctor_took_its_second_name_away_meanwhile(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = Path.hardlink_to

    def linked(dest: Path, temporary: str) -> None:
        link(dest, temporary)
        assert [each.path for each in visit(path, fix=True).fixed] == [temporary]

    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
    with monkeypatch.context() as patched:
        patched.setattr(Path, "hardlink_to", linked)
        async with SqliteAdapter(path) as adapter:
            await adapter.backup(tmp_path / "backup.db")
    async with SqliteAdapter(tmp_path / "backup.db") as copy:
        assert (await copy.verify()).version_count == 1


@proves("backups.killed", "doctor.leftovers")
@only_linux
@pytest.mark.parametrize("event", ["os.link", "os.remove", "os.rename"])
async def test_whenever_a_backup_is_killed_its_name_is_free_or_names_all_of_it(
    path: str, tmp_path: Path, event: str
) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
    dest = tmp_path / "backup.db"
    with started(others.back_up_to_the_end_or, event, path, str(dest)) as (_, pipe):
        is_done = list(left_in(pipe)) == ["done"]
    assert is_done is (event == "os.rename")  # There is no such moment: the name comes with the content.
    assert disk.stands(dest) is (event != "os.link")
    if disk.stands(dest):
        # Under two names it is opened by neither, until the one it had while it was made is gone.
        assert examine(str(dest)).ok is is_done
        assert visit(str(dest), fix=True).report.ok
        async with SqliteAdapter(dest) as copy:
            assert (await copy.verify()).version_count == 1


@proves("backups.told")
@pytest.mark.parametrize(
    ("code", "error", "named"),
    [
        (sqlite3.SQLITE_FULL, StoreFullError, "backup.db"),
        (sqlite3.SQLITE_IOERR, StoreUnavailableError, "backup.db"),
        (sqlite3.SQLITE_BUSY, StoreBusyError, "store.db"),
        (sqlite3.SQLITE_CORRUPT, StoreCorruptError, "store.db"),
    ],
)
async def test_what_keeps_a_backup_from_being_made_is_told_by_a_name_that_is_known(
    path: str, monkeypatch: pytest.MonkeyPatch, code: int, error: type[StoreError], named: str
) -> None:
    folder = Path(path).parent

    def reading(uri: str, _: float) -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, factory=RefusingConnection)

    monkeypatch.setattr(RefusingConnection, "code", code)
    monkeypatch.setattr(backup, "reading", reading)
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        with pytest.raises(error) as refused:
            await adapter.backup(folder / "backup.db")
    assert refused.value.path == str(folder / named)
    assert ".part" not in str(refused.value)
    assert [name for name in disk.names(folder) if "backup" in name] == []


@proves("backups.told")
@pytest.mark.parametrize(
    ("busy_timeout_s", "waits_ms"), [(0.0, 0), (0.25, 250), (1e12, int(backup.LONGEST_WAIT_S * 1000))]
)
async def test_a_backup_waits_for_others_as_long_as_its_adapter_does(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy_timeout_s: float, waits_ms: int
) -> None:
    waited, reading = [], backup.reading

    def looking(uri: str, timeout_s: float) -> sqlite3.Connection:
        connection = reading(uri, timeout_s)
        waited.append(connection.execute("PRAGMA busy_timeout").fetchone())
        return connection

    monkeypatch.setattr(backup, "reading", looking)
    async with SqliteAdapter(path, busy_timeout_s=busy_timeout_s) as adapter:
        await adapter.write(draft())
        await adapter.backup(tmp_path / "backup.db")
    assert waited == [(waits_ms,)]


@proves("backups.free-space")
async def test_what_lies_in_the_free_space_of_a_file_is_in_no_backup(path: str, tmp_path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        await write_directly(adapter, "PRAGMA secure_delete = OFF")
        await write_directly(adapter, f'CREATE TABLE "{REMOVED}" (text)')
        await write_directly(adapter, f'DROP TABLE "{REMOVED}"')
        await adapter.write(draft())
        report = await adapter.backup(tmp_path / "backup.db")
    assert REMOVED.encode() in disk.data(path)
    assert REMOVED.encode() not in disk.data(report.path)


@proves("backups.damaged")
async def test_a_store_that_does_not_verify_is_not_backed_up(path: str, tmp_path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        await write_directly(adapter, "UPDATE versions SET value = '2'")
        with pytest.raises(StoreCorruptError, match=r"does not verify: .* content") as refused:
            await adapter.backup(tmp_path / "backup.db")
        assert refused.value.path == path
    assert [name for name in disk.names(tmp_path) if "backup" in name] == []


@proves("backups.killed")
async def test_a_backup_that_is_killed_leaves_its_name_free(path: str, tmp_path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
    dest = tmp_path / "backup.db"
    with started(others.stop_before_the_name, path, str(dest)) as (_, pipe):
        temporary = received(pipe)
    assert temporary.startswith(f"{dest}.")
    assert disk.stands(temporary)
    assert not disk.stands(dest)
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.backup(dest)).version_count == 1
