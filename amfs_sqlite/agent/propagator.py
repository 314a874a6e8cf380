"""AMFS's outcome arithmetic, public: multipliers, new confidence, records, propagation."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.agent.session import ADAPTER
from amfs_sqlite.clock import Clock, SystemClock
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MemoryEntry, OutcomeRecord
from amfs_sqlite.protocol import Outcomes
from amfs_sqlite.rules import confidence
from amfs_sqlite.rules.limits import (
    CLOCK,
    check_able,
    check_instant,
    check_is_text,
    check_number,
    is_several,
    made,
)

OUTCOME_MULTIPLIERS = confidence.AMFS_MULTIPLIERS
"""AMFS 0.3's factor for each outcome type: success lowers confidence, failure raises it."""

_SYSTEM_CLOCK = SystemClock()


class OutcomeBackPropagator:
    """Reports outcomes to an adapter, under whatever policy it was opened with.

    What is refused raises InvalidArgumentError, and nothing is stored.
    """

    def __init__(self, adapter: Outcomes) -> None:
        check_able(adapter, "adapter", ["commit_outcome"], ADAPTER)
        self._adapter = adapter

    async def propagate(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        """Report one outcome; the entries it moved."""
        return await self._adapter.commit_outcome(record)

    async def propagate_batch(self, records: Sequence[OutcomeRecord]) -> Sequence[MemoryEntry]:
        """Report outcomes in order, a commit each; the entries they moved."""
        if not is_several(records, OutcomeRecord):
            raise InvalidArgumentError("records", f"is {quoted(records)}; give a list of OutcomeRecord")
        return [entry for record in records for entry in await self.propagate(record)]

    @staticmethod
    def compute_new_confidence(
        current_confidence: float, outcome_type: str, causal_confidence: float | None = None
    ) -> float:
        """AMFS 0.3's arithmetic: confidence × multiplier × causal confidence, unclamped.

        None for the last is 1. Success lowers it, failure raises it. Raises InvalidArgumentError.

        >>> OutcomeBackPropagator.compute_new_confidence(0.5, "success")
        0.485
        """
        check_number(current_confidence, "current_confidence")
        check_is_text(outcome_type, "outcome_type")
        relied = 1.0 if causal_confidence is None else causal_confidence
        check_number(relied, "causal_confidence")
        return confidence.AMFS_0_3.after(current_confidence, confidence.outcome_type(outcome_type), relied)

    @staticmethod
    def make_record(
        outcome_ref: str,
        outcome_type: str,
        causal_entry_keys: Sequence[str],
        agent_id: str,
        *,
        causal_confidence: float | None = None,
        committed_at: datetime | str | None = None,
        clock: Clock = _SYSTEM_CLOCK,
    ) -> OutcomeRecord:
        """A record of an outcome, committed now unless it says when. Raises InvalidArgumentError."""
        check_able(clock, "clock", ["now"], CLOCK)
        check_is_text(outcome_type, "outcome_type")
        return made(
            OutcomeRecord,
            outcome_ref=outcome_ref,
            outcome_type=confidence.outcome_type(outcome_type).value,
            causal_entry_keys=causal_entry_keys,
            agent_id=agent_id,
            causal_confidence=1.0 if causal_confidence is None else causal_confidence,
            committed_at=check_instant(committed_at, "committed_at") or clock.now(),
        )
