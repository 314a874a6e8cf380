"""Opening what only needs to be read, and what does not."""

import gc
import threading
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite.database import files
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite import internals


async def stored(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=1))


@proves("files.opened-to-read")
async def test_reading_an_entry_of_a_closed_file_takes_no_thread(path: str) -> None:
    await stored(path)
    before = set(threading.enumerate())
    async with SqliteAdapter(path) as adapter:
        entry = await adapter.read("svc/a", "k")
        assert entry is not None
        assert entry.value == 1
        assert not set(threading.enumerate()) - before
        assert internals.store_id_of(adapter) != ""
        assert (await adapter.write(draft(value=2))).version == 2


@proves("files.opened-to-read")
async def test_a_log_that_may_have_to_be_recovered_is_looked_at_on_a_thread(path: str) -> None:
    async with SqliteAdapter(path) as first:
        await first.write(draft())
        assert files.size(path + "-wal") > 0
        before = set(threading.enumerate())
        async with SqliteAdapter(path) as second:
            assert len(set(threading.enumerate()) - before) == 1
            assert await second.read("svc/a", "k") is not None


@proves("endings.forgotten")
async def test_an_adapter_that_only_read_warns_too_when_it_is_dropped(path: str) -> None:
    await stored(path)
    adapter = SqliteAdapter(path)
    await adapter.open()
    assert await adapter.read("svc/a", "k") is not None
    del adapter
    with pytest.warns(ResourceWarning, match=f"{Path(path).name} was never closed"):
        gc.collect()
