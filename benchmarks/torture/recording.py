"""What a process wrote to its disk and when it made sure of it, and what a power cut leaves of that.

Recorded by `strace`, which is asked for every write, cut, sync and deletion. Between two syncs of a file the
system may have put any of the writes on the disk, in any order, a sector at a time; what it had synced stays.
A deletion is on the disk at the latest when any file is synced after it, as on file systems with one journal.
"""

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SECTOR = 512
CALLS = "pwrite64,write,fdatasync,fsync,ftruncate,unlink"
TIMEOUT_S = 300.0
Kind = Literal["write", "truncate", "sync", "unlink"]
Loss = Literal["everything unsynced", "torn at the end", "any sectors", "nothing"]
LOSSES: Sequence[Loss] = ("everything unsynced", "torn at the end", "any sectors", "nothing")

_LINE = re.compile(r"(\d+)\s+(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)")
_FILE = re.compile(r"\d+<([^>]*)>(?:, )?(.*)")
_WRITTEN = re.compile(r'"([^"]*)", \d+(?:, (\d+))?')
_QUOTED = re.compile(r'"([^"]*)"')


class NoRecorderError(Exception):
    """There is no `strace` here, or it may not be used."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the system: to which file, and for a write what and where, for a cut the new size."""

    kind: Kind
    file: str
    offset: int = 0
    content: bytes = b""


def recorded(log: Path, module: str, *arguments: str) -> list[Call]:
    """Run a module of ours and record its calls. Raises NoRecorderError."""
    if shutil.which("strace") is None:
        raise NoRecorderError("strace is needed, and is not on the PATH")
    traced = ["strace", "-f", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", str(log)]
    command = [*traced, sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode:
        raise NoRecorderError(f"strace ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    with log.open(encoding="ascii") as lines:
        return list(calls(lines))


def calls(lines: Iterator[str]) -> Iterator[Call]:
    """The calls that a recording tells of. A sync counts when it has ended, anything else when it begins."""
    syncing: dict[str, str] = {}
    for line in lines:
        if (found := _LINE.match(line)) is None:
            continue
        process, name, rest = found.groups()
        is_resumed = " resumed>" in line
        if name in ("fdatasync", "fsync"):
            file = syncing.pop(process) if is_resumed else _plain(_FILE.match(rest))
            if "unfinished" in rest:
                syncing[process] = file
            elif rest.rstrip().endswith("= 0"):
                yield Call("sync", file)
        elif not is_resumed and "= -1" not in rest:
            yield _call(name, rest)


def _call(name: str, rest: str) -> Call:
    if name == "unlink":
        return Call("unlink", _plain(_QUOTED.match(rest)))
    file, of_file = _plain(opened := _FILE.match(rest)), opened[2] if opened else ""
    if name == "ftruncate":
        return Call("truncate", file, offset=int(re.split(r"\D", of_file)[0]))
    written = _WRITTEN.match(of_file)
    if written is None:
        raise ValueError(f"no line of a recording: {rest[:80]}")
    return Call("write", file, int(written[2] or 0), _bytes(written[1]))


def _plain(found: re.Match[str] | None) -> str:
    return "" if found is None else _bytes(found[1]).decode("utf-8", "replace")


def _bytes(spelled: str) -> bytes:
    r"""Bytes as `strace -xx` spells them.

    >>> _bytes("\\x61\\x2e")
    b'a.'
    """
    return bytes.fromhex(spelled.replace("\\x", ""))


@dataclass(slots=True)
class File:
    """What is certainly on the disk of a file (None: no file), and what may be."""

    durable: bytearray | None = None
    pending: list[Call] = field(default_factory=list)

    def take(self, call: Call) -> None:
        """One more call."""
        if call.kind == "sync":
            for each in self.pending:
                self.durable = applied(self.durable, each)
            self.pending.clear()
            return
        self.settle_deletion()  # A new file of this name comes after the end of the old one.
        self.pending.append(call)

    def settle_deletion(self) -> None:
        """If it was deleted, it certainly is now."""
        if self.pending and self.pending[-1].kind == "unlink":
            self.durable, self.pending = None, []

    def after_a_cut(self, loss: Loss, chance: random.Random) -> bytearray | None:
        """What is on the disk afterwards."""
        if loss == "everything unsynced":
            return self.durable
        kept = self.pending
        if loss == "torn at the end" and kept:
            whole = chance.randrange(len(kept))
            kept = [*kept[:whole], *_some_sectors(kept[whole], chance)]
        elif loss == "any sectors":
            kept = [part for each in kept for part in _some_sectors(each, chance)]
        content = None if self.durable is None else bytearray(self.durable)
        for each in kept:
            content = applied(content, each)
        return content


def applied(content: bytearray | None, call: Call) -> bytearray | None:
    r"""A file after a call; a gap before what is written is zeroes.

    >>> applied(bytearray(b"ab"), Call("write", "f", 3, b"d"))
    bytearray(b'ab\x00d')
    """
    if call.kind == "unlink":
        return None
    changed = bytearray() if content is None else content
    if call.kind == "truncate":
        del changed[call.offset :]
    end = call.offset + len(call.content)
    changed.extend(bytes(max(0, end - len(changed))))
    changed[call.offset : end] = call.content
    return changed


def _some_sectors(call: Call, chance: random.Random) -> Iterator[Call]:
    """Of a write the sectors that came through; of anything else all or nothing."""
    if call.kind != "write":
        if chance.random() < 0.5:
            yield call
        return
    start, end = call.offset, call.offset + len(call.content)
    for sector in range(start // SECTOR, (end - 1) // SECTOR + 1):
        first, last = max(start, sector * SECTOR), min(end, (sector + 1) * SECTOR)
        if chance.random() < 0.5:
            yield Call("write", call.file, first, call.content[first - start : last - start])


def after_power_cut(
    made: Sequence[Call], moment: int, loss: Loss, chance: random.Random, folder: Path
) -> tuple[Mapping[str, bytes], list[str]]:
    """The files of a folder after a cut before this call, and the lines of its journals until then."""
    files: dict[str, File] = {}
    lines: list[str] = []
    for call in made[:moment]:
        path = Path(call.file)
        if path.parent != folder or path.name.endswith("-shm"):
            continue
        if path.suffix == ".journal":
            lines += call.content.decode().splitlines()
        else:
            files.setdefault(path.name, File()).take(call)
            if call.kind == "sync":
                for file in files.values():
                    file.settle_deletion()
    left = {name: file.after_a_cut(loss, chance) for name, file in files.items()}
    return {name: bytes(content) for name, content in left.items() if content is not None}, lines


def moments(made: Sequence[Call], folder: Path) -> Sequence[int]:
    """Before which calls the power may go: those to files of this folder, and after the last."""
    return [place for place, call in enumerate(made) if Path(call.file).parent == folder] + [len(made)]


def told_by(lines: Sequence[str]) -> Sequence[Mapping[str, object]]:
    """What the lines of a journal say."""
    return [json.loads(line) for line in lines]
