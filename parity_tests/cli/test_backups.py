"""`backup`, `restore` and `--read-only`: what is said, what is refused, and what the files are then."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from parity_tests.cli.conftest import Run, looked
from parity_tests.cli.test_exits import CHANGING, READING, said
from parity_tests.drafts import draft
from parity_tests.ledger import proves


@contextmanager
def open_elsewhere(path: Path) -> Iterator[None]:
    """An adapter has the store open, and has read it."""
    is_open, enough = threading.Event(), threading.Event()

    async def holding() -> None:
        async with SqliteAdapter(path) as adapter:
            await adapter.list()
            is_open.set()
            await asyncio.to_thread(enough.wait, 30)

    thread = threading.Thread(target=lambda: asyncio.run(holding()))
    thread.start()
    try:
        assert is_open.wait(30)
        yield
    finally:
        enough.set()
        thread.join()


@proves("backups.commands")
def test_a_backup_is_told_with_what_it_holds(store: Path, run: Run, tmp_path: Path) -> None:
    dest = tmp_path / "backup.db"
    ran = run("backup", str(dest))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == [
        f"backup       {dest}",
        f"size         {dest.stat().st_size:,} bytes",
        "verified     7 keys  11 versions  12 commits  2 outcomes",
    ]
    document = run("backup", str(tmp_path / "again.db"), "--json").document
    assert document == {
        "path": str(tmp_path / "again.db"),
        "fileBytes": document["fileBytes"],
        "schemaVersion": document["schemaVersion"],
        "keyCount": 7,
        "versionCount": 11,
        "commitCount": 12,
        "outcomeCount": 2,
        "headSequence": 12,
        "headDigest": document["headDigest"],
    }
    assert f"commit 12, digest {document['headDigest']}" in " ".join(ran.out.split())
    assert looked(dest, lambda adapter: adapter.list_commits()) == looked(
        store, lambda adapter: adapter.list_commits()
    )


@proves("backups.commands")
def test_a_name_that_is_taken_is_refused(store: Path, run: Run) -> None:
    before = store.read_bytes()
    told = said(run("backup", str(store)), 2, "invalid_argument")
    assert f"DEST is '{store}', which stands there already; choose another name" in told
    for command in (["backup", str(store)], ["export", "--to", str(store)]):
        assert "dest" not in said(run(*command), 2, "invalid_argument")
    assert store.read_bytes() == before


@proves("backups.commands")
def test_restoring_tells_where_the_old_store_is(store: Path, run: Run, tmp_path: Path) -> None:
    dest = tmp_path / "backup.db"
    assert run("backup", str(dest)).code == 0
    looked(store, lambda adapter: adapter.write(draft("notes", "later")))
    told = said(run("restore", str(dest)), 2, "invalid_argument")
    assert f"--db is '{store}', where something stands already; --force keeps that beside it" in told
    document = run("restore", str(dest), "--force", "--json").document
    assert (document["path"], document["versionCount"]) == (str(store), 11)
    kept = Path(document["kept"])
    assert looked(kept, lambda adapter: adapter.read("notes", "later")) is not None
    assert looked(store, lambda adapter: adapter.read("notes", "later")) is None
    # A long name is folded where the line ends.
    shown = "".join(run("restore", str(kept), "--force").out.split())
    assert shown.startswith(f"restored{store}size")
    assert f"before{store}.before-restore-" in shown
    assert run("restore", str(dest), "--db", str(tmp_path / "new.db"), "--json").document["kept"] is None


@proves("backups.commands", "backups.in-use")
def test_a_store_that_is_open_is_not_restored(store: Path, run: Run, tmp_path: Path) -> None:
    dest = tmp_path / "backup.db"
    with open_elsewhere(store):
        assert run("backup", str(dest)).code == 0
        assert "close every agent" in said(run("restore", str(dest), "--force"), 3, "busy")
    assert run("restore", str(dest), "--force").code == 0


@proves("backups.commands")
def test_what_is_no_backup_is_refused_before_anything_is_done(store: Path, run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("not a store, but long enough to be one " * 10, encoding="utf-8")
    before = store.read_bytes()
    said(run("restore", str(notes), "--force"), 3, "foreign_file")
    assert "does not exist" in said(run("restore", str(tmp_path / "no.db"), "--force"), 3, "no_store")
    assert store.read_bytes() == before


@proves("backups.commands")
def test_no_backup_is_made_where_there_is_no_store(run: Run, tmp_path: Path) -> None:
    said(run("backup", str(tmp_path / "b.db"), "--db", str(tmp_path / "no.db")), 3, "no_store")
    assert list(tmp_path.iterdir()) == []


@proves("read-only.faces")
def test_a_store_opened_for_reading_alone_is_looked_at_and_not_changed(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for arguments in READING:
        if arguments != ("stats",):  # It tells the size of the log, which another opening may leave.
            assert run(*arguments, "--read-only", "--json").out == run(*arguments, "--json").out
    before = store.read_bytes()
    for arguments in CHANGING:
        assert "open it for writing" in said(run("--read-only", *arguments), 3, "read_only")
    assert run("backup", str(tmp_path / "backup.db"), "--read-only").code == 0
    monkeypatch.setenv("MEMORY_MODE", "ro")
    for arguments in [*CHANGING, ("restore", str(tmp_path / "backup.db"), "--force")]:
        said(run(*arguments), 3, "read_only")
    assert store.read_bytes() == before
    monkeypatch.setenv("MEMORY_MODE", "r")
    assert "MEMORY_MODE is 'r'; it must be rw or ro" in said(run("log"), 2, "invalid_setting")
