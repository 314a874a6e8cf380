"""Agent memory: what an agent holds in its hand, over any adapter."""

from amfs_sqlite.agent.memory import AgentMemory
from amfs_sqlite.agent.propagator import OUTCOME_MULTIPLIERS, OutcomeBackPropagator
from amfs_sqlite.agent.results import (
    CausalEntry,
    Explanation,
    ExternalContext,
    RecallConfig,
    ScoreBreakdown,
    ScoredEntry,
    VerificationResult,
)
from amfs_sqlite.agent.scope import MemoryScope, ReadOnlyScopeError
from amfs_sqlite.agent.session import ReadTracker
from amfs_sqlite.agent.transaction import MemoryTransaction

__all__ = [
    "OUTCOME_MULTIPLIERS",
    "AgentMemory",
    "CausalEntry",
    "Explanation",
    "ExternalContext",
    "MemoryScope",
    "MemoryTransaction",
    "OutcomeBackPropagator",
    "ReadOnlyScopeError",
    "ReadTracker",
    "RecallConfig",
    "ScoreBreakdown",
    "ScoredEntry",
    "VerificationResult",
]
