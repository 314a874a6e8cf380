"""What earlier outcomes say of a task at hand: actions and entries, by how like the tasks were.

A task is found again by its embedding, which only an adapter that was given an ``embedder`` keeps; without
one the answers about likeness are empty, and callers go by the whole record.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from amfs_core import evidence
from amfs_core.actions import (
    PRIORS_NEIGHBOURHOOD_MIN_W,
    PRIORS_NEIGHBOURHOOD_TAU,
    recorded_covariates,
    recorded_environment,
)
from amfs_core.embedder import cosine_similarity
from amfs_core.models import OutcomeRecord

from amfs_sqlite.rules.limits import (
    check_finite,
    check_instant,
    check_is_text,
    check_texts,
    check_whole_number,
)
from amfs_sqlite.sqlite import outcome_log
from amfs_sqlite.sqlite.outcome_log import Asked, Report
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import Embedder, checked, vector_of
from amfs_sqlite.sync.translation import their_outcome

TASK_CHARACTERS = 2_000
"""As much of a task as AMFS keeps beside an outcome."""
SMALLEST_TAU = 1e-9


def task_embedding(record: OutcomeRecord, embedder: Embedder | None) -> list[float] | None:
    """The embedding of what an outcome was about; None where it says nothing, or nobody makes one."""
    if embedder is None:
        return None
    record = checked(record, OutcomeRecord, "record")
    text = " ".join(part for part in (record.situation, record.task_input) if part).strip()
    return vector_of(embedder, text[:TASK_CHARACTERS]) if text else None


def similar_outcomes(
    tx: Transaction,
    entity_path: str,
    embedding: list[float],
    *,
    k: int = 20,
    min_similarity: float = 0.75,
    since: datetime | None = None,
) -> list[dict[str, Any]]:
    """The most alike first, of equally alike ones the newest."""
    check_is_text(entity_path, "entity_path")
    check_whole_number(k, "k")
    check_finite(min_similarity, "min_similarity")
    asked = Asked(about=entity_path, since=check_instant(since, "since"), has_vector=True)
    found = [(_likeness(report, embedding), report) for report in outcome_log.reports(tx, asked)]
    near = sorted((pair for pair in found if pair[0] >= min_similarity), key=lambda pair: -pair[0])
    return _rows((report, similarity) for similarity, report in near[:k])


def action_stats(
    tx: Transaction, entity_path: str, *, since: datetime | None = None, limit: int = 500
) -> list[dict[str, Any]]:
    """Those that name actions, newest first."""
    check_is_text(entity_path, "entity_path")
    check_whole_number(limit, "limit")
    asked = Asked(about=entity_path, since=check_instant(since, "since"), has_actions=True)
    return _rows((report, 1.0) for report in outcome_log.reports(tx, asked, limit=limit))


class _Credit(NamedTuple):
    """What one outcome said of an entry."""

    outcome_id: int
    success: bool
    similarity: float
    committed_at: datetime


def evidence_near(
    tx: Transaction,
    entry_keys: list[str],
    embedding: list[float],
    *,
    per_key: int = 50,
    min_similarity: float = 0.0,
    tau: float | None = None,
    min_weight: float | None = None,
    recent: int = 5,
) -> dict[str, dict[str, Any]]:
    """By ``path/key`` what outcomes of tasks like this one said of the entry; keys without any are absent.

    An outcome weighs ``exp(-(best - similarity) / tau)`` beside the nearest one of its key, and below
    ``min_weight`` nothing. ``success`` and ``failure`` are sums of weights, ``n`` counts outcomes, ``recent``
    are the newest of them, newest first.
    """
    check_texts(entry_keys, "entry_keys")
    check_whole_number(per_key, "per_key")
    check_whole_number(recent, "recent")
    check_finite(min_similarity, "min_similarity")
    tau = max(PRIORS_NEIGHBOURHOOD_TAU if tau is None else tau, SMALLEST_TAU)
    least = PRIORS_NEIGHBOURHOOD_MIN_W if min_weight is None else min_weight
    said: defaultdict[str, list[_Credit]] = defaultdict(list)
    for report in outcome_log.reports(tx, Asked(has_vector=True)) if entry_keys and embedding else ():
        similarity = _likeness(report, embedding)
        if similarity >= min_similarity:
            for key, credit in _credits(report, similarity):
                said[key].append(credit)
    asked = [key for key in dict.fromkeys(entry_keys) if key in said]
    return {key: _record(said[key], per_key, tau, least, max(1, recent)) for key in asked}


def _credits(report: Report, similarity: float) -> Iterable[tuple[str, _Credit]]:
    """What it says of each key that it cites: failed attempts first. Nothing, of a type the SDK has not."""
    record = their_outcome(report.record)
    if record is None:
        return
    for attempt in record.attempts:
        for key in attempt.causal_entry_keys:
            yield key, _Credit(report.outcome_id, False, similarity, record.committed_at)
    for key in record.causal_entry_keys:
        success = evidence.is_success(record.outcome_type)
        yield key, _Credit(report.outcome_id, success, similarity, record.committed_at)


def _record(said: Sequence[_Credit], per_key: int, tau: float, least: float, recent: int) -> dict[str, Any]:
    nearest = sorted(said, key=lambda credit: -credit.similarity)[:per_key]
    best = nearest[0].similarity
    weighed = [(math.exp((credit.similarity - best) / tau), credit) for credit in nearest]
    weighed = [(weight, credit) for weight, credit in weighed if weight >= least]
    newest = sorted(weighed, key=lambda pair: (pair[1].committed_at, not pair[1].success), reverse=True)
    once = {credit.outcome_id: credit for _, credit in reversed(newest)}
    return {
        "success": sum(weight for weight, credit in weighed if credit.success),
        "failure": sum(weight for weight, credit in weighed if not credit.success),
        "n": len(once),
        "best_similarity": best,
        "recent": [
            {
                "success": credit.success,
                "similarity": credit.similarity,
                "committed_at": credit.committed_at.isoformat(),
            }
            for credit in list(reversed(once.values()))[:recent]
        ],
    }


def _likeness(report: Report, embedding: Sequence[float]) -> float:
    """From -1 to 1; 0 where the embeddings are of different models."""
    vector = report.vector or ()
    if len(vector) != len(embedding):
        return 0.0
    return cosine_similarity(list(vector), list(embedding))


def _rows(found: Iterable[tuple[Report, float]]) -> list[dict[str, Any]]:
    """Without those of a type that the SDK does not have."""
    told = ((their_outcome(report.record), similarity) for report, similarity in found)
    return [_row(record, similarity) for record, similarity in told if record is not None]


def _row(record: OutcomeRecord, similarity: float) -> dict[str, Any]:
    bags = {"session_metadata": record.session_metadata or {}, "covariates": record.covariates or None}
    return {
        "outcome_ref": record.outcome_ref,
        "outcome_type": record.outcome_type.value,
        "committed_at": record.committed_at,
        "agent_id": record.agent_id,
        "situation": record.situation,
        "actions_taken": record.actions_taken,
        "environment": recorded_environment(bags) or {},
        "covariates": recorded_covariates(bags) or {},
        "similarity": similarity,
    }
