"""What agent memory is asked with, and what it answers beside entries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self, TypedDict

from pydantic import ConfigDict, FiniteFloat

from amfs_sqlite.modelling import Model
from amfs_sqlite.models import LISTS_TOO, Instant, MemoryEntry
from amfs_sqlite.rules.ranking import RecallParts


class ScopeFilters(TypedDict, total=False):
    """The filters of a search from one path."""

    query: str | None
    entity_paths: Sequence[str] | None
    min_confidence: float | None
    max_confidence: float | None
    agent_id: str | None
    since: datetime | str | None
    pattern_ref: str | None
    sort_by: str | None
    limit: int | None


class SearchFilters(ScopeFilters, total=False):
    """The filters of a search of everything."""

    entity_path: str | None


class RecallConfig(Model):
    """How a search is scored: score = semantic weight + recency weight x age factor + confidence weight
    x confidence in [0, 1].

    The age factor halves every ``recency_half_life_days``; a half-life of 0 or less makes it 0. Nothing
    measures how near an entry is to a query: the semantic weight counts whole for every entry. None means
    the default: 0.5, 0.3, 0.2, and 30 days.
    """

    model_config = ConfigDict(extra="forbid")

    semantic_weight: FiniteFloat | None = None
    recency_weight: FiniteFloat | None = None
    confidence_weight: FiniteFloat | None = None
    recency_half_life_days: FiniteFloat | None = None


class ScoreBreakdown(Model):
    """The parts of a score."""

    semantic: float
    recency: float
    confidence: float


class ScoredEntry(Model):
    """An entry a search found, with its score."""

    entry: MemoryEntry
    score: float
    breakdown: ScoreBreakdown

    @classmethod
    def of(cls, entry: MemoryEntry, parts: RecallParts) -> Self:
        """An entry with the parts of its score."""
        breakdown = ScoreBreakdown(
            semantic=parts.semantic, recency=parts.recency, confidence=parts.confidence
        )
        return cls(entry=entry, score=parts.score, breakdown=breakdown)


class ExternalContext(Model):
    """Something the session learned elsewhere and relied on."""

    label: str
    summary: str
    source: str | None = None
    recorded_at: Instant


class CausalEntry(Model):
    """An entry the session read, as it is now, and the version it was read at."""

    entry: MemoryEntry
    read_version: int


class Explanation(Model):
    """What the session relied on, in the order of reading."""

    outcome_ref: str | None
    agent_id: str
    session_id: str
    causal_chain_length: int
    causal_entries: Annotated[tuple[CausalEntry, ...], LISTS_TOO]
    external_contexts: Annotated[tuple[ExternalContext, ...], LISTS_TOO]


class VerificationResult(Model):
    """AMFS's shape of a verification: versions checked and valid, and those that are not, by address."""

    total_checked: int
    valid: int
    corrupted: Annotated[tuple[str, ...], LISTS_TOO]
    chain_breaks: Annotated[tuple[str, ...], LISTS_TOO]
