"""Traces: saving them, finding them, and counting what they read."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from amfs_sqlite.records.traces import DecisionTrace, SharePair, ShareStats, TraceEntry
from amfs_sqlite.reference.store import State, Store, StoredTrace
from amfs_sqlite.rules.keysets import checked_page
from amfs_sqlite.rules.limits import (
    check_count,
    check_instant,
    check_is_text,
    check_optional_text,
    check_whole_number,
)
from amfs_sqlite.rules.traces import (
    ID_DIGITS,
    Filter,
    check_agents,
    checked_filter,
    prepared,
    spellings,
)


def save_trace(store: Store, trace: DecisionTrace) -> DecisionTrace:
    draft = prepared(trace, store.ids.hex(ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> DecisionTrace:
        values = [
            None if _was_erased(state, entry) else value
            for entry, value in zip(draft.trace.causal_entries, draft.values, strict=True)
        ]
        state.traces[draft.trace.id] = StoredTrace(draft.record, tuple(values))
        return state.traces[draft.trace.id].trace

    return store.change(work)


def get_trace(store: Store, trace_id: str) -> DecisionTrace | None:
    check_is_text(trace_id, "trace_id")
    stored = store.state.traces.get(trace_id)
    return None if stored is None else stored.trace


def list_traces(
    store: Store,
    *,
    entity_path: str | None = None,
    agent_id: str | None = None,
    outcome_type: str | None = None,
    limit: int | None = 100,
    offset: int = 0,
    cursor: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
) -> Sequence[DecisionTrace]:
    wanted = checked_filter(
        entity_path=entity_path,
        agent_id=agent_id,
        outcome_type=outcome_type,
        since=since,
        until=until,
    )
    page = checked_page(limit, offset, cursor)
    found = [
        trace
        for trace in _newest_first(store)
        if _is_wanted(trace, wanted) and (page.behind is None or _place(trace) < page.behind)
    ]
    return found[page.offset :][: page.limit]


def count_traces(
    store: Store,
    *,
    entity_path: str | None = None,
    agent_id: str | None = None,
    outcome_type: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
) -> int:
    wanted = checked_filter(
        entity_path=entity_path,
        agent_id=agent_id,
        outcome_type=outcome_type,
        since=since,
        until=until,
    )
    return sum(_is_wanted(trace, wanted) for trace in _newest_first(store))


def trace_read_counts(store: Store, agent_id: str) -> Mapping[str, Mapping[str, int]]:
    check_is_text(agent_id, "agent_id")
    read = Counter(
        (entry.entity_path, entry.key)
        for trace in _newest_first(store)
        if trace.agent_id == agent_id
        for entry in trace.causal_entries
    )
    counts: dict[str, dict[str, int]] = {}
    for (path, key), count in sorted(read.items()):
        counts.setdefault(path, {})[key] = count
    return counts


def list_traces_for_entry(
    store: Store,
    *,
    agent_id: str,
    session_id: str | None,
    written_at: datetime | str | None = None,
    limit: int | None = 5,
) -> Sequence[DecisionTrace]:
    check_is_text(agent_id, "agent_id")
    check_optional_text(session_id, "session_id")
    written = check_instant(written_at, "written_at")
    check_count(limit, "limit")
    found = [
        trace
        for trace in _newest_first(store)
        if trace.agent_id == agent_id and session_id and trace.session_id == session_id
    ]
    if written is not None:
        found.sort(key=lambda trace: (_place(trace)[0] < written, abs(_place(trace)[0] - written)))
    return found[:limit]


def share_stats(
    store: Store,
    *,
    since: datetime | str | None = None,
    pair_limit: int = 20,
    agent_ids: Sequence[str] | None = None,
) -> ShareStats:
    since_instant = check_instant(since, "since")
    check_whole_number(pair_limit, "pair_limit")
    check_agents(agent_ids)
    shares = Counter(
        (trace.agent_id, entry.written_by)
        for trace in _newest_first(store)
        if since_instant is None or _place(trace)[0] >= since_instant
        for entry in trace.causal_entries
        if entry.written_by and entry.written_by != trace.agent_id
        if agent_ids is None or {trace.agent_id, entry.written_by} <= {*agent_ids}
    )
    pairs = sorted(
        (SharePair(reader=reader, author=author, count=count) for (reader, author), count in shares.items()),
        key=lambda pair: (-pair.count, pair.reader, pair.author),
    )
    return ShareStats(total=shares.total(), pairs=tuple(pairs[:pair_limit]))


def _was_erased(state: State, entry: TraceEntry) -> bool:
    """Whether what was read, or what is spelled alike, is there and its value was taken away."""
    keys = [state.keys.get(address) for address in spellings(entry.entity_path, entry.key)]
    versions = [stored.version(entry.version) for stored in keys if stored]
    return any(found.number in state.erasures for found in versions if found)


def _newest_first(store: Store) -> Iterator[DecisionTrace]:
    traces = [stored.trace for stored in store.state.traces.values()]
    return iter(sorted(traces, key=_place, reverse=True))


def _place(trace: DecisionTrace) -> tuple[datetime, str]:
    if trace.created_at is None:
        raise ValueError("this trace was never saved: it has no created_at yet")
    return trace.created_at, trace.id


def _is_wanted(trace: DecisionTrace, wanted: Filter) -> bool:
    at = _place(trace)[0]
    return (
        wanted.entity_path in (None, *(entry.entity_path for entry in trace.causal_entries))
        and wanted.agent_id in (None, trace.agent_id)
        and (wanted.outcome_type is None or wanted.outcome_type == trace.outcome_type)
        and (wanted.since is None or at >= wanted.since)
        and (wanted.until is None or at < wanted.until)
    )
