"""What is wrong with a store and what is around it, and what may be put right without a question.

For a process of its own: of a store that this process has open the log is not looked into.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, cast

from amfs_sqlite.clock import Clock, SystemClock
from amfs_sqlite.errors import StoreBusyError, StoreCorruptError, StoreError, StoreUnavailableError
from amfs_sqlite.sqlite import functions, migrate
from amfs_sqlite.sqlite.checks import derived as derived_checks
from amfs_sqlite.sqlite.copying import copies
from amfs_sqlite.sqlite.database import files, scrubbing
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.doctor import remaking as derived
from amfs_sqlite.sqlite.doctor import surroundings, symptoms
from amfs_sqlite.sqlite.doctor.surroundings import Holder, Log
from amfs_sqlite.sqlite.doctor.symptoms import HealthCode, HealthFinding

MANY_FREE_PAGES = 1_000
PRIVATE_FILE = 0o600
CHECK_SHOWN = 3

PAGES = "PRAGMA page_count"
FREE_PAGES = "PRAGMA freelist_count"
PAGE_BYTES = "PRAGMA page_size"
CHECK = "PRAGMA quick_check"
SNAPSHOT = "BEGIN"


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
    is_ours: bool = False
    schema_version: int | None = None
    page_count: int | None = None
    free_page_count: int | None = None
    findings: tuple[HealthFinding, ...] = ()


class Untreated(NamedTuple):
    """Something that could not be put right, and why."""

    finding: HealthFinding
    error: StoreError


class Visit(NamedTuple):
    """A store as it stands, what was put right before, and what could not be."""

    report: HealthReport
    fixed: tuple[HealthFinding, ...] = ()
    untreated: tuple[Untreated, ...] = ()


class _Case(NamedTuple):
    """What is treated: something about ``path``, which is the store or belongs to it."""

    store: str
    path: str
    busy_timeout_s: float
    clock: Clock


def visit(path: str, *, fix: bool = False, clock: Clock | None = None, busy_timeout_s: float = 15.0) -> Visit:
    """``examine``; with ``fix``, ``treat`` what was found, and examine again what came of it."""
    clock = clock or SystemClock()
    before = examine(path, clock=clock)
    if not fix or not any(finding.can_fix for finding in before.findings):
        return Visit(before)
    untreated = treat(before, clock=clock, busy_timeout_s=busy_timeout_s)
    after = examine(path, clock=clock)
    left = {(finding.code, finding.path) for finding in after.findings}
    failed = {(each.finding.code, each.finding.path) for each in untreated}
    fixed = (each for each in before.findings if each.can_fix and (each.code, each.path) not in left | failed)
    return Visit(after, tuple(fixed), untreated)


def examine(path: str, *, clock: Clock | None = None) -> HealthReport:
    """Look at a store and at what is around it. Nothing is changed, and nothing is made beside it.

    ``path`` is absolute. What cannot be opened, whatever it is, is a finding. By ``clock`` a copy that was
    not finished is old enough to be one that nobody is making.
    """
    clock = clock or SystemClock()
    try:
        with translated(path):
            return _examined(path, clock)
    except StoreError as unreachable:
        return HealthReport(path, sqlite3.sqlite_version, findings=(_unusable(unreachable, path),))


def treat(
    report: HealthReport, *, clock: Clock | None = None, busy_timeout_s: float = 15.0
) -> tuple[Untreated, ...]:
    """Do something about each finding that says it can be fixed; what did not work, and why. Beside a store
    of ours files of this user are touched, and nothing else.

    Rights are taken from others, a log is moved into its file, text index and tags are made anew, what was
    left of erased records is removed, and so are copies that were not finished and still are not being made.
    ``busy_timeout_s`` is how long another process is waited for. Whether all is well afterwards, ``examine``
    says.
    """
    clock = clock or SystemClock()
    failed = []
    treated = set()
    for finding in report.findings:
        treat_one = TREATMENTS.get(finding.code)
        if treat_one is None or not finding.can_fix or (treat_one, finding.path) in treated:
            continue
        treated.add((treat_one, finding.path))
        try:
            with translated(finding.path):
                treat_one(_Case(report.path, finding.path, busy_timeout_s, clock))
        except StoreError as error:
            failed.append(Untreated(finding, error))
    return tuple(failed)


def _examined(path: str, clock: Clock) -> HealthReport:
    holders = surroundings.holders([path, path + "-wal", path + "-shm"])
    is_ours = any(holder.pid == os.getpid() for holder in holders)
    log = None if is_ours else surroundings.log(path)
    # SQLite itself holds the file while it looks inside: who else does was looked for before.
    inside = _inside(path)
    outside = tuple(symptoms.around(path, holders, log, clock.now(), is_ours=inside.is_ours))
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


def _narrow(case: _Case) -> None:
    _refuse_others(case.path)
    Path(case.path).chmod(PRIVATE_FILE)


def _remove(case: _Case) -> None:
    if not os.path.lexists(case.path):
        return
    if not surroundings.is_second_name(case.path) and not surroundings.is_abandoned(
        case.path, case.clock.now()
    ):
        raise StoreBusyError(case.path, "is being made after all: somebody has it open, or just changed it")
    for each in surroundings.family(case.path):
        _refuse_others(each)
        copies.discard(each)


def _refuse_others(path: str) -> None:
    """It may have changed since it was looked at."""
    if not surroundings.is_own(path):
        raise StoreUnavailableError(path, "is no file of this user any more, and was left alone")


def _empty_log(case: _Case) -> None:
    def emptied(connection: sqlite3.Connection, lock: WriteLock) -> None:
        if not lock.empty_log(connection):
            raise StoreBusyError(
                case.path, "is read by another process, and cannot be emptied before it ends"
            )

    _changing(case, emptied)


def _make_anew(case: _Case) -> None:
    _changing(case, derived.make_anew)


def _scrub(case: _Case) -> None:
    def scrubbed(connection: sqlite3.Connection, lock: WriteLock) -> None:
        remains = scrubbing.scrub(connection, lock, case.store)
        if scrubbing.is_due(connection):
            raise StoreBusyError(case.store, f"holds what was erased: {remains[0]}")

    _changing(case, scrubbed)


def _changing(case: _Case, work: Callable[[sqlite3.Connection, WriteLock], None]) -> None:
    lock = WriteLock(case.store, in_memory=False, timeout_s=case.busy_timeout_s)
    lock.attach()
    try:
        uri = files.file_uri(case.store)
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)) as connection:
            functions.register(connection)
            work(connection, lock)
    finally:
        lock.detach()


TREATMENTS: dict[HealthCode, Callable[[_Case], None]] = {
    "wide_mode": _narrow,
    "half_made_copy": _remove,
    "large_log": _empty_log,
    "scrub_due": _scrub,
    "text_index": _make_anew,
    "tags": _make_anew,
}


def _inside(path: str) -> _Inside:
    is_ours = False
    try:
        with translated(path):
            if files.identity(path) is None or not files.size(path) + files.size(path + "-wal"):
                return _Inside(findings=(_no_store(path),))
            files.recognise(path, migrate.NEWEST)
            is_ours = files.is_marked(path)
            if not all(map(surroundings.is_file, surroundings.used_with(path))):
                return _Inside(is_ours)  # SQLite would follow or wait for what is told of as no file.
            if files.size(path + "-wal") and not Path(path + "-shm").exists():
                return _Inside(is_ours, findings=(_log_not_taken_up(path),))
            return _looked(path)._replace(is_ours=is_ours)
    except StoreError as unusable:
        return _Inside(is_ours, findings=(_unusable(unusable, path),))


def _no_store(path: str) -> HealthFinding:
    return HealthFinding(
        "no_store",
        "problem",
        path,
        "is empty, no store yet" if os.path.lexists(path) else "does not exist",
        "name another with --db or MEMORY_DB; an agent's first write makes a new one",
    )


def _unusable(error: StoreError, path: str) -> HealthFinding:
    # Every code of a StoreError is one of these: a test holds them together.
    return HealthFinding(cast("HealthCode", error.code), "problem", path, error.problem, error.advice)


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
            found += [*_derived(path, connection), *_scrub_due(path, connection)]
        return _Inside(True, schema, pages, free, tuple(found))


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
    connection.execute(SNAPSHOT)  # Of the entries and what is indexed of them, while others write.
    for code, problem in derived_checks.faults(derived.whole_file(connection)):
        yield HealthFinding(
            code,
            "problem",
            path,
            problem,
            "searches may miss entries until it is made anew, from the entries: --fix does so",
            can_fix=True,
        )


def _scrub_due(path: str, connection: sqlite3.Connection) -> Iterator[HealthFinding]:
    if scrubbing.is_due(connection):
        yield HealthFinding(
            "scrub_due",
            "problem",
            path,
            "what was erased may still stand in free space or in the log: it was not written anew since",
            "the next writer does so when it closes: --fix does so now",
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
