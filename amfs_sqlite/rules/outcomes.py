"""What an outcome does to the entries it names, decided before anything moves."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from amfs_sqlite.errors import InvalidArgumentError, OutcomeConflictError, quoted
from amfs_sqlite.models import EffectReason, EntryRef, MemoryEntry, OutcomeEffect, OutcomeRecord
from amfs_sqlite.rules.confidence import OutcomePolicy, is_success, outcome_type
from amfs_sqlite.rules.hashing import integrity_chain
from amfs_sqlite.rules.limits import MAX_OUTCOME_COUNT, check_finite, check_outcome
from amfs_sqlite.rules.references import splits
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.versions import next_version
from amfs_sqlite.rules.visibility import is_visible


class Earlier(NamedTuple):
    """An effect recorded before for the same outcome_ref and entry, be it of the same record."""

    outcome_type: str
    applied: bool


def check_record(record: OutcomeRecord, policy: OutcomePolicy) -> None:
    """Refuse a record of unknown type, or beyond what the limits and the policy take."""
    check_outcome(record)
    outcome_type(record.outcome_type)
    policy.check_causal_confidence(record.causal_confidence)
    encode(record.model_extra or {}, "extra")


def targets(
    record: OutcomeRecord, policy: OutcomePolicy, is_current: Callable[[str, str], bool]
) -> list[EntryRef]:
    """What the record names, in order: the causal_entry_keys that fit something, then the refs.

    ``is_current`` tells whether an address has a current version that ``record.agent_id`` can see.
    Under a policy of ``once`` an exact repetition is dropped.

    >>> from amfs_sqlite.rules.confidence import HANDOFF
    >>> texts = ("p/q/k", "gone/k", "p/q/k")
    >>> record = OutcomeRecord(
    ...     outcome_ref="r", outcome_type="success", agent_id="a", causal_entry_keys=texts
    ... )
    >>> targets(record, HANDOFF, lambda path, key: (path, key) == ("p", "q/k"))
    [EntryRef(entity_path='p', key='q/k', version=None)]
    """
    named = []
    for text in record.causal_entry_keys:
        fitting = [address for address in splits(text) if is_current(*address)]
        named += [EntryRef(entity_path=path, key=key) for path, key in fitting[:1]]
    named += record.refs
    return list(dict.fromkeys(named)) if policy.once else named


def effect_on(
    current: MemoryEntry,
    named: MemoryEntry | None,
    record: OutcomeRecord,
    policy: OutcomePolicy,
    earlier: Iterable[Earlier] = (),
) -> OutcomeEffect:
    """What the record does to an entry, given its current version.

    ``named`` is the version that a ref names, visible to ``record.agent_id``; None where it names
    no version, and then the current one is visible. Both carry their confidence as it last stood.
    A private current version lends its confidence to no effect on another version.
    Raises OutcomeConflictError, or InvalidArgumentError where a result is out of bounds.

    >>> from amfs_sqlite.rules.confidence import AMFS_0_3, HANDOFF
    >>> current = MemoryEntry.draft("p", "k", 1, agent_id="a", confidence=0.5)
    >>> record = OutcomeRecord(outcome_ref="r", outcome_type="success", agent_id="b")
    >>> done = effect_on(current, None, record, HANDOFF)
    >>> done.confidence_after, done.applied, done.resulting_version
    (0.6, True, 1)
    >>> again = effect_on(current, None, record, HANDOFF, [Earlier("success", True)])
    >>> again.applied, again.reason
    (False, 'already_applied')
    >>> effect_on(current, None, record, AMFS_0_3).resulting_version
    2
    """
    reason = _reason(current, named, record, policy, list(earlier))
    about = current if named is None else named
    if reason is not None:
        standing = current.confidence if current.shared else about.confidence
        return OutcomeEffect(
            entity_path=current.entity_path,
            key=current.key,
            version=about.version,
            policy=policy.name,
            confidence_before=standing,
            confidence_after=standing,
            applied=False,
            reason=reason,
        )
    after = policy.after(current.confidence, outcome_type(record.outcome_type), record.causal_confidence)
    check_finite(after, "confidence")
    if current.outcome_count >= MAX_OUTCOME_COUNT:
        raise InvalidArgumentError(
            "outcome_count", f"of {quoted(current.key)} is {MAX_OUTCOME_COUNT}, the limit"
        )
    return OutcomeEffect(
        entity_path=current.entity_path,
        key=current.key,
        version=current.version,
        policy=policy.name,
        confidence_before=current.confidence,
        confidence_after=after,
        applied=True,
        resulting_version=(next_version(current.version) if policy.makes_versions else current.version),
    )


def moved(current: MemoryEntry, effect: OutcomeEffect, record: OutcomeRecord) -> MemoryEntry:
    """The entry after an applied effect: the same version with another opinion, or the next one.

    The next version has its integrity_chain; its commit_id is still the one of ``current``.

    >>> from amfs_sqlite.rules.confidence import HANDOFF
    >>> current = MemoryEntry.draft("p", "k", 1, agent_id="a", confidence=0.5)
    >>> record = OutcomeRecord(outcome_ref="r", outcome_type="failure", agent_id="b")
    >>> entry = moved(current, effect_on(current, None, record, HANDOFF), record)
    >>> entry.version, entry.confidence, entry.outcome_count, entry.failure_count
    (1, 0.325, 1, 1)
    """
    success = is_success(outcome_type(record.outcome_type))
    changes: dict[str, Any] = {
        "version": effect.resulting_version,
        "confidence": effect.confidence_after,
        "outcome_count": current.outcome_count + 1,
        "success_count": current.success_count + int(success),
        "failure_count": current.failure_count + int(not success),
    }
    if effect.resulting_version != current.version:
        changes["integrity_chain"] = integrity_chain(current.content_hash or "", current.integrity_chain)
    return current.model_copy(update=changes)


def _reason(
    current: MemoryEntry,
    named: MemoryEntry | None,
    record: OutcomeRecord,
    policy: OutcomePolicy,
    earlier: list[Earlier],
) -> EffectReason | None:
    if policy.once:
        for before in earlier:
            if before.outcome_type != record.outcome_type:
                raise OutcomeConflictError(
                    record.outcome_ref,
                    current.entity_path,
                    current.key,
                    before.outcome_type,
                    record.outcome_type,
                )
        if any(before.applied for before in earlier):
            return "already_applied"
    if current.withdrawn or not is_visible(current.shared, current.agent_id, record.agent_id):
        return "stale"
    if policy.once and named is not None and named.content_hash != current.content_hash:
        return "stale"
    return None
