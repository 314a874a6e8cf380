"""Search: filters as conditions, words by the text index, and what it lacks by the same rules in Python."""

from collections.abc import Sequence
from typing import Any

from amfs_sqlite.models import SearchPage, SearchQuery
from amfs_sqlite.rules.cursors import search_cursor, search_position
from amfs_sqlite.rules.limits import check_search
from amfs_sqlite.rules.text import Term, entry_tokens, joined, matches, terms_of
from amfs_sqlite.sqlite.entries import BELOW, ENTRY, HERE, NOT_SYSTEM, VISIBLE
from amfs_sqlite.sqlite.index import indexed_through
from amfs_sqlite.sqlite.rows import entry_of, microseconds
from amfs_sqlite.sqlite.transaction import Transaction

POSITIONED = ENTRY.replace("SELECT ", "SELECT {position}, ", 1)
COUNT = "SELECT count(*) FROM current AS c WHERE "
TAGGED = "c.id IN (SELECT t.key_id FROM entry_tags AS t WHERE t.tag = :tag)"
INDEXED = """c.version_id <= :indexed_through
AND c.id IN (SELECT x.rowid FROM text_index AS x WHERE x.tokens MATCH :match)"""
LIVE = "(c.ttl_at IS NULL OR c.ttl_at > :now)"
CONFIDENT = "c.confidence >= :min_confidence"
ORDERS = {"newest": ("c.version_id", "DESC", "<"), "oldest": ("c.id", "ASC", ">")}


def search(tx: Transaction, query: SearchQuery, *, store_id: str, viewer: str | None = None) -> SearchPage:
    check_search(query)
    position = search_position(query, viewer, store_id)
    terms = terms_of(query.text) if query.text else None
    filters = _filters(query)
    parameters = _parameters(tx, query, viewer)
    if terms is not None:
        found = _found_by_text(tx, terms, filters, parameters)
        filters = [*filters, _one_of(found)]
    conditions = [*filters, LIVE, *([CONFIDENT] if query.min_confidence else [])]
    rows = _page(tx, query, conditions, parameters, position)
    more = query.limit is not None and len(rows) > query.limit
    rows = rows[: query.limit] if more else rows
    last = rows[-1][0] if rows else None
    return SearchPage(
        entries=tuple(entry_of(row[1:]) for row in rows),
        next_cursor=(search_cursor(query, viewer, store_id, last) if more and last is not None else None),
        below_confidence_count=_below_confidence(tx, query, filters, parameters),
        expired_count=tx.value(
            COUNT + " AND ".join([*filters, f"NOT {LIVE}", *conditions[len(filters) + 1 :]]),
            parameters,
        ),
    )


def _filters(query: SearchQuery) -> list[str]:
    """Every condition but confidence, expiry and text."""
    conditions = [HERE, VISIBLE]
    if query.entity_path:
        conditions.append(BELOW)
    if query.key:
        conditions.append("c.key = :key")
    if query.tag:
        conditions.append(TAGGED)
    if not query.include_system:
        conditions.append(NOT_SYSTEM)
    return conditions


def _parameters(tx: Transaction, query: SearchQuery, viewer: str | None) -> dict[str, Any]:
    return {
        "namespace": tx.namespace,
        "branch": tx.branch,
        "viewer": viewer,
        "entity_path": query.entity_path,
        "key": query.key,
        "tag": query.tag,
        "min_confidence": query.min_confidence,
        "now": microseconds(tx.now),
    }


def _found_by_text(
    tx: Transaction, terms: Sequence[Term], filters: Sequence[str], parameters: dict[str, Any]
) -> list[int]:
    """The keys whose words match: by the index, and one by one where it lags behind."""
    if not terms:
        return []
    through = indexed_through(tx)
    asked = parameters | {"indexed_through": through, "match": _match(terms)}
    where = " AND ".join(filters)
    indexed = f"SELECT c.id FROM current AS c WHERE {where} AND {INDEXED}"
    found = [key_id for (key_id,) in tx.each(indexed, asked)]
    rest = f"WHERE {where} AND c.version_id > :indexed_through"
    pending = f"{POSITIONED.format(position='c.id')} {rest}"
    for key_id, *row in tx.each(pending, asked):
        if matches(terms, entry_tokens(entry_of(row))):
            found.append(key_id)
    return found


def _match(terms: Sequence[Term]) -> str:
    """Tokens hold letters, digits and marks alone, so quoting them is all that FTS5 needs."""
    return " ".join(f'"{joined(term.tokens)}"{" *" if term.prefix else ""}' for term in terms)


def _one_of(key_ids: Sequence[int]) -> str:
    """Row numbers that this module read itself, as a condition."""
    return f"c.id IN ({','.join(map(str, key_ids))})"


def _page(
    tx: Transaction,
    query: SearchQuery,
    conditions: Sequence[str],
    parameters: dict[str, Any],
    position: int | None,
) -> list[tuple[Any, ...]]:
    """The rows of the page and one more, each behind its position."""
    column, direction, beyond = ORDERS[query.order]
    bound = [] if position is None else [f"{column} {beyond} :position"]
    sql = (
        f"{POSITIONED.format(position=column)} WHERE {' AND '.join([*conditions, *bound])}"
        f" ORDER BY {column} {direction} LIMIT :limit"
    )
    limit = -1 if query.limit is None else query.limit + bool(query.limit)
    return tx.all(sql, parameters | {"position": position, "limit": limit})


def _below_confidence(
    tx: Transaction, query: SearchQuery, filters: Sequence[str], parameters: dict[str, Any]
) -> int:
    if not query.min_confidence:
        return 0
    below = " AND ".join([*filters, LIVE, f"NOT ({CONFIDENT})"])
    count: int = tx.value(COUNT + below, parameters)
    return count
