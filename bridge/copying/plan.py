"""Which versions are to be written, in which order, and which cannot be."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from amfs_core.models import MemoryEntry

from bridge.copying.comparing import spelled
from bridge.copying.endpoints import Endpoint
from bridge.copying.report import LeftOut

Address = tuple[str, str]
Versions = dict[Address, dict[int, MemoryEntry]]
Current = Mapping[Address, MemoryEntry]
Timed = tuple[datetime, Address, int, MemoryEntry]
ENTRIES = "entries"
NOT_CURRENT = "in the source no listed version of it is current: it was archived or erased, or is hidden"
LOST = "the source lists no version {} before it: that was pruned, erased or archived, or is hidden"


@dataclass(slots=True)
class Plan:
    """What is to be written, in order; what is there already; and what is left out, with the reason."""

    writes: list[MemoryEntry] = field(default_factory=list)
    held: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


def by_address(entries: Iterable[MemoryEntry]) -> Versions:
    """Versions by number, by address."""
    found: Versions = defaultdict(dict)
    for entry in entries:
        found[entry.entity_path, entry.key][entry.version] = entry
    return dict(found)


def planned(source: Versions, current: Current, target: Versions, end: Endpoint) -> Plan:
    """The writes that make the target hold what the source does, the oldest first.

    A key is left out where the target would answer with a version that is not ``current`` in the source.
    """
    plan = Plan()
    taken: dict[tuple[str, ...], Address] = {end.place(*address): address for address in target}
    timed: list[Timed] = []
    for address, versions in sorted(source.items()):
        if address not in current or current[address].version != max(versions):
            plan.left_out += _left(versions.values(), NOT_CURRENT)
            continue
        of_place = taken.setdefault(end.place(*address), address)
        if of_place != address:
            reason = f"in a directory it is the same as {spelled(of_place)}"
            plan.left_out += _left(versions.values(), reason, is_conflict=True)
            continue
        timed += _of_one_key(plan, end, versions, target.get(address, {}))
    plan.writes = _in_order(timed)
    return plan


def _in_order(timed: Sequence[Timed]) -> list[MemoryEntry]:
    """The oldest first, the versions of a key by number, and those of one commit together if that goes."""
    latest: dict[str, datetime] = {}
    for at, _, _, entry in timed:
        if entry.commit_id is not None:
            latest[entry.commit_id] = max(at, latest.get(entry.commit_id, at))
    placed: list[tuple[datetime, int, str, Address, MemoryEntry]] = []
    of_key: dict[Address, datetime] = {}
    for at, address, number, entry in timed:
        moment = max(at, latest.get(entry.commit_id or "", at), of_key.get(address, at))
        of_key[address] = moment
        placed.append((moment, number, entry.commit_id or "", address, entry))
    placed.sort(key=lambda each: each[:4])
    return [entry for *_, entry in placed]


def _of_one_key(
    plan: Plan, end: Endpoint, versions: Mapping[int, MemoryEntry], there: Mapping[int, MemoryEntry]
) -> list[Timed]:
    """What of one key is to be written, each at a moment that is not before the version ahead of it.

    Nothing where a version is in neither place: what lies before it would be current in the target.
    """
    timed: list[Timed] = []
    newest = max(there, default=0)
    at = datetime.min.replace(tzinfo=UTC)
    numbers = sorted(versions)
    for place, number in enumerate(numbers):
        entry, other = versions[number], there.get(number)
        if number > newest + 1:
            unwritten = [each for *_, each in timed] + [versions[each] for each in numbers[place:]]
            plan.left_out += _left(unwritten, LOST.format(newest + 1))
            return []
        conflict = _conflict(entry, other, newest)
        reason = conflict or (end.unusable_entry(entry) if other is None else None)
        if reason is not None:
            rest = (versions[each] for each in numbers[place:])
            plan.left_out += _left(rest, reason, is_conflict=conflict is not None)
            return timed
        if other is not None:
            plan.held += 1
            continue
        newest = number
        at = max(at, _aware(entry.provenance.written_at))
        timed.append((at, (entry.entity_path, entry.key), number, entry))
    return timed


def _conflict(entry: MemoryEntry, other: MemoryEntry | None, newest: int) -> str | None:
    if other is not None:
        return None if same(entry, other) else "the target holds something else there"
    if entry.version == newest + 1:
        return None
    return f"the target holds {newest} versions of it, and this one would get another number"


def same(given: MemoryEntry, held: MemoryEntry) -> bool:
    """Whether this is the same write: by the same author, and of the same value or at the same time."""
    if given.provenance.agent_id != held.provenance.agent_id:
        return False
    at = _aware(given.provenance.written_at) == _aware(held.provenance.written_at)
    return at or spelled(given.value) == spelled(held.value)


def batches(writes: Sequence[MemoryEntry], end: Endpoint) -> Iterator[list[MemoryEntry]]:
    """What is written together: the versions of one commit, where the target can make them one."""
    batch: list[MemoryEntry] = []
    for entry in writes:
        if batch and not (end.batches and _is_of(batch, entry)):
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch


def _is_of(batch: Sequence[MemoryEntry], entry: MemoryEntry) -> bool:
    return entry.commit_id is not None and entry.commit_id == batch[0].commit_id


def left(entry: MemoryEntry, reason: str, *, is_conflict: bool = False) -> LeftOut:
    """This version, not copied."""
    return LeftOut(
        kind=ENTRIES,
        reason=reason,
        is_conflict=is_conflict,
        entity_path=entry.entity_path,
        key=entry.key,
        version=entry.version,
    )


def _left(entries: Iterable[MemoryEntry], reason: str, *, is_conflict: bool = False) -> list[LeftOut]:
    return [left(entry, reason, is_conflict=is_conflict) for entry in entries]


def _aware(moment: Any) -> datetime:
    at: datetime = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return at.astimezone(UTC)
