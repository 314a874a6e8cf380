"""What the connections are set to, where it is a promise."""

from typing import Any

import pytest

from amfs_sqlite import InvalidArgumentError, SqliteAdapter
from amfs_sqlite.sqlite.database.lanes import hop
from amfs_sqlite.sqlite.database.opening import Durability
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import lanes_of, write_directly

SYNCHRONOUS: dict[Durability, int] = {"normal": 1, "full": 2}


@proves("files.durability")
@pytest.mark.parametrize("durability", ["full", "normal"])
async def test_durability_says_when_a_commit_is_on_the_disk(path: str, durability: Durability) -> None:
    async with SqliteAdapter(path, durability=durability) as adapter:
        assert await write_directly(adapter, "PRAGMA synchronous") == (SYNCHRONOUS[durability],)
        assert await write_directly(adapter, "PRAGMA journal_mode") == ("wal",)


@proves("files.durability")
async def test_full_durability_is_what_nobody_asked_for(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        assert await write_directly(adapter, "PRAGMA synchronous") == (SYNCHRONOUS["full"],)


@proves("files.settings")
@pytest.mark.parametrize(
    "setting",
    [
        {"durability": "off"},
        {"durability": "FULL"},
        {"busy_timeout_s": -1.0},
        {"busy_timeout_s": float("nan")},
        {"busy_timeout_s": float("inf")},
        {"busy_timeout_s": "x"},
        {"busy_timeout_s": True},
        {"busy_timeout_s": 10**400},
        {"inline_reads": "no"},
        {"inline_reads": 0},
    ],
    ids=lambda setting: str(setting)[:40],
)
def test_an_impossible_setting_is_refused_by_name(path: str, setting: dict[str, Any]) -> None:
    (name,) = setting
    with pytest.raises(InvalidArgumentError) as refused:
        SqliteAdapter(path, **setting)
    assert refused.value.argument == name


@proves("files.readers")
async def test_the_connection_of_readers_cannot_write(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        _, reader = lanes_of(adapter)
        settings = [
            await hop(
                await reader.connected(), lambda raw, name=name: raw.execute(f"PRAGMA {name}").fetchone()
            )
            for name in ("query_only", "wal_autocheckpoint", "trusted_schema")
        ]
    assert settings == [(1,), (0,), (0,)]
