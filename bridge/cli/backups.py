"""`backup` and `restore`: the whole file, every namespace."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from amfs_sqlite import BackupReport, RestoreReport
from amfs_sqlite import restore as restored
from amfs_sqlite.sqlite import refusal
from bridge import rendering
from bridge.cli.layout import Row, fact
from bridge.cli.options import (
    EPILOG,
    PLACE,
    answer,
    asked,
    given_settings,
    json_option,
    setting_options,
    typed_as,
)
from bridge.cli.output import Output
from bridge.cli.store import NoStoreError, place, warnings_told


@click.command(epilog=EPILOG)
@click.argument("dest")
@json_option
@setting_options(*PLACE)
def backup(dest: str, *, as_json: bool) -> None:
    """Copy the whole store to the new file DEST, and verify that.

    It is one state of the store; agents go on writing meanwhile. DEST appears when it is complete,
    and never replaces a file. The digest told at the end is that of the newest commit: kept
    elsewhere, it shows later that the backup was not changed.

    JSON: {"path", "fileBytes", "schemaVersion", "keyCount", "versionCount", "commitCount",
    "outcomeCount", "headSequence", "headDigest"}.
    """
    with typed_as("dest", "DEST"):
        report = asked(lambda store: store.backup(dest))
    answer(lambda: _document(report), lambda out: _rows(out, "backup", report), as_json=as_json)


@click.command(epilog=EPILOG)
@click.argument("source", metavar="BACKUP")
@click.option("--force", is_flag=True, help="Replace what stands there, and keep it beside.")
@json_option
@setting_options("db", "mode")
def restore(source: str, *, force: bool, as_json: bool) -> None:
    """Put a verified copy of BACKUP in the place of the store.

    Where a store stands there already, --force replaces it and keeps it under the name that is told. A
    store that somebody has open is never replaced: end the agents and servers first. Who uses the file
    from another machine is not seen. An older schema is migrated on the way.

    JSON: {"kept", and what backup answers}; kept is null where nothing stood there.
    """
    settings = place(given_settings())
    if settings.mode == "ro":
        raise refusal(settings.db)
    if not os.path.lexists(source):
        raise NoStoreError(str(Path(source).absolute()), "does not exist", "name a backup that is there")
    with warnings_told(), typed_as("path", "--db"):
        report = restored(source, settings.db, force=force)
    answer(
        lambda: {"kept": report.kept} | _document(report.contents),
        lambda out: _restored_rows(out, report),
        as_json=as_json,
    )


def _document(report: BackupReport) -> dict[str, Any]:
    return {
        "path": report.path,
        "fileBytes": report.file_bytes,
        "schemaVersion": report.schema_version,
        "keyCount": report.key_count,
        "versionCount": report.version_count,
        "commitCount": report.commit_count,
        "outcomeCount": report.outcome_count,
        "headSequence": report.head_sequence,
        "headDigest": report.head_digest,
    }


def _restored_rows(out: Output, report: RestoreReport) -> Iterator[Row]:
    yield from _rows(out, "restored", report.contents)
    if report.kept is not None:
        yield fact("before", out.name(report.kept, "bold"))


def _rows(out: Output, label: str, report: BackupReport) -> Iterator[Row]:
    yield fact(label, out.name(report.path, "bold"))
    yield fact("size", out.text(f"{report.file_bytes:,} bytes"))
    counts = (
        (report.key_count, "key"),
        (report.version_count, "version"),
        (report.commit_count, "commit"),
        (report.outcome_count, "outcome"),
    )
    yield fact("verified", *(out.text(rendering.counted(*each)) for each in counts))
    if report.head_sequence:
        yield fact("newest", out.text(f"commit {report.head_sequence}, digest {report.head_digest}"))
