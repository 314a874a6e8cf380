"""Outcomes: recording them, moving what they name, and the log of both."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from amfs_sqlite.errors import EntryNotFoundError
from amfs_sqlite.models import EntryRef, MemoryEntry, OutcomeEffect, OutcomeRecord, RecordedOutcome
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import outcome_digest
from amfs_sqlite.rules.limits import check_count
from amfs_sqlite.rules.outcomes import Earlier, effect_on, moved, targets
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.visibility import is_visible, outcome_for
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.rows import effect_of, record_of
from amfs_sqlite.sqlite.transaction import Transaction

EFFECT = """
SELECT c.entity_path, c.key, e.version, e.policy, e.confidence_before, e.confidence_after,
       e.applied, e.reason, e.resulting_version
FROM outcome_effects AS e JOIN current AS c ON c.id = e.key_id
"""
EFFECTS_OF_OUTCOME = f"{EFFECT} WHERE e.outcome_id = ? ORDER BY e.id"
EFFECTS_OF_COMMIT = f"""{EFFECT} JOIN outcomes AS o ON o.id = e.outcome_id
WHERE o.sequence = ? ORDER BY e.id"""
EARLIER = """
SELECT o.outcome_type, e.applied
FROM outcomes AS o JOIN outcome_effects AS e ON e.outcome_id = o.id
JOIN versions AS v ON v.key_id = e.key_id AND v.version = e.version
WHERE o.namespace = :namespace AND o.outcome_ref = :outcome_ref AND e.key_id = :key_id
AND (v.shared = 1 OR v.agent_id = :viewer) ORDER BY e.id"""
INSERT_OUTCOME = """
INSERT INTO outcomes (sequence, newest_version_id, namespace, outcome_ref, outcome_type, agent_id,
                      record, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_EFFECT = """
INSERT INTO outcome_effects (outcome_id, key_id, version, policy, success, confidence_before,
                             confidence_after, applied, reason, resulting_version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
MOVE_OPINION = """
UPDATE current SET confidence = ?, outcome_count = ?, success_count = ?, failure_count = ?
WHERE id = ?"""
OUTCOMES = """
SELECT o.id, o.record, m.id, o.sequence
FROM outcomes AS o JOIN commits AS m ON m.sequence = o.sequence
WHERE o.namespace = :namespace AND (:before IS NULL OR o.sequence < :before)
AND (:outcome_ref IS NULL OR o.outcome_ref = :outcome_ref)
AND (:touching = 0 OR EXISTS (
    SELECT 1 FROM outcome_effects AS e JOIN current AS c ON c.id = e.key_id
    WHERE e.outcome_id = o.id AND (:entity_path IS NULL OR c.entity_path = :entity_path)
    AND (:key IS NULL OR c.key = :key)))
ORDER BY o.id DESC"""
OUTCOME_COUNT = "SELECT count(*) FROM outcomes WHERE namespace = ?"
AUTHOR_OF_VERSION = f"""
SELECT v.shared, v.agent_id FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE {entries.AT} AND v.version = :version"""


class Affected(NamedTuple):
    """What an outcome did to one entry, and the entry after it."""

    key_id: int
    effect: OutcomeEffect
    entry: MemoryEntry


def record(tx: Transaction, draft: CommitDraft, given: OutcomeRecord) -> Sequence[MemoryEntry]:
    """Record an outcome and do to the entries it names what the policy says; return those it moved."""
    if given.committed_at is None:
        given = given.model_copy(update={"committed_at": tx.now})
    wire = given.to_wire()
    newest = draft.ground.newest_version_id
    look = _Look(tx, given.agent_id)
    named = targets(given, tx.policy, look.sees)
    for target in named:  # all of them first: a version that this outcome makes is not stored yet
        look.check_stored(target)
    done: list[Affected] = []
    for target in named:
        done.append(_affect(tx, draft, given, target, look=look, done=done))
    effects = [affected.effect for affected in done]
    digest = outcome_digest(wire, effects)
    outcome = (given.outcome_ref, given.outcome_type, given.agent_id, encode(wire, "record"), digest)
    outcome_id = tx.insert(INSERT_OUTCOME, (draft.sequence, newest, tx.namespace, *outcome))
    for affected in done:
        tx.run(INSERT_EFFECT, (outcome_id, *_effect_columns(given, affected)))
    draft.add_outcome(effects, digest)
    return [affected.entry for affected in done if affected.effect.applied]


class _Look:
    """What the reporter sees of the entries that an outcome names: each is read once, until it moves."""

    def __init__(self, tx: Transaction, viewer: str) -> None:
        self._tx = tx
        self._viewer = viewer
        self._found: dict[tuple[str, str], entries.Found | None] = {}

    def found(self, entity_path: str, key: str) -> entries.Found | None:
        """What stands at an address, whoever may see it."""
        address = (entity_path, key)
        if address not in self._found:
            self._found[address] = entries.found(self._tx, *address)
        return self._found[address]

    def forget(self, entity_path: str, key: str) -> None:
        """What stands there has moved."""
        del self._found[entity_path, key]

    def sees(self, entity_path: str, key: str) -> bool:
        """Whether the reporter can see the current version."""
        found = self.found(entity_path, key)
        return found is not None and is_visible(found.entry.shared, found.entry.agent_id, self._viewer)

    def named(self, target: EntryRef) -> MemoryEntry | None:
        """The version that is named, where one is and the reporter can see it."""
        found = self.found(target.entity_path, target.key)
        if target.version is None or found is None:
            return None
        if target.version == found.entry.version:
            return found.entry if self.sees(target.entity_path, target.key) else None
        return entries.read_at_version(
            self._tx, target.entity_path, target.key, target.version, viewer=self._viewer
        )

    def check_stored(self, target: EntryRef) -> None:
        """Raise unless the reporter can see what is named: the version, or the current one."""
        path, key = target.entity_path, target.key
        if not (self.sees(path, key) if target.version is None else self.named(target)):
            raise EntryNotFoundError(path, key, target.version)


def _affect(
    tx: Transaction,
    draft: CommitDraft,
    given: OutcomeRecord,
    target: EntryRef,
    *,
    look: _Look,
    done: Sequence[Affected],
) -> Affected:
    """Move the entry if the policy says so. ``done`` is what this record did so far."""
    found = look.found(target.entity_path, target.key)
    if found is None:
        raise EntryNotFoundError(target.entity_path, target.key, target.version)
    current, before = found.entry, found.standing
    earlier = _earlier(tx, given, before.key_id, done) if tx.policy.once else ()
    effect = effect_on(current, look.named(target), given, tx.policy, earlier)
    if not effect.applied:
        return Affected(before.key_id, effect, current)
    look.forget(target.entity_path, target.key)
    entry = moved(current, effect, given)
    if effect.resulting_version == current.version:
        opinion = (entry.confidence, entry.outcome_count, entry.success_count, entry.failure_count)
        tx.run(MOVE_OPINION, (*opinion, before.key_id))
    else:
        entry = entries.append(tx, draft, entry, {}, found.value, before=before, kind="outcome")
    return Affected(before.key_id, effect, entry)


def _earlier(tx: Transaction, given: OutcomeRecord, key_id: int, done: Sequence[Affected]) -> list[Earlier]:
    """What was recorded before under the same outcome_ref for this entry, this record's own doings too."""
    asked = {
        "namespace": tx.namespace,
        "outcome_ref": given.outcome_ref,
        "key_id": key_id,
        "viewer": given.agent_id,
    }
    return [Earlier(kind, bool(applied)) for kind, applied in tx.each(EARLIER, asked)] + [
        Earlier(given.outcome_type, affected.effect.applied) for affected in done if affected.key_id == key_id
    ]


def _effect_columns(given: OutcomeRecord, affected: Affected) -> tuple[Any, ...]:
    effect = affected.effect
    return (
        affected.key_id,
        effect.version,
        effect.policy,
        int(is_success(outcome_type(given.outcome_type))),
        effect.confidence_before,
        effect.confidence_after,
        int(effect.applied),
        effect.reason,
        effect.resulting_version,
    )


def list_outcomes(
    tx: Transaction,
    *,
    outcome_ref: str | None = None,
    entity_path: str | None = None,
    key: str | None = None,
    limit: int | None = None,
    before: int | None = None,
    viewer: str | None = None,
) -> Sequence[RecordedOutcome]:
    check_count(limit, "limit")
    check_count(before, "before")
    parameters: dict[str, Any] = {
        "namespace": tx.namespace,
        "before": before,
        "outcome_ref": outcome_ref or None,
        "touching": int(bool(entity_path or key)),
        "entity_path": entity_path or None,
        "key": key or None,
    }
    found: list[RecordedOutcome] = []
    for outcome_id, stored, commit_id, sequence in tx.each(OUTCOMES, parameters):
        if limit is not None and len(found) >= limit and not (found and found[-1].sequence == sequence):
            break
        whole = RecordedOutcome(
            record=record_of(stored),
            effects=tuple(effect_of(row) for row in tx.each(EFFECTS_OF_OUTCOME, (outcome_id,))),
            commit_id=commit_id,
            sequence=sequence,
        )
        shown = outcome_for(whole, viewer, hidden_versions(tx, viewer))
        if shown is not None and _concerns(shown.effects, entity_path, key):
            found.append(shown)
    return found


def count(tx: Transaction, viewer: str | None) -> int:
    """How many outcomes the viewer can see anything of."""
    if viewer is not None:
        return len(list_outcomes(tx, viewer=viewer))
    number: int = tx.value(OUTCOME_COUNT, (tx.namespace,))
    return number


def effects_of_commit(tx: Transaction, sequence: int) -> list[OutcomeEffect]:
    """Every effect of the outcomes that a commit recorded, in order."""
    return [effect_of(row) for row in tx.each(EFFECTS_OF_COMMIT, (sequence,))]


def hidden_versions(tx: Transaction, viewer: str | None) -> "_Hidden":
    """Whether a version is stored and hidden from the viewer."""
    return _Hidden(tx, viewer)


class _Hidden:
    def __init__(self, tx: Transaction, viewer: str | None) -> None:
        self._tx = tx
        self._viewer = viewer

    def __call__(self, entity_path: str, key: str, version: int) -> bool:
        at = entries.place(self._tx, entity_path, key) | {"version": version}
        row = self._tx.one(AUTHOR_OF_VERSION, at)
        return row is not None and not is_visible(bool(row[0]), row[1], self._viewer)


def _concerns(effects: Iterable[OutcomeEffect], entity_path: str | None, key: str | None) -> bool:
    if not entity_path and not key:
        return True
    return any(
        (entity_path or effect.entity_path, key or effect.key) == (effect.entity_path, effect.key)
        for effect in effects
    )
