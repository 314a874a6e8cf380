"""What is changed behind the adapter's back is told to an agent in AMFS's words."""

import sqlite3
from contextlib import closing

import pytest

from amfs_sqlite import AgentMemory, SqliteAdapter
from parity_tests.ledger import proves


@proves("agent.verifies")
@pytest.mark.parametrize(
    ("edit", "corrupted", "broken"),
    [
        ("UPDATE versions SET value = '9' WHERE version = 1", ("svc/a@1",), ()),
        ("UPDATE versions SET agent_id = 'eve' WHERE version = 2", ("svc/a@2",), ()),
        ("DELETE FROM versions WHERE version = 1", (), ("svc/a@2",)),
    ],
)
async def test_verify_finds_what_was_changed_behind_our_back(
    path: str, edit: str, corrupted: tuple[str, ...], broken: tuple[str, ...]
) -> None:
    async with SqliteAdapter(path) as adapter:
        memory = AgentMemory("alice", adapter=adapter)
        for value in (1, 2, 3):
            await memory.write("svc", "a", value)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(edit)
    async with SqliteAdapter(path) as adapter:
        told = await AgentMemory("alice", adapter=adapter).verify()
    assert (told.corrupted, told.total_checked - told.valid) == (corrupted, len(corrupted))
    assert set(broken) <= set(told.chain_breaks)
