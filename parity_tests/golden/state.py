"""What one side of a replay holds."""

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from parity_tests.golden.cast import Call
from parity_tests.golden.logs import Commit
from parity_tests.golden.view import Entry, Reading, Stored
from parity_tests.golden.watches import Watches


@dataclass
class State:
    """Everything by name: of a board (an adapter), a memory, a transaction, a callback, or a step."""

    stored: dict[str, list[Stored]] = field(default_factory=dict)
    """By board, in the order of writing."""
    commits: dict[str, list[Commit]] = field(default_factory=dict)
    """By board, what must be in its log: messages, authors, entries; oldest first."""
    log: dict[str, list[Commit]] = field(default_factory=dict)
    """By board, its log as listed last, newest first."""
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    """By memory, oldest first."""
    contexts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By memory, oldest first."""
    messages: dict[str, str] = field(default_factory=dict)
    """By transaction."""
    pending: dict[str, list[Call]] = field(default_factory=dict)
    """By transaction, the writes that wait for its commit."""
    callbacks: dict[str, Any] = field(default_factory=dict)
    """By callback, what it does."""
    heard: dict[str, list[Entry]] = field(default_factory=dict)
    """By callback, what it was called with and has not yet told."""
    call_counts: Counter[str] = field(default_factory=Counter)
    """By callback, how often it was called."""
    watches: Watches = field(default_factory=Watches)
    live: dict[tuple[int, str], Any] = field(default_factory=dict)
    """By step, the objects that were passed in (`args`) and given back (`result`)."""
    polluted: set[str] = field(default_factory=set)
    """Names that trees have written to where every object inherits them."""

    def fork(self) -> "State":
        """The same, to go on from in another manner."""
        return State(**{each.name: _copied(getattr(self, each.name)) for each in fields(self)})


def _copied(held: Any) -> Any:
    copied = held.copy()
    if isinstance(copied, dict):
        for name, inner in copied.items():
            if isinstance(inner, list):
                copied[name] = [*inner]
    return copied
