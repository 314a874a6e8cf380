"""Traces as the SDK means them, filed under the adapter's own namespace."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from amfs_core.models import DecisionTrace, TraceEntry

from amfs_sqlite.records.traces import DecisionTrace as StoredTrace
from amfs_sqlite.rules.traces import spellings
from amfs_sqlite.sqlite import entries, traces
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked
from amfs_sqlite.sync.translation import all_theirs, ours, theirs


def save_trace(tx: Transaction, trace: DecisionTrace) -> DecisionTrace:
    """Store a trace under a new id, and return it with that.

    Where nothing is stored at the address of a read, and one entry at what its path and key may have been
    before the SDK put them together, it is that one.
    """
    trace = checked(trace, DecisionTrace, "trace")
    read = [_found(tx, entry) for entry in trace.causal_entries]
    given = ours(trace.model_copy(update={"causal_entries": read}), StoredTrace, "trace")
    return theirs(traces.save_trace(tx, given), DecisionTrace)


def _found(tx: Transaction, entry: TraceEntry) -> TraceEntry:
    if entries.standing(tx, entry.entity_path, entry.key):
        return entry
    there = [each for each in spellings(entry.entity_path, entry.key) if entries.standing(tx, *each)]
    if len(there) != 1:
        return entry
    ((entity_path, key),) = there
    return entry.model_copy(update={"entity_path": entity_path, "key": key})


def get_trace(tx: Transaction, trace_id: str) -> DecisionTrace | None:
    found = traces.get_trace(tx, trace_id)
    return None if found is None else theirs(found, DecisionTrace)


def list_traces(
    tx: Transaction,
    *,
    entity_path: str | None = None,
    agent_id: str | None = None,
    outcome_type: str | None = None,
    limit: int = 100,
    offset: int = 0,
    cursor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[DecisionTrace]:
    found = traces.list_traces(
        tx,
        entity_path=entity_path,
        agent_id=agent_id,
        outcome_type=outcome_type,
        limit=limit,
        offset=offset,
        cursor=cursor,
        since=since,
        until=until,
    )
    return all_theirs(found, DecisionTrace)


def count_traces(
    tx: Transaction,
    *,
    entity_path: str | None = None,
    agent_id: str | None = None,
    outcome_type: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> int:
    return traces.count_traces(
        tx,
        entity_path=entity_path,
        agent_id=agent_id,
        outcome_type=outcome_type,
        since=since,
        until=until,
    )


def trace_read_counts(tx: Transaction, agent_id: str) -> dict[str, dict[str, int]]:
    return {path: {**keys} for path, keys in traces.trace_read_counts(tx, agent_id).items()}


def list_traces_for_entry(
    tx: Transaction,
    *,
    agent_id: str,
    session_id: str | None,
    written_at: datetime | None = None,
    limit: int = 5,
) -> list[DecisionTrace]:
    found = traces.list_traces_for_entry(
        tx, agent_id=agent_id, session_id=session_id, written_at=written_at, limit=limit
    )
    return all_theirs(found, DecisionTrace)


def share_stats(
    tx: Transaction,
    *,
    since: datetime | None = None,
    pair_limit: int = 20,
    agent_ids: Sequence[str] | None = None,
) -> dict[str, Any]:
    stats = traces.share_stats(tx, since=since, pair_limit=pair_limit, agent_ids=agent_ids)
    return {"total": stats.total, "pairs": [pair.model_dump(by_alias=False) for pair in stats.pairs]}
