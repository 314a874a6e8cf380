"""What a store stands in: its file system and folder, the files beside it, and who has it open.

Nothing is changed. What a system does not tell is None or empty: most of it only Linux tells.
"""

import os
import re
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from amfs_sqlite.rules import transfer
from amfs_sqlite.sqlite.copying.copies import ID_DIGITS, TEMPORARY_SUFFIX
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX

PROC = Path("/proc")
# Where locks of other machines are not seen, or come late.
NETWORK_KINDS = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "lustre",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    }
)
OURS = ("", *files.SIDE_SUFFIXES, LOCK_SUFFIX)
MARKER_BYTES = 72
ABANDONED_AFTER_S = 3600.0
SQLITE_HEADER = b"SQLite format 3\0"
APPLICATION_AT = slice(68, 72)
JOURNAL_HEADER = bytes.fromhex("d9d505f920a163d7")
EXPORT_HEADER = transfer.first_line("").partition(b",")[0]

# Of SQLite's documented layout of the shared memory beside a log: counts of frames, and marks of readers.
INDEX_BYTES = 136
INDEX_IS_SET_UP_AT, INDEX_FRAMES_AT, INDEX_MOVED_AT, INDEX_MARKS_AT = 12, 16, 96, 100
MARKS = 5
FIRST_MARK_LOCK = 123

GONE = " (deleted)"

_ESCAPED = re.compile(r"\\([0-7]{3})")
_LOCK = re.compile(r"\d+: POSIX +\S+ +(?:READ|WRITE) +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) +(\d+) +(\d+|EOF)")
_PART = re.compile(rf"\.[0-9a-f]{{{ID_DIGITS}}}{re.escape(TEMPORARY_SUFFIX)}$")


class Holder(NamedTuple):
    """A process that has files of the store open; ``gone`` are those that no longer stand there."""

    pid: int
    name: str
    gone: tuple[str, ...] = ()


class Log(NamedTuple):
    """How far the write-ahead log has come. Counts are frames, each one page.

    ``moved_count`` are in the file already; ``reachable_count`` can be while ``readers``, ids of
    processes, read as of where they stand.
    """

    frame_count: int
    moved_count: int
    reachable_count: int
    readers: tuple[int, ...]


def filesystem(path: str) -> str | None:
    """The kind of file system that the path lies on, as the system calls it."""
    try:
        mounts = (PROC / "self" / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    found: tuple[int, str] | None = None
    for line in mounts.splitlines():
        before, _, behind = line.partition(" - ")
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), before.split(" ")[4])
        if Path(path).is_relative_to(point) and (found is None or len(point) >= found[0]):
            found = len(point), behind.split(" ")[0]
    return None if found is None else found[1]


def present(path: str) -> list[str]:
    """The store's own files that are there: itself, its log, shared memory, journal, and our lock."""
    return [name for name in _own_names(path) if is_file(name)]


def used_with(path: str) -> list[str]:
    """What is there that SQLite would use with the file, whatever it is."""
    return [path + suffix for suffix in files.SIDE_SUFFIXES if os.path.lexists(path + suffix)]


def in_the_way(path: str) -> list[str]:
    """What is no file of the store though it has the name of one, or of a copy: a link, a folder, a device.

    Raises OSError where the folder cannot be listed.
    """
    return [name for name in [*_own_names(path), *_copies(path)] if name != path and not is_file(name)]


def copies_beside(path: str) -> list[str]:
    """What was copied from this store before it was migrated, or was put aside when it was restored.

    With the logs of those, and with those that were never finished. Raises OSError where the folder cannot be
    listed.
    """
    return [name for name in _copies(path) if is_file(name)]


def half_made(path: str) -> list[str]:
    """Copies and exports in this folder that are not finished: called so, with content of ours, or with none
    yet where they are called like this store.

    Raises OSError where the folder cannot be listed.
    """
    found = _beside(path, lambda name: _PART.search(name) is not None)
    return [each for each in found if is_file(each) and _is_ours(each, path)]


def family(path: str) -> list[str]:
    """A file, and the files that SQLite keeps beside it; the file last."""
    return [name for suffix in (*files.SIDE_SUFFIXES, "") if is_file(name := path + suffix)]


def is_abandoned(path: str, now: datetime) -> bool:
    """Whether a copy that is half made is left alone: nobody we see has it open or changed it for an hour.

    It is judged together with the files that SQLite keeps beside it. What is gone is not abandoned.
    """
    try:
        changed_s = [Path(each).stat().st_mtime for each in family(path)]
    except FileNotFoundError:
        return False
    if not changed_s or now.timestamp() - max(changed_s) < ABANDONED_AFTER_S:
        return False
    return not holders(family(path))


def is_second_name(part: str) -> bool:
    """Whether a copy that looks unfinished has its name already, and was cut short before it lost this."""
    whole = _PART.sub("", part)
    return is_file(whole) and files.identity(part) == files.identity(whole)


def is_file(path: str) -> bool:
    """Whether a file stands there itself: no link to one, nor a folder, a pipe or a device."""
    found = _itself(path)
    return found is not None and stat.S_ISREG(found.st_mode)


def is_own(path: str) -> bool:
    """Whether it is a file, and this user's."""
    found = _itself(path)
    return (
        found is not None
        and stat.S_ISREG(found.st_mode)
        and (os.name != "posix" or found.st_uid == os.geteuid())
    )


def mode(path: str) -> int:
    """The rights on a file or folder."""
    return stat.S_IMODE(Path(path).stat().st_mode)


def holders(paths: Iterable[str]) -> list[Holder]:
    """The processes that have any of these files open, as far as this user may see them; this one too."""
    wanted = {each: files.identity(each) for each in paths}
    found = []
    for folder in PROC.glob("[0-9]*"):
        gone = set()
        is_open = False
        for descriptor, name in _opened(folder):
            if name.endswith(GONE) and name.removesuffix(GONE) in wanted:
                gone.add(name.removesuffix(GONE))
            # Only what is called like it is looked at: another file may lie on a disk that does not answer.
            elif any(
                name.endswith(f"/{Path(each).name}") and _is(descriptor, it) for each, it in wanted.items()
            ):
                is_open = True
        if gone or is_open:
            found.append(Holder(int(folder.name), _name(folder), tuple(sorted(gone))))
    return sorted(found)


def log(path: str) -> Log | None:
    """How far the log has come; None where there is none, or nothing can be told.

    Not for a process that has the store open itself: looking would cost it its locks.
    """
    try:
        index = _beginning(path + "-shm", INDEX_BYTES)
    except OSError:
        return None
    if len(index) < INDEX_BYTES or not index[INDEX_IS_SET_UP_AT]:
        return None
    (frame_count,) = struct.unpack_from("=I", index, INDEX_FRAMES_AT)
    (moved_count,) = struct.unpack_from("=I", index, INDEX_MOVED_AT)
    marks = struct.unpack_from(f"={MARKS}I", index, INDEX_MARKS_AT)
    held = _held_marks(path + "-shm")
    # The first mark is of those who read the file alone: while they do nothing can be moved into it.
    reachable = min([frame_count, *(marks[number] if number else moved_count for number in held)])
    readers = {pid for pids in held.values() for pid in pids}
    return Log(frame_count, moved_count, reachable, tuple(sorted(readers)))


def process_name(pid: int) -> str:
    """What a process is called; empty where it has ended."""
    return _name(PROC / str(pid))


def _itself(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _own_names(path: str) -> list[str]:
    return [path + suffix for suffix in OURS if os.path.lexists(path + suffix)]


def _copies(path: str) -> list[str]:
    prefixes = tuple(Path(path).name + between for between in (files.BEFORE_MIGRATION, files.BEFORE_RESTORE))
    return _beside(path, lambda name: name.startswith(prefixes))


def _beside(path: str, is_wanted: Callable[[str], bool]) -> list[str]:
    with os.scandir(Path(path).parent) as entries:
        return sorted(each.path for each in entries if is_wanted(each.name))


def _beginning(path: str, length: int) -> bytes:
    """Of a file alone: nobody waits for a pipe, or reads a device that has no end."""
    if not is_file(path):
        return b""
    with Path(path).open("rb") as file:
        return file.read(length)


def _is_ours(part: str, path: str) -> bool:
    """By its name nobody in this process has it open."""
    try:
        header = _beginning(part, MARKER_BYTES)
        if not any(header):
            # SQLite writes the first page of a copy last; until then its journal tells.
            is_begun = _beginning(part + "-journal", len(JOURNAL_HEADER)) == JOURNAL_HEADER
            return is_begun or (not header and Path(part).name.startswith(f"{Path(path).name}."))
    except OSError:
        return False
    application = files.APPLICATION_ID.to_bytes(4)
    is_store = header.startswith(SQLITE_HEADER) and header[APPLICATION_AT] == application
    return is_store or header.startswith(EXPORT_HEADER)


def _opened(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each file that a process has open: the way to it, and what it is called."""
    try:
        descriptors = list((folder / "fd").iterdir())
    except OSError:
        return  # Another user's, or ended meanwhile.
    for descriptor in descriptors:
        try:
            yield descriptor, str(descriptor.readlink())
        except OSError:
            continue


def _is(descriptor: Path, identity: tuple[int, int] | None) -> bool:
    try:
        return identity is not None and files.identity(str(descriptor)) == identity
    except OSError:
        return False


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _held_marks(shared_memory: str) -> dict[int, set[int]]:
    """By number of a reader's mark: the processes that hold it."""
    try:
        inode = Path(shared_memory).stat().st_ino
        locks = (PROC / "locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return {}
    held: dict[int, set[int]] = {}
    for pid, node, start, end in _LOCK.findall(locks):
        for number in range(MARKS):
            place = FIRST_MARK_LOCK + number
            if int(node) == inode and end != "EOF" and int(start) <= place <= int(end):
                held.setdefault(number, set()).add(int(pid))
    return held
