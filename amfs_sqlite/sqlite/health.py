"""What is wrong with a store and what is around it, and what may be put right without a question.

For a process of its own: of a store that this process has open the log is not looked into.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from amfs_sqlite.errors import StoreBusyError, StoreCorruptError, StoreError
from amfs_sqlite.sqlite import copies, derived, files, functions, migrate, surroundings, symptoms
from amfs_sqlite.sqlite.locking import WriteLock
from amfs_sqlite.sqlite.surroundings import Holder, Log
from amfs_sqlite.sqlite.symptoms import HealthFinding
from amfs_sqlite.sqlite.translation import translated

MANY_FREE_PAGES = 1_000
PRIVATE_FILE = 0o600
CHECK_SHOWN = 3

PAGES = "PRAGMA page_count"
FREE_PAGES = "PRAGMA freelist_count"
PAGE_BYTES = "PRAGMA page_size"
CHECK = "PRAGMA quick_check"


class HealthReport(NamedTuple):
    """A store as it was found. Sizes are bytes; what could not be told is None.

    ``holders`` are the processes that have it open, as far as this user may see them.
    """

    path: str
    sqlite_version: str
    filesystem: str | None = None
    file_bytes: int = 0
    wal_bytes: int = 0
    log: Log | None = None
    holders: tuple[Holder, ...] = ()
    disk_free_bytes: int | None = None
    schema_version: int | None = None
    page_count: int | None = None
    free_page_count: int | None = None
    findings: tuple[HealthFinding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is nothing to do: notes alone are no reason."""
        return all(finding.level == "note" for finding in self.findings)


class _Inside(NamedTuple):
    schema_version: int | None = None
    page_count: int | None = None
    free_page_count: int | None = None
    findings: tuple[HealthFinding, ...] = ()


class Untreated(NamedTuple):
    """Something that could not be put right, and why."""

    finding: HealthFinding
    error: StoreError


def examine(path: str) -> HealthReport:
    """Look at a store and at what is around it. Nothing is changed, and nothing is made beside it.

    ``path`` is absolute. What cannot be opened, whatever it is, is a finding.
    """
    try:
        with translated(path):
            return _examined(path)
    except StoreError as unreachable:
        return HealthReport(path, sqlite3.sqlite_version, findings=(_unusable(unreachable, path),))


def treat(report: HealthReport, *, busy_timeout_s: float = 15.0) -> tuple[Untreated, ...]:
    """Do something about each finding that says it can be fixed; what did not work, and why.

    Rights are taken from others, a log is moved into its file, text index and tags are made anew, and
    copies that were not finished are removed. ``busy_timeout_s`` is how long another process is
    waited for. Whether all is well afterwards, ``examine`` says.
    """
    failed = []
    treated = set()
    for finding in report.findings:
        treat_one = TREATMENTS.get(finding.code)
        if treat_one is None or not finding.can_fix or (treat_one, finding.path) in treated:
            continue
        treated.add((treat_one, finding.path))
        try:
            with translated(finding.path):
                treat_one(report.path, finding.path, busy_timeout_s)
        except StoreError as error:
            failed.append(Untreated(finding, error))
    return tuple(failed)


def _examined(path: str) -> HealthReport:
    holders = surroundings.holders([path, path + "-wal", path + "-shm"])
    is_ours = any(holder.pid == os.getpid() for holder in holders)
    log = None if is_ours else surroundings.log(path)
    outside = tuple(symptoms.around(path, holders, log))
    # SQLite itself holds the file while it looks inside.
    inside = _inside(path)
    return HealthReport(
        path=path,
        sqlite_version=sqlite3.sqlite_version,
        filesystem=surroundings.filesystem(path),
        file_bytes=files.size(path) if Path(path).is_file() else 0,
        wal_bytes=files.size(path + "-wal"),
        log=log,
        holders=tuple(holders),
        disk_free_bytes=symptoms.free_bytes(path),
        schema_version=inside.schema_version,
        page_count=inside.page_count,
        free_page_count=inside.free_page_count,
        findings=inside.findings + outside,
    )


def _narrow(_store: str, path: str, _timeout_s: float) -> None:
    Path(path).chmod(PRIVATE_FILE)


def _remove(_store: str, path: str, _timeout_s: float) -> None:
    copies.discard(path)


def _empty_log(store: str, path: str, timeout_s: float) -> None:
    def emptied(connection: sqlite3.Connection, lock: WriteLock) -> None:
        if not lock.empty_log(connection):
            raise StoreBusyError(path, "is read by another process, and cannot be emptied before it ends")

    _changing(store, timeout_s, emptied)


def _make_anew(store: str, _path: str, timeout_s: float) -> None:
    _changing(store, timeout_s, derived.make_anew)


def _changing(store: str, timeout_s: float, work: Callable[[sqlite3.Connection, WriteLock], None]) -> None:
    lock = WriteLock(store, in_memory=False, timeout_s=timeout_s)
    lock.attach()
    try:
        uri = files.file_uri(store)
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)) as connection:
            functions.register(connection)
            work(connection, lock)
    finally:
        lock.detach()


TREATMENTS: dict[str, Callable[[str, str, float], None]] = {
    "wide_mode": _narrow,
    "half_made_copy": _remove,
    "large_log": _empty_log,
    derived.TEXT_INDEX: _make_anew,
    derived.TAGS: _make_anew,
}


def _inside(path: str) -> _Inside:
    try:
        with translated(path):
            files.recognise(path, migrate.NEWEST)
            if files.size(path + "-wal") and not Path(path + "-shm").exists():
                return _Inside(findings=(_log_not_taken_up(path),))
            return _looked(path)
    except StoreError as unusable:
        return _Inside(findings=(_unusable(unusable, path),))


def _unusable(error: StoreError, path: str) -> HealthFinding:
    return HealthFinding(error.code, "problem", path, error.problem, error.advice)


def _looked(path: str) -> _Inside:
    had_log = bool(files.size(path + "-wal"))
    try:
        found = _read(files.file_uri(path, "ro") if had_log else files.untouched_uri(path), path)
    except (StoreCorruptError, sqlite3.DatabaseError):
        if had_log or not files.size(path + "-wal"):
            raise
        return _looked(path)  # Somebody began to write, which a file that nobody changes must not meet.
    if found.findings and not had_log and files.size(path + "-wal"):
        return _looked(path)
    return found


def _read(uri: str, path: str) -> _Inside:
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        functions.register(connection)
        schema = migrate.schema_of(connection)
        (pages,) = connection.execute(PAGES).fetchone()
        (free,) = connection.execute(FREE_PAGES).fetchone()
        (page_bytes,) = connection.execute(PAGE_BYTES).fetchone()
        found = [*_schema(path, schema), *_damage(path, connection), *_free(path, pages, free, page_bytes)]
        if schema == migrate.NEWEST and not any(each.code == "damaged" for each in found):
            found += _derived(path, connection)
        return _Inside(schema, pages, free, tuple(found))


def _schema(path: str, schema: int) -> Iterator[HealthFinding]:
    if schema < migrate.NEWEST:
        yield HealthFinding(
            "older_schema",
            "note",
            path,
            f"has schema {schema}, and {migrate.NEWEST} is the newest",
            "nothing need be done: the next opening for writing keeps a copy beside it and migrates it",
        )


def _damage(path: str, connection: sqlite3.Connection) -> Iterator[HealthFinding]:
    found = [" ".join(str(text).split()) for (text,) in connection.execute(CHECK)]
    if found != ["ok"]:
        more = f", and {len(found) - CHECK_SHOWN} more" if len(found) > CHECK_SHOWN else ""
        yield HealthFinding(
            "damaged",
            "problem",
            path,
            f"SQLite says: {'; '.join(found[:CHECK_SHOWN])}{more}",
            StoreCorruptError.advice,
        )


def _free(path: str, pages: int, free: int, page_bytes: int) -> Iterator[HealthFinding]:
    if free > MANY_FREE_PAGES and free * 4 > pages:
        yield HealthFinding(
            "free_pages",
            "note",
            path,
            f"{free} of {pages} pages ({free * page_bytes} bytes) are free",
            "nothing need be done: they are used again; a backup of it is smaller",
        )


def _derived(path: str, connection: sqlite3.Connection) -> Iterator[HealthFinding]:
    for code, problem in derived.faults(connection):
        yield HealthFinding(
            code,
            "problem",
            path,
            problem,
            "searches may miss entries until it is made anew, from the entries: --fix does so",
            can_fix=True,
        )


def _log_not_taken_up(path: str) -> HealthFinding:
    return HealthFinding(
        "log_not_taken_up",
        "note",
        path + "-wal",
        "nobody has opened the store since this log was left or copied here: its content was not looked at",
        "nothing need be done: the next opening takes it up; then look again",
    )
