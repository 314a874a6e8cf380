"""What is stored is its owner's: no file of a store can be read by others, unless its owner made it so."""

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite.database import locking
from parity_tests.drafts import draft
from parity_tests.ledger import proves

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@proves("files.private")
async def test_all_files_of_a_store_and_the_folders_made_for_it_are_its_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "has_wal_reset_fault", lambda _: True)
    path = tmp_path / "made" / "for it" / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
        modes = {each.name: mode(each) for each in path.parent.iterdir()}
    names = ("store.db", "store.db-wal", "store.db-shm", "store.db-lock")
    assert modes == dict.fromkeys(names, 0o600)
    assert {mode(folder) for folder in (path.parent, path.parent.parent)} == {0o700}


@proves("files.private")
async def test_wider_modes_are_kept_and_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "store.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft())
    assert caplog.records == []
    path.chmod(0o644)
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.write(draft())).version == 2
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("amfs_sqlite", logging.WARNING)
    assert record.getMessage().startswith(f"{path} can be read by other users (mode 644)")
    assert mode(path) == 0o644
