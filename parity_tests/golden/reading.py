"""What every reading call answers, counted out of all that is stored.

Of a view in our manner it is what we answer, of one in the SDK's what the recorded SDK answers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from parity_tests.golden import javascript
from parity_tests.golden.searching import DEFAULT_LIMIT, EVERYTHING, search, whole
from parity_tests.golden.transcript import Answer
from parity_tests.golden.view import Entry, RefusedError, View, when
from parity_tests.golden.wire import ours

TREE_DEPTH = 3


def answer(view: View, op: str, args: Mapping[str, Any]) -> Answer:
    """The answer to a reading call by the SDK's names."""
    try:
        return Answer(result=READINGS[op](view, **{ours(name): value for name, value in args.items()}))
    except RefusedError as refused:
        return Answer(error=str(refused), error_type=refused.kind)


def read(view: View, entity_path: str, key: str, min_confidence: float | None = None, **_: Any) -> Any:
    """The current version, if it is to be had."""
    found = view.current(entity_path, key)
    return (
        found
        if found is not None and view.sees(found) and is_to_be_had(view, found, min_confidence)
        else None
    )


def is_to_be_had(view: View, entry: Entry, min_confidence: float | None) -> bool:
    """Whether a version is neither expired nor less confident than asked for."""
    return view.lives(entry) and not (min_confidence and entry["confidence"] < min_confidence)


def recall(view: View, entity_path: str, key: str, min_confidence: float | None = None, **_: Any) -> Any:
    """The caller's own latest version."""
    versions = _history(view, entity_path, key)
    own = [entry for entry in versions if entry["provenance"]["agentId"] == view.viewer]
    if not own or not view.lives(own[-1]):
        return None
    return own[-1] if own[-1]["confidence"] >= (min_confidence or 0) else None


def tree(view: View, max_depth: float | None = None, polluted: frozenset[str] = frozenset(), **_: Any) -> str:
    """The indented tree of paths. `polluted` are names that earlier trees have lost."""
    depth = whole(TREE_DEPTH if max_depth is None else max_depth)
    counts: Counter[tuple[str, ...]] = Counter()
    for entry in view.counted():
        names = entry["entityPath"].split("/")
        if "counts" in view.manner:
            names = javascript.reached(names, polluted)
        counts.update(tuple(names[: end + 1]) for end in range(min(len(names), max(depth, 0))))
    collation = _collation(view)
    ordered = sorted(counts, key=lambda names: [collation(name) for name in names])
    return "\n".join(f"{'  ' * (len(names) - 1)}{names[-1]} ({counts[names]})" for names in ordered)


def _list(
    view: View, entity_path: str | None = None, include_superseded: bool | None = None, **_: Any
) -> list[Entry]:
    return [
        entry for entry in view.under(entity_path, superseded=bool(include_superseded)) if view.sees(entry)
    ]


def _history(
    view: View, entity_path: str, key: str, since: str | None = None, until: str | None = None, **_: Any
) -> list[Entry]:
    if "address" in view.manner:
        found = [entry for entry in view.under(entity_path, superseded=True) if entry["key"] == key]
        found = sorted(found, key=lambda entry: entry["version"])
    else:
        found = view.slots.get(view.slot(entity_path, key), [])
    return [entry for entry in found if view.shows(entry) and view.is_within(entry, since, until)]


def _my_entries(view: View, entity_path: str | None = None, **_: Any) -> list[Entry]:
    return search(view, entity_path=entity_path, agent_id=view.viewer, limit=_most(view))


def _read_from(view: View, agent_id: str, entity_path: str, key: str, **_: Any) -> Any:
    found = search(view, entity_path=entity_path, agent_id=agent_id, limit=_most(view))
    is_loose = "address" in view.manner
    for entry in found:
        if entry["key"] == key and entry["shared"] and (is_loose or entry["entityPath"] == entity_path):
            return entry
    return None


def _stats(view: View, **_: Any) -> Any:
    current = view.counted()
    agents = _tally(view, (entry["provenance"]["agentId"] for entry in current))
    entities = _tally(view, (entry["entityPath"] for entry in current))
    return {
        "totalEntries": len(current),
        "totalEntities": len(entities),
        "totalAgents": len(agents),
        "agents": agents,
        "entities": entities,
        "confidenceAvg": _mean(current),
        "outcomeLinkedCount": sum(entry["outcomeCount"] > 0 for entry in current),
    }


def _list_scopes(view: View, **_: Any) -> list[str]:
    return sorted({entry["entityPath"] for entry in view.counted()}, key=_collation(view))


def _info(view: View, entity_path: str | None = None, **_: Any) -> Any:
    here = [entry for entry in view.counted() if entry["entityPath"] == (entity_path or "")]
    times = [entry["provenance"]["writtenAt"] for entry in here]
    return {
        "path": entity_path or "",
        "entryCount": len(here),
        "avgConfidence": _mean(here),
        "keys": [entry["key"] for entry in here],
        "oldest": min(times, key=when, default=None),
        "newest": max(times, key=when, default=None),
    }


def _verify(view: View, **_: Any) -> Any:
    total = sum(len(versions) for versions in view.slots.values())
    return {"totalChecked": total, "valid": total, "corrupted": [], "chainBreaks": []}


READINGS: Mapping[str, Callable[..., Any]] = {
    "read": read,
    "list": _list,
    "history": _history,
    "search": search,
    "stats": _stats,
    "verify": _verify,
    "recall": recall,
    "myEntries": _my_entries,
    "readFrom": _read_from,
    "listScopes": _list_scopes,
    "info": _info,
    "tree": tree,
}
"""Every reading call by the SDK's name."""


def _most(view: View) -> float:
    return DEFAULT_LIMIT if "limits" in view.manner else EVERYTHING


def _tally(view: View, names: Iterable[str]) -> dict[str, Any]:
    return javascript.tally(names) if "counts" in view.manner else dict(Counter(names))


def _collation(view: View) -> Callable[[str], Any]:
    return javascript.code_units if "code-points" in view.manner else str


def _mean(entries: Sequence[Entry]) -> float:
    return sum(entry["confidence"] for entry in entries) / len(entries) if entries else 0.0
