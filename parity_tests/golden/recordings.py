"""Reads recordings from files: what is not of their form is refused, by one line that says where."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amfs_sqlite.errors import quoted
from parity_tests.golden import form
from parity_tests.golden.roll import Roll
from parity_tests.golden.transcript import Answer, Step, Transcript, TranscriptError

WHOLE_NUMBERS_BELOW = 2**53
WHOLE_NUMBER_DIGITS = len(str(WHOLE_NUMBERS_BELOW)) + 1
MOST_LEVELS = 200
"""How deep a recording may nest. Values may by 128 levels; recordings of deeper ones need some more."""
_PLACE = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"), "-0": -0.0}


def files(place: Path) -> list[Path]:
    """A file, or all that a folder holds of `*.json`, by name."""
    return sorted(place.glob("*.json")) if place.is_dir() else [place]


def load(path: Path) -> Transcript:
    """The recording in a file. Raises TranscriptError, naming file, step and what is wrong."""
    try:
        return parse(path.name, _read(path))
    except TranscriptError as wrong:
        raise wrong.at(path.name) from wrong


def parse(name: str, content: Any) -> Transcript:
    """The recording that was read from a file of this name. Raises TranscriptError."""
    if _levels(content) > MOST_LEVELS:
        raise TranscriptError(f"it nests deeper than {MOST_LEVELS} levels")
    file = form.filled(form.File, content)
    roll = Roll()
    steps = []
    for i, each in enumerate(file.steps):
        place = f"step {i + 1}"
        try:
            steps.append(_step(each, i + 1, roll))
        except TranscriptError as wrong:
            raise wrong.at(place) from wrong
    roll.close()
    beside = [f"{quoted(member)} is no member of a recording: passed over" for member in form.strays(file)]
    return Transcript(name, file.clock_start, tuple(steps), notes=(*beside, *roll.notes))


def whole_number(digits: str) -> int | float:
    """A whole number as JavaScript holds it: exact up to 2**53, a float beyond.

    >>> [whole_number(each) for each in ("7", "-9007199254740992", "9007199254740993", "9" * 400)]
    [7, -9007199254740992, 9007199254740992.0, inf]
    """
    if len(digits) > WHOLE_NUMBER_DIGITS or abs(int(digits)) > WHOLE_NUMBERS_BELOW:
        return float(digits)
    return int(digits)


def _read(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text, parse_int=whole_number, parse_constant=_refuse)
    except OSError as unreadable:
        raise TranscriptError(f"it cannot be read: {unreadable.strerror}") from unreadable
    except UnicodeDecodeError as unreadable:
        raise TranscriptError(
            f"it is not UTF-8: {unreadable.reason} at byte {unreadable.start}"
        ) from unreadable
    except json.JSONDecodeError as unreadable:
        raise TranscriptError(f"it is no JSON: {unreadable}") from unreadable
    except RecursionError as unreadable:
        raise TranscriptError(f"it nests deeper than {MOST_LEVELS} levels") from unreadable


def _refuse(constant: str) -> None:
    raise TranscriptError(f"it is no JSON: it holds {constant}")


def _levels(content: Any) -> int:
    """How deep it nests, counted no further than is needed."""
    deepest, pending = 0, [(content, 1)]
    while pending and deepest <= MOST_LEVELS:
        node, level = pending.pop()
        if isinstance(node, dict | list):
            deepest = max(deepest, level)
            pending += [(each, level + 1) for each in (node.values() if isinstance(node, dict) else node)]
    return deepest


def _step(content: Any, position: int, roll: Roll) -> Step:
    if isinstance(content, dict) and content.get("n", position) != position:
        raise TranscriptError(
            f"n is {quoted(content['n'])}: steps are numbered from 1, one by one; one is missing or moved"
        )
    filled = form.filled(form.StepForm, content)
    step = Step(
        n=filled.n,
        on=filled.on,
        op=filled.op,
        args=filled.args,
        names=filled.made,
        recorded=_answer(content, filled),
    )
    for member in form.strays(filled):
        roll.note(step, f"{quoted(member)} is no member of a step: passed over")
    return roll.enter(step)


def _answer(content: Mapping[str, Any], filled: form.StepForm) -> Answer:
    """The recorded answer: a result or an error."""
    if ("result" in content) == ("error" in content):
        raise TranscriptError("it must have either a result or an error")
    if (filled.error is None) != (filled.error_type is None) or ("error" in content and filled.error is None):
        raise TranscriptError("error and errorType must both be texts, or both be missing")
    if filled.error is not None:
        return Answer(error=filled.error, error_type=filled.error_type)
    if filled.result_is_undefined and filled.result is not None:
        raise TranscriptError("resultIsUndefined, and yet there is a result")
    result = json.loads(json.dumps(filled.result))
    for unsaid in filled.non_json:
        result = _set(result, unsaid.path, unsaid.js)
    return Answer(result=result, is_void=filled.result_is_undefined)


def _set(result: Any, path: str, js: str) -> Any:
    """The result with a number at this place that JSON could not show; undefined stays null."""
    if js not in _NUMBERS:
        return result
    places = [int(index) if index else name for name, index in _PLACE.findall(path)]
    if not places:
        return _NUMBERS[js]
    node = result
    try:
        for place in places[:-1]:
            node = node[place]
        shown = node[places[-1]]
        node[places[-1]] = _NUMBERS[js]
    except (LookupError, TypeError) as missing:
        raise TranscriptError(f"nonJson: the result has no place {quoted(path)}") from missing
    if shown not in (None, 0):
        raise TranscriptError(
            f"nonJson: at {quoted(path)} the result holds {quoted(shown)}, which JSON shows"
        )
    return result
