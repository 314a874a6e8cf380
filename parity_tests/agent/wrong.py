"""Arguments of every wrong type, for whatever can be called."""

import inspect
import math
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError

from amfs_sqlite import AmfsError

Call = Callable[..., Any]


class Unprintable:
    """What says nothing about itself."""

    def __repr__(self) -> str:
        raise RuntimeError("no word")


GIVEN: Sequence[Any] = (None, 3, 10**5000, "text", ["x"], [3], {"x": 1}, math.nan, b"x", Unprintable())
LONGEST_MESSAGE = 400


async def unrefused(call: Call, good: Mapping[str, Any]) -> list[str]:
    """Where a call with one argument of a wrong type does not say so, as an error that names it."""
    hints = get_type_hints(vars(call)["__init__"] if isinstance(call, type) else call)
    found = []
    for name, parameter in inspect.signature(call).parameters.items():
        for given in GIVEN:
            means_the_default = given is None and parameter.default is not inspect.Parameter.empty
            if not means_the_default and not admits(hints[name], given):
                said = await answer(call, {**good, name: given})
                if not _names(said, name):
                    found.append(f"{name} of type {type(given).__name__}: {said!r}")
    return found


async def leaking(call: Call, good: Mapping[str, Any]) -> list[str]:
    """Where a call with one argument of a type that is right, or None, raises what is no error of ours."""
    found = []
    for name in inspect.signature(call).parameters:
        for given in GIVEN:
            said = await answer(call, {**good, name: given})
            if isinstance(said, Exception) and not isinstance(said, AmfsError):
                found.append(f"{name} of type {type(given).__name__}: {said!r}")
    return found


async def answer(call: Call, arguments: Mapping[str, Any]) -> Any:
    """What a call answers, or raises."""
    try:
        said = call(**arguments)
        return await said if inspect.isawaitable(said) else said
    except Exception as raised:  # noqa: BLE001 - it is looked at
        return raised


def admits(hint: Any, given: Any) -> bool:
    """Whether a value is of an annotated type.

    >>> [admits(str | None, given) for given in ("x", None, 1)], admits(Sequence[str], ["x"])
    ([True, True, False], True)
    """
    kind, inside = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return any(admits(each, given) for each in inside)
    if kind is Literal:
        return any(given == each for each in inside)
    if kind is Callable or hint is Any:
        return hint is Any
    if isinstance(kind, type) and issubclass(kind, Sequence):
        return isinstance(given, list) and all(admits(inside[0], each) for each in given)
    if kind in (dict, Mapping):
        return isinstance(given, dict) and all(admits(inside[1], each) for each in given.values())
    if isinstance(hint, type) and issubclass(hint, BaseModel) and isinstance(given, dict):
        # A model is also meant by its fields.
        return _is_made_of(hint, given)
    if hint is float:
        return isinstance(given, int | float)
    return isinstance(hint, type) and not getattr(hint, "_is_protocol", False) and isinstance(given, hint)


def _is_made_of(model: type[BaseModel], fields: dict[str, Any]) -> bool:
    try:
        model.model_validate(fields)
    except ValidationError:
        return False
    return True


def _names(said: Any, argument: str) -> bool:
    line = str(said)
    return (
        isinstance(said, AmfsError)
        and argument in line.replace("[", " ").replace(".", " ").split()
        and line.isprintable()
        and len(line) < LONGEST_MESSAGE
    )
