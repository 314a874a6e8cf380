"""Writing entries: one, or several as one commit, under the SDK's rule of conflicts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from amfs_core.evidence import inherit_evidence
from amfs_core.exceptions import VersionConflictError
from amfs_core.models import MemoryEntry, Provenance
from pydantic import ValidationError

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MemoryEntry as StoredEntry
from amfs_sqlite.rules.commits import check_change_count, check_signature, prepare_entry
from amfs_sqlite.rules.limits import check_finite, check_name, check_several, check_whole_number, unacceptable
from amfs_sqlite.rules.values import decode
from amfs_sqlite.sqlite import commits, entries, recalls
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.overlays import is_own
from amfs_sqlite.sqlite.recalls import Found
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.priorities import TIERS
from amfs_sqlite.sync.translation import shown_entry, stored_entry

DEFAULT_TIER = MemoryEntry.model_fields["tier"].default


def write(tx: Transaction, entry: MemoryEntry) -> MemoryEntry:
    (written,) = write_batch(tx, [entry])
    return written


def write_batch(tx: Transaction, entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    return _written(tx, entries, is_numbered=False)


def keep_entries(tx: Transaction, entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """As ``write_batch``, of versions that have their numbers already, as a copy's have.

    Raises VersionConflictError where one is not the very next of its key, whatever became of those before:
    what was erased here does not come back under another number.
    """
    return _written(tx, entries, is_numbered=True)


def _written(tx: Transaction, entries: Sequence[MemoryEntry], *, is_numbered: bool) -> list[MemoryEntry]:
    check_several(entries, "entries")
    if not entries:
        return []
    check_change_count(len(entries))
    entries = [_checked(entry) for entry in entries]
    stored = [stored_entry(entry) for entry in entries]
    branches = {entry.branch for entry in entries}
    if len(branches) > 1:
        raise InvalidArgumentError("entries", "are of several branches; a batch is one commit of one branch")
    signed = stored[0].provenance
    session_id = signed.session_id or None
    check_signature(signed.agent_id, "", session_id, None)
    with tx.elsewhere(branch=branches.pop()):
        draft = commits.begin(tx)
        counts: Counter[tuple[str, str]] = Counter()
        written = [
            _write(tx, draft, given, each, None if is_numbered else counts)
            for given, each in zip(entries, stored, strict=True)
        ]
        made = commits.append(
            tx,
            draft,
            commit_id=commits.id_for(tx, stored),
            kind="write",
            message="",
            author=signed.agent_id,
            session_id=session_id,
        )
    for entry in written:
        entry.commit_id = made.commit_id
    return written


def _checked(given: MemoryEntry) -> MemoryEntry:
    """The entry made again of its fields: the SDK looks at none that is set later."""
    if not isinstance(given, MemoryEntry):
        raise InvalidArgumentError("entry", f"is {quoted(given)}; it must be an amfs_core MemoryEntry")
    fields = given.__dict__
    if isinstance(signed := fields.get("provenance"), Provenance):
        fields = fields | {"provenance": signed.__dict__}
    try:
        entry = MemoryEntry.model_validate(fields)
    except ValidationError as refused:
        raise unacceptable(refused) from refused
    check_name(entry.branch, "branch")
    check_whole_number(entry.recall_count, "recall_count")
    if entry.tier not in TIERS:
        raise InvalidArgumentError("tier", f"is {quoted(entry.tier)}; give 1, 2 or 3")
    if entry.priority_score is not None:
        check_finite(entry.priority_score, "priority_score")
    return entry


def _write(
    tx: Transaction,
    draft: CommitDraft,
    given: MemoryEntry,
    stored: StoredEntry,
    counts: "Counter[tuple[str, str]] | None",
) -> MemoryEntry:
    """Append the entry as the next version of its key; as the SDK has it, but for the id of the commit.

    ``counts`` is how often each address was written in this batch before; None where every version has its
    number and its record already.
    """
    address = (given.entity_path, given.key)
    found = recalls.found(tx, *address)
    if counts is None:
        _check_next(given, found)
    else:
        earlier = counts[address]
        counts[address] += 1
        _check_version(given, found, earlier)
        if found is not None and not earlier and _is_of_the_same_record(given, found):
            given = inherit_evidence(given, shown_entry(*found.recalled))
            stored = stored_entry(given)
    change = prepare_entry(stored.copied(value=None), stored.value, tx.policy)
    before = None if found is None else found.standing
    changes: dict[str, Any] = {"value": decode(change.value), "content_hash": change.content_hash}
    known_id = before.key_id if before is not None and is_own(tx, before.key_id) else None
    entry = entries.append(tx, draft, change.entry, changes, change.value, before=before)
    ground = draft.ground
    key_id = ground.newest_key_id if known_id is None else known_id
    _put_beside(tx, given, key_id, None if known_id is None else found)
    if given.embedding is not None:
        recalls.put_vector(tx, ground.newest_version_id, given.embedding)
    beside = {"embedding": given.embedding, "recall_count": given.recall_count, "tier": given.tier}
    return shown_entry(entry, recalls.Recall(), given.branch).model_copy(
        update=beside | {"priority_score": given.priority_score}
    )


def _check_version(given: MemoryEntry, found: Found | None, earlier: int) -> None:
    """Raise VersionConflictError where the version given is neither 1 nor the next.

    Entries of one batch are numbered by whoever reads all before writing any. Whoever archives an expired
    entry writes it again with the version it read.
    """
    current = found.standing.version if found else 0
    awaited = {1, current + 1, current + 1 - earlier}
    if given.version in awaited or given.version < 1:
        return
    if found is not None and given.version == current and _is_archived(given, found):
        return
    raise VersionConflictError(given.entity_path, given.key, expected=given.version, actual=current)


def _check_next(given: MemoryEntry, found: Found | None) -> None:
    current = found.standing.version if found else 0
    if given.version != current + 1:
        raise VersionConflictError(given.entity_path, given.key, expected=given.version, actual=current)


def _is_archived(given: MemoryEntry, found: Found) -> bool:
    """Whether this is the very version that stands there, without its ttl and all confidence."""
    if found.value is None or given.ttl_at is not None or given.confidence != 0.0:
        return False
    stands = found.recalled.entry
    provenance: Provenance = given.provenance
    return (
        stands.ttl_at is not None
        and provenance.agent_id == stands.provenance.agent_id
        and provenance.written_at == stands.written_at
        and given.value == stands.value
    )


def _is_of_the_same_record(given: MemoryEntry, found: Found) -> bool:
    """Whether an unchanged claim would keep what outcomes said of it: it has a record, and is given none."""
    if found.value is None or given.outcome_count or given.success_count or given.failure_count:
        return False
    return any(found.counts)


def _put_beside(tx: Transaction, given: MemoryEntry, key_id: int, found: Found | None) -> None:
    """What the SDK has in an entry and we beside its key, where it says more than stands beside that row."""
    stood = recalls.Recall() if found is None else found.recall
    if given.recall_count > (stood.recall_count or 0):
        recalls.raise_count(tx, key_id, given.recall_count)
    if given.tier != DEFAULT_TIER or given.priority_score is not None:
        tier = None if given.tier == DEFAULT_TIER else given.tier
        recalls.rank(tx, given.entity_path, given.key, tier, given.priority_score)
