"""Scenarios, their rounds, and what is counted in them."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

SHORT_TIMES = 2


@dataclass(slots=True)
class Tally:
    """What the rounds of one scenario came to; what must be zero is in ``failures``.

    ``forgone`` is what was acknowledged and is gone where nothing promised that it would stay. ``refused``,
    ``reported``, ``derived``, ``older`` and ``harmless`` tell what became of damage: refused by name, found
    by verify or on reading, only a search misses something, an older state that is whole, no difference at
    all; ``damages`` tells it for each kind. ``faults`` are sentences, each with what it takes to repeat it.
    """

    rounds: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    unnoticed: int = 0
    forgone: int = 0
    refused: int = 0
    reported: int = 0
    derived: int = 0
    older: int = 0
    harmless: int = 0
    damages: dict[str, Counter[str]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """How much happened that must never happen."""
        return self.lost + self.doubled + self.unnoticed + len(self.faults)


@dataclass(frozen=True, slots=True)
class Round:
    """One round: an empty folder of its own, its chance, the name to repeat it by, and where it counts.

    A short one does everything, and what it would repeat only twice.
    """

    folder: Path
    chance: random.Random
    name: str
    tally: Tally
    is_short: bool = False

    def times(self, count: int) -> int:
        """How often to repeat what a round that is not short repeats so often."""
        return min(count, SHORT_TIMES) if self.is_short else count

    @property
    def path(self) -> Path:
        """Where the store of this round is, or will be."""
        return self.folder / "store.db"

    @property
    def log(self) -> Path:
        """Where SQLite's log of that store is, or will be."""
        return self.folder / "store.db-wal"

    def fault(self, what: str) -> None:
        """Something that does not hold, beside what is counted."""
        self.tally.faults.append(f"{self.name}: {what}")


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens to a store: its name, a sentence, the rounds of the long and of the quick form."""

    name: str
    says: str
    rounds: int
    quick_rounds: int
    run: Callable[[Round], None]


def repeatable(seed: str) -> random.Random:
    """Chance that can be had again.

    >>> repeatable("7/kills/1").random() == repeatable("7/kills/1").random()
    True
    """
    return random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
