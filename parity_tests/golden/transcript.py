"""Recorded transcripts: what was called, and what the SDK answered."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WHOLE_NUMBERS_BELOW = 2**53
_PLACE = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"), "-0": -0.0}


class TranscriptError(ValueError):
    """A file that is no transcript."""


@dataclass(frozen=True)
class Answer:
    """What a call answered: a result as JSON types, or an error. `is_void` results say nothing."""

    result: Any = None
    error: str | None = None
    error_type: str | None = None
    is_void: bool = False


@dataclass(frozen=True)
class Step:
    """One call, and the recorded answer."""

    n: int
    on: str
    op: str
    args: Mapping[str, Any]
    names: str | None
    recorded: Answer


@dataclass(frozen=True)
class Transcript:
    """One file."""

    name: str
    clock_start: str
    steps: Sequence[Step] = field(default_factory=tuple)


def files(folder: Path) -> list[Path]:
    """The transcripts of a folder, by name."""
    return sorted(folder.glob("*.json"))


def load(path: Path) -> Transcript:
    """The transcript in a file. Raises TranscriptError."""
    try:
        return parse(path.name, json.loads(path.read_text(encoding="utf-8"), parse_int=whole_number))
    except (KeyError, TypeError, ValueError) as unreadable:
        raise TranscriptError(f"{path} is no transcript: {unreadable!r}") from unreadable


def parse(name: str, content: Mapping[str, Any]) -> Transcript:
    """The transcript that was read from a file of this name."""
    steps = [
        Step(
            n=step["n"],
            on=step["on"],
            op=step["op"],
            args=step["args"],
            names=step.get("as"),
            recorded=_answer(step),
        )
        for step in content["steps"]
    ]
    return Transcript(name=name, clock_start=content["clockStart"], steps=tuple(steps))


def whole_number(digits: str) -> int | float:
    """A whole number as JavaScript holds it: exact up to 2**53, a float beyond."""
    number = int(digits)
    return number if abs(number) <= WHOLE_NUMBERS_BELOW else float(number)


def _answer(step: Mapping[str, Any]) -> Answer:
    if "error" in step:
        return Answer(error=step["error"], error_type=step["errorType"])
    result = json.loads(json.dumps(step["result"]))
    for unsaid in step.get("nonJson", ()):
        result = _set(result, unsaid["path"], unsaid["js"])
    return Answer(result=result, is_void=step.get("resultIsUndefined", False))


def _set(result: Any, path: str, js: str) -> Any:
    """The result with a number at this place that JSON could not show; undefined stays null."""
    if js not in _NUMBERS:
        return result
    places = [int(index) if index else name for name, index in _PLACE.findall(path)]
    if not places:
        return _NUMBERS[js]
    node = result
    for place in places[:-1]:
        node = node[place]
    node[places[-1]] = _NUMBERS[js]
    return result
