"""Reading what was damaged behind the adapter's back is one plain error, and what is whole is still read."""

# ruff: noqa: S608 - statements are put together from words of this file.

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import pytest

from amfs_sqlite import SearchQuery, SqliteAdapter, StoreCorruptError, StoreError
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves

READING: dict[str, Callable[[SqliteAdapter], Awaitable[Any]]] = {
    "read": lambda adapter: adapter.read("svc/a", "damaged"),
    "list": lambda adapter: adapter.list(),
    "history": lambda adapter: adapter.history("svc/a", "damaged"),
    "search": lambda adapter: adapter.search(SearchQuery(tag="t")),
    "outcome": lambda adapter: adapter.commit_outcome(outcome("success", "svc/a/damaged")),
}
DAMAGE = {
    "value that is no JSON": "value = 'x'",
    "value nested too deep": f"value = '{'[' * 5000}'",
    "tags that are none": "tags = '5'",
    "time beyond all calendars": "written_at = 9000000000000000000",
    "extra in the way": """extra = '{"value":1}'""",
}


async def damaged(path: str, change: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write_batch([draft(key="damaged", tags=("t",)), draft("svc/b", "whole")])
    with closing(sqlite3.connect(path)) as raw:
        for table, key in (("current", "id"), ("versions", "key_id")):
            raw.execute(f"UPDATE {table} SET {change} WHERE {key} = 1")
        raw.commit()


@proves("tampering.reading")
@pytest.mark.parametrize("change", DAMAGE)
async def test_reading_what_is_damaged_is_one_error_that_says_so(path: str, change: str) -> None:
    await damaged(path, DAMAGE[change])
    async with SqliteAdapter(path) as adapter:
        for name, call in READING.items():
            with pytest.raises(StoreCorruptError) as refused:
                await call(adapter)
            assert "cannot be read any more; verify tells which" in str(refused.value), name
            assert "\n" not in str(refused.value)
            assert refused.value.path == adapter.path
        whole = await adapter.read("svc/b", "whole")
        assert whole is not None
        assert (await adapter.write(draft("svc/b", "whole"), expected_version=1)).version == 2
        assert {(each.entity_path, each.key) for each in (await adapter.verify()).findings} == {
            ("svc/a", "damaged")
        }


@proves("tampering.reading")
async def test_reading_what_is_no_text_is_one_error_that_says_so(path: str) -> None:
    await damaged(path, "agent_id = CAST(x'ff' AS TEXT)")
    async with SqliteAdapter(path) as adapter:
        with pytest.raises(StoreError, match="Could not decode"):
            await adapter.list()
        assert await adapter.read("svc/b", "whole") is not None
