"""Search: filters as conditions, words by the text index, and what it lacks by the same rules in Python."""

from collections.abc import Sequence
from typing import Any

from amfs_sqlite.models import SearchPage, SearchQuery
from amfs_sqlite.rules.cursors import search_cursor, search_position
from amfs_sqlite.rules.limits import check_search
from amfs_sqlite.rules.text import Term, entry_tokens, joined, matches, terms_of
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.entries import BELOW, ENTRY, HERE, NOT_SYSTEM, VISIBLE
from amfs_sqlite.sqlite.index import indexed_through
from amfs_sqlite.sqlite.rows import entry_of, microseconds
from amfs_sqlite.sqlite.transaction import Transaction

POSITIONED = ENTRY.replace("SELECT ", "SELECT {position}, ", 1)
COUNT = "SELECT count(*) FROM current AS c WHERE "
TAGGED = "c.id IN (SELECT t.key_id FROM entry_tags AS t WHERE t.tag = :tag)"
# What the text index holds of the current versions, and what was found without it.
MATCHING = """(c.id IN (SELECT w.value FROM json_each(:unindexed) AS w) OR (
c.version_id <= :indexed_through
AND c.id IN (SELECT x.rowid FROM text_index AS x WHERE x.tokens MATCH :match)))"""
NOTHING = "0"
LIVE = "(c.ttl_at IS NULL OR c.ttl_at > :now)"
EXPIRED = "(c.ttl_at IS NOT NULL AND c.ttl_at <= :now)"
CONFIDENT = "c.confidence >= :min_confidence"
ORDERS = {"newest": ("c.version_id", "DESC", "<"), "oldest": ("c.id", "ASC", ">")}


def search(tx: Transaction, query: SearchQuery, *, store_id: str, viewer: str | None = None) -> SearchPage:
    check_search(query)
    terms = terms_of(query.text) if query.text else None
    position = search_position(query, viewer, store_id)
    filters = _filters(query)
    parameters = _parameters(tx, query, viewer)
    if terms is not None:
        parameters |= _text_parameters(tx, terms, filters, parameters)
        filters = [*filters, MATCHING if terms else NOTHING]
    confident = [CONFIDENT] if query.min_confidence else []
    rows = _page(tx, query, [*filters, LIVE, *confident], parameters, position)
    more = query.limit is not None and len(rows) > query.limit
    rows = rows[: query.limit] if more else rows
    below = [*filters, LIVE, f"NOT ({CONFIDENT})"]
    return SearchPage(
        entries=tuple(entry_of(row[1:]) for row in rows),
        next_cursor=search_cursor(query, viewer, store_id, rows[-1][0]) if more and rows else None,
        below_confidence_count=_count(tx, below, parameters) if confident else 0,
        expired_count=_count(tx, [*filters, EXPIRED, *confident], parameters),
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


def _text_parameters(
    tx: Transaction, terms: Sequence[Term], filters: Sequence[str], parameters: dict[str, Any]
) -> dict[str, Any]:
    """How far the index has come, what to ask it, and the keys beyond it whose words match."""
    if not terms:
        return {}
    indexed = {"indexed_through": indexed_through(tx), "match": _match(terms)}
    where = " AND ".join([*filters, "c.version_id > :indexed_through"])
    beyond = tx.each(f"{POSITIONED.format(position='c.id')} WHERE {where}", parameters | indexed)
    found = [key_id for key_id, *row in beyond if matches(terms, entry_tokens(entry_of(row)))]
    return indexed | {"unindexed": encode(found)}


def _match(terms: Sequence[Term]) -> str:
    """Tokens hold letters, digits and marks alone, so quoting them is all that FTS5 needs."""
    return " ".join(f'"{joined(term.tokens)}"{" *" if term.prefix else ""}' for term in terms)


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
    limit = -1 if query.limit is None else min(query.limit + bool(query.limit), 2**63 - 1)
    return tx.all(sql, parameters | {"position": position, "limit": limit})


def _count(tx: Transaction, conditions: Sequence[str], parameters: dict[str, Any]) -> int:
    count: int = tx.value(COUNT + " AND ".join(conditions), parameters)
    return count
