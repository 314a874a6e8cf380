"""Outcomes: what actually happened, credited to the records it relied on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from amfs_sqlite.errors import InvalidArgumentError, VersionConflictError
from amfs_sqlite.models import (
    CommitResult,
    EntryRef,
    Outcome,
    OutcomeEffect,
    OutcomeRecord,
    RecordedOutcome,
)
from amfs_sqlite.rules.confidence import outcome_type
from amfs_sqlite.rules.limits import MAX_REFERENCES, check_is_text, check_optional_text, made
from amfs_sqlite.rules.visibility import is_system
from bridge.errors import NothingTouchedError, ReservedPathError
from bridge.handoff import filing, moves
from bridge.handoff.packet import Packet
from bridge.operations.arguments import check_refs, check_session
from bridge.operations.redaction import Redactor
from bridge.session import Session

LIST_LIMIT = 50


@dataclass(frozen=True, slots=True)
class OutcomeReport:
    """What an outcome did to each record it named, in order, and the packet it closed.

    ``older_count`` is how many touched records were not named, because the MAX_REFERENCES that an
    outcome has room for were touched later. ``redacted`` is how many secrets were taken out of the
    note, by the name of their pattern.
    """

    effects: tuple[OutcomeEffect, ...]
    packet: Packet | None
    older_count: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)


async def record_outcome(
    session: Session,
    outcome: str,
    outcome_ref: str,
    *,
    refs: Sequence[EntryRef] | None = None,
    handoff_id: str | None = None,
    note: str = "",
) -> OutcomeReport:
    """Report how something turned out, and move the confidence of the records it relied on.

    ``refs`` None is everything the session touched, at the version seen: the last MAX_REFERENCES it
    touched, or, where it touched nothing, what the packet pins. Records whose value has changed
    since are reported and not moved, and so is what this ``outcome_ref`` has moved before. With
    ``handoff_id`` the packet, which this agent must hold, is closed in the same commit; all or
    nothing. Repeating a call whose answer was lost reports what was applied already, and the packet
    it closed.

    Raises NothingTouchedError, ReservedPathError, EntryNotFoundError for a ref that is not stored,
    OutcomeConflictError, PacketNotFoundError, PacketStateError, and InvalidArgumentError.
    """
    check_session(session)
    check_is_text(outcome, "outcome")
    check_is_text(outcome_ref, "outcome_ref")
    check_optional_text(handoff_id, "handoff_id")
    check_refs(refs)
    if not outcome_ref:
        raise InvalidArgumentError("outcome_ref", "is empty; name the run, ticket or task it is about")
    check_is_text(note, "note")
    redactor = Redactor(session)
    redactor.check_names(outcome_ref=outcome_ref)
    record = made(
        OutcomeRecord,
        outcome_ref=outcome_ref,
        outcome_type=outcome_type(outcome).value,
        agent_id=session.agent_id,
        note=redactor.text(note),
        session_id=session.session_id or None,
    )
    _check_may_name(refs or ())
    older_count = max(0, len(session.touched) - MAX_REFERENCES) if refs is None else 0
    if refs is None:
        refs = [seen.ref for seen in session.touched_last(MAX_REFERENCES)] or None
    if handoff_id is not None:
        closed = await _close(session, record, refs, handoff_id)
        return replace(closed, older_count=older_count, redacted=redactor.counts)
    if not refs:
        raise NothingTouchedError
    record = record.model_copy(update={"refs": tuple(refs)})
    return OutcomeReport((await _commit(session, record)).effects, None, older_count, redactor.counts)


async def list_outcomes(
    session: Session,
    *,
    outcome_ref: str | None = None,
    limit: int | None = LIST_LIMIT,
    before: int | None = None,
) -> Sequence[RecordedOutcome]:
    """Recorded outcomes, newest first, whether they moved anything or not.

    ``before`` continues behind an outcome's ``sequence``; ``limit`` None is all.
    """
    check_session(session)
    check_optional_text(outcome_ref, "outcome_ref")
    return await session.adapter.list_outcomes(
        outcome_ref=outcome_ref, limit=limit, before=before, viewer=session.viewer
    )


async def _close(
    session: Session, record: OutcomeRecord, refs: Sequence[EntryRef] | None, handoff_id: str
) -> OutcomeReport:
    """Record the outcome and close the packet; all over again if another was faster at it."""
    while True:
        filed = await filing.find(session, handoff_id)
        named = tuple(pin.ref for pin in filed.packet.pins) if refs is None else tuple(refs)
        record = record.model_copy(update={"refs": named})
        if _closed_with(filed.packet, record):
            # What the first call named, for what was touched since was not part of it.
            again = record if refs is not None else await _as_first_reported(session, record)
            return OutcomeReport((await _commit(session, again)).effects, filed.packet)
        packet = moves.closed(filed.packet, session.agent_id, session.clock.now(), record.outcome_ref)
        try:
            result = await session.adapter.commit(
                [Outcome(record), filing.rewritten(session, filed, packet)],
                author=session.agent_id,
                session_id=record.session_id,
                message=filing.message(handoff_id, "closed"),
            )
        except VersionConflictError:
            continue
        return OutcomeReport(result.effects, packet)


def _check_may_name(refs: Sequence[EntryRef]) -> None:
    if len(refs) > MAX_REFERENCES:
        raise InvalidArgumentError(
            "refs", f"are {len(refs)}; the limit is {MAX_REFERENCES}: name those it relied on most"
        )
    for ref in refs:
        if is_system(ref.entity_path):
            raise ReservedPathError(ref.entity_path)


def _closed_with(packet: Packet, record: OutcomeRecord) -> bool:
    """Whether this is the packet as an earlier call with this outcome left it."""
    return (
        packet.state == "closed"
        and packet.claimed_by == record.agent_id
        and packet.outcome_ref == record.outcome_ref
    )


async def _as_first_reported(session: Session, record: OutcomeRecord) -> OutcomeRecord:
    reported = await session.adapter.list_outcomes(outcome_ref=record.outcome_ref, viewer=session.agent_id)
    own = [each.record for each in reported if each.record.agent_id == session.agent_id]
    return record.model_copy(update={"refs": own[-1].refs}) if own else record


async def _commit(session: Session, record: OutcomeRecord) -> CommitResult:
    return await session.adapter.commit(
        [Outcome(record)], author=session.agent_id, session_id=record.session_id
    )
