"""Recorded transcripts: what was called, and what the SDK answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class TranscriptError(Exception):
    """What is no transcript, or cannot be replayed: one line that says where, and what is wrong."""

    def at(self, place: str) -> "TranscriptError":
        """The same, said to be at this place."""
        return TranscriptError(f"{place}: {self}")


@dataclass(frozen=True)
class Answer:
    """What a call answered: a result as JSON types, or an error. `is_void` results say nothing.

    Of a refusal that is foretold, `arguments` are those of which the error must name one, in our spelling.
    """

    result: Any = None
    error: str | None = None
    error_type: str | None = None
    is_void: bool = False
    arguments: Sequence[str] = ()


@dataclass(frozen=True)
class Step:
    """One call, and the recorded answer. The SDK does not have operations that are not known."""

    n: int
    on: str
    op: str
    args: Mapping[str, Any]
    names: str | None
    recorded: Answer
    is_known: bool = True


@dataclass(frozen=True)
class Transcript:
    """One file. `notes` tell what in it is passed over."""

    name: str
    clock_start: str
    steps: Sequence[Step] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
