"""What we refuse and the SDK takes, told by the arguments alone."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_camel

from amfs_sqlite import OutcomeType
from amfs_sqlite.rules.limits import MAX_ADDRESS_CHARACTERS
from amfs_sqlite.rules.values import MAX_DEPTH
from parity_tests.golden.cast import Actor, Call
from parity_tests.golden.comparison import moment
from parity_tests.golden.wire import ours

OUTCOME_TYPES = frozenset(str(kind) for kind in OutcomeType)
ADDRESS = {"entityPath": "entity_path", "key": "key"}
QUESTIONS = frozenset({"read", "recall", "search", "history", "tree", "commitLog", "listCommits"})
ALSO_CALLED = {"pattern_refs": "tags", "query": "contains"}
"""Arguments that our errors may call otherwise."""
REPORTS = frozenset({"commitOutcome", "propagate"})
COMPUTATIONS = frozenset({"computeNewConfidence", "makeRecord"})


def refused(call: Call) -> Sequence[str]:
    """The arguments we refuse, in the spellings of which an error has one."""
    return _spelled(_refusals(call.op, call.args, call.actor))


def refused_record(record: Mapping[str, Any]) -> Sequence[str]:
    """What of a record we refuse when it is reported, spelled like that."""
    return _spelled(_report(record))


def _spelled(names: Iterable[str]) -> Sequence[str]:
    spellings = [(name, to_camel(name), ALSO_CALLED.get(name, name)) for name in names]
    return tuple(dict.fromkeys(each for spelling in spellings for each in spelling))


def _refusals(op: str, args: Mapping[str, Any], actor: Actor) -> Iterator[str]:
    if op == "write":
        yield from _entry(args.get("entry") or _as_entry(args, actor))
    elif op in COMPUTATIONS:
        yield from _outcome_type(args)
    elif op in REPORTS:
        yield from _report(args.get("record") or args)
    elif op == "propagateBatch":
        for record in args["records"]:
            yield from _report(record)
    elif op in QUESTIONS:
        yield from _question(args)


def _as_entry(args: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    named = {name: args.get(name) for name in ("entityPath", "key", "value", "confidence", "ttlAt")}
    signed = {"agentId": actor.agent, "sessionId": actor.session, "patternRefs": args.get("patternRefs")}
    return named | {"provenance": signed}


def _entry(entry: Mapping[str, Any]) -> Iterator[str]:
    for name, said in ADDRESS.items():
        if not entry[name] or len(entry[name]) > MAX_ADDRESS_CHARACTERS or not _is_well_formed(entry[name]):
            yield said
    if not all(_is_storable(node, depth) for node, depth in _nodes(entry.get("value"))):
        yield "value"
    if not _is_finite(entry.get("confidence")):
        yield "confidence"
    provenance = entry["provenance"]
    named = {"ttl_at": entry.get("ttlAt"), "written_at": provenance.get("writtenAt")}
    for said, spelling in named.items():
        if spelling is not None and moment(spelling) is None:
            yield said
    for name, given in provenance.items():
        if not all(_is_storable(*node) for node in _nodes(given)):
            yield ours(name)


def _outcome_type(record: Mapping[str, Any]) -> Iterator[str]:
    if record["outcomeType"] not in OUTCOME_TYPES:
        yield "outcome_type"


def _report(record: Mapping[str, Any]) -> Iterator[str]:
    yield from _outcome_type(record)
    if not _is_finite(record.get("causalConfidence")):
        yield "causal_confidence"
    for name in ("outcomeRef", "causalEntryKeys"):
        if not all(_is_storable(text) for text, _ in _nodes(record.get(name))):
            yield ours(name)


def _question(args: Mapping[str, Any]) -> Iterator[str]:
    for name in ("since", "until"):
        if args.get(name) and moment(args[name]) is None:
            yield name
    for name in ("limit", "maxDepth"):
        number = args.get(name)
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
            yield ours(name)
    for name in ("minConfidence", "maxConfidence"):
        if not _is_finite(args.get(name)):
            yield ours(name)
    query = args.get("query") or ""
    is_short = len(query) <= MAX_ADDRESS_CHARACTERS or args.get("recallConfig") is not None
    if not is_short or not _is_well_formed(query):
        yield "query"


def _nodes(value: Any) -> Iterator[tuple[Any, int]]:
    """Everything in a value, member names too, with how deep it lies."""
    pending = [(value, 0)]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        inner = [*node, *node.values()] if isinstance(node, dict) else node if isinstance(node, list) else ()
        pending += [(each, depth + 1) for each in inner]


def _is_storable(node: Any, depth: int = 0) -> bool:
    if isinstance(node, dict | list):
        return depth < MAX_DEPTH
    return _is_well_formed(node) if isinstance(node, str) else _is_finite(node)


def _is_well_formed(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_finite(number: Any) -> bool:
    return not isinstance(number, float) or math.isfinite(number)
