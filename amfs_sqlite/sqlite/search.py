"""Search: filters as conditions, words by the text index, and what it lacks by the same rules in Python."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from amfs_sqlite.models import SearchPage, SearchQuery
from amfs_sqlite.rules.cursors import Position, search_cursor, search_position
from amfs_sqlite.rules.limits import check_instant, check_optional_text, check_search
from amfs_sqlite.rules.ranking import MAX_RANKED, MAX_RANKED_TERMS, SORTS, SortField, relevance, sought
from amfs_sqlite.rules.text import Term, entry_tokens, joined, matches, terms_of
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.entries import ENTRY, HERE, NOT_SYSTEM, PRESENT, VALUE, VISIBLE
from amfs_sqlite.sqlite.index import indexed_through
from amfs_sqlite.sqlite.rows import entry_of, microseconds, optional_microseconds
from amfs_sqlite.sqlite.transaction import Transaction, weight

COUNT = "SELECT count(*)"
TAGGED = "c.id IN (SELECT t.key_id FROM entry_tags AS t WHERE t.tag = :tag)"
# No index is to begin with the namespace where a tag leads to fewer.
HERE_BY_TAG = "+c.namespace = :namespace AND +c.branch = :branch"
CONTAINING = """(instr(lowered(c.entity_path), :contains) OR instr(lowered(c.key), :contains)
OR instr(lowered(value_text(c.value)), :contains))"""
COVERED = (
    "(c.entity_path >= :path{n} AND c.entity_path < :path{n} || '0'"
    " AND (c.entity_path = :path{n} OR c.entity_path >= :path{n} || '/'))"
)
EXACT = "c.entity_path = :path{n}"
# What was found among the entries that the text index has not come to yet, with how well each matches.
UNINDEXED = (
    "SELECT json_extract(w.value, '$[0]') AS id, json_extract(w.value, '$[1]') AS relevance"
    " FROM json_each(:unindexed) AS w"
)
# From what matches to the entries: for a text that few of them hold.
MATCHES_FIRST = """FROM (
    SELECT {matches} {unindexed}
) AS x CROSS JOIN current AS c ON c.id = x.id"""
MATCHING = """x.rowid AS id, {relevance} AS relevance, 1 AS is_indexed
    FROM text_index AS x WHERE text_index MATCH :match"""
# The same where they are known already: to find them again takes most of what a search does.
FOUND = "h.value AS id, 0.0 AS relevance, 1 AS is_indexed FROM json_each(:found) AS h"
AND_UNINDEXED = f"UNION ALL SELECT id, relevance, 0 FROM ({UNINDEXED})"
ENTRIES = "FROM current AS c"
# In the order of their keys: by an index they would have to be sorted first.
ENTRIES_AS_THEY_CAME = f"{ENTRIES} NOT INDEXED"
# In a text in which every token has spaces of its own, what is left when a term is taken out tells how
# often it occurs. Such a text is longer than the tokens with single spaces by one for each, and one more.
LENGTH = "(length(x.tokens) - length(replace(x.tokens, ' ', '')) + 1)"
SPACED = "' ' || replace(x.tokens, ' ', '  ') || ' '"
WITHOUT = f"replace({SPACED}, :term{{0}}, '')"
COUNTED = f"((length(x.tokens) + {LENGTH} + 1 - length({WITHOUT})) / length(:term{{0}}))"
UP_TO_DATE = "(x.is_indexed = 0 OR c.version_id <= :indexed_through)"
# From the entries in their order to whether each matches: for a text that many of them hold.
ENTRIES_FIRST = f"""(c.id IN (SELECT id FROM ({UNINDEXED})) OR (c.version_id <= :indexed_through
AND EXISTS (SELECT 1 FROM text_index AS x WHERE text_index MATCH :match AND x.rowid = c.id)))"""
# Of those the viewer may see: what is counted, and so what is ranked, must tell nothing of any other.
HITS = f"""
SELECT count(*), json_group_array(id) FROM (
    SELECT x.rowid AS id FROM text_index AS x CROSS JOIN current AS c ON c.id = x.rowid
    WHERE text_index MATCH :match AND {HERE} AND {VISIBLE} AND {PRESENT} AND c.version_id <= :indexed_through
    LIMIT :most)"""
# How far the text index could have come, how many keys there are, and whether any has expired.
SURVEY = """
SELECT (SELECT max(id) FROM versions), (SELECT max(id) FROM current),
       EXISTS (SELECT 1 FROM current AS c
               WHERE c.namespace = :namespace AND c.branch = :branch AND c.ttl_at <= :now)"""
NOTHING = "0"
CONSTANTS = ("0", "0.0")
# The orders in which the entries can be gone through until a page is full.
WALKED = ("newest", "oldest")
USUAL_PAGE = 20
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
    check_optional_text(viewer, "viewer")
    terms = terms_of(query.text) if query.text else None
    position = search_position(query, viewer, store_id)
    filters = _filters(query)
    parameters = _parameters(tx, query, viewer)
    survey = _Survey(*tx.row(SURVEY, parameters))
    ranked_before = None if position is None or query.sort_by != "relevance" else position[0] > 0
    text = _Text()
    if terms is not None:
        text = _text(tx, query, terms, filters, parameters, survey=survey, ranked_before=ranked_before)
    parameters |= text.parameters
    filters = [*filters, *text.conditions]

    def where(*conditions: str) -> str:
        return f"WHERE {' AND '.join([*filters, *conditions])}"

    confident = [CONFIDENT] if query.min_confidence else []
    rows = _page(tx, query, where(LIVE, *confident), parameters, position=position, text=text)
    more = query.limit is not None and len(rows) > query.limit
    rows = rows[: query.limit] if more else rows
    width = len(SORTS[query.sort_by])
    below = f"{COUNT} {text.source} {where(LIVE, f'NOT ({CONFIDENT})')}"
    return SearchPage(
        entries=tuple(entry_of(row[width:]) for row in rows),
        next_cursor=search_cursor(query, viewer, store_id, rows[-1][:width]) if more and rows else None,
        below_confidence_count=tx.value(below, parameters) if confident else 0,
        expired_count=tx.value(f"{COUNT} {text.source} {where(EXPIRED, *confident)}", parameters)
        if survey.any_expired
        else 0,
        ranked=text.is_ranked,
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
    conditions = [
        HERE_BY_TAG if query.tag else HERE,
        VISIBLE,
        PRESENT,
        *_under(query),
        *(sql for sql, value in asked.items() if value),
    ]
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


class _Survey(NamedTuple):
    """The answer to ``SURVEY``."""

    newest_version_id: int | None
    key_count: int | None
    any_expired: int


class _Text(NamedTuple):
    """How the text is looked for, and whether its words say anything about the order."""

    source: str = ENTRIES
    conditions: Sequence[str] = ()
    parameters: Mapping[str, Any] = MappingProxyType({})
    is_ranked: bool = True


def _text(
    tx: Transaction,
    query: SearchQuery,
    terms: Sequence[Term],
    filters: Sequence[str],
    parameters: dict[str, Any],
    *,
    survey: _Survey,
    ranked_before: bool | None,
) -> _Text:
    """What to ask the text index, and what matches beyond what it has come to, with how well.

    ``ranked_before`` is whether the page before was ranked: this one goes on as that did.
    """
    if not terms:
        return _Text(conditions=(NOTHING,))
    through = indexed_through(tx)
    indexed = {"indexed_through": through, "match": _match(terms)}
    is_behind = (survey.newest_version_id or 0) > through
    unindexed = _unindexed(tx, terms, filters, parameters | indexed) if is_behind else []
    many = _many(survey.key_count or 0)
    most = max(many, MAX_RANKED) + 1
    found_count, found = tx.row(HITS, parameters | indexed | {"most": most})
    hit_count = found_count + len(unindexed)
    asked = indexed | {"unindexed": encode(unindexed), "found": found}
    may_rank = hit_count <= MAX_RANKED if ranked_before is None else ranked_before
    is_ranked = query.sort_by != "relevance" or may_rank
    is_walked = query.sort_by in WALKED or not is_ranked
    if hit_count > many and is_walked and not _narrows(query):
        source = ENTRIES if query.sort_by == "newest" else ENTRIES_AS_THEY_CAME
        return _Text(source, (ENTRIES_FIRST,), asked, is_ranked)
    besides = AND_UNINDEXED if unindexed else ""
    if query.sort_by != "relevance" or not is_ranked:
        matching = FOUND if found_count < most else MATCHING.format(relevance="0.0")
        source = MATCHES_FIRST.format(matches=matching, unindexed=besides)
        return _Text(source, (UP_TO_DATE,), asked, is_ranked)
    sought_for = {f"term{n}": sought(term) for n, term in enumerate(terms[:MAX_RANKED_TERMS])}
    ranked = MATCHING.format(relevance=_relevance(len(sought_for)))
    source = MATCHES_FIRST.format(matches=ranked, unindexed=besides)
    return _Text(source, (UP_TO_DATE,), asked | sought_for)


def _relevance(term_count: int) -> str:
    """``rules.ranking.relevance`` in SQL, so that no other thread waits for Python here: the same operations
    on the same numbers in the same order give the same number.
    """
    counts = [COUNTED.format(n) for n in range(term_count)]
    saturated = " + ".join(f"(2.0 - 2.0 / ({count} + 1.0))" for count in counts)
    return f"(0.0 + {saturated}) / (1.0 + {LENGTH} / 200.0)"


def _many(key_count: int) -> int:
    """From how many hits on it is quicker to go through the entries until a page is full.

    Going from h hits to their entries costs h looks at one; going through n entries costs a look into the
    index for each of the n / h that hold no hit, some eight times as dear, times the length of a page.
    """
    return math.isqrt(8 * USUAL_PAGE * key_count)


def _narrows(query: SearchQuery) -> bool:
    """Whether more than the text decides, so that going through the entries may not fill a page soon."""
    everywhere = "" in _paths(query)
    others = (query.key, query.tag, query.agent_id, query.since, query.until, query.contains)
    return not everywhere or any(others) or query.limit is None


def _unindexed(
    tx: Transaction, terms: Sequence[Term], filters: Sequence[str], parameters: dict[str, Any]
) -> list[tuple[int, float]]:
    """The keys that match among those the text index has not come to yet, with how well."""
    where = " AND ".join([*filters, "c.version_id > :indexed_through"])
    found = []
    for key_id, *row in tx.each(f"{_select('c.id')} WHERE {where}", parameters):
        tx.unindexed_seen += weight(row[VALUE])
        tokens = entry_tokens(entry_of(row))
        if matches(terms, tokens):
            found.append((key_id, relevance(terms, tokens)))
    return found


def _match(terms: Sequence[Term]) -> str:
    """Tokens hold letters, digits and marks alone, so quoting them is all that FTS5 needs."""
    return " ".join(f'"{joined(term.tokens)}"{" *" if term.prefix else ""}' for term in terms)


def _select(*columns: str, source: str = ENTRIES) -> str:
    """An entry behind these columns."""
    selected = ENTRY.replace("SELECT ", f"SELECT {', '.join(columns)}, ", 1)
    return selected.replace(ENTRIES, source, 1)


def _page(
    tx: Transaction,
    query: SearchQuery,
    where: str,
    parameters: dict[str, Any],
    *,
    position: Position | None,
    text: _Text,
) -> list[tuple[Any, ...]]:
    """The rows of the page and one more, each behind its position."""
    columns = [_column(query, field, text) for field, _ in SORTS[query.sort_by]]
    directions = [downwards for _, downwards in SORTS[query.sort_by]]
    bound = "" if position is None else f" AND {_beyond(columns, directions)}"
    # By what is the same for all it would be sorted once more, and nothing could be gone through in order.
    order = ", ".join(
        f"{n} {'DESC' if down else 'ASC'}"
        for n, (column, down) in enumerate(zip(columns, directions, strict=True), start=1)
        if column not in CONSTANTS
    )
    limit = -1 if query.limit is None else min(query.limit + bool(query.limit), MAX_LIMIT)
    at = {f"at{n}": number for n, number in enumerate(position or ())}
    return tx.all(
        f"{_select(*columns, source=text.source)} {where}{bound} ORDER BY {order} LIMIT :limit",
        parameters | at | {"limit": limit},
    )


def _column(query: SearchQuery, field: SortField, text: _Text) -> str:
    if field == "relevance":
        return "x.relevance" if text.is_ranked and text.conditions == (UP_TO_DATE,) else "0.0"
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
