"""The file stays the one that was opened, and locked while it is open."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter, StoreUnavailableError
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import Crew
from parity_tests.drafts import draft
from parity_tests.ledger import proves


@proves("files.locks-kept")
async def test_a_second_adapter_opened_and_closed_leaves_the_first_ones_locks(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    async with SqliteAdapter(path) as first:
        await first.write(draft(value="before"))
        async with SqliteAdapter(path) as second:
            await second.read("svc/a", "k")
        crew = Crew(1)
        try:
            crew.together(jobs.opened_and_closed, path)
        finally:
            crew.dismiss()
        for number in range(5):
            await first.write(draft(key=f"k{number}"))
    async with SqliteAdapter(path) as again:
        assert len(await again.list()) == 6
        assert (await again.verify()).ok


@proves("files.replaced")
@pytest.mark.skipif(os.name == "nt", reason="Windows does not let an open file be replaced")
@pytest.mark.parametrize("become", ["deleted", "replaced"])
async def test_a_file_that_is_no_longer_there_takes_no_write(tmp_path: Path, become: str) -> None:
    path = tmp_path / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        if become == "deleted":
            path.unlink()
        else:
            with closing(sqlite3.connect(tmp_path / "other.db")) as other:
                other.execute("CREATE TABLE t (x)")
            shutil.move(tmp_path / "other.db", path)
        with pytest.raises(StoreUnavailableError, match="deleted or replaced"):
            await adapter.write(draft(value=2))
