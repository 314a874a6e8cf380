"""One file per path, wherever the path points and however it is spelled."""

import os
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import (
    AdapterClosedError,
    InvalidArgumentError,
    SqliteAdapter,
    StoreError,
    StoreUnavailableError,
)
from amfs_sqlite.sqlite.database.files import MAX_NAME_BYTES, MAX_PATH_BYTES
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX
from parity_tests.drafts import draft
from parity_tests.ledger import proves

SIDE_FILES = {"", "-wal", "-shm", "-journal", LOCK_SUFFIX}
NAMES = [
    "q?x=1",
    "q#1",
    "a%20b",
    "a%",
    "with spaces ",
    " store",
    "file:store",
    "memory:",
    "quote'\"",
    "ひと😀🧠",
    "é",
    "new\nline",
    "x" * 220,
]


async def written_and_read(path: "str | os.PathLike[str]") -> int:
    """The version that a write through this path gets."""
    async with SqliteAdapter(path) as adapter:
        return (await adapter.write(draft())).version


@pytest.mark.skipif(os.name != "posix", reason="this system does not take all of these names")
@proves("files.names")
@pytest.mark.parametrize("name", NAMES)
async def test_a_store_lies_exactly_where_its_name_says(tmp_path: Path, name: str) -> None:
    for part in (tmp_path / name, tmp_path / f"in {name[:40]}" / name):
        assert await written_and_read(part) == 1
        assert await written_and_read(part) == 2
        found = {each.name for each in part.parent.iterdir() if each.is_file()}
        assert name in found
        assert found <= {name + suffix for suffix in SIDE_FILES}


@pytest.mark.skipif(os.name != "posix", reason="this system does not take all of these names")
@proves("files.names")
async def test_a_name_that_is_no_utf_8_is_a_name(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    assert await written_and_read(tmp_path / name) == 1
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.skipif(os.name != "posix", reason="this system has other limits")
@proves("files.names")
async def test_a_name_too_long_for_its_side_files_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    assert await written_and_read(tmp_path / ("x" * MAX_NAME_BYTES)) == 1
    deep = tmp_path / "empty" / "/".join(["y" * 100] * 5)
    longest = str(deep)[:MAX_PATH_BYTES].rstrip("/")
    for path in (tmp_path / "empty" / ("x" * (MAX_NAME_BYTES + 1)), deep):
        with pytest.raises(StoreUnavailableError, match="too long"):
            await written_and_read(path)
    assert not (tmp_path / "empty").exists()
    assert await written_and_read(longest) == 1


@proves("files.spellings")
async def test_however_a_path_is_spelled_it_is_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    (tmp_path / "link.db").symlink_to(folder / "store.db")
    (tmp_path / "linked").symlink_to(folder)
    spellings: list[str | Path] = [
        "store.db",
        "./store.db",
        "../folder/store.db",
        "~/store.db",
        str(folder / "store.db"),
        folder / "store.db",
        f"{folder}//store.db",
        tmp_path / "link.db",
        tmp_path / "linked" / "store.db",
    ]
    adapters = [SqliteAdapter(spelling) for spelling in spellings]
    assert {adapter.path for adapter in adapters} == {str(folder.resolve() / "store.db")}
    for adapter in adapters:
        await adapter.open()
    versions = [(await adapter.write(draft())).version for adapter in adapters]
    assert versions == list(range(1, len(spellings) + 1))
    for adapter in adapters:
        await adapter.close()
    assert {each.name for each in folder.iterdir()} <= {f"store.db{suffix}" for suffix in SIDE_FILES}


@proves("files.spellings")
async def test_a_relative_path_stays_where_it_was_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    adapter = SqliteAdapter("store.db")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    async with adapter:
        await adapter.write(draft())
    assert (tmp_path / "store.db").exists()
    assert list((tmp_path / "other").iterdir()) == []


@proves("files.spellings")
async def test_a_second_name_of_the_same_file_is_refused(tmp_path: Path) -> None:
    assert await written_and_read(tmp_path / "store.db") == 1
    try:
        (tmp_path / "second.db").hardlink_to(tmp_path / "store.db")
    except OSError:
        pytest.skip("this file system has no hard links")
    for name in ("store.db", "second.db"):
        with pytest.raises(StoreUnavailableError, match="hard links") as refused:
            await written_and_read(tmp_path / name)
        assert refused.value.path == str(tmp_path / name)
    (tmp_path / "second.db").unlink()
    assert await written_and_read(tmp_path / "store.db") == 2


@proves("files.impossible")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "no path"),
        ("  ", "no path"),
        ("a\0b", "NUL"),
        ("a\ud800b", "no file system can hold"),
        ("~nobody-of-this-name/store.db", "home folder"),
        ("folder/", "names a folder"),
        ("folder/.", "names a folder"),
        ("folder/..", "names a folder"),
        (".", "names a folder"),
    ],
)
def test_an_impossible_path_is_refused_by_name(path: str, says: str) -> None:
    with pytest.raises(StoreUnavailableError, match=says):
        SqliteAdapter(path)


@proves("files.impossible")
@pytest.mark.parametrize("path", [None, 3, b"store.db", ["store.db"]], ids=repr)
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="give the path of a file") as refused:
        SqliteAdapter(path)
    assert refused.value.argument == "path"


@proves("lifecycle.closed")
async def test_an_adapter_that_was_closed_says_so(tmp_path: Path) -> None:
    adapter = SqliteAdapter(tmp_path / "store.db")
    for problem in ("is not open", "is closed"):
        with pytest.raises(AdapterClosedError, match=problem):
            await adapter.read("p", "k")
        async with adapter:
            await adapter.write(draft())


@proves("files.impossible")
async def test_a_folder_and_what_lies_behind_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text", encoding="utf-8")
    for path in (tmp_path, tmp_path / "file" / "store.db"):
        with pytest.raises(StoreUnavailableError) as refused:
            await written_and_read(path)
        assert refused.value.path == str(path)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "text"


@proves("files.damaged-names")
async def test_a_schema_whose_text_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await written_and_read(path)
    stored = path.read_bytes()
    at = stored.index(b"CREATE TABLE head")
    path.write_bytes(stored[:at] + b"CREATE TABLE h\xffad" + stored[at + 17 :])
    with pytest.raises(StoreError) as refused:
        await written_and_read(path)
    assert "\n" not in str(refused.value)
