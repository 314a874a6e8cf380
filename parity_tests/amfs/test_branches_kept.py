"""What branches leave as it was: words, versions and counts of others; and what verify says of them."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.models import MemoryEntry, Provenance

from amfs_sqlite import FixedClock, SearchQuery, SqliteAdapter
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.test_branches import START, is_sound, make
from parity_tests.ledger import proves

FORGED = {
    "branch that is gone": "DELETE FROM branches WHERE name = 'inner'",
    "base that is later": "UPDATE branches SET base_sequence = base_sequence + 1 WHERE name = 'outer'",
    "base that is earlier": "UPDATE branches SET base_sequence = 0 WHERE name = 'outer'",
    "parent that is another": "UPDATE branches SET parent_branch = 'main' WHERE name = 'inner'",
    "parent that is itself": "UPDATE branches SET parent_branch = 'inner' WHERE name = 'inner'",
    "status": "UPDATE branches SET status = 'closed' WHERE name = 'outer'",
    "record that is none": "UPDATE branches SET record = '{}' WHERE name = 'inner'",
    "point that is gone": "DELETE FROM branch_points WHERE key_id = (SELECT max(key_id) FROM branch_points)",
    "point that is another": "UPDATE branch_points SET version_id = version_id - 1",
    "point of main": "INSERT INTO branch_points SELECT id, 1 FROM current WHERE branch = 'main' LIMIT 1",
}
Write = Callable[..., MemoryEntry]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def adapter(tmp_path: Path, clock: FixedClock) -> Any:
    with SyncSqliteAdapter(tmp_path / "memory.db", clock=clock) as adapter:
        yield adapter


@pytest.fixture
def write(adapter: SyncSqliteAdapter, clock: FixedClock) -> Write:
    def write(key: str, value: Any, branch: str = "main") -> MemoryEntry:
        clock.set(clock.now() + timedelta(minutes=1))
        provenance = Provenance(agent_id="scout", session_id="s", written_at=clock.now())
        given = MemoryEntry(entity_path="service", key=key, value=value, branch=branch, provenance=provenance)
        return adapter.write(given)

    return write


def minutes(count: int) -> Any:
    return START + timedelta(minutes=count)


@proves("branches-kept.words")
async def test_what_a_branch_takes_away_is_still_found_on_main(
    adapter: SyncSqliteAdapter, write: Write, tmp_path: Path
) -> None:
    write("kept", "walrus")
    adapter.close()
    async with SqliteAdapter(tmp_path / "memory.db") as indexed:
        assert (await indexed.search(SearchQuery(text="walrus"))).entries
    with SyncSqliteAdapter(tmp_path / "memory.db") as again:
        make(again)
        assert again.rollback_to_timestamp("scout", "trial", START) == 1
        assert again.read("service", "kept", branch="trial") is None
    async with SqliteAdapter(tmp_path / "memory.db") as indexed:
        found = await indexed.search(SearchQuery(text="walrus"))
        assert [entry.key for entry in found.entries] == ["kept"]
        assert (await indexed.verify()).findings == ()


@proves("branches-kept.pruned")
async def test_pruning_leaves_what_a_branch_of_a_merged_branch_stands_on(
    adapter: SyncSqliteAdapter, write: Write, tmp_path: Path
) -> None:
    write("kept", "base")
    make(adapter, "outer")
    make(adapter, "inner", "outer")
    write("kept", "later")
    write("kept", "latest")
    adapter.merge_branch("outer")
    async with SqliteAdapter(tmp_path / "memory.db") as owner:
        pruned = await owner.prune(keep_last=1, author="owner")
    assert [each.version for each in pruned.versions] == [2]
    for branch in ("outer", "inner"):
        kept = adapter.read("service", "kept", branch=branch)
        assert kept is not None
        assert kept.value == "base"


@proves("branches-kept.superseded")
def test_a_version_is_superseded_where_another_follows_it(adapter: SyncSqliteAdapter, write: Write) -> None:
    def history(tx: Transaction, key: str, branch: str) -> list[tuple[int, Any]]:
        with tx.elsewhere(branch=branch):
            return [(each.version, each.superseded_at) for each in entries.history(tx, "service", key)]

    write("on main", 1)
    write("on the branch", 1)
    make(adapter)
    write("on main", 2)
    write("on the branch", 2, "trial")
    make(adapter, "inner", "trial")
    write("on the branch", 3, "trial")
    read = adapter._database.read
    assert read(history, "on main", "main") == [(1, minutes(3)), (2, None)]
    assert read(history, "on main", "trial") == [(1, None)]
    assert read(history, "on the branch", "main") == [(1, None)]
    assert read(history, "on the branch", "trial") == [(1, minutes(4)), (2, minutes(5)), (3, None)]
    assert read(history, "on the branch", "inner") == [(1, minutes(4)), (2, None)]


@proves("branches-kept.anchored")
async def test_an_anchor_holds_whatever_is_written_on_branches_since(
    adapter: SyncSqliteAdapter, write: Write, tmp_path: Path
) -> None:
    write("a", 1)
    async with SqliteAdapter(tmp_path / "memory.db") as owner:
        anchor = await owner.anchor()
        make(adapter)
        write("a", 2, "trial")
        write("own", 1, "trial")
        write("b", 1)
        for since in (None, anchor):
            assert (await owner.verify(anchor=anchor, since=since)).findings == ()
        assert (await owner.verify(anchor=await owner.anchor())).findings == ()


@proves("branches-kept.forged")
@pytest.mark.parametrize("forged", FORGED)
def test_a_branch_that_is_not_what_it_was_written_on_is_found(
    adapter: SyncSqliteAdapter, write: Write, tmp_path: Path, forged: str
) -> None:
    write("a", 1)
    write("b", 1)
    make(adapter, "outer")
    write("a", 2)
    write("b", 2, "outer")
    make(adapter, "inner", "outer")
    write("a", "inner", "inner")
    write("b", "inner", "inner")
    assert is_sound(adapter)
    adapter.close()
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        assert connection.execute(FORGED[forged]).rowcount
    connection.close()
    with SyncSqliteAdapter(tmp_path / "memory.db") as again:
        assert not is_sound(again)
