"""Traces: saving them, finding them, and counting what they read."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from amfs_sqlite.records.traces import DecisionTrace, SharePair, ShareStats
from amfs_sqlite.rules.keysets import Page, checked_page
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
from amfs_sqlite.sqlite.rows import microseconds, optional_microseconds, trace_of
from amfs_sqlite.sqlite.transaction import Transaction

INSERT = """
INSERT INTO traces (namespace, trace_id, agent_id, session_id, outcome_type, created_at, record)
VALUES (?, ?, ?, ?, ?, ?, ?)"""
INSERT_ENTRY = """
INSERT INTO trace_entries (trace_row_id, position, entity_path, key, version, written_by, value)
VALUES (?, ?, ?, ?, ?, ?, ?)"""
WAS_ERASED = """
SELECT EXISTS (
    SELECT 1 FROM json_each(:addresses) AS s
    CROSS JOIN current AS c ON c.namespace = :namespace
        AND c.branch IN (SELECT 'main' UNION SELECT b.name FROM branches AS b WHERE b.namespace = :namespace)
        AND c.entity_path = json_extract(s.value, '$[0]') AND c.key = json_extract(s.value, '$[1]')
    CROSS JOIN versions AS v ON v.key_id = c.id AND v.version = :version
    CROSS JOIN erasures AS e ON e.version_id = v.id)"""
ADDRESS = """
SELECT c.namespace, c.entity_path, c.key, v.version FROM versions AS v
CROSS JOIN current AS c ON c.id = v.key_id WHERE v.id = ?"""
BLANK = """
UPDATE trace_entries SET value = NULL
WHERE (trace_row_id, position) IN (
    SELECT n.trace_row_id, n.position FROM json_each(:addresses) AS s
    CROSS JOIN trace_entries AS n ON n.entity_path = json_extract(s.value, '$[0]')
        AND n.key = json_extract(s.value, '$[1]') AND n.version = :version
    CROSS JOIN traces AS t ON t.id = n.trace_row_id AND t.namespace = :namespace)"""
TRACES = "SELECT t.id, t.record FROM traces AS t WHERE t.namespace = :namespace"
VALUES = """
SELECT n.trace_row_id, n.value FROM json_each(:ids) AS s
CROSS JOIN trace_entries AS n ON n.trace_row_id = s.value ORDER BY n.trace_row_id, n.position"""
COUNT = "SELECT count(*) FROM traces AS t WHERE t.namespace = :namespace"
READING = "t.id IN (SELECT n.trace_row_id FROM trace_entries AS n WHERE n.entity_path = :entity_path)"
BEHIND = "(t.created_at, t.trace_id) < (:at, :tiebreak)"
NEWEST_FIRST = "ORDER BY t.created_at DESC, t.trace_id DESC LIMIT :limit OFFSET :offset"
NEAREST_FIRST = """
ORDER BY t.created_at < :written_at, abs(t.created_at - :written_at), t.created_at DESC, t.trace_id DESC
LIMIT :limit"""
READ_COUNTS = """
SELECT n.entity_path, n.key, count(*)
FROM traces AS t CROSS JOIN trace_entries AS n ON n.trace_row_id = t.id
WHERE t.namespace = :namespace AND t.agent_id = :agent_id
GROUP BY n.entity_path, n.key ORDER BY n.entity_path, n.key"""
SHARES = """
SELECT t.agent_id, n.written_by, count(*) AS shares
FROM traces AS t CROSS JOIN trace_entries AS n ON n.trace_row_id = t.id
WHERE t.namespace = :namespace AND n.written_by <> '' AND n.written_by <> t.agent_id"""
AMONG = """ AND t.agent_id IN (SELECT value FROM json_each(:agent_ids))
AND n.written_by IN (SELECT value FROM json_each(:agent_ids))"""
BY_SHARES = " GROUP BY t.agent_id, n.written_by ORDER BY shares DESC, t.agent_id, n.written_by"


def save_trace(tx: Transaction, trace: DecisionTrace) -> DecisionTrace:
    draft = prepared(trace, tx.ids.hex(ID_DIGITS), tx.namespace, tx.now)
    saved = draft.trace
    row = (tx.namespace, saved.id, saved.agent_id, saved.session_id, saved.outcome_type)
    at = optional_microseconds(saved.created_at)
    row_id = tx.insert(INSERT, (*row, at, draft.record))
    for position, (entry, value) in enumerate(zip(saved.causal_entries, draft.values, strict=True)):
        address = (entry.entity_path, entry.key, entry.version)
        # A value that was erased does not come back with a trace that was under way meanwhile.
        kept = None if tx.value(WAS_ERASED, _copies(tx.namespace, *address)) else value
        tx.run(INSERT_ENTRY, (row_id, position, *address, entry.written_by, kept))
    (stored,) = _whole(tx, [(row_id, draft.record)])
    return stored


def blank(tx: Transaction, version_id: int) -> None:
    """Take the value of this version out of the traces that read it."""
    tx.run(BLANK, _copies(*tx.row(ADDRESS, (version_id,))))


def _copies(namespace: str, entity_path: str, key: str, version: int) -> dict[str, Any]:
    """What finds a version under every address that its path and key can be taken apart into."""
    addresses = json.dumps(spellings(entity_path, key))
    return {"namespace": namespace, "addresses": addresses, "version": version}


def get_trace(tx: Transaction, trace_id: str) -> DecisionTrace | None:
    check_is_text(trace_id, "trace_id")
    asked = {"namespace": tx.namespace, "trace_id": trace_id}
    return next(iter(_whole(tx, tx.all(f"{TRACES} AND t.trace_id = :trace_id", asked))), None)


def list_traces(
    tx: Transaction,
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
    behind = f" AND {BEHIND}" if page.behind else ""
    asked = _asked(tx, wanted) | page_parameters(page)
    return _whole(tx, tx.all(f"{TRACES}{_conditions(wanted)}{behind} {NEWEST_FIRST}", asked))


def count_traces(
    tx: Transaction,
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
    count: int = tx.value(f"{COUNT}{_conditions(wanted)}", _asked(tx, wanted))
    return count


def trace_read_counts(tx: Transaction, agent_id: str) -> Mapping[str, Mapping[str, int]]:
    check_is_text(agent_id, "agent_id")
    counts: dict[str, dict[str, int]] = {}
    for path, key, count in tx.each(READ_COUNTS, {"namespace": tx.namespace, "agent_id": agent_id}):
        counts.setdefault(path, {})[key] = count
    return counts


def list_traces_for_entry(
    tx: Transaction,
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
    asked = {
        "namespace": tx.namespace,
        "agent_id": agent_id,
        "session_id": session_id or None,
        "written_at": optional_microseconds(written),
    }
    of_session = f"{TRACES} AND t.agent_id = :agent_id AND t.session_id = :session_id"
    order = NEWEST_FIRST if written is None else NEAREST_FIRST
    return _whole(tx, tx.all(f"{of_session} {order}", asked | page_parameters(Page(limit, 0, None))))


def share_stats(
    tx: Transaction,
    *,
    since: datetime | str | None = None,
    pair_limit: int = 20,
    agent_ids: Sequence[str] | None = None,
) -> ShareStats:
    since_instant = check_instant(since, "since")
    check_whole_number(pair_limit, "pair_limit")
    check_agents(agent_ids)
    among = "" if agent_ids is None else AMONG
    from_then = "" if since_instant is None else " AND t.created_at >= :since"
    asked = {
        "namespace": tx.namespace,
        "since": optional_microseconds(since_instant),
        "agent_ids": json.dumps(None if agent_ids is None else [*agent_ids]),
    }
    pairs = tx.all(f"{SHARES}{from_then}{among}{BY_SHARES}", asked)
    shown = [SharePair(reader=reader, author=author, count=count) for reader, author, count in pairs]
    return ShareStats(total=sum(pair.count for pair in shown), pairs=tuple(shown[:pair_limit]))


def page_parameters(page: Page) -> dict[str, Any]:
    """Of a statement with a limit, an offset, and a place to continue behind."""
    at, tiebreak = page.behind or (None, None)
    return {
        "limit": -1 if page.limit is None else page.limit,
        "offset": page.offset,
        "at": None if at is None else microseconds(at),
        "tiebreak": tiebreak,
    }


def _conditions(wanted: Filter) -> str:
    conditions = {
        READING: wanted.entity_path,
        "t.agent_id = :agent_id": wanted.agent_id,
        "t.outcome_type = :outcome_type": wanted.outcome_type,
        "t.created_at >= :since": wanted.since,
        "t.created_at < :until": wanted.until,
    }
    return "".join(f" AND {condition}" for condition, given in conditions.items() if given is not None)


def _asked(tx: Transaction, wanted: Filter) -> dict[str, Any]:
    return {
        "namespace": tx.namespace,
        "entity_path": wanted.entity_path,
        "agent_id": wanted.agent_id,
        "outcome_type": wanted.outcome_type,
        "since": optional_microseconds(wanted.since),
        "until": optional_microseconds(wanted.until),
    }


def _whole(tx: Transaction, rows: Sequence[tuple[Any, ...]]) -> list[DecisionTrace]:
    """Traces with the values of their entries."""
    values: defaultdict[int, list[str | None]] = defaultdict(list)
    for row_id, value in tx.each(VALUES, {"ids": json.dumps([row_id for row_id, _ in rows])}):
        values[row_id].append(value)
    return [trace_of(record, values[row_id]) for row_id, record in rows]
