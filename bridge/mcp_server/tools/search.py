"""Recalling: one record exactly, or those that fit."""

from typing import Annotated

from pydantic import Field

from amfs_sqlite.errors import InvalidArgumentError, InvalidCursorError
from amfs_sqlite.models import MemoryEntry, SearchPage
from bridge import rendering
from bridge.mcp_server import pages, readings, records, refusals
from bridge.mcp_server.arguments import Arguments
from bridge.mcp_server.tool import Answer, MemoryTool
from bridge.mcp_server.workplace import Workplace
from bridge.operations import entries, references, search

MAX_RECALL_LIMIT = 100
HINTS_BYTES = 2_000


class Recall(Arguments):
    """What `recall` takes."""

    scope: Annotated[str, Field(description="Path, with all below it")] = ""
    key: Annotated[str, Field(description="Exact name")] = ""
    text: Annotated[str, Field(description='All words, "a phrase", prefix*')] = ""
    tag: Annotated[str, Field(description="Exact tag")] = ""
    min_confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, description="Leave out less")] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_RECALL_LIMIT, description="At most")] = 20
    cursor: Annotated[str, Field(description="From the last answer")] = ""


async def recall(at: Workplace, given: Recall) -> Answer:
    """The record of a scope and a key, or a page of those that fit."""
    if given.scope and given.key:
        return await _read(at, given)
    limit = given.limit
    while True:
        page = await search.recall(
            at.session,
            scope=given.scope,
            key=given.key,
            text=given.text,
            tag=given.tag,
            min_confidence=given.min_confidence,
            limit=limit,
            cursor=given.cursor,
        )
        facts = readings.facts(at, page.entries)
        shown, found = pages.fitted([_line(entry) for entry in page.entries], facts)
        if len(shown) == len(page.entries):
            break
        # Asked again for just as many, so that its cursor goes on where this answer ends.
        limit = len(shown)
    banner = [records.STORED] if shown else []
    hints = [] if shown else await _hints(at, given)
    lines = [*banner, *shown, _count(page, given), *hints, *pages.ending(page.next_cursor)]
    made = readings.recalled(found, page.next_cursor, page, hints) if at.settings.structured else None
    return Answer("\n".join(lines), made)


async def _hints(at: Workplace, given: Recall) -> list[str]:
    """What may have been meant where nothing was found."""
    scope = rendering.word(given.scope)
    named = [
        f"{scope} is a record: scope {rendering.word(ref.entity_path)} key {rendering.word(ref.key)}"
        for ref in await references.records_named(at.session, given.scope)
    ]
    version = refusals.hint(given.key) == refusals.VERSION_IN_KEY
    return [*pages.fitting_texts(named, HINTS_BYTES), *([refusals.VERSION_IN_KEY] if version else [])]


async def _read(at: Workplace, given: Recall) -> Answer:
    for name in ("text", "tag", "min_confidence"):
        if getattr(given, name):
            raise InvalidArgumentError(
                name, "does not go with both scope and key, which name one record; leave it out"
            )
    version, offset = pages.position(given.cursor)
    entry = await _version(at, given, version)
    structured = at.settings.structured
    one = pages.one_record(entry, offset, entry.version, twice=structured)
    found = [readings.record(entry, one.start, one.end)]
    made = readings.recalled(found, one.cursor) if structured else None
    return Answer("\n".join([records.STORED, one.lines, *pages.ending(one.cursor)]), made)


async def _version(at: Workplace, given: Recall, version: int) -> MemoryEntry:
    """The current version, or the one that a cursor goes on with."""
    if not version:
        return await entries.read(at.session, given.scope, given.key)
    found = await entries.history(at.session, given.scope, given.key, after_version=version - 1, limit=1)
    if not found or found[0].version != version:
        raise InvalidCursorError("names a version that is not there")
    return found[0]


def _line(entry: MemoryEntry) -> pages.Line:
    value = rendering.Value(entry.value)
    heading = records.heading(entry)
    advice = "recall its scope and key for all"
    return lambda value_bytes: f"{heading}  {value.beginning(value_bytes, advice)}"


def _count(page: SearchPage, given: Recall) -> str:
    line = f"{rendering.counted(len(page.entries), 'record')}, newest first"
    left_out = []
    if page.below_confidence_count:
        least = rendering.percent(given.min_confidence)
        left_out.append(f"{page.below_confidence_count} below {least} confidence")
    if page.expired_count:
        left_out.append(f"{page.expired_count} expired")
    if page.next_cursor:
        left_out.append("those behind the next cursor")
    return f"{line}; left out: {', '.join(left_out) or 'none'}"


RECALL = MemoryTool(
    name="recall",
    title="Recall",
    description=(
        "Read memory. Call when you need what is known, before working it out anew. scope+key"
        " reads that record and counts as use; anything else searches, newest first."
    ),
    arguments=Recall,
    run=recall,
    reading=readings.RECALL,
    reads_only=True,
    is_idempotent=True,
)
