"""What a memory remembers of itself: what it has read, and what it has learned elsewhere."""

from collections.abc import Sequence
from typing import Any

from parity_tests.golden import reading
from parity_tests.golden.cast import Call
from parity_tests.golden.view import Entry, Reading, View, address

TRACKER = frozenset({"causalKeys", "readCount", "readVersion", "contains", "externalContexts"})
_LOGGED = frozenset({"read", "recall", "readFrom"})


def line(call: Call, view: View, found: Any) -> Reading | None:
    """What a reading call that found this adds to the read log."""
    if call.op not in _LOGGED or call.actor.kind not in ("memory", "scope"):
        return None
    asked = (call.args["entityPath"], call.args["key"])
    read: Entry | None = found
    if call.op == "read" and found is None and "private" in view.manner:
        # The SDK logs what it then finds to be hidden.
        read = view.current(*asked)
        if read is not None and not reading.is_to_be_had(view, read, call.args.get("minConfidence")):
            read = None
    elif call.op == "recall":
        read = reading.read(view, *asked)
    elif call.op == "readFrom" and found is not None:
        asked = address(found)
    return None if read is None else Reading(asked, read["version"], call.now)


def tracked(call: Call, lines: Sequence[Reading], contexts: Sequence[Any]) -> Any:
    """What a read log says that has these lines."""
    text = call.args.get("entryKey")
    found = [line.version for line in lines if line.text == text]
    told = {
        "causalKeys": [line.text for line in lines],
        "readCount": len(lines),
        "readVersion": found[0] if found else None,
        "contains": bool(found),
        "externalContexts": [*contexts],
    }
    return told[call.op]


def explained(call: Call, view: View, lines: Sequence[Reading], contexts: Sequence[Any]) -> Any:
    """What a session relied on: the entries of its log as they are now, with the versions read."""
    entries = [
        entry | {"readVersion": line.version}
        for line in lines
        if (entry := view.current(*line.address)) is not None and view.shows(entry)
    ]
    return {
        "outcomeRef": call.args.get("outcomeRef"),
        "agentId": call.actor.agent,
        "sessionId": call.actor.session,
        "causalChainLength": len(entries),
        "causalEntries": entries,
        "externalContexts": [*contexts],
    }
