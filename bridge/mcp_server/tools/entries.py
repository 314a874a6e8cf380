"""Remembering a belief, and how a record came to be what it is."""

import json
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.rules.values import MAX_DEPTH, MAX_INTEGER_DIGITS
from bridge import rendering
from bridge.mcp_server import pages, readings, records, redactions
from bridge.mcp_server.arguments import Arguments, Texts
from bridge.mcp_server.tool import Answer, MemoryTool
from bridge.mcp_server.workplace import Workplace
from bridge.operations import entries

MAX_HISTORY_LIMIT = 200


class Remember(Arguments):
    """What `remember` takes."""

    wanted = MappingProxyType(
        {
            "value": "text, or send it as JSON text in value_json",
            "value_json": "JSON written as text",
        }
    )

    scope: Annotated[str, Field(description="Topic path, like listing/482")]
    key: Annotated[str, Field(description="Name in it, like assessment")]
    value: Annotated[str, Field(description="Text, stored byte for byte")] = ""
    value_json: Annotated[str, Field(description="JSON text, stored as JSON")] = ""
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, description="How sure you are")] = 0.8
    tags: Annotated[Texts, Field(description="Labels of this version")] = ()
    expected_version: Annotated[
        int, Field(ge=-1, description="-1 any, 0 must be new, N must be current")
    ] = -1
    idempotency_key: Annotated[str, Field(description="Makes a retry safe")] = ""


class History(Arguments):
    """What `history` takes."""

    scope: Annotated[str, Field(description="Exact path")]
    key: Annotated[str, Field(description="Exact name")]
    limit: Annotated[int, Field(ge=1, le=MAX_HISTORY_LIMIT, description="At most")] = 50
    cursor: Annotated[str, Field(description="From the last answer")] = ""


async def remember(at: Workplace, given: Remember) -> Answer:
    """Store a belief; say what it replaced, or that it stood like this already."""
    done = await entries.remember(
        at.session,
        given.scope,
        given.key,
        _value(given),
        confidence=given.confidence,
        tags=given.tags,
        expected_version=None if given.expected_version == -1 else given.expected_version,
        idempotency_key=given.idempotency_key or None,
    )
    entry = done.entry
    # What a new version takes the place of is told where it was another.
    before = done.superseded or entry
    confidence = _replacing(rendering.percent(entry.confidence), rendering.percent(before.confidence))
    tags = _replacing(records.tags(entry.tags), records.tags(before.tags))
    parts = [
        records.reference(entry.ref),
        f"confidence {confidence}",
        f"tags {tags}",
        _how(done, given.confidence),
        f"contentHash {entry.content_hash}",
        *redactions.said(done.redacted),
    ]
    return Answer(
        "  ".join(parts),
        {
            "ref": str(entry.ref),
            "version": entry.version,
            "confidence": entry.confidence,
            "tagCount": len(entry.tags),
            "tags": records.some_tags(entry.tags),
            "supersededVersion": done.superseded_version or 0,
            "confidenceBefore": before.confidence,
            "tagCountBefore": len(before.tags),
            "tagsBefore": records.some_tags(before.tags),
            "contentHash": entry.content_hash,
            "unchanged": done.unchanged,
            "withdrawn": entry.withdrawn or "",
            "redacted": redactions.facts(done.redacted),
        },
    )


def _replacing(now: str, before: str) -> str:
    return now if now == before else f"{now} (before: {before})"


def _how(done: entries.Remembered, given_confidence: float) -> str:
    if done.entry.withdrawn:
        return f"wrote nothing: an earlier call with this key wrote it, {done.entry.withdrawn} since"
    if done.unchanged:
        how = "unchanged: it holds this value and these tags already"
        if done.entry.confidence == given_confidence:
            return how
        stays = rendering.percent(done.entry.confidence)
        return f"{how}; its confidence stays {stays} (outcomes move it)"
    if done.superseded_version is None:
        return "supersedes nothing: the first version"
    return f"supersedes version {done.superseded_version}"


async def history(at: Workplace, given: History) -> Answer:
    """Every belief of a record, oldest first."""
    after_version, offset = pages.position(given.cursor)
    limit = 1 if offset else given.limit
    found = await entries.history(
        at.session, given.scope, given.key, after_version=after_version, limit=limit + 1
    )
    structured = at.settings.structured
    if not found:
        nothing = f"0 versions behind version {after_version}"
        return Answer(nothing, readings.history((), "") if structured else None)
    if limit == 1:
        one = pages.one_record(found[0], offset, after_version, _hashes(found[0]), twice=structured)
        shown, cursor = [one.lines], one.cursor
        versions = [readings.record(found[0], one.start, one.end, hashes=True)]
    else:
        facts = readings.facts(at, found[:limit], hashes=True)
        shown, versions = pages.fitted([_line(entry) for entry in found[:limit]], facts)
        cursor = ""
    if not cursor and len(found) > len(shown):
        cursor = str(found[len(shown) - 1].version)
    made = readings.history(versions, cursor) if structured else None
    return Answer("\n".join([records.STORED, *shown, *pages.ending(cursor)]), made)


def _value(given: Remember) -> Any:
    if bool(given.value) == bool(given.value_json):
        both = "are both given" if given.value else "are both empty"
        raise InvalidArgumentError(
            "value and value_json",
            f'{both}; send text as value or any JSON as value_json (the empty text is "\\"\\"")',
        )
    return given.value or _parsed(given.value_json)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_members, parse_constant=_refuse_constant)
    except json.JSONDecodeError as refused:
        problem = f"is no JSON: {refused.msg} at character {refused.pos + 1}"
    except RecursionError:
        problem = f"nests deeper than {MAX_DEPTH} levels; flatten it"
    except ValueError as refused:
        problem = str(refused)
        if "integer string conversion" in problem:
            problem = f"has an integer of more than {MAX_INTEGER_DIGITS} digits; send it as text"
    raise InvalidArgumentError("value_json", problem)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; JSON would silently keep the last of two members of one name."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"has the member {rendering.word(twice, 60)} twice in one object")
    return members


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which JSON does not have; send null or text")


def _line(entry: MemoryEntry) -> pages.Line:
    value = rendering.Value(entry.value)
    heading = records.heading(entry) + _hashes(entry)
    if entry.withdrawn:
        return lambda _: heading
    advice = f'history limit 1 cursor "{entry.version - 1}" for all'
    return lambda value_bytes: f"{heading}  {value.beginning(value_bytes, advice)}"


def _hashes(entry: MemoryEntry) -> str:
    return f"  contentHash {entry.content_hash}  integrityChain {entry.integrity_chain}"


_TAGS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}

REMEMBER = MemoryTool(
    name="remember",
    title="Remember",
    description=(
        "Store a belief as the next version of scope+key. Call when you learn what the next agent"
        " must know or that a belief is wrong. Give value or value_json, not both. The same value"
        " and tags again: unchanged, confidence stays."
    ),
    arguments=Remember,
    run=remember,
    is_idempotent=True,
    facts={
        "ref": {"type": "string"},
        "version": {"type": "integer"},
        "confidence": {"type": "number"},
        "tagCount": {"type": "integer"},
        "tags": _TAGS,
        "supersededVersion": {"type": "integer", "description": "0: none"},
        "confidenceBefore": {"type": "number", "description": "Of the version superseded"},
        "tagCountBefore": {"type": "integer"},
        "tagsBefore": _TAGS,
        "contentHash": {"type": "string"},
        "unchanged": {"type": "boolean", "description": "It stood like this; no version was made"},
        "withdrawn": {"type": "string", "description": "erased: since an earlier call with this key"},
        "redacted": redactions.SCHEMA,
    },
)
HISTORY = MemoryTool(
    name="history",
    title="History of a record",
    description=(
        "Every belief a record has held, oldest first. Call when it matters who believed what"
        " and when, or for an older version."
    ),
    arguments=History,
    run=history,
    reading=readings.HISTORY,
    reads_only=True,
    is_idempotent=True,
)
