"""Disks that are full, files that may not be written, that are swapped under us, and that are damaged."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.torture import visitors
from benchmarks.torture.checking import settle
from benchmarks.torture.crew import Worker, at_work
from benchmarks.torture.judging import Truth, fill, judge, more, truth_of
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.torture.work import client_of

WORK = 25
EMPTIED = 0.1
ROOM_BYTES = 600_000
REFUSALS = 20
ADVICE = ("free some space", "check the path", "make the file")


def full(round_: Round) -> None:
    """Write until there is no more room, try on; then there is room again."""
    with _small_volume(round_) as (path, limit_bytes):
        client = replace(client_of(round_, "f"), path=path)
        with at_work(visitors.write_singly, [(client, REFUSALS, limit_bytes)]) as (writer,):
            _count_refusals(round_, writer)
        if limit_bytes is None:
            shutil.copyfile(path, round_.path)
            wal = path.with_name(path.name + "-wal")
            if wal.exists():
                shutil.copyfile(wal, round_.path.with_name(round_.path.name + "-wal"))
            round_.path.chmod(0o600)
    round_.tally.rounds += 1
    settle(round_)


@contextmanager
def _small_volume(round_: Round) -> Iterator[tuple[Path, int | None]]:
    """A volume with little room, where one can be mounted, by turns with a limit on the size of a file."""
    room = round_.chance.randint(ROOM_BYTES // 3, ROOM_BYTES)
    volume = round_.folder / "small"
    volume.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(volume)]
    if round_.chance.random() < 0.5 or shutil.which("mount") is None or _fails(mount):
        round_.tally.notes["a limit on the size of a file"] += 1
        yield round_.path, room
        return
    round_.tally.notes["a small volume"] += 1
    try:
        yield volume / "store.db", None
    finally:
        subprocess.run(["umount", "--lazy", str(volume)], check=True)


def _fails(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def _count_refusals(round_: Round, writer: Worker) -> None:
    for word in writer.see_through():
        if isinstance(word, Exception):
            round_.tally.refused += 1
            if "\n" in str(word) or not any(each in str(word) for each in ADVICE):
                round_.fault(f"refused without advice: {word}")


def read_only(round_: Round) -> None:
    """Read and write what may only be read: read or refused, never written."""
    folder = Path(round_.folder / "kept")
    folder.mkdir()
    path = folder / "store.db"
    asyncio.run(fill(path, "r", 5))
    for journal in folder.glob("*.journal"):
        journal.unlink()
    file_mode, folder_mode = round_.chance.choice(
        [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500), (0o000, 0o700)]
    )
    before = path.read_bytes()
    round_.folder.chmod(0o711)
    with at_work(visitors.try_without_rights, [(path, file_mode, folder_mode)]) as (visitor,):
        words = visitor.see_through()
    folder.chmod(0o700)
    round_.tally.rounds += 1
    if path.read_bytes() != before or "written" in words:
        round_.fault(f"modes {file_mode:o} and {folder_mode:o} did not keep it from being written")
    if not words or not isinstance(words[-1], Exception) or str(path) not in str(words[-1]):
        round_.fault(f"modes {file_mode:o} and {folder_mode:o} were not told: {words[-1:]}")
    round_.tally.refused += 1


def swapped(round_: Round) -> None:
    """Take the file away while it is written, alone or with its log, and put another one there or none."""
    chance = round_.chance
    aside = round_.folder / "aside.db"
    other = round_.folder / "other.db"
    asyncio.run(fill(other, "other", 3))
    (round_.folder / "other.journal").unlink()
    suffixes = chance.choice([("",), ("", "-wal", "-shm")])
    with at_work(visitors.write_singly, [(client_of(round_, "x"), 1, None)]) as (writer,):
        for _ in range(chance.randint(1, 15)):
            writer.hear()
        for suffix in suffixes:
            (round_.folder / f"store.db{suffix}").rename(round_.folder / f"aside.db{suffix}")
        if chance.random() < 0.5:
            shutil.copyfile(other, round_.path)
        _count_refusals(round_, writer)
    round_.tally.rounds += 1
    if round_.path.exists() and round_.path.read_bytes() != other.read_bytes():
        round_.fault("a file that was put in the place of the store was written to")
    log = round_.log
    if log.exists() and not (round_.folder / "aside.db-wal").exists():
        log.rename(round_.folder / "aside.db-wal")  # The file was moved without it: they belong together.
    settle(round_, aside)


def flipped(round_: Round) -> None:
    """Flip one to eight bits anywhere in the file, or in its log."""
    _damaged(round_, "flipped bits", _flip)


def cut(round_: Round) -> None:
    """Cut the file, or its log, at a random place: at a page's end, or within one."""
    if round_.chance.random() < EMPTIED:
        _damaged(round_, "emptied", lambda _, path: path.write_bytes(b""))
    else:
        _damaged(round_, "cut", _cut)


def blanked(round_: Round) -> None:
    """Overwrite a random sector or page of the file, or of its log, with zeroes."""
    _damaged(round_, "blanked", _blank)


def _damaged(round_: Round, what: str, damage: Callable[[Round, Path], object]) -> None:
    truth, has_log = asyncio.run(_with_or_without_log(round_))
    place = "-wal" if has_log and round_.chance.random() < 0.5 else ""
    damage(round_, round_.folder / f"store.db{place}")
    round_.tally.rounds += 1
    judge(round_, truth, f"{what} in the {'log' if place else 'file'}")


async def _with_or_without_log(round_: Round) -> tuple[Truth, bool]:
    """A store that was closed, or one as a killed process leaves it."""
    built = round_.folder / "built"
    built.mkdir()
    path = built / "store.db"
    truth = await fill(path, "a", WORK)
    with_log = round_.chance.random() < 0.5
    if with_log:
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            await more(store, built, "b", WORK)
            truth = await truth_of(store)
            copy(path, round_.path)
    else:
        copy(path, round_.path)
    return truth, with_log


def copy(source: Path, target: Path) -> None:
    """The file, and its log if it has one."""
    for suffix in ("", "-wal"):
        there = source.with_name(source.name + suffix)
        here = target.with_name(target.name + suffix)
        here.unlink(missing_ok=True)
        if there.exists():
            shutil.copyfile(there, here)
            here.chmod(0o600)


def _flip(round_: Round, path: Path) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(round_.chance.randint(1, 8)):
        content[round_.chance.randrange(len(content))] ^= 1 << round_.chance.randrange(8)
    path.write_bytes(content)


def _cut(round_: Round, path: Path) -> None:
    size = round_.chance.randrange(1, path.stat().st_size)
    os.truncate(path, size - size % 4096 if round_.chance.random() < 0.5 else size)


def _blank(round_: Round, path: Path) -> None:
    content = bytearray(path.read_bytes())
    size = round_.chance.choice([512, 4096])
    start = round_.chance.randrange(len(content)) // size * size
    length = min(size, len(content) - start)
    content[start : start + length] = bytes(length)
    path.write_bytes(content)


def logs(round_: Round) -> None:
    """Open the file with a log that is missing, of an older copy, or of another store."""
    truth, what = asyncio.run(_with_wrong_log(round_))
    round_.tally.rounds += 1
    judge(round_, truth, what)


async def _with_wrong_log(round_: Round) -> tuple[Truth, str]:
    built = round_.folder / "built"
    built.mkdir()
    path = built / "store.db"
    await fill(path, "a", WORK)
    what = round_.chance.choice(["a missing log", "a log of an older copy", "a log of another store"])
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        await more(store, built, "b", WORK)
        copy(path, round_.path)
        if what == "a missing log":
            round_.log.unlink()
        truth = await truth_of(store)
    if what == "a log of an older copy":
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            await more(store, built, "c", round_.chance.randint(1, WORK))
            truth = await truth_of(store)
        shutil.copyfile(path, round_.path)
    elif what == "a log of another store":
        shutil.copyfile(path, round_.path)
        other = round_.folder / "other.db"
        async with SqliteAdapter(other, outcomes=HANDOFF) as store:
            await more(store, built, "d", round_.chance.randint(1, WORK))
            shutil.copyfile(round_.folder / "other.db-wal", round_.log)
    return truth, what


def junk(round_: Round) -> None:
    """Open what is no store: random bytes, text, another program's database, nothing but a beginning."""
    chance = round_.chance
    what = chance.choice(
        ["random bytes", "text", "another program's database", "the first 100 bytes of a store"]
    )
    if what == "random bytes":
        round_.path.write_bytes(chance.randbytes(chance.randint(1, 20_000)))
    elif what == "text":
        round_.path.write_text("Dear diary\n" * chance.randint(1, 1000), encoding="utf-8")
    elif what == "another program's database":
        with closing(sqlite3.connect(round_.path)) as raw:
            raw.execute("CREATE TABLE theirs (a)")
    else:
        made = round_.folder / "made.db"
        asyncio.run(fill(made, "a", 1))
        round_.path.write_bytes(made.read_bytes()[:100])
    round_.path.chmod(0o600)
    round_.tally.rounds += 1
    before = round_.tally.refused + round_.tally.reported
    judge(round_, Truth(["what nobody has"], [], frozenset()), what)
    if round_.tally.refused + round_.tally.reported == before:
        round_.fault(f"{what} was opened as if it were a store")


SCENARIOS = (
    Scenario("disk: full", "Write until there is no room, try on, then there is room again.", 40, 2, full),
    Scenario("disk: read-only", "Read and write what may only be read.", 30, 2, read_only),
    Scenario(
        "disk: swapped", "Take the file away while it is written, or put another there.", 40, 2, swapped
    ),
    Scenario("disk: bits", "Flip one to eight bits of the file or its log.", 400, 6, flipped),
    Scenario("disk: cut", "Cut the file or its log at a random place.", 200, 4, cut),
    Scenario("disk: blanked", "Overwrite a sector or a page with zeroes.", 200, 4, blanked),
    Scenario("disk: logs", "A log that is missing, of an older copy, of another store.", 100, 6, logs),
    Scenario("disk: junk", "What is no store at all.", 40, 4, junk),
)
