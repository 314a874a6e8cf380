"""What every reading call answers, counted out of all that is stored, in our manner or in the SDK's.

`manner` holds the ids of the deviations (`deviations.py`) in which the answer is to be the SDK's: with none
of them it is a recount of our own answers, with all of them it is what the recorded SDK answers.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any, NamedTuple

from amfs_sqlite.clock import instant
from amfs_sqlite.rules.visibility import covers
from parity_tests.golden import javascript
from parity_tests.golden.comparison import moment
from parity_tests.golden.transcript import Answer
from parity_tests.golden.wire import ours

Entry = dict[str, Any]
Address = tuple[str, str]

HASHES = ("contentHash", "integrityChain", "commitId")
DEFAULT_LIMIT = 100
EVERYTHING = 2**62
TREE_DEPTH = 3
SECONDS_PER_DAY = 86_400.0
NAMES = {
    "list": "entries",
    "readFrom": "read_from",
    "myEntries": "my_entries",
    "listScopes": "list_scopes",
}
SORTED_BY = frozenset({"confidence", "recency", "version"})


class RefusedError(Exception):
    """The call raises."""


class Reading(NamedTuple):
    """One line of a read log."""

    address: Address
    version: int
    read_at: datetime

    @property
    def text(self) -> str:
        """The address as AMFS writes it."""
        return joined(*self.address)


def joined(entity_path: str, key: str) -> str:
    """An address as AMFS writes it."""
    return f"{entity_path}/{key}"


def address(entry: Entry) -> Address:
    """The address of an entry."""
    return entry["entityPath"], entry["key"]


class View:
    """Everything stored, as one caller sees it at one time. `viewer` None sees all."""

    def __init__(
        self, versions: Iterable[Entry], manner: frozenset[str], viewer: str | None, now: datetime
    ) -> None:
        self._manner = manner
        self._viewer = viewer
        self._now = now
        self.slots: dict[Any, list[Entry]] = {}
        for entry in versions:
            self.slots.setdefault(self.slot(*address(entry)), []).append(entry)

    def slot(self, entity_path: str, key: str) -> Any:
        """What tells one key from another: the pair; in the SDK the joined text."""
        return joined(entity_path, key) if "address" in self._manner else (entity_path, key)

    def sees(self, entry: Entry) -> bool:
        """Whether the caller may see a version."""
        return self._viewer is None or entry["shared"] or entry["provenance"]["agentId"] == self._viewer

    def current(self, entity_path: str, key: str) -> Entry | None:
        """The current version, whoever may see it."""
        found = self.slots.get(self.slot(entity_path, key))
        return found[-1] if found else None

    def read(
        self,
        entity_path: str,
        key: str,
        min_confidence: float | None = None,
        *,
        hidden_too: bool = False,
        **_: Any,
    ) -> Any:
        found = self.current(entity_path, key)
        if found is None or not (hidden_too or self.sees(found)) or not self.lives(found):
            return None
        return None if min_confidence and found["confidence"] < min_confidence else found

    def entries(
        self, entity_path: str | None = None, include_superseded: bool | None = False, **_: Any
    ) -> list[Entry]:
        return [entry for entry in self._under(entity_path, bool(include_superseded)) if self.sees(entry)]

    def history(
        self, entity_path: str, key: str, since: str | None = None, until: str | None = None, **_: Any
    ) -> list[Entry]:
        found = self.slots.get((entity_path, key), [])
        if "address" in self._manner:
            found = [entry for entry in self._under(entity_path, superseded=True) if entry["key"] == key]
            found = sorted(found, key=lambda entry: entry["version"])
        return [
            entry
            for entry in found
            if ("private" in self._manner or self.sees(entry)) and self._within(entry, since, until)
        ]

    def search(
        self,
        entity_path: str | None = None,
        entity_paths: Sequence[str] | None = None,
        within: str | None = None,
        *,
        limit: float | None = None,
        recall_config: Mapping[str, Any] | None = None,
        sort_by: str | None = None,
        **filters: Any,
    ) -> list[Any]:
        paths = [entity_path] if entity_paths is None else self._inside(within, entity_paths)
        found: dict[Address, Entry] = {}
        for path in paths:
            for entry in self.entries(path):
                if self._passes(entry, is_scored=recall_config is not None, **filters):
                    found.setdefault(address(entry), entry)
        ordered = self._sorted(list(found.values()), sort_by)
        cut = self._count(DEFAULT_LIMIT if limit is None else limit)
        if recall_config is None:
            return ordered[:cut]
        if "limits" in self._manner:
            ordered = ordered[:cut]
        scored = [self._scored(entry, recall_config) for entry in ordered]
        return _greatest_first(scored, lambda each: each["score"])[:cut]

    def my_entries(self, entity_path: str | None = None, **_: Any) -> list[Entry]:
        return self.search(entity_path=entity_path, agent_id=self._viewer, limit=self._most())

    def read_from(self, agent_id: str, entity_path: str, key: str, **_: Any) -> Any:
        found = self.search(entity_path=entity_path, agent_id=agent_id, limit=self._most())
        is_loose = "address" in self._manner
        for entry in found:
            if entry["key"] == key and entry["shared"] and (is_loose or entry["entityPath"] == entity_path):
                return entry
        return None

    def recall(self, entity_path: str, key: str, min_confidence: float | None = None, **_: Any) -> Any:
        versions = self.history(entity_path, key)
        own = [entry for entry in versions if entry["provenance"]["agentId"] == self._viewer]
        if not own or not self.lives(own[-1]):
            return None
        return own[-1] if own[-1]["confidence"] >= (min_confidence or 0) else None

    def stats(self, **_: Any) -> Any:
        current = self._counted()
        agents = self._tally(entry["provenance"]["agentId"] for entry in current)
        entities = self._tally(entry["entityPath"] for entry in current)
        return {
            "totalEntries": len(current),
            "totalEntities": len(entities),
            "totalAgents": len(agents),
            "agents": agents,
            "entities": entities,
            "confidenceAvg": _mean(current),
            "outcomeLinkedCount": sum(entry["outcomeCount"] > 0 for entry in current),
        }

    def list_scopes(self, **_: Any) -> list[str]:
        return sorted({entry["entityPath"] for entry in self._counted()}, key=self._collation)

    def info(self, entity_path: str | None = None, **_: Any) -> Any:
        here = [entry for entry in self._counted() if entry["entityPath"] == (entity_path or "")]
        times = [entry["provenance"]["writtenAt"] for entry in here]
        return {
            "path": entity_path or "",
            "entryCount": len(here),
            "avgConfidence": _mean(here),
            "keys": [entry["key"] for entry in here],
            "oldest": min(times, key=_when, default=None),
            "newest": max(times, key=_when, default=None),
        }

    def tree(self, max_depth: float | None = None, polluted: frozenset[str] = frozenset(), **_: Any) -> str:
        depth = self._count(TREE_DEPTH if max_depth is None else max_depth)
        counts: Counter[tuple[str, ...]] = Counter()
        for entry in self._counted():
            names = entry["entityPath"].split("/")
            if "counts" in self._manner:
                names = javascript.reached(names, polluted)
            counts.update(tuple(names[: end + 1]) for end in range(min(len(names), max(depth, 0))))
        ordered = sorted(counts, key=lambda names: [self._collation(name) for name in names])
        return "\n".join(f"{'  ' * (len(names) - 1)}{names[-1]} ({counts[names]})" for names in ordered)

    def verify(self, **_: Any) -> Any:
        total = sum(len(versions) for versions in self.slots.values())
        return {"totalChecked": total, "valid": total, "corrupted": [], "chainBreaks": []}

    def explained(self, log: Sequence[Reading]) -> list[Entry]:
        """The entries of a log as they are now, with the versions read."""
        found = [(self.current(*line.address), line.version) for line in log]
        return [
            entry | {"readVersion": version}
            for entry, version in found
            if entry is not None and ("private" in self._manner or self.sees(entry))
        ]

    def credited(self, texts: Sequence[str]) -> Sequence[Address]:
        """Which current entries an outcome's texts name, in order."""
        found = []
        for text in texts:
            cuts = [i for i in reversed(range(len(text))) if text[i] == "/"]
            for cut in cuts[:1] if "address" in self._manner else cuts:
                entry = self.current(text[:cut], text[cut + 1 :])
                if entry is not None and ("private" in self._manner or self.sees(entry)):
                    found.append(address(entry))
                    break
        return found

    def answer(self, op: str, args: Mapping[str, Any]) -> Answer:
        """The answer to a reading call by the SDK's names."""
        try:
            return Answer(
                result=getattr(self, NAMES.get(op, op))(**{ours(name): args[name] for name in args})
            )
        except RefusedError as refused:
            return Answer(error=str(refused))

    def _under(self, entity_path: str | None, superseded: bool) -> list[Entry]:
        return [
            entry
            for name, versions in self.slots.items()
            if self._covers(entity_path, name)
            for entry in (versions if superseded else versions[-1:])
        ]

    def _covers(self, entity_path: str | None, slot: Any) -> bool:
        if "address" in self._manner:
            return not entity_path or slot.startswith(f"{entity_path}/")
        return covers(entity_path, slot[0])

    def _inside(self, within: str | None, entity_paths: Sequence[str]) -> list[str]:
        """Of the paths asked for through a scope, what lies inside of it."""
        if within is None or "scope" in self._manner:
            return [*entity_paths]
        inside = [path if covers(within, path) else within for path in entity_paths]
        return [path for path, asked in zip(inside, entity_paths, strict=True) if covers(asked, path)]

    def _sorted(self, entries: list[Entry], sort_by: str | None) -> list[Entry]:
        by = "confidence" if sort_by is None else sort_by
        if by not in SORTED_BY:
            return entries
        if by != "recency":
            return _greatest_first(entries, lambda entry: entry[by])
        spelled = {id(entry): entry["provenance"]["writtenAt"] for entry in entries}
        if "instants" in self._manner:
            return sorted(entries, key=lambda entry: spelled[id(entry)], reverse=True)
        return sorted(entries, key=lambda entry: instant(spelled[id(entry)]), reverse=True)

    def _passes(
        self,
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
            self.lives(entry)
            and not (min_confidence and entry["confidence"] < min_confidence)
            and not (max_confidence is not None and entry["confidence"] > max_confidence)
            and (not agent_id or entry["provenance"]["agentId"] == agent_id)
            and self._within(entry, since, None)
            and (not pattern_ref or pattern_ref in tags)
            and (is_scored or not query or self._contains(entry, query))
        )

    def _contains(self, entry: Entry, query: str) -> bool:
        spell = javascript.as_text if "value-text" in self._manner else javascript.as_json
        texts = (entry["entityPath"], entry["key"], spell(entry["value"]))
        return any(query.lower() in text.lower() for text in texts)

    def lives(self, entry: Entry) -> bool:
        """Whether a version has not expired, or never does."""
        if "expired" in self._manner or not entry["ttlAt"]:
            return True
        ends = moment(entry["ttlAt"])
        return ends is None or ends > self._now

    def _within(self, entry: Entry, since: str | None, until: str | None) -> bool:
        written = entry["provenance"]["writtenAt"]
        if "instants" in self._manner:
            return (not since or written >= since) and (not until or written <= until)
        first, last = (moment(bound) if bound else None for bound in (since, until))
        at = instant(written)
        return (first is None or at >= first) and (last is None or at <= last)

    def _count(self, number: float) -> int:
        """A limit or depth. JavaScript cuts fractions off, and counts negative ones from the end."""
        return int(number) if math.isfinite(number) else EVERYTHING

    def _most(self) -> float:
        return DEFAULT_LIMIT if "limits" in self._manner else EVERYTHING

    def _counted(self) -> list[Entry]:
        current = [versions[-1] for versions in self.slots.values()]
        return [entry for entry in current if "private" in self._manner or self.sees(entry)]

    def _tally(self, names: Iterable[str]) -> dict[str, Any]:
        return javascript.tally(names) if "counts" in self._manner else dict(Counter(names))

    def _collation(self, name: str) -> Any:
        return name.encode("utf-16-be", "surrogatepass") if "code-points" in self._manner else name

    def _scored(self, entry: Entry, config: Mapping[str, Any]) -> Any:
        weights = {"semanticWeight": 0.5, "recencyWeight": 0.3, "confidenceWeight": 0.2}
        semantic, recency, sure = (_given(config, name, weight) for name, weight in weights.items())
        half_life = _given(config, "recencyHalfLifeDays", 30.0)
        written = moment(entry["provenance"]["writtenAt"])
        age_days = math.nan if written is None else (self._now - written).total_seconds() / SECONDS_PER_DAY
        parts = {
            "semantic": semantic,
            "recency": recency * _halved(age_days, half_life),
            "confidence": sure * _clamped(entry["confidence"]),
        }
        return {"entry": entry, "score": sum(parts.values()), "breakdown": parts}


def _greatest_first(items: list[Any], number_of: Callable[[Any], float]) -> list[Any]:
    """Sorted as JavaScript sorts by a difference: what is no number counts as equal."""

    def compare(one: Any, other: Any) -> int:
        return (number_of(one) < number_of(other)) - (number_of(one) > number_of(other))

    return sorted(items, key=cmp_to_key(compare))


def _when(spelling: str) -> datetime:
    return moment(spelling) or datetime.min.replace(tzinfo=UTC)


def _clamped(confidence: float) -> float:
    return confidence if math.isnan(confidence) else min(1.0, max(0.0, confidence))


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


def _mean(entries: Sequence[Entry]) -> float:
    return sum(entry["confidence"] for entry in entries) / len(entries) if entries else 0.0
