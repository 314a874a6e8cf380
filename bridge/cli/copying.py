"""`copy`: one memory into another, whatever keeps either."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click
from rich.text import Text

from bridge import rendering
from bridge.cli import records
from bridge.cli.exits import DONE, FOUND
from bridge.cli.layout import Row, blank, fact
from bridge.cli.options import (
    EPILOG,
    PLACE,
    answer,
    given_arguments,
    given_settings,
    json_option,
    setting_options,
)
from bridge.cli.output import Output
from bridge.cli.progress import bar
from bridge.cli.store import warnings_told
from bridge.settings import IN_MEMORY, from_sources

if TYPE_CHECKING:
    from bridge.copying.report import CopyReport, KindReport, LeftOut


@click.command(epilog=EPILOG)
@click.argument("source", metavar="SOURCE")
@click.option("--to", "target", metavar="TARGET", required=True, help="Copy to this place.")
@click.option("--dry-run", is_flag=True, help="Say what would be copied, store nothing.")
@json_option
@setting_options("namespace")
@click.pass_context
def copy(context: click.Context, source: str, target: str, *, dry_run: bool, as_json: bool) -> int:
    """Copy a memory to another place, or back.

    SOURCE and TARGET are each a SQLite file, a directory of the AMFS file adapter (a new one is named with a
    slash at its end), a database (postgresql://...), or an AMFS server (http://..., with the key in
    AMFS_API_KEY). Needs the AMFS Python SDK; a database and a server need its adapters too.

    Both places are named here; MEMORY_DB is not asked. Copied are all versions of all entries on the branch
    main, private and expired ones too, with commits, outcomes, traces, events, agents and graph edges where
    the target has them, in one namespace. Groups, tags, pull requests and digests are only counted. A key
    that was archived or erased, or lacks an earlier version, is left out. What the target holds already is
    not written again, so that a copy that was ended goes on when it is run again. Where the target holds
    something else it is left alone and named. At the end everything is read back; if anything was left out,
    is missing or is not equal there, that is told, and the command ends with 1.

    JSON: {"source", "target", "namespace", "dryRun", "isComplete", "kinds": [{"kind", "found", "stored",
    "held", "leftOut", "missing", "reason"}], "leftOutCount", "conflictCount", "leftOut": [{"kind", "reason",
    "isConflict", "id", "entityPath", "key", "version"}], "differences": [{"kind", "field", "how", "count",
    "example"}], "branches": {name: count}}.
    """
    if given := given_arguments(context, *(name for name in PLACE if name != "namespace")):
        setting = given[0].partition("=")[0]
        raise click.UsageError(f"{setting} is no setting of a copy: SOURCE and --to name its two places.")
    if find_spec("amfs_core") is None:
        raise click.UsageError("The AMFS Python SDK is not installed here: pip install 'amfs-sqlite[amfs]'.")
    from bridge.copying.endpoints import check_apart, opened
    from bridge.copying.running import Copy

    check_apart(source, target)
    namespace = from_sources({"db": IN_MEMORY} | given_settings(), os.environ).namespace
    with (
        warnings_told(),
        opened(source, namespace, use="source", environment=os.environ) as here,
        opened(target, namespace, use="trial" if dry_run else "target", environment=os.environ) as there,
        bar("copy") as told,
    ):
        report = Copy(here, there, progress=told).run(dry_run=dry_run)
    answer(report.to_wire, lambda out: _copied(out, report), as_json=as_json)
    return DONE if report.is_complete else FOUND


def _copied(out: Output, report: "CopyReport") -> Iterator[Row]:
    yield fact("from", out.name(report.source, "bold"))
    yield fact("to", out.name(report.target, "bold"))
    stored = [each for each in report.kinds if each.stored]
    label = "would copy" if report.dry_run else "copied"
    counts = [out.text(_counted(each, each.stored)) for each in stored] or [out.text("nothing new", "dim")]
    yield fact(label, *counts)
    if held := [each for each in report.kinds if each.held]:
        yield fact("known", *(out.text(_counted(each, each.held)) for each in held))
    for each in report.kinds:
        yield from _not_copied(out, each)
    for branch, count in report.branches.items():
        sentence = f"{rendering.counted(count, 'record')} on the branch {rendering.word(branch)}"
        yield fact("left out", out.text(sentence, "yellow"))
    yield from _compared(out, report)
    if report.left_out:
        yield from _left_out(out, report)
    if not report.dry_run:
        words = (
            "all that a copy takes is there"
            if report.is_complete
            else "the target is not equal to the source"
        )
        yield fact("read back", out.text(words, "" if report.is_complete else "bold red"))


def _not_copied(out: Output, kind: "KindReport") -> Iterator[Row]:
    if kind.left_out:
        reason = [] if kind.reason is None else [out.line(kind.reason)]
        yield fact("left out", out.text(_counted(kind, kind.left_out), "yellow"), *reason)
    elif kind.reason is not None:
        yield fact("incomplete", out.text(kind.kind, "yellow"), out.line(kind.reason))
    if kind.missing:
        yield fact("missing", out.text(_counted(kind, kind.missing), "bold red"))


def _compared(out: Output, report: "CopyReport") -> Iterator[Row]:
    made: dict[str, list[str]] = {}
    for one in report.differences:
        if one.how == "made":
            made.setdefault(one.kind, []).append(one.field)
            continue
        words = f"{one.field} is {'absent' if one.how == 'absent' else 'another'}"
        where = f"in {rendering.counted(one.count, _one(one.kind))}, as of {one.example}"
        yield fact(one.how, out.text(words, "yellow"), out.line(where))
    for kind, fields in made.items():
        yield fact("made anew", out.text(f"of {kind}: {', '.join(fields)}", "dim"))


def _left_out(out: Output, report: "CopyReport") -> Iterator[Row]:
    yield blank()
    for one in report.left_out:
        yield Row((_where(out, one),), rail="  ")
        yield Row((out.line(one.reason),), "  ", "  ")


def _where(out: Output, one: "LeftOut") -> Text:
    if one.entity_path is None or one.key is None:
        return out.text(f"{_one(one.kind)} {rendering.word(one.id or '')}", "bold")
    return records.ref(out, one.entity_path, one.key, one.version, "bold")


def _counted(kind: "KindReport", count: int) -> str:
    return rendering.counted(count, _one(kind.kind))


def _one(kind: str) -> str:
    return "version" if kind == "entries" else kind.removesuffix("s")
