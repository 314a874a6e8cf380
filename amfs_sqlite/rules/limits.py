"""What may be stored and asked for: every limit has a name, a unit, and an error that says it."""

import math
import sys
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from typing import Any, TypeGuard, TypeVar, get_args

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from amfs_sqlite.clock import instant
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.modelling import Model
from amfs_sqlite.models import MemoryEntry, OutcomeRecord, SearchOrder, SearchQuery
from amfs_sqlite.rules.values import check_text, encode

M = TypeVar("M", bound=Model)

MAX_ADDRESS_CHARACTERS = 4096
MAX_NAME_CHARACTERS = 4096
MAX_TAG_CHARACTERS = 4096
MAX_TAGS = 1000
MAX_NOTE_CHARACTERS = 65_536
MAX_CHANGES = 10_000
MAX_PATHS = 100
MAX_REFERENCES = 1_000
MAX_REFERENCE_SLASHES = 256
MAX_OUTCOME_COUNT = 2**63 - 1
MAX_FLOAT = int(sys.float_info.max)

CLOCK = "a clock, such as SystemClock()"
IDS = "a source of ids, such as RandomIds()"
BY_CHANCE = (type, float, bytes, bytearray)
"""A class has what its objects have; numbers and bytes have a ``hex`` of their own."""


def made(kind: type[M], names: Mapping[str, str] | None = None, /, **fields: Any) -> M:
    """The model of these fields. Raises InvalidArgumentError, naming the field, or what ``names`` has for it.

    >>> from amfs_sqlite.models import EntryRef
    >>> made(EntryRef, entity_path="p", key=5)
    Traceback (most recent call last):
    amfs_sqlite.errors.InvalidArgumentError: key is not acceptable: Input should be a valid string
    """
    try:
        return kind(**fields)
    except ValidationError as refused:
        raise unacceptable(refused, names=names) from refused


def unacceptable(
    refused: ValidationError, *within: str, names: Mapping[str, str] | None = None
) -> InvalidArgumentError:
    """What a model refused first, as an error that names where. ``within`` are the places around it."""
    first = refused.errors(include_url=False, include_input=False)[0]
    fields = [to_snake(str(part)) for part in first["loc"]]
    place = ".".join([*within, *((names or {}).get(field, field) for field in fields)])
    return InvalidArgumentError(place, f"is not acceptable: {first['msg']}")


def check_address(entity_path: str, key: str) -> None:
    """An address that may be written under."""
    for argument, text in (("entity_path", entity_path), ("key", key)):
        check_name(text, argument, MAX_ADDRESS_CHARACTERS)
        if not text:
            raise InvalidArgumentError(argument, "is empty; name where to write")


def check_asked(entity_path: str, key: str, viewer: str | None) -> None:
    """An address to look for, and for whom. What is text is an address; an impossible one finds nothing."""
    check_is_text(entity_path, "entity_path")
    check_is_text(key, "key")
    check_optional_text(viewer, "viewer")


def check_name(text: str, argument: str, limit: int = MAX_NAME_CHARACTERS) -> None:
    """Text of bounded length without lone surrogates; may be empty."""
    check_is_text(text, argument)
    if len(text) > limit:
        raise InvalidArgumentError(argument, f"has {len(text)} characters; the limit is {limit}")
    check_text(text, argument)


def check_optional_name(text: str | None, argument: str) -> None:
    """As ``check_name``, or None."""
    if text is not None:
        check_name(text, argument)


def check_is_text(text: str, argument: str) -> None:
    """Text of any kind."""
    if not isinstance(text, str):
        raise InvalidArgumentError(argument, f"is {quoted(text)}, not text")


def check_optional_text(text: str | None, argument: str) -> None:
    """Text of any kind, or None."""
    if text is not None:
        check_is_text(text, argument)


def check_texts(texts: Collection[str], argument: str) -> None:
    """Several texts."""
    if not is_several(texts, str):
        raise InvalidArgumentError(argument, f"is {quoted(texts)}; give a list of texts")


def check_several(things: Collection[object], argument: str) -> None:
    """Several of whatever it is."""
    if not is_several(things, object):
        raise InvalidArgumentError(argument, f"is {quoted(things)}; give a list")


def is_several(things: object, kind: type) -> bool:
    """Whether it holds things of this kind alone. One text holds none: it would go by its characters.

    >>> [is_several(things, str) for things in (["ab"], (), "ab", {"a": 1}, [1], None)]
    [True, True, False, False, False, False]
    """
    if isinstance(things, str | bytes | bytearray | Mapping) or not isinstance(things, Collection):
        return False
    return all(isinstance(thing, kind) for thing in things)


def check_tags(tags: Iterable[str]) -> None:
    """The tags of an entry."""
    tags = tuple(tags)
    if len(tags) > MAX_TAGS:
        raise InvalidArgumentError("tags", f"are {len(tags)}; the limit is {MAX_TAGS}")
    for tag in tags:
        check_name(tag, "tags", MAX_TAG_CHARACTERS)


def check_entry(entry: MemoryEntry) -> None:
    """Everything about an entry to be written except its value and what the outcome policy takes."""
    check_address(entry.entity_path, entry.key)
    check_name(entry.provenance.agent_id, "agent_id")
    check_name(entry.provenance.session_id, "session_id")
    check_name(entry.amfs_version, "amfs_version")
    check_tags(entry.provenance.pattern_refs)
    check_finite(entry.confidence, "confidence")
    if not 0 <= entry.outcome_count <= MAX_OUTCOME_COUNT:
        raise InvalidArgumentError("outcome_count", f"is no whole number from 0 to {MAX_OUTCOME_COUNT}")
    if entry.artifact_refs:
        encode([ref.model_dump() for ref in entry.artifact_refs], "artifact_refs")


def check_outcome(record: OutcomeRecord) -> None:
    """Everything about an outcome except its type and what the policy takes."""
    check_name(record.outcome_ref, "outcome_ref")
    check_name(record.agent_id, "agent_id")
    check_name(record.note, "note", MAX_NOTE_CHARACTERS)
    check_optional_name(record.session_id, "session_id")
    if (count := len(record.causal_entry_keys) + len(record.refs)) > MAX_REFERENCES:
        raise InvalidArgumentError(
            "refs", f"and causal_entry_keys are {count}; the limit is {MAX_REFERENCES}"
        )
    for reference in record.causal_entry_keys:
        check_name(reference, "causal_entry_keys", 2 * MAX_ADDRESS_CHARACTERS + 1)
        if reference.count("/") > MAX_REFERENCE_SLASHES:
            raise InvalidArgumentError(
                "causal_entry_keys", f"hold a text with more than {MAX_REFERENCE_SLASHES} '/'; use refs"
            )
    encode([ref.version for ref in record.refs], "refs")
    check_finite(record.causal_confidence, "causal_confidence")


def check_search(query: SearchQuery) -> None:
    """Everything about a search except its text and its cursor."""
    if not isinstance(query, SearchQuery):
        raise InvalidArgumentError("query", f"is {quoted(query)}; make a SearchQuery")
    for argument in ("entity_path", "key", "tag", "agent_id", "text", "cursor"):
        check_optional_text(getattr(query, argument), argument)
    check_flag(query.descendants, "descendants")
    check_flag(query.include_system, "include_system")
    if query.sort_by not in get_args(SearchOrder):
        known = ", ".join(get_args(SearchOrder))
        raise InvalidArgumentError("sort_by", f"is {quoted(query.sort_by)}; it must be one of {known}")
    check_count(query.limit, "limit")
    check_instant(query.since, "since")
    check_instant(query.until, "until")
    check_min_confidence(query.min_confidence)
    if query.max_confidence is not None:
        check_finite(query.max_confidence, "max_confidence")
    if query.entity_paths is not None:
        check_texts(query.entity_paths, "entity_paths")
        if len(query.entity_paths) > MAX_PATHS:
            raise InvalidArgumentError(
                "entity_paths", f"are {len(query.entity_paths)}; the limit is {MAX_PATHS}"
            )
    check_optional_name(query.contains, "contains")


def check_min_confidence(min_confidence: float | None) -> None:
    """The least confidence asked for, or None."""
    if min_confidence is not None:
        check_finite(min_confidence, "min_confidence")


def check_finite(number: float, argument: str) -> None:
    """A number that is neither NaN nor infinite."""
    if not _is_number(number) or not math.isfinite(number):
        raise InvalidArgumentError(argument, f"is {quoted(number)}; it must be a finite number")


def check_number(number: float, argument: str) -> None:
    """A number, NaN and infinity among them."""
    if not _is_number(number):
        raise InvalidArgumentError(
            argument, f"is {quoted(number)}; it must be a number that a float can hold"
        )


def _is_number(given: object) -> bool:
    if _is_whole(given):
        return abs(given) <= MAX_FLOAT
    return isinstance(given, float)


def check_flag(flag: bool, argument: str) -> None:
    """True or False."""
    if not isinstance(flag, bool):
        raise InvalidArgumentError(argument, f"is {quoted(flag)}; it must be True or False")


def check_count(number: int | None, argument: str) -> None:
    """A whole number from 0, or None."""
    if number is not None:
        check_whole_number(number, argument)


def check_whole_number(number: int, argument: str) -> None:
    """A whole number from 0."""
    if not _is_whole(number) or not 0 <= number < 2**63:
        raise InvalidArgumentError(argument, f"is {quoted(number)}; it must be a whole number from 0")


def check_version(version: int) -> None:
    """The number of a version to look for; one that no version has finds nothing."""
    if not _is_whole(version):
        raise InvalidArgumentError("version", f"is {quoted(version)}; it must be a whole number")


def _is_whole(given: object) -> TypeGuard[int]:
    return isinstance(given, int) and not isinstance(given, bool)


def check_able(given: object, argument: str, operations: Iterable[str], wanted: str) -> None:
    """Refuse what lacks one of these operations, or only has it by chance."""
    lacking = next((name for name in operations if not callable(getattr(given, name, None))), None)
    if lacking or isinstance(given, BY_CHANCE):
        why = f", which has no {lacking} to call" if lacking else ""
        raise InvalidArgumentError(argument, f"is {quoted(given)}{why}; pass {wanted}")


def check_sources(clock: object, ids: object) -> None:
    """Where an adapter is to get time and identifiers from."""
    check_able(clock, "clock", ["now"], CLOCK)
    check_able(ids, "ids", ["hex"], IDS)


def check_instant(spelling: datetime | str | None, argument: str) -> datetime | None:
    """The instant meant; None and '' are none."""
    if spelling is None or spelling == "":
        return None
    problem = f"is {quoted(spelling)}, no instant; write it like 2026-01-31T12:00:00Z"
    if not isinstance(spelling, str | date):
        raise InvalidArgumentError(argument, problem)
    try:
        return instant(spelling)
    except ValueError as refused:
        raise InvalidArgumentError(argument, problem) from refused
