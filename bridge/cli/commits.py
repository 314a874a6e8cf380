"""`log`: everything that ever changed, commit by commit."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import click
from rich.text import Text

from amfs_sqlite.models import Commit
from bridge.cli import records
from bridge.cli.layout import Row, blank
from bridge.cli.options import (
    EPILOG,
    PLACE,
    answer,
    asked,
    full_option,
    json_option,
    limit_option,
    page,
    setting_options,
)
from bridge.cli.output import Output
from bridge.cli.store import Store
from bridge.operations import commits

CHANGES_SHOWN = 10
MESSAGE_BYTES = 400


@click.command(epilog=EPILOG)
@limit_option(commits.LOG_LIMIT)
@click.option("--before", type=click.IntRange(min=1), metavar="N", help="Begin behind commit number N.")
@full_option
@json_option
@setting_options(*PLACE)
def log(limit: int, before: int | None, *, full: bool, as_json: bool) -> None:
    """Show who changed what, commit by commit, newest first.

    JSON: {"commits": [...], "nextBefore": N for --before, or null where nothing is left}. A commit
    has AMFS's names (id, message, authorAgentId, entries, treeHash, parentIds, createdAt, ...) and
    beside them sequence, kind, digest and effects.
    """
    found, archivings = asked(lambda store: _found(store, limit + 1, before))
    shown, last = page(found, limit)
    answer(
        lambda: {
            "commits": [_document(commit) for commit in shown],
            "nextBefore": None if last is None else last.sequence,
        },
        lambda out: _graph(out, shown, last, archivings, full=full),
        as_json=as_json,
    )


async def _found(store: Store, limit: int, before: int | None) -> tuple[Sequence[Commit], Collection[str]]:
    """Commits, and the ids of those that archived something."""
    found = await commits.log(store.session, limit=limit, before=before)
    return found, await commits.archiving(store.session, found)


def _document(commit: Commit) -> dict[str, Any]:
    return commit.to_wire() | {
        "sequence": commit.sequence,
        "kind": commit.kind,
        "digest": commit.digest,
        "effects": [effect.to_wire() for effect in commit.effects],
    }


def _graph(
    out: Output, shown: Sequence[Commit], last: Commit | None, archivings: Collection[str], *, full: bool
) -> Iterator[Row]:
    if not shown:
        yield Row((out.text("no commits"),))
    for commit, older in zip(shown, (*shown[1:], None), strict=False):
        line = out.marks.line if commit.parent_ids else " "
        yield from _commit(out, commit, f"{line}   ", _verb(commit, archivings), full=full)
        if older is not None or last is not None:
            follows = older is not None and older.id in commit.parent_ids
            yield blank(line if follows else out.marks.pause)
    if last is not None:
        yield Row((out.text(f"more: --before {last.sequence}", "dim"),), "  ", "  ")


def _verb(commit: Commit, archivings: Collection[str]) -> str:
    """What the commit did to the versions that it lists."""
    if commit.kind == "erase":
        return "erased"
    return "archived" if commit.id in archivings else "wrote"


def _commit(out: Output, commit: Commit, rail: str, verb: str, *, full: bool) -> Iterator[Row]:
    identity = out.hash(commit.id, full=full)
    identity.stylize("not dim yellow")
    head = (
        identity,
        out.text(f"#{commit.sequence}"),
        out.at(commit.created_at),
        out.name(commit.author_agent_id, "bold"),
    )
    yield Row(head, f"{out.marks.item} ", rail)
    if commit.message:
        yield Row((out.line(commit.message, limit_bytes=MESSAGE_BYTES),), rail, rail)
    changes = list(_changes(out, commit, verb, full=full))
    shown = changes if full else changes[:CHANGES_SHOWN]
    for cells in shown:
        yield Row(cells, rail, rail)
    if len(shown) < len(changes):
        yield Row((out.text(f"and {len(changes) - len(shown)} more: --full"),), rail, rail)
    if full and commit.digest:
        yield Row(
            (Text.assemble(out.text("digest ", "dim"), out.hash(commit.digest, full=True)),), rail, rail
        )
    parents = [out.hash(each, full=full) for each in commit.parent_ids] or [out.hash(None, full=full)]
    parent = Text.assemble(out.text("parent ", "dim"), Text(" ").join(parents))
    if commit.kind == "erase":
        # What it lists it did not write: there is no tree of it.
        yield Row((parent,), rail, rail)
        return
    tree = Text.assemble(out.text("tree ", "dim"), out.hash(commit.tree_hash, full=full))
    yield Row((tree, parent), rail, rail)


def _changes(out: Output, commit: Commit, verb: str, *, full: bool) -> Iterator[tuple[Text, ...]]:
    for entry in commit.entries:
        written = records.ref(out, entry.entity_path, entry.key, entry.version)
        yield out.text(verb), written, out.hash(entry.content_hash, full=full)
    for effect in commit.effects:
        yield out.text("moved" if effect.applied else "kept"), *records.effect(out, effect)
