"""Tiers and priorities: what is hot is what the SDK's scorer puts first, at the time it is asked."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from amfs_core.models import MemoryEntry
from amfs_core.scope import SqlScope
from amfs_core.tiering import PriorityScorer

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.limits import (
    check_finite,
    check_instant,
    check_is_text,
    check_optional_text,
    check_whole_number,
)
from amfs_sqlite.rules.references import splits
from amfs_sqlite.sqlite import recall_search, recalls
from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.recall_search import Rankable
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync import entries
from amfs_sqlite.sync.rows import entry_of_row

TIERS = (1, 2, 3)
"""Hot, warm, archive."""


class Scored:
    """So much of an entry as the SDK's scorer looks at."""

    __slots__ = ("confidence", "importance_score", "provenance", "recall_count", "written_at")

    def __init__(self, ranked: Rankable) -> None:
        self.provenance = self
        self.written_at = ranked.written_at
        self.confidence = ranked.confidence
        self.recall_count = ranked.recall_count
        self.importance_score = ranked.importance_score


def scores(
    tx: Transaction, asked: Conditions, now: datetime, order: str = recall_search.IN_ORDER
) -> Iterator[tuple[float, Rankable]]:
    """The keys that match, in this order, each behind the score the SDK gives it."""
    scorer = PriorityScorer()
    for each in recall_search.rankable(tx, asked, order):
        yield scorer.score(cast("MemoryEntry", Scored(each)), now=now), each


def list_by_priority(
    tx: Transaction,
    *,
    scope: SqlScope | None = None,
    agent_id: str | None = None,
    limit: int,
    offset: int = 0,
    now: datetime | None = None,
    branch: str = MAIN_BRANCH,
) -> list[MemoryEntry]:
    """So many entries of the highest priority behind the first ``offset``; of equal ones the newest first,
    then by path and key.
    """
    check_whole_number(limit, "limit")
    check_whole_number(offset, "offset")
    check_is_text(branch, "branch")
    at = check_instant(now, "now") or tx.now
    if branch != MAIN_BRANCH:
        listed = entries.list_entries(tx, branch=branch, scope=scope, agent_id=agent_id)
        listed.sort(key=lambda each: each.provenance.written_at, reverse=True)
        scorer = PriorityScorer()
        listed.sort(key=lambda each: scorer.score(each, now=at), reverse=True)
        return listed[offset : offset + limit]
    found = scores(tx, _asked(tx, scope, agent_id), at, recall_search.NEWEST_FIRST)
    ranked = sorted(found, key=lambda each: each[0], reverse=True)[offset : offset + limit]
    first = [each.key_id for _, each in ranked]
    return [entry_of_row(row) for row in recall_search.chosen(tx, first)]


def priority_stats(
    tx: Transaction,
    *,
    scope: SqlScope | None = None,
    agent_id: str | None = None,
    now: datetime | None = None,
    branch: str = MAIN_BRANCH,
) -> tuple[int, float | None]:
    """How many entries there are and their mean score, None of none."""
    check_is_text(branch, "branch")
    at = check_instant(now, "now") or tx.now
    if branch != MAIN_BRANCH:
        scorer = PriorityScorer()
        listed = entries.list_entries(tx, branch=branch, scope=scope, agent_id=agent_id)
        found = [scorer.score(each, now=at) for each in listed]
    else:
        found = [score for score, _ in scores(tx, _asked(tx, scope, agent_id), at)]
    return len(found), sum(found) / len(found) if found else None


def update_tiers(
    tx: Transaction,
    tier_assignments: Mapping[str, int],
    scores: Mapping[str, float],
    *,
    branch: str = MAIN_BRANCH,
) -> int:
    """Set tier (1 hot, 2 warm, 3 archive) and score of entries named as ``path/key``, wherever a ``/`` in it
    belongs; how many there were. What has no score keeps the one it had.
    """
    for argument, given in (("tier_assignments", tier_assignments), ("scores", scores)):
        if not isinstance(given, Mapping):
            raise InvalidArgumentError(argument, f"are {quoted(given)}; give a mapping by path/key")
    check_is_text(branch, "branch")
    for name, tier in tier_assignments.items():
        if type(name) is not str or type(tier) is not int or tier not in TIERS:
            raise InvalidArgumentError(
                "tier_assignments", f"has {quoted(name)}: {quoted(tier)}; give 1, 2 or 3"
            )
        if scores.get(name) is not None:
            check_finite(scores[name], "scores")
    with tx.elsewhere(branch=branch):
        return sum(
            recalls.rank(tx, path, key, int(tier), scores.get(name))
            for name, tier in tier_assignments.items()
            for path, key in splits(name)
        )


def _asked(tx: Transaction, scope: Any, agent_id: str | None) -> Conditions:
    check_optional_text(agent_id, "agent_id")
    asked = Conditions.here(tx)
    if agent_id is not None:
        asked.among("c.agent_id", [agent_id], "agent_ids")
    if scope is not None:
        asked.scope(tx, scope.clause, scope.params)
    return asked
