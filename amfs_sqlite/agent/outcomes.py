"""Reporting outcomes of what the session relied on, and telling what that was."""

from collections.abc import Sequence

from amfs_sqlite.agent.results import CausalEntry, Explanation, ExternalContext
from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.models import MemoryEntry, OutcomeRecord
from amfs_sqlite.rules.limits import MAX_REFERENCES, check_optional_text, made


async def commit_outcome(
    session: AgentSession,
    outcome_ref: str,
    outcome_type: str,
    causal_entry_keys: Sequence[str] | None,
    causal_confidence: float | None,
) -> Sequence[MemoryEntry]:
    """Report an outcome of these keys, by default of what the session read; what it moved.

    What was read, the MAX_REFERENCES read last, goes in as versions of addresses: no '/' in a name can
    confuse it, and a policy that asks whether the value has changed since can tell.
    """
    record = made(
        OutcomeRecord,
        outcome_ref=outcome_ref,
        outcome_type=outcome_type,
        agent_id=session.agent_id,
        session_id=session.session_id or None,
        causal_confidence=1.0 if causal_confidence is None else causal_confidence,
        causal_entry_keys=() if causal_entry_keys is None else causal_entry_keys,
        refs=session.tracker.refs[-MAX_REFERENCES:] if causal_entry_keys is None else (),
    )
    return await session.adapter.commit_outcome(record)


async def explain(session: AgentSession, outcome_ref: str | None) -> Explanation:
    """What the session read, as it is now, with the versions it was read at."""
    check_optional_text(outcome_ref, "outcome_ref")
    entries = []
    for ref in session.tracker.refs:
        entry = await session.adapter.read(
            ref.entity_path, ref.key, include_expired=True, viewer=session.agent_id
        )
        if entry is not None and ref.version is not None:
            entries.append(CausalEntry(entry=entry, read_version=ref.version))
    return Explanation(
        outcome_ref=outcome_ref,
        agent_id=session.agent_id,
        session_id=session.session_id,
        causal_chain_length=len(entries),
        causal_entries=tuple(entries),
        external_contexts=tuple(session.tracker.external_contexts),
    )


def record_context(session: AgentSession, label: str, summary: str, source: str | None) -> None:
    """Note something learned elsewhere."""
    context = made(
        ExternalContext, label=label, summary=summary, source=source, recorded_at=session.clock.now()
    )
    session.tracker.record_context(context)
