"""What calls ask to be stored, and what they make that is not stored."""

import math
from collections.abc import Mapping
from typing import Any

from amfs_sqlite.clock import spelled
from amfs_sqlite.rules.confidence import AMFS_MULTIPLIERS
from parity_tests.golden.cast import Call
from parity_tests.golden.view import Entry, RefusedError


def drafted(call: Call, manner: frozenset[str]) -> Entry:
    """The entry that a memory is asked to write, but for its version and its outcome count."""
    args, actor = call.args, call.actor
    entry = {
        "amfsVersion": "0.1.0",
        "entityPath": args["entityPath"],
        "key": args["key"],
        "version": 1,
        "value": args.get("value"),
        "provenance": {
            "agentId": actor.agent,
            "sessionId": actor.session,
            "writtenAt": spelled(call.now),
            "patternRefs": args.get("patternRefs", []),
        },
        "confidence": _or(args.get("confidence"), 1),
        "outcomeCount": 0,
        "ttlAt": args.get("ttlAt"),
        "shared": _or(args.get("shared"), True),
        "contentHash": None,
        "integrityChain": None,
        "commitId": None,
    }
    if "options" not in manner:
        entry["provenance"]["patternRefs"] = args.get("patternRefs") or []
        if args.get("artifactRefs") is not None:
            entry["artifactRefs"] = args["artifactRefs"]
    return entry


def credited(record: Mapping[str, Any], current: Entry, manner: frozenset[str]) -> Entry:
    """The next version that an outcome makes."""
    changes = {
        "confidence": moved(record, current["confidence"], manner),
        "outcomeCount": current["outcomeCount"] + 1,
    }
    return current | changes


def moved(record: Mapping[str, Any], confidence: float, manner: frozenset[str]) -> float:
    """The confidence after an outcome under AMFS 0.3: NaN if its type is unknown, which is refused here."""
    multipliers = {str(kind): by for kind, by in AMFS_MULTIPLIERS.items()}
    multiplier = multipliers.get(record["outcomeType"], math.nan)
    after = confidence * multiplier * float(_or(record.get("causalConfidence"), 1))
    if "refused" not in manner and not math.isfinite(after):
        raise RefusedError("the confidence would not be finite")
    return after


def recorded(call: Call) -> dict[str, Any]:
    """The record of an outcome that is made and not reported."""
    args = call.args
    names = ("outcomeRef", "outcomeType", "causalEntryKeys", "agentId")
    return {name: args[name] for name in names} | {
        "causalConfidence": _or(args.get("causalConfidence"), 1),
        "committedAt": _or(args.get("committedAt"), spelled(call.now)),
    }


def _or(given: Any, default: Any) -> Any:
    return default if given is None else given
