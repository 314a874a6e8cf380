"""Disks that are full and files that may not be written: said plainly, with nothing lost."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from amfs_sqlite import SearchQuery, SqliteAdapter, StoreFullError, StoreReadOnlyError, StoreUnavailableError
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import received, started
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import write_directly

LARGE = "x" * 100_000
NO_LIMIT = 2**30


async def limit_pages(adapter: SqliteAdapter, more: int) -> None:
    """Let the file grow by no more than this."""
    (count,) = await write_directly(adapter, "PRAGMA page_count")
    await write_directly(adapter, f"PRAGMA max_page_count = {count + more}")


@proves("disks.full")
async def test_a_full_disk_refuses_the_write_and_keeps_everything_before(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="before"))
        await limit_pages(adapter, 2)
        answers = await asyncio.gather(
            adapter.write(draft(value=LARGE)),
            adapter.write_batch([draft(key="small"), draft(key="large", value=LARGE)]),
            adapter.write(draft(key="fits")),
            return_exceptions=True,
        )
        assert [type(each) for each in answers[:2]] == [StoreFullError] * 2
        (refused, *_) = answers
        assert isinstance(refused, StoreFullError)
        assert (refused.code, refused.path) == ("full", adapter.path)
        assert [entry.key for entry in await adapter.list(include_superseded=True)] == ["k", "fits"]
        assert (await adapter.search(SearchQuery(text="before"))).entries[0].value == "before"
        assert (await adapter.verify()).findings == ()
        await limit_pages(adapter, NO_LIMIT)
        assert (await adapter.write(draft(value=LARGE))).version == 2
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.verify()).version_count == 3


async def written_or_full(adapter: SqliteAdapter, key: str) -> bool:
    try:
        await adapter.write(draft(key=key, value=f"{key} {LARGE[:3000]}"))
    except StoreFullError:
        return False
    return True


@proves("disks.full")
async def test_a_disk_that_is_full_at_closing_loses_nothing(path: str) -> None:
    adapter = SqliteAdapter(path)
    await adapter.open()
    await limit_pages(adapter, 30)
    answers = [await written_or_full(adapter, str(each)) for each in range(60)]
    written = answers.count(True)
    await adapter.close()
    assert 0 < written < len(answers)
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.stats()).version_count == written
        assert (await adapter.verify()).findings == ()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that a process without rights can reach."""
    made = Path(tempfile.mkdtemp())
    yield made
    made.chmod(0o700)
    shutil.rmtree(made)


@pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")
@proves("disks.read-only")
@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "beside_it", "opens"),
    [
        pytest.param(0o400, 0o700, True, True, id="file"),
        pytest.param(0o600, 0o500, True, False, id="folder"),
        pytest.param(0o600, 0o500, False, False, id="folder-without-lock-file"),
        pytest.param(0o000, 0o700, True, False, id="unreadable"),
    ],
)
async def test_what_may_not_be_written_is_read_or_refused_in_one_line(
    folder: Path, file_mode: int, folder_mode: int, beside_it: bool, opens: bool
) -> None:
    path = folder / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="kept"))
    if not beside_it:
        path.with_name(path.name + LOCK_SUFFIX).unlink(missing_ok=True)
    before = path.read_bytes()
    with started(jobs.answer_without_rights, str(path), file_mode, folder_mode) as (_, pipe):
        read, written = received(pipe)
    refusal = StoreReadOnlyError | StoreUnavailableError
    assert isinstance(written, refusal)
    assert "\n" not in str(written)
    assert str(path) in str(written)
    assert read == "kept" if opens else isinstance(read, refusal)
    assert path.read_bytes() == before
