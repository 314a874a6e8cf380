"""The SDK's models as ours and back. Fields that only one side has are kept, never dropped."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

import pydantic
import pydantic_core
from amfs_core import models as sdk

from amfs_sqlite.errors import AmfsError, InvalidArgumentError, quoted
from amfs_sqlite.modelling import Model
from amfs_sqlite.models import MAIN_BRANCH, MemoryEntry, OutcomeRecord
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.recalls import Recall

Ours = TypeVar("Ours", bound=Model)
Theirs = TypeVar("Theirs", bound=pydantic.BaseModel)

# What has a place of its own in a row; everything else of an entry that is not as by default goes to extra.
IN_COLUMNS = frozenset(
    {
        "amfs_version", "entity_path", "key", "version", "value", "provenance", "confidence",
        "outcome_count", "success_count", "failure_count", "ttl_at", "artifact_refs", "shared",
        "content_hash", "integrity_chain", "commit_id",
    }
)  # fmt: skip
BESIDE = frozenset({"recall_count", "tier", "priority_score", "embedding", "branch"})
EXTRA = {
    name: field.get_default(call_default_factory=True)
    for name, field in sdk.MemoryEntry.model_fields.items()
    if name not in IN_COLUMNS and name not in BESIDE
}
"""With what stands for nothing said."""
NOTHING_SAID: dict[str, Any] = {
    name: None if field.is_required() else field.get_default(call_default_factory=True)
    for name, field in sdk.MemoryEntry.model_fields.items()
}
"""Of every field, in order."""
LISTS = [name for name, value in NOTHING_SAID.items() if type(value) is list]
FIELDS: dict[type, set[str]] = {kind: set(kind.model_fields) for kind in (sdk.MemoryEntry, sdk.Provenance)}
"""Shared by all that ``whole`` makes: nothing adds a name to it that is not there."""
PLAIN = (None, list, dict)
"""What makes a default that is always the same."""


def ours(given: pydantic.BaseModel, kind: type[Ours], argument: str = "model") -> Ours:
    """Our model of the same fields. Raises InvalidArgumentError for what cannot be stored."""
    try:
        said = as_json(given.model_dump())
        _leave_out_what_goes_without_saying(given, said)
        return kind.model_validate_json(_text(said))
    except InvalidArgumentError:
        raise
    except ValueError as error:
        raise InvalidArgumentError(argument, f"cannot be stored: {_first_line(error)}") from error


def _text(said: Mapping[str, Any]) -> str:
    """As JSON. Raises InvalidArgumentError, naming the member, for numbers that it does not have."""
    try:
        return json.dumps(said, allow_nan=False)
    except ValueError:
        for name, value in said.items():
            encode(value, name)
        raise


def _leave_out_what_goes_without_saying(given: pydantic.BaseModel, said: dict[str, Any]) -> None:
    """Defaults, but for those made when asked for: that an event is of this very instant has to be said."""
    usual = _usual(type(given))
    for name in type(given).model_fields:
        value = getattr(given, name)
        if name in usual and value == usual[name]:
            del said[name]
        else:
            several = value if isinstance(value, list) else [value]
            dumped = said[name] if isinstance(value, list) else [said[name]]
            for each, its in zip(several, dumped, strict=True):
                if isinstance(each, pydantic.BaseModel):
                    _leave_out_what_goes_without_saying(each, its)


@cache
def _usual(kind: type[pydantic.BaseModel]) -> Mapping[str, Any]:
    """The defaults that are always the same: to ask a model for one takes longer than to compare it."""
    fields = kind.model_fields.items()
    return {n: f.get_default(call_default_factory=True) for n, f in fields if f.default_factory in PLAIN}


def theirs(stored: Model, kind: type[Theirs]) -> Theirs:
    """The SDK's model of the same fields, but for those that it does not take, which are as by default.

    Raises AmfsError where it cannot be made without them.
    """
    made = _fitting(stored.model_dump(by_alias=False) | (stored.model_extra or {}), kind)
    if made is None:
        raise AmfsError(f"what is stored is no {kind.__name__} of amfs_core: {quoted(stored)}")
    return made


def all_theirs(stored: Iterable[Model], kind: type[Theirs]) -> list[Theirs]:
    """As ``theirs``, without those that the SDK's model cannot be made of."""
    fields = (each.model_dump(by_alias=False) | (each.model_extra or {}) for each in stored)
    made = (_fitting(each, kind) for each in fields)
    return [each for each in made if each is not None]


def their_outcome(stored: OutcomeRecord) -> sdk.OutcomeRecord | None:
    """A stored report as the SDK has it, None of a type that it has not. Addresses in parts become texts."""
    texts = [*stored.causal_entry_keys, *(f"{ref.entity_path}/{ref.key}" for ref in stored.refs)]
    fields = (stored.model_extra or {}) | {
        "outcome_ref": stored.outcome_ref,
        "outcome_type": stored.outcome_type,
        "causal_confidence": stored.causal_confidence,
        "committed_at": stored.committed_at,
        "causal_entry_keys": list(dict.fromkeys(texts)),
        "agent_id": stored.agent_id,
    }
    return _fitting(fields, sdk.OutcomeRecord)


def _fitting(fields: dict[str, Any], kind: type[Theirs]) -> Theirs | None:
    """The model of these fields without those that it does not take; None where it cannot do without."""
    try:
        return kind.model_validate(fields)
    except pydantic.ValidationError as error:
        refused = error
    left: dict[str, Any] = _loose(fields)
    while True:
        places = {_place(left, each["loc"]) for each in refused.errors(include_url=False)}
        if () in places:
            return None
        # From behind, so that what stands before in a list keeps its place.
        for *way, last in sorted(places, reverse=True):
            del _at(left, way)[last]
        try:
            return kind.model_validate(left)
        except pydantic.ValidationError as error:
            refused = error


def _loose(value: Any) -> Any:
    """A copy of which parts can be taken out."""
    if isinstance(value, Mapping):
        return {name: _loose(each) for name, each in value.items()}
    return [_loose(each) for each in value] if isinstance(value, list | tuple) else value


def _place(fields: Any, location: Iterable[Any]) -> tuple[Any, ...]:
    """So much of a location as is there."""
    place: list[Any] = []
    for part in location:
        is_there = part in fields if isinstance(fields, dict) else isinstance(fields, list)
        if not is_there or (isinstance(fields, list) and type(part) is not int):
            break
        place.append(part)
        fields = fields[part]
    return tuple(place)


def _at(fields: Any, way: Iterable[Any]) -> Any:
    for part in way:
        fields = fields[part]
    return fields


def as_json(value: Any) -> Any:
    """A value as JSON has it, as the SDK's own models put it: instants and paths as text, sets as lists.

    Raises ValueError for what has no such form. What no JSON has, such as NaN, stays what it is.

    >>> from datetime import date
    >>> as_json({1: {"at": date(2026, 1, 1)}})
    {'1': {'at': '2026-01-01'}}
    """
    return pydantic_core.to_jsonable_python(value, inf_nan_mode="constants")


def stored_entry(given: sdk.MemoryEntry) -> MemoryEntry:
    """An entry of the SDK as it is stored. Its vector, tier and recall count are stored beside it."""
    if not isinstance(given, sdk.MemoryEntry):
        raise InvalidArgumentError("entry", f"is {quoted(given)}; it must be an amfs_core MemoryEntry")
    provenance = given.provenance
    signed = {
        "agent_id": provenance.agent_id,
        "session_id": provenance.session_id,
        "written_at": provenance.written_at,
        "pattern_refs": tuple(provenance.pattern_refs),
    }
    try:
        return MemoryEntry.model_validate(
            {
                "amfs_version": given.amfs_version,
                "entity_path": given.entity_path,
                "key": given.key,
                "value": as_json(given.value),
                "provenance": signed,
                "confidence": given.confidence,
                "outcome_count": given.outcome_count,
                "success_count": given.success_count,
                "failure_count": given.failure_count,
                "ttl_at": given.ttl_at,
                "artifact_refs": tuple(ref.model_dump() for ref in given.artifact_refs) or None,
                "shared": given.shared,
                "commit_id": given.commit_id,
                **extra_of(given),
            }
        )
    except ValueError as error:
        raise InvalidArgumentError("entry", f"cannot be stored: {_first_line(error)}") from error


def extra_of(given: sdk.MemoryEntry) -> dict[str, Any]:
    """The fields that have no column of their own and are not as by default, as JSON."""
    fields = given.__dict__
    named = {name for name, nothing in EXTRA.items() if fields.get(name) != nothing}
    return as_json(given.model_dump(include=named)) if named else {}


def shown_entry(stored: MemoryEntry, recall: Recall, branch: str = MAIN_BRANCH) -> sdk.MemoryEntry:
    """A stored entry as the SDK has it."""
    provenance = stored.provenance
    signed = {
        "agent_id": provenance.agent_id,
        "session_id": provenance.session_id,
        "written_at": provenance.written_at,
        "pattern_refs": list(provenance.pattern_refs),
    }
    fields = NOTHING_SAID.copy()
    for name in LISTS:
        fields[name] = []
    fields.update(
        amfs_version=stored.amfs_version,
        entity_path=stored.entity_path,
        key=stored.key,
        version=stored.version,
        value=stored.value,
        provenance=whole(sdk.Provenance, signed),
        confidence=stored.confidence,
        outcome_count=stored.outcome_count,
        success_count=stored.success_count,
        failure_count=stored.failure_count,
        ttl_at=stored.ttl_at,
        artifact_refs=[ref.model_dump(by_alias=False) for ref in stored.artifact_refs or ()],
        shared=stored.shared,
        branch=branch,
        content_hash=stored.content_hash,
        integrity_chain=stored.integrity_chain,
        commit_id=stored.commit_id,
        **recall.fields(),
    )
    if stored.model_extra or stored.artifact_refs:
        fields.update(_known(stored.model_extra or {}))
        made = _fitting(fields, sdk.MemoryEntry)
        if made is None:
            raise AmfsError(f"what is stored is no MemoryEntry of amfs_core: {quoted(stored)}")
        return made
    return whole(sdk.MemoryEntry, fields)


def whole(kind: type[Theirs], fields: dict[str, Any]) -> Theirs:
    """The model of all its fields, each known to be of its type.

    Checking what the store has checked before would take most of the time that reading takes.
    """
    model = kind.__new__(kind)
    object.__setattr__(model, "__dict__", fields)
    object.__setattr__(model, "__pydantic_fields_set__", FIELDS[kind])
    object.__setattr__(model, "__pydantic_extra__", None)
    object.__setattr__(model, "__pydantic_private__", None)
    return model


def _known(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if name in EXTRA}


def _first_line(error: ValueError) -> str:
    if isinstance(error, pydantic.ValidationError):
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else first["msg"]
    return str(error).partition("\n")[0]
