"""What is stored never becomes a place on the disk, and what is made there is its owner's alone."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, AmfsError, EntryRef, SqliteAdapter
from bridge.cli.main import main
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.mcp.processes import server
from parity_tests.security.hostile import PATHS

RELEASED = Path(__file__).parents[1] / "migrations" / "files" / "schema_1.db"
PRIVATE = 0o600
posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such modes")


@pytest.fixture(params=[0o022, 0o000], ids=["022", "000"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """A process that keeps little or nothing from others."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Of every file below."""
    return {
        str(each.relative_to(folder)): each.stat().st_mode & 0o777 for each in tree(folder) if each.is_file()
    }


def tree(folder: Path) -> list[Path]:
    """Everything below."""
    return sorted(folder.rglob("*"))


@posix
@pytest.mark.usefixtures("umask")
@proves("security.files")
async def test_whatever_is_made_beside_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "for" / "memory.db"
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        session = Session(adapter, "alice", "s")
        ref = (await entries.remember(session, "p", "k", "first")).entry.ref
        await entries.remember(session, "p", "k", "second")
        open_modes = modes(tmp_path)
        assert {path.name, f"{path.name}-wal", f"{path.name}-shm"} <= {Path(name).name for name in open_modes}
        assert set(open_modes.values()) == {PRIVATE}
        await adapter.backup(tmp_path / "backup.db")
        await adapter.erase([ref], author="owner")
        assert set(modes(tmp_path).values()) == {PRIVATE}
    assert set(modes(tmp_path).values()) == {PRIVATE}
    assert {each.stat().st_mode & 0o777 for each in tree(tmp_path) if each.is_dir()} == {0o700}


@posix
@pytest.mark.usefixtures("umask")
@proves("security.files")
def test_whatever_a_command_makes_is_its_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "memory.db"
    shutil.copyfile(RELEASED, path)
    path.chmod(PRIVATE)
    monkeypatch.setenv("MEMORY_DB", str(path))
    assert main(["prune", "--yes", "--keep-last", "1"]) in (0, 1)
    assert main(["backup", str(tmp_path / "one.db")]) == 0
    assert main(["restore", str(tmp_path / "one.db"), "--force"]) == 0
    assert main(["restore", str(tmp_path / "one.db"), "--db", str(tmp_path / "two.db")]) == 0
    assert main(["doctor", "--fix"]) in (0, 1)
    capsys.readouterr()
    found = modes(tmp_path)
    assert any(".before-schema-" in name for name in found)
    assert any(".before-restore-" in name for name in found)
    assert set(found.values()) == {PRIVATE}


@posix
@pytest.mark.usefixtures("umask")
@proves("security.files")
async def test_whatever_a_server_makes_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "memory.db"
    async with server(path) as served:
        await served.call("remember", scope="p", key="k", value="v")
        assert len(modes(tmp_path)) >= 3
        assert set(modes(tmp_path).values()) == {PRIVATE}
        assert await served.leave() == 0
    assert set(modes(tmp_path).values()) == {PRIVATE}


@proves("security.names")
async def test_no_stored_text_becomes_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    before = set(tree(tmp_path))
    async with SqliteAdapter(here / "memory.db", outcomes=HANDOFF) as adapter:
        for number, each in enumerate(PATHS):
            session = Session(adapter, each, each)
            await adapter.write(draft(each, each, {each: number}, tags=(each,), session=each, agent=each))
            ref = EntryRef(entity_path=each, key=each)
            await packets.give(
                session, each, next_steps=[each], refs=[ref], to_agent=each, idempotency_key=each
            )
            await packets.take(session)
            await outcomes.record_outcome(session, "failure", each, refs=[ref], note=each)
            found = await adapter.read(each, each)
            assert found is not None
            assert found.value == {each: number}
            with pytest.raises(AmfsError):
                await packets.show(session, each)
        assert len(await adapter.list(include_system=False)) == len(PATHS)
        assert (await adapter.verify()).ok
    made = set(tree(tmp_path)) - before
    assert {each.name for each in made} <= {f"memory.db{suffix}" for suffix in ("", "-wal", "-shm", "-lock")}
    assert {each.parent for each in made} == {here}
