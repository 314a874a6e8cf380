"""Recordings made by hand, as short as can be: what the recorder would have written of a few calls."""

from collections.abc import Sequence
from typing import Any

Content = dict[str, Any]
NOW = "2026-03-01T12:00:00.000Z"
AGENT, SESSION = "agent", "session"


def call(on: str, op: str, result: Any = None, /, **args: Any) -> Content:
    """A step that answers this, without its number."""
    return {"on": on, "op": op, "args": args, "result": result}


def story(*steps: Content) -> Content:
    """A recording: an adapter `store`, a memory `mem` on it, and then these steps from the third on."""
    result = {"agentId": AGENT, "sessionId": SESSION, "namespace": "default"}
    made: Sequence[Content] = (
        call("sdk", "newInMemoryAdapter") | {"as": "store", "resultIsUndefined": True},
        call("sdk", "newAgentMemory", result, agentId=AGENT, sessionId=SESSION, adapter="store")
        | {"as": "mem"},
        *steps,
    )
    return {
        "name": "story",
        "description": "Made by hand.",
        "kind": "made",
        "sdkVersion": "0.3.x",
        "clockStart": NOW,
        "steps": [{"n": i + 1, **step} for i, step in enumerate(made)],
    }


def entry(path: str, key: str, value: Any, **members: Any) -> Content:
    """An entry as the SDK answers it after the first write to an address."""
    provenance = {"agentId": AGENT, "sessionId": SESSION, "writtenAt": NOW, "patternRefs": []}
    stored = {"amfsVersion": "0.1.0", "entityPath": path, "key": key, "version": 1, "value": value}
    counted = {"confidence": 1, "outcomeCount": 0, "ttlAt": None, "shared": True}
    hashes = dict.fromkeys(("contentHash", "integrityChain", "commitId"))
    return stored | {"provenance": provenance} | counted | hashes | members


def written(path: str = "p", key: str = "k", value: Any = 1) -> Content:
    """A step that writes to a new address."""
    return call("mem", "write", entry(path, key, value), entityPath=path, key=key, value=value)


def watching(callback: str = "heard") -> Content:
    """A step that watches `p`."""
    return call("mem", "watch", {"cancelled": False}, entityPath="p", callback=callback) | {"as": "watching"}


def callback(kind: str, /, **does: Any) -> Content:
    """A step that makes a callback."""
    made = call("sdk", "defineCallback", kind=kind, **does)
    return made | {"as": "heard", "resultIsUndefined": True}
