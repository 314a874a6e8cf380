"""Where SQLite can lose a commit at a reset of its log, our commits and checkpoints exclude each other."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from amfs_sqlite import SqliteAdapter, StoreUnavailableError
from amfs_sqlite.clock import patience
from amfs_sqlite.sqlite.database import guard, locking, opening
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite import disk
from parity_tests.sqlite.internals import database_of, settled, trace

FAULTY = [(3, 7, 0), (3, 40, 1), (3, 44, 5), (3, 45, 0), (3, 49, 9), (3, 50, 6), (3, 51, 0), (3, 51, 2)]
SOUND = [(3, 6, 23), (3, 44, 6), (3, 44, 9), (3, 50, 7), (3, 50, 99), (3, 51, 3), (3, 52, 0), (4, 0, 0)]
PAGES = 10
WRITES = 60
WAITING_TIMEOUT_S = 30


@pytest.fixture
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the SQLite in use is taken for one with the fault."""
    has_it: bool = request.param
    monkeypatch.setattr(locking, "has_wal_reset_fault", lambda _: has_it)
    return has_it


with_fault = pytest.mark.parametrize("fault", [True], indirect=True, ids=["fault"])


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[guard.FileGuard]]:
    """The guards that are held at the moment."""
    holders: list[guard.FileGuard] = []
    acquire, release = guard.FileGuard.try_acquire, guard.FileGuard.release

    def acquired(self: guard.FileGuard) -> bool:
        got = acquire(self)
        if got:
            holders.append(self)
        return got

    def released(self: guard.FileGuard) -> None:
        holders.remove(self)
        release(self)

    monkeypatch.setattr(guard.FileGuard, "try_acquire", acquired)
    monkeypatch.setattr(guard.FileGuard, "release", released)
    yield holders
    assert holders == []


@proves("guard.releases")
@pytest.mark.parametrize("version", FAULTY)
def test_releases_with_the_fault_are_known(version: tuple[int, int, int]) -> None:
    assert guard.has_wal_reset_fault(version)


@proves("guard.releases")
@pytest.mark.parametrize("version", SOUND)
def test_releases_without_the_fault_are_known(version: tuple[int, int, int]) -> None:
    assert not guard.has_wal_reset_fault(version)


@proves("guard.releases")
async def test_the_adapter_tells_of_the_fault_of_its_sqlite(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        told = await adapter.describe()
    assert told.sqlite_version == sqlite3.sqlite_version
    assert bool(told.known_faults) is guard.has_wal_reset_fault(sqlite3.sqlite_version_info)
    assert all(sqlite3.sqlite_version in each for each in told.known_faults)


@proves("guard.excludes")
def test_one_holder_at_a_time_has_the_guard_of_a_file(tmp_path: Path) -> None:
    one, other = (guard.FileGuard(str(tmp_path / "store.db-lock")) for _ in range(2))
    assert one.try_acquire()
    assert not other.try_acquire()
    one.release()
    assert other.try_acquire()
    other.close()
    assert one.try_acquire()
    one.close()


def put(kind: str, place: Path, target: Path) -> None:
    """Something that is no file, which may lead to the target."""
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(target)
    if kind == "link":
        target.touch()


@pytest.mark.skipif(os.name != "posix", reason="links are what this system has else")
@proves("guard.no-links")
@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
@with_fault
@pytest.mark.usefixtures("fault")
async def test_where_something_else_has_the_name_of_the_lock_nothing_is_opened_or_made(
    path: str, tmp_path: Path, kind: str
) -> None:
    lock, target = Path(path + guard.LOCK_SUFFIX), tmp_path / "elsewhere"
    put(kind, lock, target)
    with pytest.raises(StoreUnavailableError, match="where the lock file belongs") as refused:
        await SqliteAdapter(path).open()
    assert refused.value.path == str(lock)
    assert disk.stands(target) is (kind == "link")


ORPHANING = """
import os, sys
from amfs_sqlite.sqlite.database.guard import FileGuard
guard = FileGuard(sys.argv[1])
assert guard.try_acquire()
if os.fork() == 0:
    sys.stdin.read()
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@proves("guard.excludes")
def test_a_child_does_not_hold_the_guard_that_its_parent_died_with(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db-lock")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", ORPHANING, path]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as parent:
        assert parent.wait(WAITING_TIMEOUT_S) == 0
        own = guard.FileGuard(path)
        assert any(own.try_acquire() for _ in patience(WAITING_TIMEOUT_S))
        own.close()


@proves("guard.excludes")
@with_fault
@pytest.mark.usefixtures("fault")
async def test_every_commit_and_every_checkpoint_of_ours_holds_the_guard(
    path: str, monkeypatch: pytest.MonkeyPatch, held: list[guard.FileGuard]
) -> None:
    monkeypatch.setattr(opening, "WAL_PAGES_BEFORE_CHECKPOINT", PAGES)
    told: list[tuple[str, bool]] = []

    def telling(own: object) -> Callable[[str], None]:
        return lambda sql: told.append((sql, held == [own]))

    adapters = [SqliteAdapter(path), SqliteAdapter(path)]
    for adapter in adapters:
        await adapter.open()
        await trace(adapter, telling(database_of(adapter)._lock._guard))
    await asyncio.gather(*(adapters[each % 2].write(draft(value=each)) for each in range(WRITES)))
    for each in range(WRITES):
        await adapters[each % 2].write(draft(value=each))
    for adapter in adapters:
        await settled(adapter)
        await adapter.close()
    statements = {sql.split("(")[0] for sql, _ in told}
    assert {"BEGIN IMMEDIATE", "COMMIT", "PRAGMA wal_checkpoint"} <= statements
    assert [sql for sql, is_guarded in told if not is_guarded] == []


@proves("guard.excludes")
@with_fault
@pytest.mark.usefixtures("fault")
async def test_the_guard_is_given_back_whatever_becomes_of_a_transaction(
    path: str, held: list[guard.FileGuard]
) -> None:
    class Broken:
        def execute(self, statement: str) -> None:
            raise sqlite3.DatabaseError(f"no {statement} today")

    async with SqliteAdapter(path) as adapter:
        with pytest.raises(sqlite3.DatabaseError, match="no BEGIN IMMEDIATE today"):
            database_of(adapter)._lock._begin(cast("sqlite3.Connection", Broken()), 0)
        assert held == []
        with pytest.raises(ValueError, match="finite"):
            await adapter.write(draft(confidence=float("inf")))
        assert held == []
        assert (await adapter.write(draft())).version == 1


def suffixes(path: str) -> set[str]:
    """What is there of a store, by what stands behind its name."""
    file = Path(path)
    return {each.name.removeprefix(file.name) for each in file.parent.iterdir()}


@proves("guard.excludes")
@pytest.mark.parametrize("fault", [True, False], indirect=True, ids=["fault", "no-fault"])
async def test_only_where_the_fault_is_there_is_a_lock_file(path: str, fault: bool) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        assert (guard.LOCK_SUFFIX in suffixes(path)) is fault
