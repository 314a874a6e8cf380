"""`export` and `import` at the command line: where the lines go, and what is said."""

import asyncio
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, InvalidArgumentError, ReferenceAdapter, SqliteAdapter
from amfs_sqlite.models import MemoryEntry
from bridge.operations import transfer
from bridge.session import Session
from parity_tests.cli.conftest import Run, looked
from parity_tests.cli.test_exits import said
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def given(monkeypatch: pytest.MonkeyPatch, content: bytes, *, terminal: bool = False) -> None:
    """Put this on standard input."""
    stream = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdin", stream)


@proves("transfer.export-command")
def test_an_export_goes_to_standard_output_or_to_a_new_file_of_its_owner(
    store: Path, run: Run, tmp_path: Path
) -> None:
    ran = run("export")
    assert (ran.code, ran.err) == (0, "")
    first, *_, last = ran.out.splitlines()
    assert json.loads(first)["format"] == "amfs-sqlite export"
    assert json.loads(last)["end"]["versions"] == 11
    path = tmp_path / "export.jsonl"
    told = run("export", "--to", str(path)).out
    assert path.read_text(encoding="ascii") == ran.out
    assert path.stat().st_mode & 0o777 == 0o600
    assert [line.split()[0] for line in told.splitlines()] == ["export", "holds", "newest"]
    assert str(path) in told
    document = run("export", "--json", "--to", str(tmp_path / "again.jsonl")).document
    assert (document["versionCount"], document["path"]) == (11, str(tmp_path / "again.jsonl"))
    assert {each.name.partition(".")[2] for each in tmp_path.iterdir()} <= {"jsonl", "db", "db-lock"}


@proves("transfer.export-command")
@pytest.mark.usefixtures("store")
def test_an_export_never_replaces_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine", encoding="utf-8")
    assert "choose another name" in said(run("export", "--to", str(path)), 2, "invalid_argument")
    assert path.read_text(encoding="utf-8") == "mine"
    said(run("export", "--to", str(tmp_path)), 2, "invalid_argument")
    said(run("export", "--to", str(path / "below")), 3, "unavailable")
    assert "--json tells of a file" in said(run("export", "--json"), 2, "usage")


@proves("transfer.export-command")
def test_an_export_that_fails_leaves_no_file(store: Path, run: Run, tmp_path: Path) -> None:
    looked(store, lambda adapter: adapter.write(draft()))
    path = tmp_path / "out" / "export.jsonl"
    path.parent.mkdir()
    said(run("export", "--to", str(path), "--db", str(tmp_path / "none.db")), 3, "no_store")
    assert list(path.parent.iterdir()) == []


@proves("transfer.export-command")
@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no device that is always full")
async def test_a_full_disk_and_a_reader_who_left_are_told_apart(store: Path) -> None:
    command = [sys.executable, "-m", "bridge.cli", "export", "--db", str(store)]
    with open("/dev/full", "wb") as full:  # noqa: ASYNC230, PTH123 - a device
        process = await asyncio.create_subprocess_exec(*command, stdout=full, stderr=asyncio.subprocess.PIPE)
        _, err = await process.communicate()
    assert (process.returncode, err.partition(b":")[0]) == (3, b"output")
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(*command, stdout=writing, stderr=asyncio.subprocess.PIPE)
    os.close(writing)
    _, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")


@proves("transfer.import-command")
def test_an_import_makes_an_equal_store_and_then_passes_over_it(
    store: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = run("export").out
    path, copy = tmp_path / "export.jsonl", tmp_path / "new" / "copy.db"
    path.write_text(export, encoding="ascii")
    assert run("import", str(path), "--dry-run", "--read-only", "--db", str(copy)).code == 0
    looked_at = run("import", str(path), "--dry-run", "--db", str(copy))
    assert (looked_at.code, looked_at.err, copy.parent.exists()) == (0, "", False)
    assert looked_at.out.startswith("would import")
    ran = run("import", str(path), "--db", str(copy))
    assert (ran.code, ran.err) == (0, "")
    assert "11 versions" in ran.out
    assert copy.stat().st_mode & 0o777 == 0o600
    assert run("export", "--db", str(copy)).out == export
    assert run("verify", "--db", str(copy)).code == 0
    given(monkeypatch, export.encode())
    document = run("import", "-", "--json", "--db", str(copy)).document
    assert (document["versionCount"], document["knownVersionCount"]) == (0, 11)
    assert document["conflicts"] == []


@proves("transfer.import-command")
def test_what_is_left_out_is_named_and_ends_with_1(store: Path, run: Run, tmp_path: Path) -> None:
    path, other = tmp_path / "export.jsonl", tmp_path / "other.db"
    assert run("export", "--to", str(path)).code == 0
    looked(other, lambda adapter: adapter.write(draft("listing/482", "assessment", "other", confidence=0.5)))
    ran = run("import", str(path), "--db", str(other))
    assert (ran.code, ran.err) == (1, "")
    assert "left out" in ran.out
    assert "listing/482/assessment@1" in ran.out
    assert "another version is stored here under this number" in ran.out
    document = run("import", str(path), "--json", "--db", str(other)).document
    assert document["conflictCount"] == len(document["conflicts"]) == 1
    assert run("verify", "--db", str(other)).code == 0
    found: MemoryEntry | None = looked(other, lambda adapter: adapter.read("listing/482", "assessment"))
    assert found is not None
    assert found.value == "other"


@proves("transfer.import-command")
def test_a_copy_that_may_hold_what_the_export_erased_is_told_and_ends_with_1(
    store: Path, run: Run, tmp_path: Path
) -> None:
    path, other = tmp_path / "export.jsonl", tmp_path / "other.db"
    assert run("export", "--to", str(path)).code == 0
    assert run("import", str(path), "--db", str(other)).code == 0
    looked(
        store,
        lambda adapter: adapter.erase([at("listing/482", "assessment")], author="owner"),
    )
    path.unlink()
    assert run("export", "--to", str(path)).code == 0
    shutil.copyfile(other, f"{other}.before-schema-2")
    ran = run("import", str(path), "--db", str(other))
    assert (ran.code, ran.err) == (1, "")
    assert ".before-schema-2 is a copy from before" in "".join(line.strip() for line in ran.out.splitlines())


@proves("transfer.import-command")
def test_a_line_that_is_refused_is_told_in_one_line_with_its_number(
    store: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = run("export").out
    path = tmp_path / "export.jsonl"
    path.write_text(export.replace('"fee":900', '"fee":901', 1), encoding="ascii")
    message = said(run("import", str(path), "--db", str(tmp_path / "copy.db")), 2, "import_line")
    assert message.startswith("line 3 is not acceptable: the value does not hash to its contentHash")
    path.write_text("no export\n", encoding="ascii")
    message = said(run("import", str(path), "--db", str(tmp_path / "never.db")), 2, "import_line")
    assert message.startswith("line 1 is not the first line of an export")
    assert not (tmp_path / "never.db").exists()
    said(run("import", str(tmp_path / "none.jsonl")), 2, "usage")
    said(run("import", str(tmp_path)), 2, "usage")
    given(monkeypatch, b"", terminal=True)
    assert "pipe one in, or name a file" in said(run("import", "-"), 2, "usage")


@proves("transfer.import-command")
def test_a_bar_shows_on_a_terminal_how_far_it_has_come(
    store: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    path = tmp_path / "export.jsonl"
    for arguments in (
        ("export", "--to", str(path)),
        ("import", str(path), "--db", str(tmp_path / "copy.db")),
    ):
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        assert run(*arguments).code == 0
        assert arguments[0] in terminal.getvalue()


@proves("transfer.owner")
async def test_an_agent_neither_exports_nor_imports() -> None:
    async with SqliteAdapter(":memory:", outcomes=HANDOFF) as adapter:
        with pytest.raises(InvalidArgumentError, match="for the owner of the file"):
            await transfer.export(Session(adapter, "scout", "s-1"), print)


@proves("transfer.owner")
async def test_what_cannot_be_exported_says_so() -> None:
    async with ReferenceAdapter(outcomes=HANDOFF) as adapter:
        with pytest.raises(InvalidArgumentError, match="cannot be exported"):
            await transfer.export(Session(adapter, "owner", "s-1", owner=True), print)
