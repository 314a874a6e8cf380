"""What every search answers, counted out of all that is stored."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from amfs_sqlite.rules.visibility import covers
from parity_tests.golden import javascript
from parity_tests.golden.comparison import moment
from parity_tests.golden.view import Address, Entry, RefusedError, View, address, when

DEFAULT_LIMIT = 100
EVERYTHING = 2**62
SECONDS_PER_DAY = 86_400.0
SORTED_BY = frozenset({"confidence", "recency", "version"})
WEIGHTS = {"semanticWeight": 0.5, "recencyWeight": 0.3, "confidenceWeight": 0.2}
HALF_LIFE_DAYS = 30.0


def search(
    view: View,
    *,
    entity_path: str | None = None,
    entity_paths: Sequence[str] | None = None,
    within: str | None = None,
    limit: float | None = None,
    recall_config: Mapping[str, Any] | None = None,
    sort_by: str | None = None,
    **filters: Any,
) -> list[Any]:
    """Entries, or with something to score by scored ones. `within` is the path of the scope asked."""
    paths = [entity_path] if entity_paths is None else _inside(view, within, entity_paths)
    found: dict[Address, Entry] = {}
    for path in paths:
        for entry in view.under(path, superseded=False):
            if view.sees(entry) and _passes(view, entry, is_scored=recall_config is not None, **filters):
                found.setdefault(address(entry), entry)
    ordered = _sorted(view, list(found.values()), sort_by)
    cut = whole(DEFAULT_LIMIT if limit is None else limit)
    if recall_config is None:
        return ordered[:cut]
    if "limits" in view.manner:
        ordered = ordered[:cut]
    scored = [_scored(view, entry, recall_config) for entry in ordered]
    return _greatest_first(scored, lambda each: each["score"])[:cut]


def whole(number: float) -> int:
    """A limit or depth as JavaScript takes it: fractions are cut off, negative ones count from the end."""
    return int(number) if math.isfinite(number) else EVERYTHING


def _inside(view: View, within: str | None, entity_paths: Sequence[str]) -> Sequence[str]:
    """Of the paths asked for through a scope, what lies inside of it."""
    if within is None or "scope" in view.manner:
        return entity_paths
    inside = [path if covers(within, path) else within for path in entity_paths]
    return [path for path, asked in zip(inside, entity_paths, strict=True) if covers(asked, path)]


def _passes(
    view: View,
    entry: Entry,
    *,
    is_scored: bool,
    query: str | None = None,
    min_confidence: float | None = None,
    max_confidence: float | None = None,
    agent_id: str | None = None,
    since: str | None = None,
    pattern_ref: str | None = None,
    **_: Any,
) -> bool:
    tags = entry["provenance"]["patternRefs"]
    if pattern_ref and tags is None:
        raise RefusedError("patternRefs are null")
    return (
        view.lives(entry)
        and not (min_confidence and entry["confidence"] < min_confidence)
        and not (max_confidence is not None and entry["confidence"] > max_confidence)
        and (not agent_id or entry["provenance"]["agentId"] == agent_id)
        and view.is_within(entry, since, None)
        and (not pattern_ref or pattern_ref in tags)
        and (is_scored or not query or _contains(view, entry, query))
    )


def _contains(view: View, entry: Entry, query: str) -> bool:
    spell = javascript.as_text if "value-text" in view.manner else javascript.as_json
    texts = (entry["entityPath"], entry["key"], spell(entry["value"]))
    return any(query.lower() in text.lower() for text in texts)


def _sorted(view: View, entries: list[Entry], sort_by: str | None) -> list[Entry]:
    by = "confidence" if sort_by is None else sort_by
    if by not in SORTED_BY:
        return entries
    if by != "recency":
        return _greatest_first(entries, lambda entry: entry[by])
    spelled = {id(entry): entry["provenance"]["writtenAt"] for entry in entries}
    if "instants" in view.manner:
        return sorted(entries, key=lambda entry: spelled[id(entry)], reverse=True)
    return sorted(entries, key=lambda entry: when(spelled[id(entry)]), reverse=True)


def _greatest_first(items: list[Any], number_of: Callable[[Any], float]) -> list[Any]:
    """Sorted as JavaScript sorts by a difference: what is no number counts as equal."""

    def compare(one: Any, other: Any) -> int:
        return (number_of(one) < number_of(other)) - (number_of(one) > number_of(other))

    return sorted(items, key=cmp_to_key(compare))


def _scored(view: View, entry: Entry, config: Mapping[str, Any]) -> Any:
    semantic, recency, sure = (_given(config, name, weight) for name, weight in WEIGHTS.items())
    written = moment(entry["provenance"]["writtenAt"])
    age_days = math.nan if written is None else (view.now - written).total_seconds() / SECONDS_PER_DAY
    parts = {
        "semantic": semantic,
        "recency": recency * _halved(age_days, _given(config, "recencyHalfLifeDays", HALF_LIFE_DAYS)),
        "confidence": sure * _clamped(entry["confidence"]),
    }
    return {"entry": entry, "score": sum(parts.values()), "breakdown": parts}


def _given(config: Mapping[str, Any], name: str, default: float) -> float:
    given = config.get(name)
    return default if given is None else float(given)


def _halved(age_days: float, half_life_days: float) -> float:
    if half_life_days <= 0:
        return 0.0
    try:
        return math.exp(-math.log(2) * age_days / half_life_days)
    except OverflowError:
        return math.inf


def _clamped(confidence: float) -> float:
    return confidence if math.isnan(confidence) else min(1.0, max(0.0, confidence))
