"""A store that is exported and imported is the same store; what is left of an ended import goes on."""

import asyncio
import io
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import (
    HANDOFF,
    AmfsError,
    ExportReport,
    ImportLineError,
    InvalidArgumentError,
    SearchQuery,
    SqliteAdapter,
    StoreCorruptError,
    StoreUnavailableError,
    VersionConflictError,
)
from amfs_sqlite.sqlite import export_to_file
from amfs_sqlite.sqlite.transfer import exporting, importing
from parity_tests.cli import stories
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite import disk, transfers
from parity_tests.sqlite.internals import store_id_of
from parity_tests.state import state

NAMESPACES = ("default", transfers.OTHER)
IMPORT_AND_DIE = """
import asyncio, os, signal, sys
from amfs_sqlite import SqliteAdapter
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.sqlite.transfer import importing

importing.CHANGES_TOGETHER = 1
left = int(sys.argv[3])

def die(done):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with SqliteAdapter(sys.argv[1]) as adapter:
        with open(sys.argv[2], "rb") as stream:
            await adapter.import_from(ExportReader(stream.readline), progress=die)

asyncio.run(main())
"""


@pytest.fixture
def one_commit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", 1)


async def seen(path: str | Path) -> list[str]:
    found = []
    for namespace in NAMESPACES:
        async with SqliteAdapter(path, namespace=namespace) as adapter:
            found.append(await state(adapter))
    return found


def content(path: str | Path) -> list[str]:
    """All that a file holds, but for what is not exported and the text index, which comes later."""
    with closing(sqlite3.connect(path)) as raw:
        others = ("text_index", "text_state", "schema_migrations", "idempotency")
        return [line for line in raw.iterdump() if not any(each in line for each in others)]


@proves("transfer.equal", "transfer.store-id")
async def test_an_import_into_an_empty_store_makes_an_equal_one(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    export, copy = await transfers.exported(path), tmp_path / "copy.db"
    report = await transfers.imported(copy, export)
    assert (report.version_count, report.outcome_count, report.conflict_count) == (15, 5, 0)
    assert await seen(copy) == await seen(path)
    assert content(copy) == content(path)
    assert await transfers.exported(copy) == export
    assert await transfers.exported(path) == export


@proves("transfer.equal")
@pytest.mark.parametrize("story", [stories.handover, stories.hostile])
async def test_what_agents_did_is_the_same_after_a_transfer(path: str, tmp_path: Path, story: Any) -> None:
    await story(Path(path))
    export, copy = await transfers.exported(path), tmp_path / "copy.db"
    await transfers.imported(copy, export)
    assert export.isascii()
    assert content(copy) == content(path)
    assert await transfers.exported(copy) == export
    async with SqliteAdapter(copy) as adapter:
        assert (await adapter.verify()).ok


@proves("transfer.store-id")
async def test_an_anchor_and_a_cursor_of_the_exported_store_hold(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    async with SqliteAdapter(path) as adapter:
        anchor = await adapter.anchor()
        cursors = [event.cursor async for event in adapter.changes(follow=False)]
    async with SqliteAdapter(tmp_path / "copy.db") as copy:
        await copy.import_from(transfers.reader(await transfers.exported(path)))
        assert (await copy.verify(anchor=anchor)).ok
        again = [event.cursor async for event in copy.changes(after=cursors[2], follow=False)]
    assert again == cursors[3:]


@proves("transfer.equal", "transfer.store-id")
async def test_a_store_that_holds_nothing_is_taken_elsewhere_too(path: str, tmp_path: Path) -> None:
    export, copy = await transfers.exported(path), tmp_path / "copy.db"
    assert len(transfers.lines(export)) == 2
    report = await transfers.imported(copy, export)
    assert (report.commit_count, report.known_commit_count) == (0, 0)
    assert await transfers.exported(copy) == export


@proves("transfer.store-id")
async def test_a_store_that_holds_something_keeps_its_id(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    async with SqliteAdapter(tmp_path / "own.db") as own:
        await own.write(draft("own"))
        before = store_id_of(own)
        report = await own.import_from(transfers.reader(await transfers.exported(path)))
        assert report.store_id == before
    async with SqliteAdapter(tmp_path / "own.db") as own:
        assert store_id_of(own) == before


@proves("transfer.snapshot")
async def test_an_export_holds_nothing_that_was_written_after_it_began(path: str) -> None:
    loop, found = asyncio.get_running_loop(), io.BytesIO()
    async with SqliteAdapter(path) as adapter:
        for number in range(3):
            await adapter.write(draft(value=number))

        def write(line: bytes) -> None:
            asyncio.run_coroutine_threadsafe(adapter.write(draft(value="later")), loop).result(60)
            found.write(line)

        report = await adapter.export_to(write)
        assert (report.commit_count, report.sequence) == (3, 3)
        assert len(await adapter.history("svc/a", "k")) > 3
    assert b"later" not in found.getvalue()
    assert transfers.reader(found.getvalue()).store_id == report.store_id


@proves("transfer.snapshot")
async def test_in_memory_too_an_export_is_written_once_whatever_is_refused_beside_it() -> None:
    found = io.BytesIO()
    async with SqliteAdapter(":memory:") as adapter:
        await adapter.write(draft())
        report, *refused = await asyncio.gather(
            adapter.export_to(found.write),
            adapter.write(draft(), expected_version=7),
            adapter.write(draft(), expected_version=7),
            return_exceptions=True,
        )
    assert isinstance(report, ExportReport)
    assert [type(each) for each in refused] == [VersionConflictError] * 2
    assert len([*transfers.reader(found.getvalue()).commits()]) == report.commit_count


@proves("transfer.torn")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE versions SET sequence = 99 WHERE id = 2",
        "UPDATE versions SET value = 'no json' WHERE id = 2",
        "UPDATE outcomes SET record = '[]' WHERE id = 1",
        "DELETE FROM commits WHERE sequence = 2",
        "UPDATE current SET namespace = 'x' WHERE id = 1",
    ],
)
async def test_a_torn_log_is_not_exported(path: str, damage: str) -> None:
    await transfers.tell(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(damage)
    with pytest.raises(StoreCorruptError, match="verify tells"):
        await transfers.exported(path)


@proves("transfer.ended")
async def test_an_export_that_nobody_waits_for_ends(path: str) -> None:
    await transfers.tell(path)
    loop, begun, count = asyncio.get_running_loop(), asyncio.Event(), 0
    async with SqliteAdapter(path) as adapter:

        def write(line: bytes) -> None:
            nonlocal count
            count += 1
            asyncio.run_coroutine_threadsafe(until_cancelled(), loop).result(60)

        async def until_cancelled() -> None:
            begun.set()
            with pytest.raises(asyncio.CancelledError):
                await export

        export = asyncio.ensure_future(adapter.export_to(write))
        await begun.wait()
        export.cancel()
        await adapter.verify()
    assert count == 1


@proves("transfer.ended")
@pytest.mark.parametrize("error", [AmfsError("enough"), OSError(28, "No space left"), KeyError("k")])
async def test_what_the_receiver_raises_ends_the_export(path: str, error: Exception) -> None:
    await transfers.tell(path)

    def write(line: bytes) -> None:
        raise error

    async with SqliteAdapter(path) as adapter:
        with pytest.raises(type(error)) as caught:
            await adapter.export_to(write)
        assert caught.value is error
        assert (await adapter.verify()).ok


@proves("transfer.ended")
@pytest.mark.parametrize("where", [":memory:", "store.db"])
@pytest.mark.parametrize("error", [OSError(28, "No space left"), PermissionError(13, "no"), KeyError("k")])
async def test_what_is_raised_by_who_is_told_of_progress_ends_the_export(
    tmp_path: Path, where: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "STEP", 1)

    def progress(_done: int, _total: int) -> None:
        raise error

    async with SqliteAdapter(where if where == ":memory:" else tmp_path / where) as adapter:
        await adapter.write(draft())
        with pytest.raises(type(error)) as caught:
            await adapter.export_to(io.BytesIO().write, progress=progress)
        assert caught.value is error
        assert (await adapter.verify()).ok


@proves("transfer.export-file")
async def test_an_export_to_a_file_is_its_owners_and_replaces_nothing(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    folder = tmp_path / "out"
    folder.mkdir()
    async with SqliteAdapter(path) as adapter:
        report = await export_to_file(adapter.export_to, folder / "export.jsonl")
        with pytest.raises(InvalidArgumentError, match="choose another name"):
            await export_to_file(adapter.export_to, folder / "export.jsonl")
        with pytest.raises(StoreUnavailableError, match="the system says"):
            await export_to_file(adapter.export_to, folder / "none" / "export.jsonl")
    assert disk.names(folder) == ["export.jsonl"]
    assert disk.data(folder / "export.jsonl") == await transfers.exported(path)
    assert os.stat(folder / "export.jsonl").st_mode & 0o777 == 0o600  # noqa: PTH116 - no need of a path
    assert report.sequence == 19


@proves("transfer.export-file")
async def test_an_export_to_a_file_that_is_ended_leaves_no_file(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    folder = tmp_path / "out"
    folder.mkdir()

    async def export(write: Callable[[bytes], object], **_: object) -> ExportReport:
        async with SqliteAdapter(path) as adapter:
            await adapter.export_to(write)
        raise AmfsError("ended")

    with pytest.raises(AmfsError, match="ended"):
        await export_to_file(export, folder / "export.jsonl")
    assert disk.names(folder) == []


@proves("transfer.again")
@pytest.mark.usefixtures("one_commit_at_once")
async def test_an_export_that_was_cut_is_imported_to_its_last_whole_commit_and_then_goes_on(
    path: str, tmp_path: Path
) -> None:
    await transfers.tell(path)
    export = await transfers.exported(path)
    all_lines = transfers.lines(export)
    for count in range(1, len(all_lines), 4):
        whole = b"".join(all_lines[:count])
        copy = tmp_path / f"copy-{count}.db"
        for cut in (whole, whole + all_lines[count][:-9]):
            with pytest.raises(ImportLineError) as refused:
                await transfers.imported(copy, cut)
            assert refused.value.line == count + 1
        stored = whole.count(b'\n{"commit"') - (b'\n{"commit"' in whole)
        async with SqliteAdapter(copy) as adapter:
            assert (await adapter.anchor()).sequence == stored
        report = await transfers.imported(copy, export)
        assert (report.known_commit_count, report.commit_count) == (stored, 19 - stored)
        assert await transfers.exported(copy) == export


@proves("transfer.again")
@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
@pytest.mark.parametrize("commits", [1, 7])
async def test_an_import_that_was_killed_goes_on(path: str, tmp_path: Path, commits: int) -> None:
    await transfers.tell(path)
    export, file, copy = await transfers.exported(path), tmp_path / "export.jsonl", tmp_path / "copy.db"
    file.write_bytes(export)
    command = [sys.executable, "-c", IMPORT_AND_DIE, str(copy), str(file), str(commits)]
    died = await asyncio.create_subprocess_exec(*command)
    assert await died.wait() == -signal.SIGKILL
    report = await transfers.imported(copy, export)
    assert report.known_commit_count == commits
    assert await transfers.exported(copy) == export


@proves("transfer.again")
async def test_what_is_here_is_passed_over(path: str) -> None:
    await transfers.tell(path)
    before = content(path)
    report = await transfers.imported(path, await transfers.exported(path))
    assert (report.commit_count, report.version_count, report.outcome_count) == (0, 0, 0)
    assert (report.known_commit_count, report.known_version_count) == (19, 15)
    assert content(path) == before


@proves("transfer.heard")
async def test_imports_are_heard_of_and_found(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    async with SqliteAdapter(tmp_path / "copy.db") as copy:
        heard: list[Any] = []
        await copy.watch(None, lambda entry: heard.append(entry.ref))
        await copy.import_from(transfers.reader(await transfers.exported(path)))
        page = await copy.search(SearchQuery(text="there again"))
        tagged = await copy.search(SearchQuery(tag="open"))
    assert [(entry.entity_path, entry.version) for entry in page.entries] == [("old", 3)]
    assert [entry.key for entry in tagged.entries] == ["h_1"]
    async with SqliteAdapter(path) as adapter:
        assert heard == [event.entry.ref async for event in adapter.changes(follow=False)]
    assert heard


@proves("transfer.heard")
async def test_what_is_written_after_an_import_extends_it(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    async with SqliteAdapter(tmp_path / "copy.db", outcomes=HANDOFF) as copy:
        await copy.import_from(transfers.reader(await transfers.exported(path)))
        newest = (await copy.list_commits(limit=1))[0]
        assert (await copy.write(draft())).version == 5
        assert (await copy.list_commits(limit=1))[0].parent_ids == (newest.id,)
        assert (await copy.verify()).ok
