"""Scores, and the parts they are made of."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Literal, NamedTuple

from amfs_sqlite.models import MemoryEntry, SearchOrder
from amfs_sqlite.rules.text import Term
from amfs_sqlite.rules.visibility import covers

SECONDS_PER_DAY = 86_400.0
MAX_RANKED = 500
"""Where more entries than this hold a text, its words say nothing about their order."""
MAX_RANKED_TERMS = 32


class RecallParts(NamedTuple):
    """The weighted parts of a recall score; their sum is the score."""

    semantic: float
    recency: float
    confidence: float

    @property
    def score(self) -> float:
        """The sum."""
        return self.semantic + self.recency + self.confidence


def recall_parts(
    entry: MemoryEntry,
    now: datetime,
    *,
    semantic_weight: float,
    recency_weight: float,
    confidence_weight: float,
    half_life_days: float,
) -> RecallParts:
    """AMFS's recall score: weight · 1 + weight · exp(-ln 2 · age / half-life) + weight ·
    confidence.

    The semantic part has nothing to measure locally and counts whole; confidence counts within 0 to
    1. A half-life of 0 or less makes the recency part 0; an entry from the future scores above its
    weight, beyond all floats infinite.

    >>> entry = MemoryEntry.draft("p", "k", 1, agent_id="a", confidence=0.5)
    >>> from amfs_sqlite.clock import instant
    >>> entry = entry.model_copy(
    ...     update={"provenance": entry.provenance.model_copy(update={"written_at": instant("2026-01-01")})}
    ... )
    >>> parts = recall_parts(entry, instant("2026-01-31"), semantic_weight=0.5, recency_weight=0.3,
    ...                      confidence_weight=0.2, half_life_days=30)
    >>> parts
    RecallParts(semantic=0.5, recency=0.15, confidence=0.1)
    """
    return RecallParts(
        semantic_weight,
        recency_weight * _age_factor(entry, now, half_life_days),
        confidence_weight * min(1.0, max(0.0, entry.confidence)),
    )


def _age_factor(entry: MemoryEntry, now: datetime, half_life_days: float) -> float:
    if half_life_days <= 0:
        return 0.0
    age_days = (now - entry.written_at).total_seconds() / SECONDS_PER_DAY
    try:
        return math.exp(-math.log(2) * age_days / half_life_days)
    except OverflowError:
        return math.inf


SortField = Literal[
    "version_number", "key_number", "path_rank", "relevance", "confidence", "written_at", "version"
]
_TIES: tuple[tuple[SortField, bool], ...] = (("path_rank", False), ("key_number", False))

SORTS: Mapping[SearchOrder, tuple[tuple[SortField, bool], ...]] = MappingProxyType(
    {
        "newest": (("version_number", True),),
        "oldest": _TIES,
        "relevance": (("relevance", True), *_TIES),
        "confidence": (("confidence", True), *_TIES),
        "recency": (("written_at", True), *_TIES),
        "version": (("version", True), *_TIES),
    }
)
"""What each order goes by, first thing first, and whether its greatest comes first."""


def path_rank(entity_paths: Sequence[str] | None, entity_path: str) -> int:
    """The first of the paths asked for that covers this one; 0 where none were.

    >>> path_rank(("b", "a"), "a/x"), path_rank(None, "a")
    (1, 0)
    """
    ranks = (rank for rank, asked in enumerate(entity_paths or ()) if covers(asked, entity_path))
    return next(ranks, 0)


def relevance(terms: Sequence[Term], tokens: Sequence[str]) -> float:
    """How often the terms occur among the tokens: each counts up to 2, and in a long text for less.

    It goes by the entry alone, not by how rare a word is in the store, so that a page goes on where the last
    one ended, whatever was written or indexed in between. Of more than MAX_RANKED_TERMS the first count.

    >>> relevance((Term(("a",), False),), ["a"] * 100), relevance((Term(("a",), False),), ["a", "b"] * 50)
    (1.3201320132013201, 1.3071895424836601)
    """
    text = spaced(tokens)
    saturated = 0.0
    for term in terms[:MAX_RANKED_TERMS]:
        count = text.count(sought(term))
        saturated += 2.0 - 2.0 / (count + 1.0)
    return saturated / (1.0 + len(tokens) / 200.0)


def spaced(tokens: Sequence[str]) -> str:
    """Tokens as one text in which each has spaces of its own on both sides."""
    return f" {'  '.join(tokens)} "


def sought(term: Term) -> str:
    """What to count in a ``spaced`` text for a term."""
    return f" {'  '.join(term.tokens)}{'' if term.prefix else ' '}"
