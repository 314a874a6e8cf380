"""How the flat surface of the reference names an operation of a noun in one line."""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from amfs_sqlite.reference.store import Store

P = ParamSpec("P")
T = TypeVar("T")
Class = TypeVar("Class", bound=type)


class OnStore(Protocol):
    """What has a store behind it."""

    _store: Store


def operation(
    body: Callable[Concatenate[Store, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """An operation that runs this function on the store."""

    @wraps(body)
    async def method(self: OnStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return body(self._store, *args, **kwargs)

    signature = inspect.signature(body)
    first, *others = signature.parameters.values()
    shown = signature.replace(parameters=[first.replace(name="self", annotation=first.empty), *others])
    method.__signature__ = shown  # type: ignore[attr-defined]  # what inspect.signature looks for
    return method


def named(kind: Class) -> Class:
    """Let the operations of a class that were made elsewhere be known as its own, texts included."""
    for name, member in vars(kind).items():
        if inspect.isfunction(member) and "." not in member.__qualname__:
            member.__qualname__, member.__module__ = f"{kind.__qualname__}.{name}", kind.__module__
    return kind
