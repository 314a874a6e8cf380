"""What may be wrong around a store: with SQLite, file system, rights, links, log, leftovers and disk."""

import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.guard import known_faults
from amfs_sqlite.sqlite.database.opening import WAL_BYTES_KEPT
from amfs_sqlite.sqlite.doctor import surroundings
from amfs_sqlite.sqlite.doctor.surroundings import Holder, Log

LEAST_FREE_BYTES = 64 * 1024 * 1024
OTHERS, OTHERS_WRITE, STICKY = 0o077, 0o022, 0o1000

Level = Literal["note", "problem"]
HealthCode = Literal[
    "busy",
    "corrupt",
    "damaged",
    "deleted_while_open",
    "disk_space",
    "folder_unread",
    "foreign_file",
    "free_pages",
    "full",
    "half_made_copy",
    "hard_links",
    "kept_copy",
    "large_log",
    "log_not_taken_up",
    "network_filesystem",
    "newer_schema",
    "no_store",
    "not_a_file",
    "older_schema",
    "read_only",
    "scrub_due",
    "sqlite_fault",
    "store_error",
    "tags",
    "text_index",
    "unavailable",
    "wide_folder",
    "wide_mode",
]


class HealthFinding(NamedTuple):
    """Something to know (a note), or to do something about (a problem). ``path`` is what it is about.

    ``can_fix`` says whether ``treat`` does something about it.
    """

    code: HealthCode
    level: Level
    path: str
    problem: str
    advice: str
    can_fix: bool = False


class _Beside(NamedTuple):
    """Copies of a store that are finished, copies that are not, and what has the name of one of its files and
    is none; or why they cannot be looked for.
    """

    finished: Sequence[str] = ()
    half_made: Sequence[str] = ()
    in_the_way: Sequence[str] = ()
    unread: str = ""


def around(
    path: str, holders: Sequence[Holder], log: Log | None, now: datetime, *, is_ours: bool
) -> Iterator[HealthFinding]:
    """All of it, on what was found out about processes and the log.

    ``is_ours`` says that the file is a store: what is beside another, or beside nothing, cannot be fixed.
    """
    for found in _around(path, holders, log, now, is_ours=is_ours):
        if not found.can_fix:
            yield found
        elif is_ours and surroundings.is_own(found.path):
            yield found._replace(advice=f"{found.advice}: --fix does so")
        else:
            yield found._replace(can_fix=False)


def _around(
    path: str, holders: Sequence[Holder], log: Log | None, now: datetime, *, is_ours: bool
) -> Iterator[HealthFinding]:
    beside = _beside(path)
    yield from _filesystem(path)
    yield from _in_the_way(beside)
    yield from _modes(path, beside if is_ours else _Beside(), is_ours=is_ours)
    yield from _links(path)
    yield from _gone(holders)
    yield from _large_log(path, log)
    yield from _copies(beside)
    yield from _half_made(beside, now)
    yield from _unread(path, beside)
    yield from _disk(path)
    yield from _sqlite(path)


def free_bytes(path: str) -> int | None:
    """On the disk of this file, as far as it is told."""
    try:
        return shutil.disk_usage(Path(path).parent).free
    except OSError:
        return None


def _beside(path: str) -> _Beside:
    try:
        half_made = surroundings.half_made(path)
        found = surroundings.copies_beside(path)
        in_the_way = surroundings.in_the_way(path)
    except (FileNotFoundError, NotADirectoryError):
        return _Beside()  # Nor is there a store, which is told.
    except OSError as refused:
        return _Beside(unread=refused.strerror or str(refused))
    return _Beside([each for each in found if each not in half_made], half_made, in_the_way)


def _sqlite(path: str) -> Iterator[HealthFinding]:
    for fault in known_faults():
        yield HealthFinding(
            "sqlite_fault",
            "note",
            path,
            fault,
            "a Python with SQLite 3.51.3 or newer (or 3.50.7, or 3.44.6) does not need this",
        )


def _filesystem(path: str) -> Iterator[HealthFinding]:
    kind = surroundings.filesystem(path)
    if kind in surroundings.NETWORK_KINDS:
        yield HealthFinding(
            "network_filesystem",
            "problem",
            path,
            f"lies on a network file system ({kind}), where locks of other machines are not to be relied on",
            "move it to a disk of this machine, and let other machines reach it through a server here",
        )


def _in_the_way(beside: _Beside) -> Iterator[HealthFinding]:
    for each in beside.in_the_way:
        yield HealthFinding(
            "not_a_file",
            "problem",
            each,
            "is a link, a folder or a device, and has the name of a file of the store: it is left alone",
            "look what it is and who put it there, and move it away",
        )


def _modes(path: str, beside: _Beside, *, is_ours: bool) -> Iterator[HealthFinding]:
    if os.name != "posix":
        return
    for each in [*surroundings.present(path), *beside.finished, *_families(beside)] if is_ours else ():
        if (mode := surroundings.mode(each)) & OTHERS:
            yield HealthFinding(
                "wide_mode",
                "problem",
                each,
                f"can be read or written by other users (mode {mode:o})",
                "chmod 600 keeps it private",
                can_fix=True,
            )
    folder = str(Path(path).parent)
    if Path(folder).is_dir() and (mode := surroundings.mode(folder)) & OTHERS_WRITE and not mode & STICKY:
        yield HealthFinding(
            "wide_folder",
            "problem",
            folder,
            f"other users may put other files in the place of these (mode {mode:o})",
            "keep the store in a folder that only its owner may write (chmod 700)",
        )


def _families(beside: _Beside) -> Iterator[str]:
    for each in beside.half_made:
        yield from surroundings.family(each)


def _links(path: str) -> Iterator[HealthFinding]:
    if Path(path).is_file() and (links := Path(path).stat().st_nlink) > 1:
        yield HealthFinding(
            "hard_links",
            "problem",
            path,
            f"has {links} hard links: opened by two names it would have two logs, and lose what is in one",
            "remove all names but one",
        )


def _gone(holders: Sequence[Holder]) -> Iterator[HealthFinding]:
    for holder in holders:
        for name in holder.gone:
            yield HealthFinding(
                "deleted_while_open",
                "problem",
                name,
                f"process {holder.pid} ({holder.name}) works on a file that was deleted or replaced here",
                "end that process: what it still writes is in no file that has a name",
            )


def _large_log(path: str, log: Log | None) -> Iterator[HealthFinding]:
    size = files.size(path + "-wal")
    if size <= WAL_BYTES_KEPT:
        return
    problem = f"is {size} bytes, where {WAL_BYTES_KEPT} are kept"
    advice = "a checkpoint empties it"
    if log is not None and log.reachable_count < log.frame_count:
        named = ", ".join(f"{pid} ({surroundings.process_name(pid)})" for pid in log.readers)
        problem += (
            f"; of {log.frame_count} pages in it {log.reachable_count} can be moved while {named} reads"
        )
        advice = "end that reader, or let it end; then a checkpoint empties it"
    yield HealthFinding("large_log", "problem", path + "-wal", problem, advice, can_fix=True)


def _copies(beside: _Beside) -> Iterator[HealthFinding]:
    for each in beside.finished:
        yield HealthFinding(
            "kept_copy",
            "note",
            each,
            f"a copy of {files.size(each)} bytes from before a migration or a restore; it may hold"
            " what was erased since",
            "remove it once you are sure of the store",
        )


def _half_made(beside: _Beside, now: datetime) -> Iterator[HealthFinding]:
    for each in beside.half_made:
        if surroundings.is_second_name(each):
            problem = "a second name of a finished copy, whose making was cut short"
        elif surroundings.is_abandoned(each, now):
            problem = f"a copy of {files.size(each)} bytes that was not finished"
        else:
            continue  # It may be being made.
        can_fix = surroundings.PROC.is_dir()
        yield HealthFinding("half_made_copy", "problem", each, problem, "remove it", can_fix=can_fix)


def _unread(path: str, beside: _Beside) -> Iterator[HealthFinding]:
    if beside.unread:
        yield HealthFinding(
            "folder_unread",
            "note",
            str(Path(path).parent),
            f"cannot be listed ({beside.unread}): whether copies lie beside the store is not known",
            "look again as a user who may list it",
        )


def _disk(path: str) -> Iterator[HealthFinding]:
    free = free_bytes(path)
    if free is None:
        return
    if free < LEAST_FREE_BYTES:
        yield HealthFinding(
            "disk_space",
            "problem",
            str(Path(path).parent),
            f"{free} bytes are free on this disk",
            "free some space: a store without room refuses to write",
        )
    elif free < (needed := files.size(path) + files.size(path + "-wal")):
        yield HealthFinding(
            "disk_space",
            "note",
            str(Path(path).parent),
            f"{free} bytes are free on this disk, and a copy of the store takes up to {needed}",
            "a backup here, a migration or the end of an erasure may find no room: free some",
        )
