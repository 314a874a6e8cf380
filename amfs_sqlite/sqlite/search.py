"""Search: filters as conditions, words by the text index, and what it lacks by the same rules in Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from amfs_sqlite.models import SearchPage, SearchQuery
from amfs_sqlite.rules.cursors import Position, search_cursor, search_position
from amfs_sqlite.rules.limits import check_instant, check_search
from amfs_sqlite.rules.ranking import SORTS, SortField, relevance
from amfs_sqlite.rules.text import Term, entry_tokens, joined, matches, terms_of
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.entries import ENTRY, HERE, NOT_SYSTEM, VISIBLE
from amfs_sqlite.sqlite.index import indexed_through
from amfs_sqlite.sqlite.rows import entry_of, microseconds, optional_microseconds
from amfs_sqlite.sqlite.transaction import Transaction

COUNT = "SELECT count(*) FROM current AS c"
TAGGED = "c.id IN (SELECT t.key_id FROM entry_tags AS t WHERE t.tag = :tag)"
CONTAINING = """(instr(lowered(c.entity_path), :contains) OR instr(lowered(c.key), :contains)
OR instr(lowered(value_text(c.value)), :contains))"""
COVERED = (
    "(c.entity_path >= :path{n} AND c.entity_path < :path{n} || '0'"
    " AND (c.entity_path = :path{n} OR c.entity_path >= :path{n} || '/'))"
)
EXACT = "c.entity_path = :path{n}"
# What the text index says, and what was found among the entries it has not come to yet.
WORDS = """
LEFT JOIN (SELECT x.rowid AS key_id, bm25(text_index) AS distance FROM text_index AS x
           WHERE text_index MATCH :match) AS x ON x.key_id = c.id
LEFT JOIN (SELECT w.value ->> 0 AS key_id, w.value ->> 1 AS relevance FROM json_each(:unindexed) AS w)
AS w ON w.key_id = c.id"""
MATCHING = "(w.key_id IS NOT NULL OR (x.key_id IS NOT NULL AND c.version_id <= :indexed_through))"
RELEVANCE = "coalesce(w.relevance, -x.distance)"
NOTHING = "0"
# SQLite's largest integer.
MAX_LIMIT = 2**63 - 1
LIVE = "(c.ttl_at IS NULL OR c.ttl_at > :now)"
EXPIRED = "(c.ttl_at IS NOT NULL AND c.ttl_at <= :now)"
CONFIDENT = "c.confidence >= :min_confidence"
COLUMNS: Mapping[SortField, str] = {
    "version_number": "c.version_id",
    "key_number": "c.id",
    "confidence": "c.confidence",
    "written_at": "c.written_at",
    "version": "c.version",
}


def search(tx: Transaction, query: SearchQuery, *, store_id: str, viewer: str | None = None) -> SearchPage:
    check_search(query)
    terms = terms_of(query.text) if query.text else None
    position = search_position(query, viewer, store_id)
    filters = _filters(query)
    parameters = _parameters(tx, query, viewer)
    joins = ""
    if terms is not None:
        parameters |= _text_parameters(tx, terms, filters, parameters)
        filters = [*filters, MATCHING if terms else NOTHING]
        joins = WORDS if terms else ""

    def source(*conditions: str) -> str:
        return f"{joins} WHERE {' AND '.join([*filters, *conditions])}"

    confident = [CONFIDENT] if query.min_confidence else []
    rows = _page(tx, query, source(LIVE, *confident), parameters, position)
    more = query.limit is not None and len(rows) > query.limit
    rows = rows[: query.limit] if more else rows
    width = len(SORTS[query.sort_by])
    below = f"{COUNT} {source(LIVE, f'NOT ({CONFIDENT})')}"
    return SearchPage(
        entries=tuple(entry_of(row[width:]) for row in rows),
        next_cursor=search_cursor(query, viewer, store_id, rows[-1][:width]) if more and rows else None,
        below_confidence_count=tx.value(below, parameters) if confident else 0,
        expired_count=tx.value(f"{COUNT} {source(EXPIRED, *confident)}", parameters),
    )


def _filters(query: SearchQuery) -> list[str]:
    """Every condition but least confidence, expiry and text."""
    asked = {
        "c.key = :key": query.key,
        TAGGED: query.tag,
        "c.agent_id = :agent_id": query.agent_id,
        "c.written_at >= :since": query.since,
        "c.written_at <= :until": query.until,
        CONTAINING: query.contains,
    }
    conditions = [HERE, VISIBLE, *_under(query), *(sql for sql, value in asked.items() if value)]
    if query.max_confidence is not None:
        conditions.append("c.confidence <= :max_confidence")
    if not query.include_system:
        conditions.append(NOT_SYSTEM)
    return conditions


def _paths(query: SearchQuery) -> Sequence[str]:
    return (query.entity_path or "",) if query.entity_paths is None else query.entity_paths


def _under(query: SearchQuery) -> list[str]:
    """The condition for the paths asked for; none where all are."""
    paths = _paths(query)
    if "" in paths:
        return []
    covered = COVERED if query.descendants else EXACT
    return [f"({' OR '.join(covered.format(n=n) for n in range(len(paths)))})" if paths else NOTHING]


def _parameters(tx: Transaction, query: SearchQuery, viewer: str | None) -> dict[str, Any]:
    return {
        "namespace": tx.namespace,
        "branch": tx.branch,
        "viewer": viewer,
        "key": query.key,
        "tag": query.tag,
        "agent_id": query.agent_id,
        "since": optional_microseconds(check_instant(query.since, "since")),
        "until": optional_microseconds(check_instant(query.until, "until")),
        "min_confidence": query.min_confidence,
        "max_confidence": query.max_confidence,
        "contains": (query.contains or "").lower(),
        "now": microseconds(tx.now),
    } | {f"path{n}": path for n, path in enumerate(_paths(query))}


def _text_parameters(
    tx: Transaction, terms: Sequence[Term], filters: Sequence[str], parameters: dict[str, Any]
) -> dict[str, Any]:
    """How far the index has come, what to ask it, and what matches beyond it with how well."""
    if not terms:
        return {}
    indexed = {"indexed_through": indexed_through(tx), "match": _match(terms)}
    where = " AND ".join([*filters, "c.version_id > :indexed_through"])
    found = []
    for key_id, *row in tx.each(f"{_select('c.id')} WHERE {where}", parameters | indexed):
        tokens = entry_tokens(entry_of(row))
        if matches(terms, tokens):
            found.append([key_id, relevance(terms, tokens)])
    return indexed | {"unindexed": encode(found)}


def _match(terms: Sequence[Term]) -> str:
    """Tokens hold letters, digits and marks alone, so quoting them is all that FTS5 needs."""
    return " ".join(f'"{joined(term.tokens)}"{" *" if term.prefix else ""}' for term in terms)


def _select(*columns: str) -> str:
    """An entry behind these columns."""
    return ENTRY.replace("SELECT ", f"SELECT {', '.join(columns)}, ", 1)


def _page(
    tx: Transaction,
    query: SearchQuery,
    source: str,
    parameters: dict[str, Any],
    position: Position | None,
) -> list[tuple[Any, ...]]:
    """The rows of the page and one more, each behind its position. ``source`` are joins and conditions."""
    columns = [_column(query, field) for field, _ in SORTS[query.sort_by]]
    directions = [downwards for _, downwards in SORTS[query.sort_by]]
    bound = "" if position is None else f" AND {_beyond(columns, directions)}"
    order = ", ".join(f"{n} {'DESC' if down else 'ASC'}" for n, down in enumerate(directions, start=1))
    limit = -1 if query.limit is None else min(query.limit + bool(query.limit), MAX_LIMIT)
    at = {f"at{n}": number for n, number in enumerate(position or ())}
    return tx.all(
        f"{_select(*columns)} {source}{bound} ORDER BY {order} LIMIT :limit",
        parameters | at | {"limit": limit},
    )


def _column(query: SearchQuery, field: SortField) -> str:
    if field == "relevance":
        return RELEVANCE if query.text and terms_of(query.text) else "0.0"
    if field == "path_rank":
        return _path_rank(query)
    return COLUMNS[field]


def _path_rank(query: SearchQuery) -> str:
    paths = query.entity_paths or ()
    if len(paths) < 2:
        return "0"
    cases = " ".join(f"WHEN {COVERED.format(n=n) if path else '1'} THEN {n}" for n, path in enumerate(paths))
    return f"CASE {cases} END"


def _beyond(columns: Sequence[str], directions: Sequence[bool]) -> str:
    """What lies behind the position: equal in some first columns, and further on in the next."""
    cases = []
    for n, (column, downwards) in enumerate(zip(columns, directions, strict=True)):
        equal = [f"{columns[before]} = :at{before}" for before in range(n)]
        further = f"{column} {'<' if downwards else '>'} :at{n}"
        cases.append(f"({' AND '.join([*equal, further])})")
    return f"({' OR '.join(cases)})"
