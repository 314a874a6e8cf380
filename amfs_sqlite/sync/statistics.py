"""Counts and summaries over current entries, as the SDK and its dashboards have them.

Like the SDK's own they leave out what belongs to the system and to benchmarks wherever no path is named.
"""

from collections.abc import Collection, Sequence
from typing import Any

from amfs_core.aggregates import (
    CHARS_PER_TOKEN,
    RECALL_TOKENS_CEIL,
    RECALL_TOKENS_FLOOR,
    entity_confidence_buckets,
)
from amfs_core.exclusions import is_excluded_agent, is_excluded_entity
from amfs_core.models import MemoryStats, MemoryType
from amfs_core.scope import SqlScope

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.limits import (
    check_count,
    check_finite,
    check_flag,
    check_is_text,
    check_optional_text,
    check_several,
    check_texts,
    check_whole_number,
)
from amfs_sqlite.rules.values import decode
from amfs_sqlite.sqlite import listings, summaries
from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.rows import moment
from amfs_sqlite.sqlite.summaries import ENTITY_ORDERS, Entity, Page, TokenRule
from amfs_sqlite.sqlite.transaction import Transaction

TOKENS = TokenRule(CHARS_PER_TOKEN, RECALL_TOKENS_FLOOR, RECALL_TOKENS_CEIL)
USUAL_TYPE = MemoryType.FACT.value


def stats(tx: Transaction) -> MemoryStats:
    return MemoryStats(**_totals(tx, everywhere(tx)))


def stats_extended(
    tx: Transaction,
    *,
    agent_ids: Collection[str] | None = None,
    scope: SqlScope | None = None,
    breakdown: bool = True,
) -> dict[str, Any]:
    """As ``stats``, with what was read, what came in the last weeks, and memory types; without ``breakdown``
    it has no counts by agent and by path.

    ``recalls_this_week`` and ``recalls_last_week`` are None: a recall count does not tell when.
    """
    check_flag(breakdown, "breakdown")
    asked = everywhere(tx, agent_ids=agent_ids, scope=scope)
    reuse = summaries.reuse(tx, asked, TOKENS, tx.now)
    extended = _totals(tx, asked) | {
        "total_recalls": reuse.recall_count,
        "recalled_tokens_saved": reuse.tokens_saved,
        "entries_this_week": reuse.this_week_count,
        "entries_last_week": reuse.last_week_count,
        "recalls_this_week": None,
        "recalls_last_week": None,
        "memory_type_counts": summaries.by_type(tx, asked, USUAL_TYPE),
        "entity_confidence": entity_confidence_buckets(summaries.confidences(tx, asked)),
    }
    return extended if breakdown else {k: v for k, v in extended.items() if k not in ("agents", "entities")}


def entity_summaries(
    tx: Transaction,
    *,
    agent_ids: Collection[str] | None = None,
    scope: SqlScope | None = None,
    q: str | None = None,
    agent: str | None = None,
    min_confidence: float | None = None,
    sort: str = "last_updated",
    limit: int | None = None,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """One dictionary for each path, the last written first. ``q`` stands somewhere in the path, ``agent``
    wrote there, ``min_confidence`` is the least mean confidence. With a ``limit`` each has ``total``: how
    many paths there are on all pages.
    """
    check_optional_text(q, "q")
    check_optional_text(agent, "agent")
    check_count(limit, "limit")
    check_whole_number(offset, "offset")
    if min_confidence is not None:
        check_finite(min_confidence, "min_confidence")
    if sort not in ENTITY_ORDERS:
        raise InvalidArgumentError("sort", f"is {quoted(sort)}; choose one of {', '.join(ENTITY_ORDERS)}")
    asked = everywhere(tx, agent_ids=agent_ids, scope=scope)
    if q:
        asked.containing(q.lower())
    page = Page(agent or None, min_confidence, sort, limit, offset if limit is not None else 0)
    paged = limit is not None
    return [_entity(each, paged=paged) for each in summaries.entities(tx, asked, TOKENS, page)]


def agent_entity_stats(
    tx: Transaction, *, entity_path: str | None = None, agent_ids: Collection[str] | None = None
) -> list[dict[str, Any]]:
    check_optional_text(entity_path, "entity_path")
    if entity_path:
        asked = conditions(tx, agent_ids=agent_ids)
        asked.under([entity_path], descendants=True)
    else:
        asked = everywhere(tx, agent_ids=agent_ids)
    return [
        {
            "agent_id": each.agent_id,
            "entity_path": each.entity_path,
            "entry_count": each.entry_count,
            "avg_confidence": each.mean_confidence,
            "last_written": moment(each.last_written),
            "first_written": moment(each.first_written),
            "total_recalls": each.recall_count,
            "outcome_linked_count": each.outcome_linked_count,
        }
        for each in summaries.pairs(tx, asked)
    ]


def consolidation_ready_entities(
    tx: Transaction, *, min_entries: int = 10, limit: int = 10, scope: SqlScope | None = None
) -> list[str]:
    """Paths with at least so many entries, most first."""
    check_whole_number(min_entries, "min_entries")
    check_whole_number(limit, "limit")
    return summaries.large_paths(tx, everywhere(tx, scope=scope), min_entries=min_entries, limit=limit)


def scope_counts(
    tx: Transaction,
    entity_path: str,
    *,
    exclude_key: str | None = None,
    branch: str = MAIN_BRANCH,
    key_limit: int = 8,
    agent_id: str | None = None,
) -> dict[str, Any]:
    check_is_text(entity_path, "entity_path")
    check_optional_text(exclude_key, "exclude_key")
    check_optional_text(agent_id, "agent_id")
    check_whole_number(key_limit, "key_limit")
    with tx.elsewhere(branch=branch):
        asked = conditions(tx)
        asked.under([entity_path], descendants=False)
        asked.beside(exclude_key, agent_id)
        entry_count, unread_count, keys = summaries.beside(tx, asked, key_limit)
    return {
        "entity_path": entity_path,
        "existing_entries": entry_count,
        "never_read": unread_count,
        "keys": keys,
    }


def count_entries(
    tx: Transaction,
    entity_path: str | None = None,
    *,
    include_superseded: bool = False,
    branch: str = MAIN_BRANCH,
    scope: SqlScope | None = None,
    agent_id: str | None = None,
) -> int:
    """How many ``list`` of the same arguments has."""
    check_optional_text(entity_path, "entity_path")
    check_optional_text(agent_id, "agent_id")
    check_flag(include_superseded, "include_superseded")
    with tx.elsewhere(branch=branch):
        return listings.count(
            tx,
            entity_path,
            versions=include_superseded,
            agent_id=agent_id,
            scope=None if scope is None else (scope.clause, scope.params),
        )


def list_scopes(tx: Transaction, *, branch: str = MAIN_BRANCH) -> tuple[set[str], set[str]]:
    """The paths of all entries, and their authors."""
    with tx.elsewhere(branch=branch):
        found = summaries.scopes(tx, conditions(tx))
    return {path for path, _ in found}, {agent for _, agent in found if agent}


def entry_authors(tx: Transaction, refs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Who wrote the current version at each of these addresses; what is not there is not in it."""
    check_several(refs, "refs")
    for ref in refs:
        check_texts(ref, "refs")
        if len(ref) != 2:
            raise InvalidArgumentError("refs", f"hold {quoted(ref)}; give pairs of path and key")
    return summaries.authors(tx, refs)


def everywhere(
    tx: Transaction, *, agent_ids: Collection[str] | None = None, scope: SqlScope | None = None
) -> Conditions:
    """All but what the SDK leaves out of an account's own totals."""
    asked = conditions(tx, agent_ids=agent_ids, scope=scope)
    found = summaries.scopes(tx, asked)
    paths = {path for path, _ in found if is_excluded_entity(path)}
    asked.without("c.entity_path", sorted(paths), "excluded_paths")
    asked.without(
        "c.agent_id", sorted({agent for _, agent in found if is_excluded_agent(agent)}), "excluded_agents"
    )
    return asked


def conditions(
    tx: Transaction, *, agent_ids: Collection[str] | None = None, scope: SqlScope | None = None
) -> Conditions:
    """What is there, by these authors, that the predicate lets through."""
    asked = Conditions.here(tx)
    if agent_ids is not None:
        check_texts(agent_ids, "agent_ids")
        asked.among("c.agent_id", sorted(agent_ids), "agent_ids")
    if scope is not None:
        asked.scope(tx, scope.clause, scope.params)
    return asked


def _totals(tx: Transaction, asked: Conditions) -> dict[str, Any]:
    totals = summaries.totals(tx, asked)
    agents, entities = summaries.by_agent(tx, asked), summaries.by_path(tx, asked)
    return {
        "total_entries": totals.entry_count,
        "total_entities": len(entities),
        "total_agents": len(agents),
        "agents": agents,
        "entities": entities,
        "confidence_avg": totals.mean_confidence or 0.0,
        "confidence_min": totals.min_confidence or 0.0,
        "confidence_max": totals.max_confidence or 0.0,
        "outcome_linked_count": totals.outcome_linked_count,
        "oldest_entry_at": None if totals.oldest is None else moment(totals.oldest),
        "newest_entry_at": None if totals.newest is None else moment(totals.newest),
    }


def _entity(each: Entity, *, paged: bool) -> dict[str, Any]:
    total: dict[str, Any] = {"total": each.total} if paged else {}
    return total | {
        "entity_path": each.entity_path,
        "entry_count": each.entry_count,
        "avg_confidence": each.mean_confidence,
        "last_updated": moment(each.last_updated),
        "last_agent": each.last_agent,
        "agents": sorted(decode(each.agents)),
        "hashed_count": each.hashed_count,
        "total_recalls": each.recall_count,
        "recalled_tokens_saved": each.tokens_saved,
    }
