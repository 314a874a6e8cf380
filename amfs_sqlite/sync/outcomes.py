"""Outcomes by the SDK's own model: its arithmetic and its reading of a record, in one transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from amfs_core import evidence
from amfs_core.models import MemoryEntry, OutcomeRecord

from amfs_sqlite.models import OutcomeEffect
from amfs_sqlite.models import OutcomeRecord as StoredRecord
from amfs_sqlite.rules.commits import check_signature
from amfs_sqlite.rules.limits import check_instant, check_optional_text, check_whole_number
from amfs_sqlite.rules.outcomes import check_record
from amfs_sqlite.rules.references import splits
from amfs_sqlite.rules.visibility import is_visible
from amfs_sqlite.sqlite import commits, entries, outcome_log, outcome_reads, outcomes, recalls
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.outcome_log import Asked
from amfs_sqlite.sqlite.recalls import Found
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked
from amfs_sqlite.sync.entries import read_at_version
from amfs_sqlite.sync.translation import ours, shown_entry, stored_entry, their_outcome

POLICIES = {"evidence": "amfs-evidence", "multiplicative": "amfs-multiplicative"}
"""What effects name the SDK's models."""


def commit_outcome(
    tx: Transaction, record: OutcomeRecord, embedding: Sequence[float] | None = None
) -> list[MemoryEntry]:
    """As the SDK's model has it; every split of a ``path/key`` is tried against what is stored.

    ``embedding`` is of the task that it was about.
    """
    record = checked(record, OutcomeRecord, "record")
    stored = _stored(tx, record)
    draft = commits.begin(tx)
    newest = draft.ground.newest_version_id
    moves = [_move(tx, draft, record, stored, cited) for cited in _cited(tx, record)]
    effects = [(move.key_id, move.effect) for move in moves]
    made = _committed(tx, draft, stored, effects, newest)
    if embedding is not None:
        outcome_log.put_vector(tx, tx.sequence, embedding)
    moved = [move.entry for move in moves if move.entry is not None]
    return [entry.model_copy(update={"commit_id": made.commit_id}) for entry in moved]


def keep_outcome(tx: Transaction, record: OutcomeRecord) -> None:
    """Store a report as it is, and leave what it cites as it is: a copy holds what came of it already."""
    stored, draft = _stored(tx, checked(record, OutcomeRecord, "record")), commits.begin(tx)
    _committed(tx, draft, stored, [], draft.ground.newest_version_id)


def _stored(tx: Transaction, record: OutcomeRecord) -> StoredRecord:
    stored = ours(record, StoredRecord, "record")
    check_record(stored, tx.policy)
    check_signature(stored.agent_id, "", None, None)
    return stored


def _committed(
    tx: Transaction,
    draft: CommitDraft,
    stored: StoredRecord,
    effects: Sequence[tuple[int, OutcomeEffect]],
    newest_version_id: int,
) -> commits.Made:
    """The commit of a report and what it did."""
    outcomes.put(tx, draft, stored, effects, newest_version_id=newest_version_id)
    return commits.append(
        tx,
        draft,
        commit_id=commits.id_for(tx),
        kind="outcome",
        message="",
        author=stored.agent_id,
        session_id=None,
    )


class _Move(NamedTuple):
    """What a record did to one entry, and the entry after it; None where it did nothing."""

    key_id: int
    effect: OutcomeEffect
    entry: MemoryEntry | None


def _cited(tx: Transaction, record: OutcomeRecord) -> list[tuple[Found, MemoryEntry]]:
    """The entries that any step of the record cites and its reporter can see, each once."""
    found: dict[int, tuple[Found, MemoryEntry]] = {}
    steps = evidence.outcome_steps(record)
    for text in dict.fromkeys(text for _, texts in steps for text in texts):
        for address in splits(text):
            there = recalls.found(tx, *address)
            if there is None or there.value is None:
                continue
            if is_visible(bool(there.standing.shared), there.standing.agent_id, record.agent_id):
                found.setdefault(there.standing.key_id, (there, shown_entry(*there.recalled)))
                break
    return list(found.values())


def _move(
    tx: Transaction,
    draft: CommitDraft,
    record: OutcomeRecord,
    stored: StoredRecord,
    cited: tuple[Found, MemoryEntry],
) -> _Move:
    """Append the version that the SDK's model makes of the current one, where it makes one."""
    found, current = cited
    model, standing = evidence.outcome_model(), found.standing
    moved, steps = evidence.apply_record_to_entry(
        current, record, now=tx.now, model=model, version_lookup=partial(read_at_version, tx)
    )
    effect = OutcomeEffect(
        entity_path=current.entity_path,
        key=current.key,
        version=current.version,
        policy=POLICIES[model],
        confidence_before=current.confidence,
        confidence_after=moved.confidence + 0.0,
        applied=bool(steps),
        reason=None if steps else "stale",
        resulting_version=current.version + 1 if steps else None,
    )
    if not steps:
        return _Move(standing.key_id, effect, None)
    uplift, sessions = _uplift(tx, stored, current)
    moved = moved.model_copy(update={"uplift": uplift, "uplift_sessions": sessions})
    entry = stored_entry(moved).copied(content_hash=current.content_hash)
    entry = entries.append(tx, draft, entry, {}, found.value, before=standing, kind="outcome")
    recalls.carry_vector(tx, draft.ground.newest_version_id, standing.version_id)
    return _Move(standing.key_id, effect, shown_entry(entry, found.recall))


def _uplift(tx: Transaction, record: StoredRecord, entry: MemoryEntry) -> tuple[float | None, int]:
    """How much better those fare that read the entry, this record among them: for outcomes from now on."""
    since = tx.now - timedelta(days=evidence.UPLIFT_WINDOW_DAYS)
    is_recent = record.committed_at is not None and record.committed_at >= since
    others = evidence.UPLIFT_WINDOW - is_recent
    found = outcome_reads.counts(tx, entry.entity_path, entry.entry_key, since=since, limit=others)
    success = is_recent and evidence.is_success(record.outcome_type)
    return evidence.uplift_from_counts(
        found.read_successes + success, found.read + is_recent, found.unread_successes, found.unread
    )


def list_outcomes(
    tx: Transaction,
    *,
    entity_path: str | None = None,
    since: datetime | None = None,
    limit: int = 1000,
    outcome_ref: str | None = None,
) -> list[OutcomeRecord]:
    """Newest report first. ``since`` is inclusive; ``entity_path`` narrows to what cites entries below it.
    Those of a type that the SDK does not have are left out of the page.
    """
    check_optional_text(entity_path, "entity_path")
    check_optional_text(outcome_ref, "outcome_ref")
    check_whole_number(limit, "limit")
    asked = Asked(below=entity_path, since=check_instant(since, "since"), outcome_ref=outcome_ref)
    found = (their_outcome(report.record) for report in outcome_log.reports(tx, asked, limit=limit))
    return [record for record in found if record is not None]


def count_outcomes(tx: Transaction, *, entity_path: str | None = None, since: datetime | None = None) -> int:
    """How many ``list_outcomes`` lists without a limit."""
    check_optional_text(entity_path, "entity_path")
    return outcome_log.count(tx, Asked(below=entity_path, since=check_instant(since, "since")))
