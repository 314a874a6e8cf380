"""Opened for reading alone a store answers, and nothing of it changes."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import (
    HANDOFF,
    InvalidArgumentError,
    NewerSchemaError,
    SearchQuery,
    SqliteAdapter,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from amfs_sqlite.sqlite import migrate
from parity_tests.concurrency.crew import received, started
from parity_tests.contract.test_lifecycle import CALLS
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.sqlite import disk, others

OLDEST = Path(__file__).parent.parent / "migrations" / "files" / "schema_1.db"
WRITING = {
    "write",
    "write_batch",
    "commit",
    "commit_outcome",
    "save_commit",
    "erase",
    "prune",
    "archive_expired",
}
LARGE = "x" * 100_000


@pytest.fixture
async def store(path: str) -> str:
    """A store with a little of everything."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await adapter.write(draft(value="first", tags=("t",)))
        await adapter.write(draft(value="second", tags=("t",)))
        await adapter.commit_outcome(outcome("success", at(version=2)))
    return path


async def answers(adapter: SqliteAdapter) -> list[Any]:
    """What every kind of reading gives."""
    return [
        await adapter.read("svc/a", "k"),
        await adapter.list(include_superseded=True),
        await adapter.history("svc/a", "k"),
        await adapter.read_at_version("svc/a", "k", 1),
        await adapter.list_outcomes(),
        await adapter.list_commits(),
        (await adapter.search(SearchQuery(text="second"))).entries,
        await adapter.stats(),
        await adapter.scopes(),
        await adapter.verify(),
        [change.entry async for change in adapter.changes(follow=False)],
        (await adapter.describe()).schema_version,
    ]


@proves("read-only.reads")
@pytest.mark.parametrize("inline_reads", [True, False])
async def test_everything_is_read_as_it_is_otherwise(store: str, inline_reads: bool) -> None:
    async with SqliteAdapter(store) as adapter:
        expected = await answers(adapter)
    before = disk.data(store)
    async with SqliteAdapter(store, mode="ro", inline_reads=inline_reads) as adapter:
        assert await answers(adapter) == expected
    assert disk.data(store) == before


@proves("read-only.reads")
async def test_what_others_write_is_read_and_heard(store: str) -> None:
    heard: asyncio.Queue[Any] = asyncio.Queue()
    async with SqliteAdapter(store) as writer, SqliteAdapter(store, mode="ro") as reader:
        await reader.watch(None, lambda entry: heard.put_nowait(entry.value))
        await writer.write(draft(value="third"))
        entry = await reader.read("svc/a", "k")
        assert entry is not None
        assert entry.value == "third"
        page = await reader.search(SearchQuery(text="third"))
        assert [each.version for each in page.entries] == [3]
        assert await heard.get() == "third"


@proves("read-only.refuses")
@pytest.mark.parametrize("operation", CALLS)
async def test_every_operation_that_writes_is_refused_and_every_other_answers(
    store: str, operation: str
) -> None:
    before = disk.data(store)
    async with SqliteAdapter(store, mode="ro") as adapter:
        if operation not in WRITING:
            await CALLS[operation](adapter)
        else:
            with pytest.raises(StoreReadOnlyError, match="open it for writing") as refused:
                await CALLS[operation](adapter)
            assert (refused.value.code, refused.value.path) == ("read_only", store)
            assert "\n" not in str(refused.value)
    assert disk.data(store) == before
    assert CALLS.keys() > WRITING


@proves("read-only.refuses")
async def test_a_reader_leaves_the_log_to_those_who_write(store: str) -> None:
    log = f"{store}-wal"
    async with SqliteAdapter(store) as writer:
        await writer.write(draft(key="large", value=LARGE))
        before = disk.data(log), disk.data(store)
        async with SqliteAdapter(store, mode="ro") as reader:
            await answers(reader)
        assert (disk.data(log), disk.data(store)) == before
    assert not disk.stands(log)


@proves("read-only.makes-nothing")
async def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    missing, empty = tmp_path / "not" / "there.db", tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(StoreUnavailableError, match="does not exist"):
        await SqliteAdapter(missing, mode="ro").open()
    with pytest.raises(StoreUnavailableError, match="no store yet"):
        await SqliteAdapter(empty, mode="ro").open()
    with pytest.raises(StoreUnavailableError, match="is a folder"):
        await SqliteAdapter(tmp_path, mode="ro").open()
    assert (disk.names(tmp_path), disk.data(empty)) == (["empty.db"], b"")


@proves("read-only.makes-nothing")
async def test_an_older_schema_is_refused_and_stays_as_it_is(path: str) -> None:
    disk.private_copy(OLDEST, path)
    with pytest.raises(StoreReadOnlyError, match=f"schema 1, older than {migrate.NEWEST}") as refused:
        await SqliteAdapter(path, mode="ro").open()
    assert "open it once for writing" in str(refused.value)
    assert disk.data(path) == disk.data(OLDEST)
    async with SqliteAdapter(path):
        pass
    async with SqliteAdapter(path, mode="ro") as adapter:
        assert (await adapter.verify()).findings == ()


@proves("read-only.makes-nothing")
async def test_a_newer_schema_is_refused_as_it_is_otherwise(store: str) -> None:
    with closing(sqlite3.connect(store)) as raw:
        raw.execute(f"PRAGMA user_version = {migrate.NEWEST + 1}")
    with pytest.raises(NewerSchemaError, match="restore a backup"):
        await SqliteAdapter(store, mode="ro").open()


@proves("read-only.makes-nothing")
def test_a_mode_that_cannot_be_is_refused_when_the_adapter_is_made(path: str) -> None:
    with pytest.raises(InvalidArgumentError, match="choose 'rw' or 'ro'"):
        SqliteAdapter(path, mode="r")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(InvalidArgumentError, match="nothing yet to be read"):
        SqliteAdapter(":memory:", mode="ro")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that a process without rights can reach."""
    made = Path(tempfile.mkdtemp())
    yield made
    made.chmod(0o700)
    shutil.rmtree(made)


def in_reach(folder: Path) -> None:
    """Everybody may read what is there, and nobody write."""
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)


def read_by_nobody(path: Path) -> Any:
    with started(others.read_as_nobody, str(path)) as (_, pipe):
        return received(pipe)


@pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")
@proves("read-only.folders")
async def test_a_closed_store_is_read_where_nothing_may_be_written(folder: Path) -> None:
    path = folder / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="kept"))
    in_reach(folder)
    before = disk.names(folder)
    assert read_by_nobody(path) == ("kept", True)
    assert disk.names(folder) == before


@pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")
@proves("read-only.folders")
async def test_a_store_in_use_is_read_where_nothing_may_be_written(folder: Path) -> None:
    path = folder / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="in the log"))
        in_reach(folder)
        assert read_by_nobody(path) == ("in the log", True)


@pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")
@proves("read-only.folders")
@pytest.mark.parametrize("left", [("-wal", "-shm"), ("-wal",)], ids="".join)
async def test_a_log_that_a_killed_process_left_is_read_or_told_of(
    folder: Path, tmp_path: Path, left: tuple[str, ...]
) -> None:
    made, path = tmp_path / "store.db", folder / "store.db"
    async with SqliteAdapter(made) as adapter:
        await adapter.write(draft(value="in the log"))
        for suffix in ("", *left):
            shutil.copyfile(f"{made}{suffix}", f"{path}{suffix}")
    in_reach(folder)
    answer = read_by_nobody(path)
    if "-shm" in left:
        assert answer == ("in the log", True)
    else:
        assert isinstance(answer, StoreReadOnlyError)
        assert "copy it with all files beside it elsewhere" in str(answer)
