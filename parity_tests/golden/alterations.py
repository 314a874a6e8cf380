"""Recordings that were tampered with: one thing of an answer changed, dropped, doubled or swapped."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from parity_tests.golden.comparison import same
from parity_tests.golden.transcript import Answer

SAMPLES = 2
"""How many places of a list or a map are tampered with: the first ones, and the last."""

ENGINE = "TypeError"
"""The errors that JavaScript's engine raises, in words of its own."""

Place = tuple[Any, ...]


def altered(answer: Answer) -> Iterator[tuple[str, Answer]]:
    """What was done, and the answer it was done to; nothing for an answer that says nothing."""
    if answer.error is not None:
        yield "the error is gone", Answer(result=None)
        yield "another type of error", replace(answer, error_type=f"{answer.error_type}x")
        if answer.error_type != ENGINE:
            yield "another error", replace(answer, error=f"{answer.error}x")
        return
    yield "an error instead", Answer(error="made up", error_type="Error")
    if answer.is_void:
        return
    yield "nothing instead", Answer(is_void=True)
    for place in _places(answer.result, ()):
        for what, value in _changes(_at(answer.result, place)):
            changed = _with(answer.result, place, value)
            if not same(answer.result, changed):
                yield f"{what} at {place}", Answer(result=changed)


def _places(node: Any, place: Place) -> Iterator[Place]:
    yield place
    if isinstance(node, dict | list):
        names: list[Any] = [*node] if isinstance(node, dict) else [*range(len(node))]
        # An entry has more members than are sampled of what may be long.
        kept = names if isinstance(node, dict) and "entityPath" in node else _sampled(names)
        for name in kept:
            yield from _places(node[name], (*place, name))


def _changes(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield "turned round", not value
    elif isinstance(value, int | float):
        yield "another number", value + 1
        yield "a little more", value * (1 + 1e-9)
    elif isinstance(value, str):
        yield "another text", f"{value}x"
    elif value is None:
        yield "something for nothing", 0
    elif isinstance(value, list):
        for i in _sampled([*range(len(value))]):
            yield f"without item {i}", value[:i] + value[i + 1 :]
            yield f"item {i} twice", [*value[: i + 1], *value[i:]]
            if i + 1 < len(value):
                yield f"items {i} and {i + 1} swapped", [*value[:i], value[i + 1], value[i], *value[i + 2 :]]
    else:
        for name in _sampled([*value]):
            yield f"without {name}", {each: value[each] for each in value if each != name}
        yield "one more member", value | {"madeUp": 1}


def _sampled(names: list[Any]) -> list[Any]:
    return [*names[:SAMPLES], *names[SAMPLES:][-1:]]


def _at(node: Any, place: Place) -> Any:
    for name in place:
        node = node[name]
    return node


def _with(node: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    name, *inner = place
    changed = copy.copy(node)
    changed[name] = _with(node[name], tuple(inner), value)
    return changed
