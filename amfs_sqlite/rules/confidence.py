"""Outcome policies: which arithmetic an outcome applies, and whether it makes a version."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import OutcomeType
from amfs_sqlite.rules.limits import check_finite

PolicyName = Literal["amfs-0.3", "handoff"]

AMFS_MULTIPLIERS: Mapping[OutcomeType, float] = MappingProxyType(
    {
        OutcomeType.CRITICAL_FAILURE: 1.15,
        OutcomeType.FAILURE: 1.10,
        OutcomeType.MINOR_FAILURE: 1.08,
        OutcomeType.SUCCESS: 0.97,
        OutcomeType.P1_INCIDENT: 1.15,
        OutcomeType.P2_INCIDENT: 1.10,
        OutcomeType.REGRESSION: 1.08,
        OutcomeType.CLEAN_DEPLOY: 0.97,
    }
)
HANDOFF_SUCCESS_GAP = 0.20
HANDOFF_FAILURE_SCALES: Mapping[OutcomeType, float] = MappingProxyType(
    {
        OutcomeType.MINOR_FAILURE: 0.85,
        OutcomeType.REGRESSION: 0.85,
        OutcomeType.FAILURE: 0.65,
        OutcomeType.P2_INCIDENT: 0.65,
        OutcomeType.CRITICAL_FAILURE: 0.40,
        OutcomeType.P1_INCIDENT: 0.40,
    }
)
HANDOFF_DECIMALS = 12
HANDOFF_EDGE = 1e-12


@dataclass(frozen=True, slots=True)
class OutcomePolicy:
    """Belongs to whoever opens the store, not to the file; every effect names the policy it came
    from.

    ``makes_versions``: an outcome writes the next version; otherwise it moves the current one in
    place. ``once``: at most one effect per (outcome_ref, entry). ``bounded``: confidence lies in
    [0, 1].
    """

    name: PolicyName
    makes_versions: bool
    once: bool
    bounded: bool

    def after(self, before: float, outcome: OutcomeType, causal_confidence: float) -> float:
        """The confidence after the outcome.

        >>> HANDOFF.after(0.8, OutcomeType.SUCCESS, 1.0), HANDOFF.after(0.6, OutcomeType.FAILURE, 1.0)
        (0.84, 0.39)
        >>> AMFS_0_3.after(1.0, OutcomeType.SUCCESS, 1.0)
        0.97
        """
        moved = (_handoff if self.bounded else _amfs)(before, outcome, causal_confidence)
        return moved + 0.0  # minus zero is zero

    def check_confidence(self, confidence: float) -> None:
        """Refuse a confidence that this policy does not take."""
        check_finite(confidence, "confidence")
        if self.bounded and not 0.0 <= confidence <= 1.0:
            raise InvalidArgumentError("confidence", f"is {confidence}; it must be from 0 to 1")

    def check_causal_confidence(self, causal_confidence: float) -> None:
        """Refuse a causal confidence that this policy does not take."""
        check_finite(causal_confidence, "causal_confidence")
        if self.bounded and not 0.0 <= causal_confidence <= 1.0:
            raise InvalidArgumentError("causal_confidence", f"is {causal_confidence}; it must be from 0 to 1")


def check_policy(policy: OutcomePolicy) -> None:
    """Refuse what is no outcome policy."""
    if not isinstance(policy, OutcomePolicy):
        raise InvalidArgumentError("outcomes", f"is {quoted(policy)}; choose AMFS_0_3 or HANDOFF")


AMFS_0_3 = OutcomePolicy(name="amfs-0.3", makes_versions=True, once=False, bounded=False)
"""AMFS 0.3's contract: confidence × multiplier × causal_confidence, unclamped, a new version each
time.

Note well: under this contract **success lowers confidence** (×0.97) and failure raises it (×1.08 to
×1.15). It is the default because it is the contract; ``HANDOFF`` is the one to choose freely.
"""

HANDOFF = OutcomePolicy(name="handoff", makes_versions=False, once=True, bounded=True)
"""Values are immutable, opinions are not: success closes 20 % of the gap to 1; failure scales by
0.65, minor failure by 0.85, critical failure by 0.40; both in proportion to causal_confidence. The
current version moves in place, once per outcome_ref and entry. Results are rounded to 12 decimals,
so that 0.8 becomes 0.84 exactly, and never reach 0 or 1. What was outside 0 to 1 before, as another policy
may leave it, is taken as the nearer end.
"""


def _amfs(before: float, outcome: OutcomeType, causal_confidence: float) -> float:
    return before * AMFS_MULTIPLIERS[outcome] * causal_confidence


def _handoff(before: float, outcome: OutcomeType, causal_confidence: float) -> float:
    start = min(1.0, max(0.0, before))
    if is_success(outcome):
        moved = start + HANDOFF_SUCCESS_GAP * causal_confidence * (1.0 - start)
        return max(start, min(1.0 - HANDOFF_EDGE, round(moved, HANDOFF_DECIMALS)))
    scale = HANDOFF_FAILURE_SCALES[outcome]
    moved = start * (1.0 - causal_confidence + causal_confidence * scale)
    return min(start, max(HANDOFF_EDGE, round(moved, HANDOFF_DECIMALS)))


def outcome_type(name: str) -> OutcomeType:
    """The outcome type of this name. Raises InvalidArgumentError naming the known ones."""
    try:
        return OutcomeType(name)
    except ValueError as unknown:
        known = ", ".join(OutcomeType)
        raise InvalidArgumentError(
            "outcome_type", f"is {quoted(name)}; it must be one of {known}"
        ) from unknown


def is_success(outcome: OutcomeType) -> bool:
    """Whether an outcome counts as a success."""
    return outcome in (OutcomeType.SUCCESS, OutcomeType.CLEAN_DEPLOY)


def mean(confidences: Iterable[float]) -> float:
    """The average, exact to the last bit whatever the order; of nothing 0; beyond all floats
    infinite.

    >>> mean([0.25, 0.75]), mean([]), mean([1e308, 1e308, -1e308, -1e308]), mean([1e308, 1e308])
    (0.5, 0.0, 0.0, inf)
    """
    numbers = list(confidences)
    if not numbers:
        return 0.0
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:  # on the way, perhaps, and not in the end
        scale = 2.0 ** len(numbers).bit_length()
        return math.fsum(number / scale for number in numbers) * scale / len(numbers)
