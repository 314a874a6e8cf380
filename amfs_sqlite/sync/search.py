"""Search as the SDK means it: filters, substrings, its orders, and the priority that it gives to entries."""

from collections.abc import Sequence
from typing import Any, cast

from amfs_core.abc import AdapterABC
from amfs_core.embedder import EmbedderABC
from amfs_core.models import MemoryEntry, SearchQuery, SemanticQuery

from amfs_sqlite.clock import instant
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.limits import MAX_PATHS, check_count, check_finite, check_is_text, check_optional_text
from amfs_sqlite.sqlite import recall_search, recalls, vectors
from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.recall_search import Filters
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync import priorities
from amfs_sqlite.sync.arguments import checked, vector_of
from amfs_sqlite.sync.rows import entry_of_row

ALL_TIERS = 3
BY_PRIORITY = "priority"


def search(tx: Transaction, query: SearchQuery, *, branch: str = MAIN_BRANCH) -> list[MemoryEntry]:
    query = checked(query, SearchQuery, "query")
    check_is_text(branch, "branch")
    filters = asked(query)
    if branch != MAIN_BRANCH:
        return _over_list(tx, query, filters, branch)
    if query.sort_by == BY_PRIORITY:
        first = _first_by_priority(tx, filters, query.limit)
        return [entry_of_row(row) for row in recall_search.chosen(tx, first)]
    return [entry_of_row(row) for row in recall_search.found(tx, filters, query.sort_by, query.limit)]


def asked(query: SearchQuery) -> Filters:
    """What a query filters by. Raises InvalidArgumentError."""
    if not isinstance(query, SearchQuery):
        raise InvalidArgumentError("query", f"is {quoted(query)}; make an amfs_core SearchQuery")
    check_finite(query.min_confidence, "min_confidence")
    if query.max_confidence is not None:
        check_finite(query.max_confidence, "max_confidence")
    check_count(query.limit, "limit")
    check_is_text(query.sort_by, "sort_by")
    for argument in ("query", "entity_path", "agent_id", "pattern_ref"):
        check_optional_text(getattr(query, argument), argument)
    if len(query.entity_paths or ()) > MAX_PATHS:
        raise InvalidArgumentError(
            "entity_paths", f"are {len(query.entity_paths or ())}; the limit is {MAX_PATHS}"
        )
    if query.entity_paths:
        paths, descendants = query.entity_paths, query.include_descendants
    else:
        paths = [] if query.entity_path is None else [query.entity_path]
        descendants = query.include_descendants and query.entity_path != ""
    return Filters(
        paths=paths,
        descendants=descendants,
        needle=None if query.recall_config is not None else (query.query or "").lower(),
        min_confidence=query.min_confidence,
        max_confidence=query.max_confidence,
        agent_id=query.agent_id,
        since=None if query.since is None else instant(query.since),
        tag=query.pattern_ref,
        depth=query.depth if query.depth < ALL_TIERS else None,
        include_artifacts=query.include_artifacts,
    )


def _first_by_priority(tx: Transaction, filters: Filters, limit: int) -> list[int]:
    """The keys of the highest priority now, artifacts behind all others."""
    scored = priorities.scores(tx, filters.conditions(tx), tx.now)
    ranked = sorted(scored, key=lambda each: (each[1].is_artifact, -each[0]))
    return [each.key_id for _, each in ranked[:limit]]


class _Listed:
    """What the SDK's own search goes over."""

    def __init__(self, listed: Sequence[MemoryEntry]) -> None:
        self._listed = listed

    def list(self, _entity_path: str | None) -> Sequence[MemoryEntry]:
        """As the SDK calls it."""
        return self._listed


def _over_list(tx: Transaction, query: SearchQuery, filters: Filters, branch: str) -> list[MemoryEntry]:
    """The same by the SDK's own search: of a branch few entries are rows of its own."""
    asked = Conditions({}, [])
    if filters.paths:
        asked.under(filters.paths, descendants=filters.descendants)
    with tx.elsewhere(branch=branch):
        there = [entry_of_row(row, branch) for row in recalls.rows(tx, str(asked), asked.parameters)]
    listed = [
        entry
        for entry in there
        if filters.depth is None or entry.tier <= filters.depth
        if filters.include_artifacts or not entry.is_artifact
    ]
    everywhere = {"entity_path": None, "entity_paths": None, "since": filters.since, "limit": len(listed)}
    found = AdapterABC.search(cast("Any", _Listed(listed)), query.model_copy(update=everywhere))
    return sorted(found, key=lambda entry: entry.is_artifact)[: query.limit]


def embedded(query: SemanticQuery, embedder: EmbedderABC | None) -> SemanticQuery:
    """The query with its vector: the one it brings, or the embedder's."""
    query = checked(query, SemanticQuery, "query")
    if query.embedding is not None:
        return query
    if embedder is None:
        raise InvalidArgumentError(
            "embedder", "is None, and the query brings no embedding; give one of the two"
        )
    return query.model_copy(update={"embedding": vector_of(embedder, query.text)})


def nearest(tx: Transaction, query: SemanticQuery) -> list[tuple[MemoryEntry, float]]:
    """The current entries of the main branch whose vectors are nearest to that of the query, with their
    similarity from -1 to 1, highest first, then by path and key. Entries without a vector are left out.

    Raises InvalidArgumentError where a stored vector among them has another dimension, as the SDK does.
    """
    wanted = query.embedding or []
    for number in (*wanted, query.min_confidence, query.min_similarity):
        check_finite(number, "query")
    check_count(query.limit, "limit")
    asked = _semantic(query).conditions(tx)
    for dimension in vectors.dimensions(tx, asked):
        if dimension != len(wanted):
            raise InvalidArgumentError(
                "query",
                f"has {len(wanted)} numbers and a stored embedding {dimension}; embed both by one model",
            )
    # numpy takes longer to load than all else together, and most never search by meaning.
    from amfs_sqlite.sync import similarity  # noqa: PLC0415 - numpy is loaded by whoever searches by meaning alone

    at_once = max(1, similarity.NUMBERS_AT_ONCE // max(1, len(wanted)))
    compared = vectors.compared(tx, asked, wanted, limit=query.limit, at_once=at_once)
    found = similarity.nearest(compared, wanted, min_similarity=query.min_similarity, limit=query.limit)
    first = recall_search.chosen(tx, [key_id for key_id, _ in found])
    return [(entry_of_row(row), similar) for row, (_, similar) in zip(first, found, strict=True)]


def _semantic(query: SemanticQuery) -> Filters:
    path = query.entity_path
    return Filters(
        paths=[] if path is None else [path],
        descendants=query.include_descendants and path != "",
        min_confidence=query.min_confidence,
        max_confidence=query.max_confidence,
    )
