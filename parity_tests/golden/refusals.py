"""What we refuse and the SDK takes, told by the arguments alone."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from amfs_sqlite import OutcomeType
from amfs_sqlite.rules.limits import MAX_ADDRESS_CHARACTERS
from amfs_sqlite.rules.values import MAX_DEPTH
from parity_tests.golden.cast import Call
from parity_tests.golden.comparison import moment

OUTCOME_TYPES = frozenset(str(kind) for kind in OutcomeType)
REPORTS = frozenset({"commitOutcome", "computeNewConfidence", "makeRecord"})


def refused(call: Call) -> str | None:
    """The argument we refuse, if there is one."""
    args = call.args
    if call.op == "write":
        signed = [call.actor.agent or "", call.actor.session]
        if not all(_is_well_formed(name) for name in signed):
            return "agent_id"
        return _entry(args.get("entry") or _as_entry(args))
    if call.op in REPORTS:
        return _report(args.get("record") or args)
    if call.op in ("propagate", "propagateBatch"):
        records = args["records"] if call.op == "propagateBatch" else [args["record"]]
        return next((found for record in records if (found := _report(record))), None)
    return _question(call.op, args)


def _as_entry(args: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: args.get(name) for name in ("entityPath", "key", "value", "confidence", "ttlAt")}
    return named | {"provenance": {"patternRefs": args.get("patternRefs")}}


def _entry(entry: Mapping[str, Any]) -> str | None:
    for name in ("entityPath", "key"):
        if not entry[name] or len(entry[name]) > MAX_ADDRESS_CHARACTERS or not _is_well_formed(entry[name]):
            return name
    if not all(_is_storable(node, depth) for node, depth in _nodes(entry.get("value"))):
        return "value"
    if not _is_finite(entry.get("confidence")):
        return "confidence"
    provenance = entry["provenance"]
    named = {"ttlAt": entry.get("ttlAt"), "writtenAt": provenance.get("writtenAt")}
    for name, spelling in named.items():
        if spelling is not None and moment(spelling) is None:
            return name
    return None if all(_is_storable(*node) for node in _nodes(provenance)) else "provenance"


def _report(record: Mapping[str, Any]) -> str | None:
    if record["outcomeType"] not in OUTCOME_TYPES:
        return "outcomeType"
    if not _is_finite(record.get("causalConfidence")):
        return "causalConfidence"
    texts = [record.get("outcomeRef"), *(record.get("causalEntryKeys") or ())]
    return None if all(_is_storable(text) for text in texts) else "causalEntryKeys"


def _question(op: str, args: Mapping[str, Any]) -> str | None:
    for name in ("since", "until"):
        if args.get(name) and moment(args[name]) is None:
            return name
    for name in ("limit", "maxDepth"):
        number = args.get(name)
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
            return name
    for name in ("minConfidence", "maxConfidence"):
        if op in ("read", "search") and not _is_finite(args.get(name)):
            return name
    query = args.get("query") or ""
    is_short = len(query) <= MAX_ADDRESS_CHARACTERS or args.get("recallConfig") is not None
    return None if is_short and _is_well_formed(query) else "query"


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
