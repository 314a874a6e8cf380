"""`verify`: whether what is stored is what was written."""

from collections.abc import Iterator

import click

from amfs_sqlite.models import Finding, VerifyReport
from bridge import rendering
from bridge.cli import records
from bridge.cli.exits import DONE, FOUND
from bridge.cli.layout import Row, blank
from bridge.cli.options import EPILOG, PLACE, answer, asked, json_option, setting_options
from bridge.cli.output import Output
from bridge.operations import integrity

NEXT = (
    "next: keep the file and those beside it as they are, compare them with a backup,"
    " and rely on nothing that is named here"
)


@click.command(epilog=EPILOG)
@json_option
@setting_options(*PLACE)
def verify(*, as_json: bool) -> int:
    """Check every hash and link; end with 1 if any is broken.

    Nothing is repaired, and nothing is changed.

    JSON: {"ok", "keyCount", "versionCount", "commitCount", "outcomeCount", "findings": [{"code",
    "message", "entityPath", "key", "version", "commitId"}]}.
    """
    report = asked(lambda store: integrity.verify(store.session))
    answer(lambda: {"ok": report.ok} | report.to_wire(), lambda out: _rows(out, report), as_json=as_json)
    return DONE if report.ok else FOUND


def _rows(out: Output, report: VerifyReport) -> Iterator[Row]:
    counts = (
        (report.key_count, "key"),
        (report.version_count, "version"),
        (report.commit_count, "commit"),
        (report.outcome_count, "outcome"),
    )
    checked = ", ".join(rendering.counted(*each) for each in counts)
    yield Row((out.text(f"checked {checked}"),))
    if report.ok:
        yield Row((out.text("all hashes and links hold", "bold green"),))
        return
    found = rendering.counted(len(report.findings), "finding")
    yield Row((out.text(f"{found}: do not trust what is named here", "bold red"),))
    yield blank()
    for finding in report.findings:
        yield from _finding(out, finding)
    yield blank()
    yield Row((out.text(NEXT),), rail="  ")


def _finding(out: Output, finding: Finding) -> Iterator[Row]:
    where = out.text("")
    if finding.entity_path is not None and finding.key is not None:
        where = records.ref(out, finding.entity_path, finding.key, finding.version, "bold")
    elif finding.commit_id is not None:
        where = out.text(f"commit {rendering.word(finding.commit_id)}", "bold")
    yield Row((out.text(finding.code, "red"), where), rail="  ")
    yield Row((out.line(finding.message),), "  ", "  ")
