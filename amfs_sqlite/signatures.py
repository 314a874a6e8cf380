"""How functions that were made elsewhere are shown as the methods they have become."""

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Class = TypeVar("Class", bound=type)


def as_method(operation: Callable[P, T], body: Callable[..., Any]) -> Callable[P, T]:
    """Let the operation show the function's own signature, ``self`` in place of what it works in.

    >>> def double(tx: object, number: int) -> int: ...
    >>> str(inspect.signature(as_method(lambda *args: None, double)))
    '(self, number: int) -> int'
    """
    signature = inspect.signature(body)
    first, *others = signature.parameters.values()
    shown = signature.replace(parameters=[first.replace(name="self", annotation=first.empty), *others])
    operation.__signature__ = shown  # type: ignore[attr-defined]  # what inspect.signature looks for
    return operation


def named(kind: Class) -> Class:
    """Let the operations of a class that were made elsewhere be known as its own, texts included."""
    for name, member in vars(kind).items():
        if inspect.isfunction(member) and "." not in member.__qualname__:
            member.__qualname__, member.__module__ = f"{kind.__qualname__}.{name}", kind.__module__
    return kind
