"""Outcomes: recording them, moving what they name, and the log of both."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from amfs_sqlite.errors import EntryNotFoundError
from amfs_sqlite.models import EntryRef, MemoryEntry, OutcomeEffect, OutcomeRecord, RecordedOutcome
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import outcome_digest
from amfs_sqlite.rules.limits import check_count, check_optional_text
from amfs_sqlite.rules.outcomes import Earlier, effect_on, moved, targets
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.visibility import is_visible, outcome_for
from amfs_sqlite.sqlite import entries, outcome_log, outcome_reads, recalls
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.rows import effect_of, record_of
from amfs_sqlite.sqlite.transaction import Transaction

OF_OUTCOMES = "FROM json_each(:ids) AS s CROSS JOIN outcome_effects AS e ON e.outcome_id = s.value"
OF_COMMITS = """FROM json_each(:ids) AS s CROSS JOIN outcomes AS o ON o.sequence = s.value
CROSS JOIN outcome_effects AS e ON e.outcome_id = o.id"""
EFFECTS = """
SELECT s.value, c.entity_path, c.key, e.version, e.policy, e.confidence_before, e.confidence_after,
       e.applied, e.reason, e.resulting_version
{of} JOIN current AS c ON c.id = e.key_id ORDER BY e.id"""
EFFECTS_OF_OUTCOMES, EFFECTS_OF_COMMITS = EFFECTS.format(of=OF_OUTCOMES), EFFECTS.format(of=OF_COMMITS)
HIDDEN = """
SELECT c.entity_path, c.key, v.version
{of} CROSS JOIN versions AS v ON v.key_id = e.key_id AND v.version = e.version
JOIN current AS c ON c.id = e.key_id WHERE v.shared = 0 AND v.agent_id <> :viewer"""
HIDDEN_OF_OUTCOMES, HIDDEN_OF_COMMITS = HIDDEN.format(of=OF_OUTCOMES), HIDDEN.format(of=OF_COMMITS)
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
UPDATE current SET confidence = ?, outcome_count = outcome_count + 1, success_count = success_count + ?,
       failure_count = failure_count + ?
WHERE id = ?"""
OUTCOMES = """
SELECT o.id, o.record, m.id, o.sequence
FROM outcomes AS o CROSS JOIN commits AS m ON m.sequence = o.sequence
WHERE o.id < coalesce((SELECT x.id FROM outcomes AS x WHERE x.sequence >= :before
                       ORDER BY x.sequence, x.id LIMIT 1), 9223372036854775807) AND """
# In the order of the log, unless few are asked for: the plus keeps the index of namespaces out.
ANY_REF = "+o.namespace = :namespace"
OF_REF = "o.namespace = :namespace AND o.outcome_ref = :outcome_ref"
TOUCHING = f"""o.id IN (SELECT e.outcome_id FROM current AS c
CROSS JOIN outcome_effects AS e ON e.key_id = c.id WHERE {entries.HERE}"""


class Hidden(set[tuple[str, str, int]]):
    """Versions (path, key, version) that are hidden from a viewer, to be asked about one."""

    def __call__(self, entity_path: str, key: str, version: int) -> bool:
        return (entity_path, key, version) in self


class Affected(NamedTuple):
    """What an outcome did to one entry, and the entry after it."""

    key_id: int
    effect: OutcomeEffect
    entry: MemoryEntry


def record(tx: Transaction, draft: CommitDraft, given: OutcomeRecord) -> Sequence[MemoryEntry]:
    """Record an outcome and do to the entries it names what the policy says; return those it moved."""
    if given.committed_at is None:
        given = given.model_copy(update={"committed_at": tx.now})
    newest = draft.ground.newest_version_id
    look = _Look(tx, given.agent_id)
    named = targets(given, tx.policy, look.sees)
    for target in named:  # all of them first: a version that this outcome makes is not stored yet
        look.check_stored(target)
    done: list[Affected] = []
    for target in named:
        done.append(_affect(tx, draft, given, target, look=look, done=done))
    effects = [(affected.key_id, affected.effect) for affected in done]
    put(tx, draft, given, effects, newest_version_id=newest)
    return [affected.entry for affected in done if affected.effect.applied]


def put(
    tx: Transaction,
    draft: CommitDraft,
    given: OutcomeRecord,
    effects: Sequence[tuple[int, OutcomeEffect]],
    *,
    newest_version_id: int,
) -> None:
    """Store an outcome and what it did: rows, and its digest in the commit. Nothing is moved.

    ``effects`` come with the ids of their keys; ``newest_version_id`` is of before them.
    """
    wire = given.to_wire()
    done = [effect for _, effect in effects]
    digest = outcome_digest(wire, done)
    outcome = (given.outcome_ref, given.outcome_type, given.agent_id, encode(wire, "record"), digest)
    outcome_id = tx.insert(INSERT_OUTCOME, (draft.sequence, newest_version_id, tx.namespace, *outcome))
    outcome_log.put(tx, int(outcome_id or 0), given)
    outcome_reads.put(tx, int(outcome_id or 0), given)
    success = _success(given)
    for key_id, effect in effects:
        tx.run(INSERT_EFFECT, (outcome_id, *_effect_columns(key_id, effect, success)))
    draft.add_outcome(done, digest)


def move(tx: Transaction, key_id: int, given: OutcomeRecord, effect: OutcomeEffect) -> None:
    """Move the current version in place, as the effect says."""
    success = _success(given)
    tx.run(MOVE_OPINION, (effect.confidence_after, int(success), int(not success), key_id))


def _success(given: OutcomeRecord) -> bool:
    return is_success(outcome_type(given.outcome_type))


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
        """Whether something is there that the reporter can see."""
        found = self.found(entity_path, key)
        return found is not None and not found.entry.withdrawn and self._may_see(found.entry)

    def named(self, target: EntryRef) -> MemoryEntry | None:
        """The version that is named, where one is and the reporter can see it."""
        found = self.found(target.entity_path, target.key)
        if target.version is None or found is None:
            return None
        if target.version == found.entry.version:
            return found.entry if self._may_see(found.entry) else None
        return entries.read_at_version(
            self._tx, target.entity_path, target.key, target.version, viewer=self._viewer
        )

    def _may_see(self, entry: MemoryEntry) -> bool:
        return is_visible(entry.shared, entry.agent_id, self._viewer)

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
        move(tx, before.key_id, given, effect)
    else:
        entry = entries.append(tx, draft, entry, {}, found.value, before=before, kind="outcome")
        recalls.carry_vector(tx, draft.ground.newest_version_id, before.version_id)
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


def _effect_columns(key_id: int, effect: OutcomeEffect, success: bool) -> tuple[Any, ...]:
    return (
        key_id,
        effect.version,
        effect.policy,
        int(success),
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
    check_optional_text(outcome_ref, "outcome_ref")
    check_optional_text(entity_path, "entity_path")
    check_optional_text(key, "key")
    check_count(limit, "limit")
    check_count(before, "before")
    check_optional_text(viewer, "viewer")
    parameters: dict[str, Any] = {
        "namespace": tx.namespace,
        "branch": tx.branch,
        "before": before,
        "outcome_ref": outcome_ref,
        "entity_path": entity_path,
        "key": key,
    }
    sql = OUTCOMES + _conditions(outcome_ref, entity_path, key)
    found: list[RecordedOutcome] = []
    for whole, hidden in _whole(tx, tx.pages(sql, parameters, limit), viewer):
        if limit is not None and len(found) >= limit and not (found and found[-1].sequence == whole.sequence):
            break
        shown = outcome_for(whole, viewer, hidden)
        if shown is not None and _concerns(shown.effects, entity_path, key):
            found.append(shown)
    return found


def _conditions(outcome_ref: str | None, entity_path: str | None, key: str | None) -> str:
    conditions = OF_REF if outcome_ref else ANY_REF
    if entity_path or key:
        conditions += f" AND {TOUCHING}"
        conditions += " AND c.entity_path = :entity_path" if entity_path else ""
        conditions += " AND c.key = :key)" if key else ")"
    return f"{conditions} ORDER BY o.id DESC"


def _whole(
    tx: Transaction, pages: Iterable[list[tuple[Any, ...]]], viewer: str | None
) -> Iterator[tuple[RecordedOutcome, Hidden]]:
    """Each outcome, and which of its effects are on what is hidden from the viewer."""
    for page in pages:
        asked = {"ids": json.dumps([row[0] for row in page]), "viewer": viewer}
        effects = _effects(tx.each(EFFECTS_OF_OUTCOMES, asked))
        hidden = Hidden(() if viewer is None else tx.each(HIDDEN_OF_OUTCOMES, asked))
        for outcome_id, stored, commit_id, sequence in page:
            record, done = record_of(stored), tuple(effects[outcome_id])
            yield RecordedOutcome(record=record, effects=done, commit_id=commit_id, sequence=sequence), hidden


def effects_of_commits(tx: Transaction, sequences: Iterable[int]) -> defaultdict[int, list[OutcomeEffect]]:
    """Every effect of the outcomes that each of these commits recorded, in order."""
    return _effects(tx.each(EFFECTS_OF_COMMITS, {"ids": json.dumps([*sequences])}))


def hidden_of_commits(tx: Transaction, sequences: Iterable[int], viewer: str) -> Hidden:
    """Which of the versions that their outcomes were about are hidden from the viewer."""
    return Hidden(tx.each(HIDDEN_OF_COMMITS, {"ids": json.dumps([*sequences]), "viewer": viewer}))


def _effects(rows: Iterable[tuple[Any, ...]]) -> defaultdict[int, list[OutcomeEffect]]:
    effects: defaultdict[int, list[OutcomeEffect]] = defaultdict(list)
    for whose, *row in rows:
        effects[whose].append(effect_of(row))
    return effects


def _concerns(effects: Iterable[OutcomeEffect], entity_path: str | None, key: str | None) -> bool:
    if not entity_path and not key:
        return True
    return any(
        (entity_path or effect.entity_path, key or effect.key) == (effect.entity_path, effect.key)
        for effect in effects
    )
