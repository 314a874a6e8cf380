"""Before a file gets another schema it is kept as it is; what fails leaves no trace."""

import logging
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter, StoreCorruptError, StoreError
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.copying import backup
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import Crew
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite import disk

OLDEST = Path(__file__).parent / "files" / "schema_1.db"
AUTHOR_IN_THE_LOG = "somebody in the log"


@pytest.fixture
def old(path: str) -> Path:
    """A store of the oldest schema."""
    disk.private_copy(OLDEST, path)
    return Path(path)


def kept_beside(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.before-schema-*"))


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(statement).fetchall()


@proves("migrations.kept-copy")
async def test_a_file_is_kept_as_it_was_before_its_schema_changes(
    old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "amfs_sqlite")
    async with SqliteAdapter(old) as adapter:
        assert (await adapter.verify()).findings == ()
    (kept,) = kept_beside(old)
    assert kept.name == f"store.db.before-schema-{migrate.NEWEST}"
    if os.name == "posix":
        assert disk.mode(kept) == 0o600
    assert rows(kept, "PRAGMA user_version") == [(1,)]
    assert rows(kept, "SELECT * FROM versions") == rows(OLDEST, "SELECT * FROM versions")
    (record,) = caplog.records
    assert record.getMessage() == f"{old} has schema {migrate.NEWEST} now; as it was before it lies in {kept}"
    async with SqliteAdapter(old) as adapter:
        await adapter.write(draft())
    assert kept_beside(old) == [kept]


@proves("migrations.kept-copy")
async def test_what_stands_in_the_log_of_an_old_file_is_in_the_copy(old: Path, tmp_path: Path) -> None:
    made = tmp_path / "made" / "store.db"
    made.parent.mkdir()
    disk.private_copy(old, made)
    with closing(sqlite3.connect(made, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("UPDATE commits SET author = ? WHERE sequence = 1", (AUTHOR_IN_THE_LOG,))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{made}{suffix}", f"{old}{suffix}")
    async with SqliteAdapter(old):
        pass
    (kept,) = kept_beside(old)
    assert rows(kept, "SELECT author FROM commits WHERE sequence = 1") == [(AUTHOR_IN_THE_LOG,)]


@proves("migrations.kept-copy")
async def test_a_migration_that_fails_leaves_the_file_as_it_was_and_no_copy(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = migrate.migrations()
    broken = second._replace(sql=f"{second.sql}\nCREATE TABLE erasures (twice);\n")
    monkeypatch.setattr(migrate, "migrations", lambda: (first, broken))
    with pytest.raises(StoreError, match="already exists"):
        await SqliteAdapter(old).open()
    assert kept_beside(old) == []
    assert rows(old, "PRAGMA user_version") == [(1,)]
    assert rows(old, "SELECT * FROM sqlite_master") == rows(OLDEST, "SELECT * FROM sqlite_master")
    monkeypatch.undo()
    async with SqliteAdapter(old) as adapter:
        assert (await adapter.verify()).findings == ()


@proves("migrations.kept-copy")
async def test_a_file_that_cannot_be_copied_is_not_migrated(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = disk.data(old)
    monkeypatch.setattr(backup, "COPY_INTO", "SELECT ?")
    with pytest.raises(StoreCorruptError, match="could not be copied"):
        await SqliteAdapter(old).open()
    assert (disk.data(old), kept_beside(old)) == (before, [])
    assert [name for name in disk.names(old.parent) if name.endswith(".part")] == []


@proves("migrations.kept-copy")
async def test_a_copy_that_is_there_already_stays_and_the_next_gets_a_number(old: Path) -> None:
    earlier = old.with_name(f"store.db.before-schema-{migrate.NEWEST}")
    disk.put(earlier, b"of another day")
    async with SqliteAdapter(old):
        pass
    assert disk.data(earlier) == b"of another day"
    assert [each.name for each in kept_beside(old)] == [earlier.name, f"{earlier.name}-2"]


@proves("migrations.kept-copy")
async def test_many_processes_that_open_an_old_file_at_once_keep_one_copy(old: Path) -> None:
    crew = Crew(4)
    try:
        stores = crew.together(jobs.first_start, str(old))
    finally:
        crew.dismiss()
    assert len(set(stores)) == 1
    assert len(kept_beside(old)) == 1
    applied = rows(old, "SELECT version, count(*) FROM schema_migrations GROUP BY version")
    assert applied == [(version, 1) for version in range(1, migrate.NEWEST + 1)]
    async with SqliteAdapter(old) as adapter:
        assert (await adapter.verify()).findings == ()


@proves("migrations.kept-copy")
async def test_a_new_file_is_not_copied(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
    assert kept_beside(Path(path)) == []
