"""`doctor`: what is wrong with a store and around it, and putting right what needs no question."""

from collections.abc import Iterator
from typing import Any

import click

from amfs_sqlite.errors import StoreError
from amfs_sqlite.sqlite import HealthFinding, HealthReport, Visit, refusal, visit
from bridge import rendering
from bridge.cli.exits import DONE, FOUND
from bridge.cli.layout import Row, blank, fact
from bridge.cli.options import EPILOG, PLACE, answer, given_settings, json_option, setting_options
from bridge.cli.output import REF_BYTES, Output
from bridge.cli.store import place


@click.command(epilog=EPILOG)
@click.option("--fix", is_flag=True, help="Put right what needs no question.")
@json_option
@setting_options(*PLACE)
def doctor(*, fix: bool, as_json: bool) -> int:
    """Look for what is wrong with the store and around it.

    Ends with 1 if there is anything to do.

    Looks at the SQLite in use, the file system, who may read the files, the write-ahead log and who
    keeps it, the text index and the tags, the schema, what copies were left, and room on the disk. A
    store that cannot be opened is looked at too. Whether the records are what was written, `verify`
    checks. Nothing is changed without --fix, which takes rights from others, empties the log into the
    file, makes text index and tags anew, ends an erasure that was cut short, and removes copies that were
    never finished and that nobody has touched for an hour. It touches files of yours alone, beside what
    is a store of ours, and follows no link.

    JSON: {"ok", "path", "sqliteVersion", "filesystem", "fileBytes", "walBytes", "log": {"frameCount",
    "movedCount", "reachableCount", "readers"}, "holders": [{"pid", "name"}], "diskFreeBytes",
    "schemaVersion", "pageCount", "freePageCount", "findings": [{"code", "level", "path", "problem",
    "advice", "canFix"}], "fixed": [the same], "notFixed": [{"code", "path", "error"}]}; null where it
    cannot be told.
    """
    settings = place(given_settings())
    if fix and settings.mode == "ro":
        raise refusal(settings.db)
    found = visit(settings.db, fix=fix, busy_timeout_s=settings.busy_timeout_s)
    answer(lambda: _document(found), lambda out: _rows(out, found), as_json=as_json)
    return DONE if found.report.ok else FOUND


def _document(found: Visit) -> dict[str, Any]:
    report = found.report
    log = report.log
    return {
        "ok": report.ok,
        "path": report.path,
        "sqliteVersion": report.sqlite_version,
        "filesystem": report.filesystem,
        "fileBytes": report.file_bytes,
        "walBytes": report.wal_bytes,
        "log": None
        if log is None
        else {
            "frameCount": log.frame_count,
            "movedCount": log.moved_count,
            "reachableCount": log.reachable_count,
            "readers": list(log.readers),
        },
        "holders": [{"pid": holder.pid, "name": holder.name} for holder in report.holders],
        "diskFreeBytes": report.disk_free_bytes,
        "schemaVersion": report.schema_version,
        "pageCount": report.page_count,
        "freePageCount": report.free_page_count,
        "findings": [_finding(each) for each in report.findings],
        "fixed": [_finding(each) for each in found.fixed],
        "notFixed": [
            {"code": each.finding.code, "path": each.finding.path, "error": _said(each.error)}
            for each in found.untreated
        ],
    }


def _finding(finding: HealthFinding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "level": finding.level,
        "path": finding.path,
        "problem": finding.problem,
        "advice": finding.advice,
        "canFix": finding.can_fix,
    }


def _rows(out: Output, found: Visit) -> Iterator[Row]:
    yield from _facts(out, found.report)
    for finding in found.fixed:
        yield blank()
        yield from _told(out, "fixed", "green", finding, "")
    for finding in found.report.findings:
        yield blank()
        style = "yellow" if finding.level == "note" else "bold red"
        if finding.code == "sqlite_fault":
            yield Row((out.line(f"note: {finding.problem}", limit_bytes=REF_BYTES),), rail="  ")
        else:
            yield from _told(out, finding.level, style, finding, finding.advice)
    for each in found.untreated:
        yield blank()
        yield Row((out.text("not fixed", "bold red"), out.text(each.finding.code)), rail="  ")
        yield Row((out.line(_said(each.error)),), "  ", "  ")
    yield blank()
    problems = [each for each in found.report.findings if each.level == "problem"]
    if problems:
        yield Row(
            (out.text(f"{rendering.counted(len(problems), 'problem')}: something is to be done", "bold red"),)
        )
    else:
        yield Row((out.text("nothing is to be done", "bold green"),))
    if found.report.schema_version is not None:
        yield Row((out.text("the records themselves are checked by 'amfs-sqlite verify'"),))


def _facts(out: Output, report: HealthReport) -> Iterator[Row]:
    yield fact("file", out.name(report.path, "bold"))
    yield fact(
        "size", out.text(f"{report.file_bytes:,} bytes, and {report.wal_bytes:,} in the write-ahead log")
    )
    if report.log is not None:
        log = report.log
        told = f"{log.frame_count:,} pages, {log.moved_count:,} of them in the file already"
        if log.readers:
            told += f"; {log.reachable_count:,} can be while {', '.join(map(str, log.readers))} reads"
        yield fact("log", out.text(told))
    free = "" if report.disk_free_bytes is None else f", {report.disk_free_bytes:,} bytes free"
    yield fact("disk", out.line(f"{report.filesystem or 'unknown file system'}{free}"))
    yield fact("SQLite", out.text(report.sqlite_version))
    if report.schema_version is not None:
        pages = f"{report.page_count:,} pages, {report.free_page_count:,} free"
        yield fact("schema", out.text(f"{report.schema_version}"), out.text(pages))
    if report.holders:
        yield fact("open in", *(out.line(f"{holder.pid} ({holder.name})") for holder in report.holders))


def _told(out: Output, what: str, style: str, finding: HealthFinding, advice: str) -> Iterator[Row]:
    yield Row((out.text(what, style), out.text(finding.code), out.name(finding.path)), rail="  ")
    yield Row((out.line(finding.problem, limit_bytes=REF_BYTES),), "  ", "  ")
    if advice:
        yield Row((out.line(f"next: {advice}"),), "  ", "  ")


def _said(error: StoreError) -> str:
    return f"{error.code}: {error.problem}; {error.advice}"
