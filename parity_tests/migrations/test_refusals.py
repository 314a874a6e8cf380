"""What is not ours, or too new for us, is refused by name and stays as it is, to the last byte."""

import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import (
    ForeignFileError,
    NewerSchemaError,
    SqliteAdapter,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.database.files import APPLICATION_ID
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import left_running


def made_by(path: Path, *statements: str) -> None:
    """A SQLite file that these statements make, or change."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for statement in statements:
            raw.execute(statement)


async def store(path: Path) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="kept"))


def everything_in(folder: Path) -> dict[str, bytes | None]:
    return {each.name: each.read_bytes() if each.is_file() else None for each in folder.iterdir()}


async def refusal_of(path: Path) -> StoreError:
    """What opening this raises, once it is certain that nothing was changed by it."""
    before = everything_in(path.parent)
    with pytest.raises(StoreError) as refused:
        await SqliteAdapter(path).open()
    after = everything_in(path.parent)
    assert after == before
    assert refused.value.path == str(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    return refused.value


@proves("migrations.newer")
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
async def test_a_newer_schema_is_refused_and_keeps_its_journal_mode(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "store.db"
    await store(path)
    newer = migrate.NEWEST + 1
    made_by(path, f"PRAGMA journal_mode = {mode}", f"PRAGMA user_version = {newer}")
    refused = await refusal_of(path)
    assert isinstance(refused, NewerSchemaError)
    assert (refused.found, refused.supported) == (newer, migrate.NEWEST)
    assert f"schema {newer}, newer than {migrate.NEWEST}" in str(refused)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == (mode.lower(),)
        assert raw.execute("PRAGMA user_version").fetchone() == (newer,)


@proves("migrations.newer")
async def test_a_schema_made_newer_while_it_is_open_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        made_by(path, f"PRAGMA user_version = {migrate.NEWEST + 1}")  # So far only in the log.
        before = threading.enumerate()
        with pytest.raises(NewerSchemaError):
            await SqliteAdapter(path).open()
        assert left_running(before) == []
        assert (await adapter.read("svc/a", "k")) is not None


def of_another_program(path: Path) -> None:
    made_by(path, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')")


def with_another_id(path: Path) -> None:
    made_by(path, f"PRAGMA application_id = {APPLICATION_ID + 1}", "CREATE TABLE notes (text)")


def in_write_ahead_mode(path: Path) -> None:
    made_by(path, "PRAGMA journal_mode = WAL", "CREATE TABLE notes (text)")


def in_the_middle_of_a_change(path: Path) -> None:
    """As a process of another program leaves it that is killed: its journal is still to be rolled back."""
    draft_of_it = path.with_name("draft")
    with closing(sqlite3.connect(draft_of_it, isolation_level=None)) as raw:
        raw.execute("CREATE TABLE notes (text)")
        raw.execute("PRAGMA cache_size = 1")
        raw.execute("BEGIN")
        for _ in range(100):
            raw.execute("INSERT INTO notes VALUES (hex(randomblob(500)))")
        shutil.copy(draft_of_it, path)
        shutil.copy(f"{draft_of_it}-journal", f"{path}-journal")
    draft_of_it.unlink()
    assert Path(f"{path}-journal").stat().st_size > 0


def text(path: Path) -> None:
    path.write_text("SQLite format is not what this is", encoding="utf-8")


def zeros(path: Path) -> None:
    path.write_bytes(bytes(8192))


def one_byte(path: Path) -> None:
    path.write_bytes(b"S")


@proves("migrations.foreign")
@pytest.mark.parametrize(
    "make",
    [
        of_another_program,
        with_another_id,
        in_write_ahead_mode,
        in_the_middle_of_a_change,
        text,
        zeros,
        one_byte,
    ],
)
async def test_a_file_of_another_program_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "store.db"
    make(path)
    assert isinstance(await refusal_of(path), ForeignFileError)


@proves("migrations.foreign")
async def test_a_store_whose_header_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await store(path)
    path.write_bytes(path.read_bytes()[:50])
    assert isinstance(await refusal_of(path), ForeignFileError)


@proves("migrations.damaged")
@pytest.mark.parametrize("kept", [100, 2000, 4096, 20_000])
async def test_a_store_that_is_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "store.db"
    await store(path)
    path.write_bytes(path.read_bytes()[:kept])
    assert isinstance(await refusal_of(path), StoreCorruptError)


@proves("migrations.damaged")
async def test_an_empty_file_beside_a_log_that_is_not_is_refused(tmp_path: Path) -> None:
    path, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        frames = log.read_bytes()
    path.write_bytes(b"")
    log.write_bytes(frames)
    assert isinstance(await refusal_of(path), StoreCorruptError)


@proves("migrations.foreign")
async def test_a_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.mkdir()
    assert isinstance(await refusal_of(path), StoreUnavailableError)


@proves("migrations.empty")
async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch(mode=0o600)
    await store(path)
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.verify()).version_count == 1
