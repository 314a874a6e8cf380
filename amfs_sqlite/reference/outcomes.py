"""Outcomes: applying them to entries, and listing them."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.errors import EntryNotFoundError
from amfs_sqlite.models import (
    EntryRef,
    MemoryEntry,
    OutcomeEffect,
    OutcomeRecord,
    RecordedOutcome,
)
from amfs_sqlite.reference.store import Opinion, State, Store, StoredOutcome, StoredVersion, hidden_from
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.limits import check_count, check_optional_text
from amfs_sqlite.rules.outcomes import Earlier, effect_on, moved, targets
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.visibility import outcome_for


def apply(draft: State, record: OutcomeRecord, policy: OutcomePolicy, now: datetime) -> list[MemoryEntry]:
    """Record an outcome, with what it does to each entry it names; return the entries it moved."""
    entries: list[MemoryEntry] = []
    effects: list[OutcomeEffect] = []
    newest = len(draft.versions)

    def is_current(entity_path: str, key: str) -> bool:
        return draft.current(entity_path, key, record.agent_id) is not None

    refs = targets(record, policy, is_current)
    for ref in refs:
        _check_exists(draft, ref, record.agent_id)
    for ref in refs:
        stored = draft.keys[ref.entity_path, ref.key]
        current, named = stored.current, stored.version(ref.version or 0)
        about = draft.shown(named) if named else None
        earlier = _earlier(draft, record, effects, ref)
        effect = effect_on(draft.shown(current), about, record, policy, earlier)
        effects.append(effect)
        if effect.applied:
            entries.append(_move(draft, current, effect, record))
    stamped = record.model_copy(update={"committed_at": record.committed_at or now})
    wire = encode(stamped.to_wire())
    draft.outcomes.append(StoredOutcome(draft.next_sequence, newest, wire, tuple(effects)))
    return entries


def list_outcomes(
    store: Store,
    *,
    outcome_ref: str | None,
    entity_path: str | None,
    key: str | None,
    limit: int | None,
    before: int | None,
    viewer: str | None,
) -> Sequence[RecordedOutcome]:
    """The outcomes that the viewer can see and that concern what is asked for, newest first."""
    state = store.state
    check_optional_text(outcome_ref, "outcome_ref")
    check_optional_text(entity_path, "entity_path")
    check_optional_text(key, "key")
    check_count(limit, "limit")
    check_count(before, "before")
    check_optional_text(viewer, "viewer")
    recorded = [
        outcome_for(_recorded(state, outcome), viewer, hidden_from(state, viewer))
        for outcome in reversed(state.outcomes)
        if before is None or outcome.sequence < before
    ]
    found = [
        outcome
        for outcome in recorded
        if outcome is not None
        and (not outcome_ref or outcome_ref == outcome.record.outcome_ref)
        and _concerns(outcome, entity_path, key)
    ]
    page = found[:limit]
    last = {outcome.sequence for outcome in page[-1:]}
    return [*page, *(outcome for outcome in found[len(page) :] if outcome.sequence in last)]


def _check_exists(draft: State, ref: EntryRef, agent_id: str) -> None:
    """Refuse what was not there for the reporter before its outcome moved anything."""
    found = draft.current(ref.entity_path, ref.key, agent_id)
    if ref.version is not None:
        stored = draft.keys.get((ref.entity_path, ref.key))
        found = stored.version(ref.version) if stored else None
    if found is None or not found.is_visible(agent_id):
        raise EntryNotFoundError(ref.entity_path, ref.key, ref.version)


def _earlier(
    draft: State, record: OutcomeRecord, effects: Sequence[OutcomeEffect], ref: EntryRef
) -> list[Earlier]:
    """What was recorded under the same outcome_ref for the same entry, by this record too."""
    hidden = hidden_from(draft, record.agent_id)
    before = [(outcome.record, outcome.effects) for outcome in draft.outcomes]
    return [
        Earlier(reported.outcome_type, effect.applied)
        for reported, its_effects in (*before, (record, effects))
        if reported.outcome_ref == record.outcome_ref
        for effect in its_effects
        if (effect.entity_path, effect.key) == (ref.entity_path, ref.key)
        and not hidden(effect.entity_path, effect.key, effect.version)
    ]


def _move(draft: State, current: StoredVersion, effect: OutcomeEffect, record: OutcomeRecord) -> MemoryEntry:
    after = moved(draft.shown(current), effect, record)
    if effect.resulting_version == effect.version:
        return draft.shown(draft.move(current, Opinion.of(after)))
    return draft.append(after.model_copy(update={"commit_id": None}), "outcome").as_written()


def _recorded(state: State, outcome: StoredOutcome) -> RecordedOutcome:
    return RecordedOutcome(
        record=outcome.record,
        effects=outcome.effects,
        commit_id=state.commits[outcome.sequence].commit.id,
        sequence=outcome.sequence,
    )


def _concerns(outcome: RecordedOutcome, entity_path: str | None, key: str | None) -> bool:
    if not entity_path and not key:
        return True
    return any(
        (not entity_path or effect.entity_path == entity_path) and (not key or effect.key == key)
        for effect in outcome.effects
    )
