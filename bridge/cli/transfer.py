"""`export` and `import`: the whole store as JSON Lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.transfer import ExportReport, ImportConflict, ImportReport
from amfs_sqlite.sqlite import export_to_file
from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.database.translation import translated
from bridge import rendering
from bridge.cli import records
from bridge.cli.exits import DONE, FOUND
from bridge.cli.layout import Row, blank, fact
from bridge.cli.options import EPILOG, PLACE, answer, asked, json_option, setting_options, typed_as
from bridge.cli.output import READER_LEFT, Output, OutputError, write_no_more
from bridge.cli.progress import bar
from bridge.operations import transfer

BUFFER_BYTES = 1024 * 1024
STDIN = "-"


class ReaderLeftError(Exception):
    """Nobody reads the export any more."""


@click.command(epilog=EPILOG)
@click.option("--to", "destination", metavar="FILE", help="Write to this new file.")
@json_option
@setting_options(*PLACE)
def export(destination: str | None, *, as_json: bool) -> None:
    """Write the whole store as JSON Lines.

    To standard output, or to a new file.

    Everything that was ever stored, in every namespace: private records, superseded and expired
    versions, packets, outcomes, commits. Agents go on writing meanwhile. FILE is its owner's alone,
    appears when it is complete, and never replaces a file. Not exported: idempotency keys, what can be
    made anew from the rest, and what stands beside the log (traces, events, agents and more of the AMFS
    Python SDK), which is counted; backup has it all.

    JSON: {"storeId", "commitCount", "versionCount", "outcomeCount", "sequence", "digest", "leftOut": {name:
    count}, "path"}, with --to.
    """
    if destination is None:
        if as_json:
            raise click.UsageError("--json tells of a file; name one with --to.")
        _to_standard_output()
        return
    path = files.resolve(destination)
    with typed_as("dest", "--to"), bar("export") as told:
        report = asked(
            lambda store: export_to_file(partial(transfer.export, store.session), path, progress=told)
        )
    answer(
        lambda: report.to_wire() | {"path": path}, lambda out: _exported(out, path, report), as_json=as_json
    )


@click.command("import", epilog=EPILOG)
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Check every line, say what would be done, store nothing.")
@json_option
@setting_options(*PLACE)
def import_(source: str, *, dry_run: bool, as_json: bool) -> int:
    """Store what an export holds and this store does not.

    For FILE, - is standard input.

    Every line is checked against its hashes first. A new or empty store becomes equal to the exported
    one. Elsewhere what is new follows behind what is there, what is known is passed over, and a record
    whose versions differ is left out and named; then the command ends with 1. What was erased here stays
    erased. What the export erased is erased here too; where a copy of it remains, that is told, and the
    command ends with 1. An import that was ended goes on when it is run again.

    JSON: {"storeId", "dryRun", "commitCount", "versionCount", "outcomeCount", "erasedCount",
    "knownCommitCount", "knownVersionCount", "leftOutCommitCount", "leftOutVersionCount",
    "keptErasedCount", "conflictCount", "conflicts": [{"namespace", "entityPath", "key", "version",
    "reason"}], "remains"}.
    """
    with _opened(source) as (stream, size), translated(source):
        reader = ExportReader(stream.readline)
        with _bar(size) as told:
            report = asked(
                lambda store: transfer.import_from(store.session, reader, dry_run=dry_run, progress=told),
                where_missing="imagine" if dry_run else "make",
            )
    answer(report.to_wire, lambda out: _imported(out, report), as_json=as_json)
    return FOUND if report.conflict_count or report.remains else DONE


def _to_standard_output() -> None:
    stream = sys.stdout.buffer

    def write(line: bytes) -> None:
        try:
            stream.write(line)
        except OSError as failed:
            raise _refused(failed) from failed

    try:
        asked(lambda store: transfer.export(store.session, write))
        _flush(stream)
    except ReaderLeftError:
        write_no_more()
    except OutputError:
        write_no_more()
        raise


def _flush(stream: BinaryIO) -> None:
    try:
        stream.flush()
    except OSError as failed:
        raise _refused(failed) from failed


def _refused(failed: OSError) -> Exception:
    if failed.errno in READER_LEFT:
        return ReaderLeftError()
    return OutputError(failed.strerror or str(failed))


@contextmanager
def _opened(source: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """Where the lines come from, and how many bytes there are, where that is known."""
    if source != STDIN:
        with translated(source), Path(source).open("rb", BUFFER_BYTES) as stream:
            yield stream, Path(source).stat().st_size
    elif sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError("Standard input is no export; pipe one in, or name a file.")
    else:
        yield sys.stdin.buffer, None


@contextmanager
def _bar(size: int | None) -> Iterator[Callable[[int], None] | None]:
    """How many bytes of how many were read; nothing where it is not known how many there are."""
    if size is None:
        yield None
        return
    with bar("import") as told:
        yield None if told is None else lambda done: told(done, size)


def _exported(out: Output, path: str, report: ExportReport) -> Iterator[Row]:
    yield fact("export", out.name(path, "bold"))
    counts = (
        (report.commit_count, "commit"),
        (report.version_count, "version"),
        (report.outcome_count, "outcome"),
    )
    yield fact("holds", *(out.text(rendering.counted(*each)) for each in counts))
    if report.sequence:
        yield fact("newest", out.text(f"commit {report.sequence}, digest {report.digest}"))
    if report.left_out:
        beside = [rendering.counted(count, name) for name, count in report.left_out.items()]
        yield fact("left out", *(out.text(each, "yellow") for each in beside))


def _imported(out: Output, report: ImportReport) -> Iterator[Row]:
    counts = (
        (report.commit_count, "commit"),
        (report.version_count, "version"),
        (report.outcome_count, "outcome"),
    )
    label = "would import" if report.dry_run else "imported"
    yield fact(label, *(out.text(rendering.counted(*each)) for each in counts))
    if report.erased_count:
        yield fact(
            "erased", out.text(f"{rendering.counted(report.erased_count, 'version')} as the export says")
        )
    if report.known_commit_count or report.known_version_count:
        known = ((report.known_commit_count, "commit"), (report.known_version_count, "version"))
        yield fact("known", *(out.text(rendering.counted(*each)) for each in known))
    if report.kept_erased_count:
        kept = rendering.counted(report.kept_erased_count, "version")
        yield fact("stays erased", out.text(f"{kept}, erased here and not in the export"))
    for sentence in report.remains:
        yield fact("remains", out.line(sentence, "yellow"))
    if report.conflict_count:
        yield from _conflicts(out, report)


def _conflicts(out: Output, report: ImportReport) -> Iterator[Row]:
    left = (
        (report.left_out_commit_count, "commit"),
        (report.left_out_version_count, "version"),
    )
    yield fact("left out", *(out.text(rendering.counted(*each), "bold red") for each in left))
    yield blank()
    for conflict in report.conflicts:
        yield from _conflict(out, conflict)
    if report.conflict_count > len(report.conflicts):
        more = report.conflict_count - len(report.conflicts)
        yield Row((out.text(f"and {rendering.counted(more, 'record')} more"),), rail="  ")


def _conflict(out: Output, conflict: ImportConflict) -> Iterator[Row]:
    where = records.ref(out, conflict.entity_path, conflict.key, conflict.version, "bold")
    yield Row((where, out.text("in"), out.name(conflict.namespace)), rail="  ")
    yield Row((out.line(conflict.reason),), "  ", "  ")
