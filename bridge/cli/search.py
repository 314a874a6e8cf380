"""`search`: the current records that fit."""

from collections.abc import Iterator, Sequence

import click

from amfs_sqlite.models import SearchPage
from bridge import rendering
from bridge.cli import records
from bridge.cli.layout import Row, blank
from bridge.cli.options import EPILOG, PLACE, answer, asked, json_option, limit_option, setting_options
from bridge.cli.output import Output
from bridge.operations import search as searches


@click.command(epilog=EPILOG)
@click.argument("text", nargs=-1)
@click.option("--scope", default="", metavar="PATH", help="Only at this path or below it.")
@click.option("--key", default="", help="Only this exact key.")
@click.option("--tag", default="", help="Only with this exact tag.")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="NUMBER",
    help="Leave out less; how many is told.",
)
@limit_option(searches.DEFAULT_LIMIT)
@click.option("--cursor", default="", help="Go on where an answer to the same question ended.")
@json_option
@setting_options(*PLACE)
def search(
    *,
    text: Sequence[str],
    scope: str,
    key: str,
    tag: str,
    min_confidence: float,
    limit: int,
    cursor: str,
    as_json: bool,
) -> None:
    """Find current records, newest first. Without TEXT: all of them.

    TEXT is words and "phrases" that must all occur; a trailing * stands for the rest of a word. Put
    -- before a TEXT that begins with a dash.

    JSON: {"records": [as in show], "nextCursor", "belowConfidenceCount", "expiredCount"}.
    """
    found = asked(
        lambda store: searches.recall(
            store.session,
            scope=scope,
            key=key,
            text=" ".join(text),
            tag=tag,
            min_confidence=min_confidence,
            limit=limit,
            cursor=cursor,
        )
    )
    out = answer(
        lambda: {
            "records": [records.document(entry) for entry in found.entries],
            "nextCursor": found.next_cursor,
            "belowConfidenceCount": found.below_confidence_count,
            "expiredCount": found.expired_count,
        },
        lambda out: _rows(out, found),
        as_json=as_json,
    )
    if found.next_cursor is not None and not as_json:
        out.whole(f"more: --cursor {found.next_cursor}")


def _rows(out: Output, found: SearchPage) -> Iterator[Row]:
    if found.entries:
        headings = ("record", "confidence", "written", "by")
        yield Row(tuple(out.text(each, "dim") for each in headings), heading=True)
    for entry in found.entries:
        yield Row(
            (
                out.name(str(entry.ref), "bold"),
                records.confidence(out, entry.confidence),
                out.at(entry.written_at),
                out.name(entry.agent_id),
            ),
            rail="  ",
        )
        yield Row((records.value(out, entry.value),), "  ", "  ")
        if entry.tags:
            yield Row((out.text("tags", "dim"), *(out.name(tag, "cyan") for tag in entry.tags)), "  ", "  ")
        if not entry.shared:
            yield Row((out.text("private", "yellow"),), "  ", "  ")
    yield blank()
    yield Row((out.text(_count(found), "dim"),))


def _count(found: SearchPage) -> str:
    left_out = []
    if found.below_confidence_count:
        left_out.append(f"{found.below_confidence_count} less confident")
    if found.expired_count:
        left_out.append(f"{found.expired_count} expired")
    count = rendering.counted(len(found.entries), "record")
    return f"{count}, newest first; left out: {', '.join(left_out)}" if left_out else count
