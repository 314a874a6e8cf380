"""Where two answers differ, and which rows of the ledger of deviations say why."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

LEDGER = Path(__file__).parent.parent / "deviations.toml"
MISSING = "(nothing)"


@dataclass(frozen=True)
class Difference:
    """One place in the answer of one step: what the file adapter has there, and what ours has."""

    session: str
    step: int
    call: str
    at: str
    theirs: str
    ours: str


@dataclass(frozen=True)
class Row:
    """One deviation: texts, then patterns, of which a difference must match one each.

    ``within`` is how far numbers may be apart, where it is numbers that differ.
    """

    id: str
    amfs: str
    here: str
    why: str
    sessions: tuple[str, ...] = ("*",)
    calls: tuple[str, ...] = ("*",)
    at: tuple[str, ...] = ("*",)
    theirs: tuple[str, ...] = ("*",)
    ours: tuple[str, ...] = ("*",)
    within: float | None = None

    def tells(self, difference: Difference) -> bool:
        """Whether the row is about this difference."""
        return self._are_near(difference) and all(
            any(fnmatchcase(found, pattern) for pattern in patterns)
            for found, patterns in (
                (difference.session, self.sessions),
                (difference.call, self.calls),
                (difference.at, self.at),
                (difference.theirs, self.theirs),
                (difference.ours, self.ours),
            )
        )

    def _are_near(self, difference: Difference) -> bool:
        if self.within is None:
            return True
        theirs, ours = json.loads(difference.theirs), json.loads(difference.ours)
        are_numbers = isinstance(theirs, float) and isinstance(ours, float)
        return are_numbers and abs(theirs - ours) <= self.within


def rows(ledger: Path = LEDGER) -> list[Row]:
    """The ledger."""
    found = tomllib.loads(ledger.read_text(encoding="utf-8"))
    return [Row(name, **{key: _frozen(each) for key, each in row.items()}) for name, row in found.items()]


def _frozen(read: Any) -> Any:
    return tuple(read) if isinstance(read, list) else read


def differences(theirs: Any, ours: Any, at: str = "") -> Iterator[tuple[str, str, str]]:
    """Every place where the answers differ, by its members joined with dots, and both as JSON."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and ("raises" in theirs) == ("raises" in ours):
        for name in sorted({*theirs, *ours}):
            yield from differences(
                theirs.get(name, MISSING), ours.get(name, MISSING), f"{at}.{name}".strip(".")
            )
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(one, other, f"{at}.{number}".strip("."))
    elif type(theirs) is not type(ours) or theirs != ours:
        yield at, json.dumps(theirs, sort_keys=True), json.dumps(ours, sort_keys=True)
