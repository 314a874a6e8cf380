"""Entries: reading, writing and listing them as the SDK means it."""

from collections.abc import Sequence

from amfs_core.evidence import inherit_evidence
from amfs_core.exceptions import VersionConflictError
from amfs_core.models import MemoryEntry

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.limits import check_asked, check_finite, check_flag, check_optional_text
from amfs_sqlite.rules.visibility import is_expired
from amfs_sqlite.sqlite import commits, entries, recalls
from amfs_sqlite.sqlite.recalls import Recalled
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.translation import shown_entry, stored_entry

EVERYTHING = "1"
EXACTLY = "c.entity_path = :entity_path"


def read(
    tx: Transaction, entity_path: str, key: str, *, min_confidence: float = 0.0, branch: str = MAIN_BRANCH
) -> MemoryEntry | None:
    check_asked(entity_path, key, None)
    check_finite(min_confidence, "min_confidence")
    with tx.elsewhere(branch=branch):
        found = recalls.read(tx, entity_path, key)
    if found is None or found.entry.confidence < min_confidence or is_expired(found.entry.ttl_at, tx.now):
        return None
    return shown(found, branch)


def write(tx: Transaction, entry: MemoryEntry) -> MemoryEntry:
    (written,) = write_batch(tx, [entry])
    return written


def write_batch(tx: Transaction, entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    if not entries:
        return []
    branches = {entry.branch for entry in entries}
    if len(branches) > 1:
        raise InvalidArgumentError("entries", "are of several branches; a batch is one commit of one branch")
    with tx.elsewhere(branch=branches.pop()):
        return _written(tx, [_checked(tx, entry, entries[:place]) for place, entry in enumerate(entries)])


def _checked(tx: Transaction, entry: MemoryEntry, before: Sequence[MemoryEntry]) -> MemoryEntry:
    """The entry as it is to be written: an unchanged claim that says nothing of its record keeps it.

    Raises VersionConflictError where its version is neither 1 nor the next.
    """
    stored = stored_entry(entry)
    address = (stored.entity_path, stored.key)
    standing = entries.standing(tx, *address)
    earlier = sum((each.entity_path, each.key) == address for each in before)
    current = (standing.version if standing else 0) + earlier
    if entry.version > 1 and entry.version != current + 1 and not (earlier and entry.version == current):
        raise VersionConflictError(*address, expected=entry.version, actual=current)
    if earlier or entry.outcome_count or entry.success_count or entry.failure_count:
        return entry
    found = recalls.read(tx, *address)
    return entry if found is None else inherit_evidence(entry, shown(found, entry.branch))


def _written(tx: Transaction, batch: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    asked = commits.batch_request(tx.policy, [stored_entry(entry) for entry in batch], None)
    written = commits.commit_entries(tx, asked)
    newest = commits.begin(tx).ground.newest_version_id
    shown_entries = []
    for place, (given, stored) in enumerate(zip(batch, written, strict=True)):
        if given.embedding is not None:
            recalls.put_vector(tx, newest - len(batch) + 1 + place, given.embedding)
        if given.recall_count:
            recalls.raise_count(tx, entries.key_id(tx, stored.entity_path, stored.key), given.recall_count)
        beside = given.model_dump(include={"recall_count", "tier", "priority_score", "embedding"})
        shown_entries.append(shown_entry(stored, recalls.Recall(), given.branch).model_copy(update=beside))
    return shown_entries


def list_entries(
    tx: Transaction,
    entity_path: str | None = None,
    *,
    include_superseded: bool = False,
    branch: str = MAIN_BRANCH,
) -> list[MemoryEntry]:
    check_optional_text(entity_path, "entity_path")
    check_flag(include_superseded, "include_superseded")
    where = EVERYTHING if entity_path is None else EXACTLY
    with tx.elsewhere(branch=branch):
        found = recalls.each(tx, where, {"entity_path": entity_path}, versions=include_superseded)
        return [shown(each, branch) for each in found]


def increment_recall_count(tx: Transaction, entity_path: str, key: str, *, branch: str = MAIN_BRANCH) -> None:
    check_asked(entity_path, key, None)
    with tx.elsewhere(branch=branch):
        recalls.increment(tx, entity_path, key)


def shown(found: Recalled, branch: str = MAIN_BRANCH) -> MemoryEntry:
    """As the SDK has it."""
    return shown_entry(found.entry, found.recall, branch)
