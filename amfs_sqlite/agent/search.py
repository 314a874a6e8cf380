"""Searching as one agent, and scoring what was found."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, cast, get_args

from amfs_sqlite.agent.results import RecallConfig, ScoredEntry
from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MemoryEntry, SearchOrder, SearchQuery
from amfs_sqlite.rules import ranking
from amfs_sqlite.rules.limits import check_count, check_optional_text, made

DEFAULT_LIMIT = 100
DEFAULT_SEMANTIC_WEIGHT = 0.5
DEFAULT_RECENCY_WEIGHT = 0.3
DEFAULT_CONFIDENCE_WEIGHT = 0.2
DEFAULT_HALF_LIFE_DAYS = 30.0

SortedBy = Literal["confidence", "recency", "version"]


async def search(
    session: AgentSession,
    *,
    query: str | None,
    entity_path: str | None,
    entity_paths: Sequence[str] | None,
    min_confidence: float | None,
    max_confidence: float | None,
    agent_id: str | None,
    since: datetime | str | None,
    pattern_ref: str | None,
    sort_by: str | None,
    limit: int | None,
    recall_config: RecallConfig | None,
) -> Sequence[MemoryEntry] | Sequence[ScoredEntry]:
    """What passes the filters; scored entries where there is something to score by."""
    if recall_config is not None and not isinstance(recall_config, RecallConfig):
        raise InvalidArgumentError("recall_config", f"is {quoted(recall_config)}; make a RecallConfig")
    check_optional_text(query, "query")
    check_optional_text(sort_by, "sort_by")
    limit = DEFAULT_LIMIT if limit is None else limit
    check_count(limit, "limit")
    asked = made(
        SearchQuery,
        {"contains": "query", "tag": "pattern_ref"},
        entity_path=entity_path,
        entity_paths=entity_paths,
        contains=None if recall_config else query,
        min_confidence=min_confidence,
        max_confidence=max_confidence,
        agent_id=agent_id,
        since=since,
        tag=pattern_ref,
        sort_by=_order(sort_by),
        limit=None if recall_config else limit,
    )
    found = (await session.adapter.search(asked, viewer=session.agent_id)).entries
    if recall_config is None:
        return found
    scored = [_scored(entry, recall_config, session.clock.now()) for entry in found]
    return sorted(scored, key=lambda each: each.score, reverse=True)[:limit]


def _order(sort_by: str | None) -> SearchOrder:
    """An unknown order is that of the first writing, as in AMFS."""
    wanted = "confidence" if sort_by is None else sort_by
    return cast(SortedBy, wanted) if wanted in get_args(SortedBy) else "oldest"


def _scored(entry: MemoryEntry, config: RecallConfig, now: datetime) -> ScoredEntry:
    parts = ranking.recall_parts(
        entry,
        now,
        semantic_weight=_or_default(config.semantic_weight, DEFAULT_SEMANTIC_WEIGHT),
        recency_weight=_or_default(config.recency_weight, DEFAULT_RECENCY_WEIGHT),
        confidence_weight=_or_default(config.confidence_weight, DEFAULT_CONFIDENCE_WEIGHT),
        half_life_days=_or_default(config.recency_half_life_days, DEFAULT_HALF_LIFE_DAYS),
    )
    return ScoredEntry.of(entry, parts)


def _or_default(given: float | None, default: float) -> float:
    return default if given is None else given
