"""How the flat surface names a storage function in one line: as a reading or as a writing operation."""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from amfs_sqlite.sqlite.database.connection import Database
from amfs_sqlite.sqlite.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")
Class = TypeVar("Class", bound=type)


class OnDatabase(Protocol):
    """What has a database behind it."""

    _database: Database


def reading(
    body: Callable[Concatenate[Transaction, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """An operation that runs this function in a snapshot."""

    @wraps(body)
    async def operation(self: OnDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(body, *args, **kwargs)

    return as_method(operation, body)


def writing(
    body: Callable[Concatenate[Transaction, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """An operation that runs this function in a transaction, committed before the answer."""

    @wraps(body)
    async def operation(self: OnDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(body, *args, **kwargs)

    return as_method(operation, body)


def as_method(operation: Callable[P, T], body: Callable[..., Any]) -> Callable[P, T]:
    """Let the operation show the function's own signature, ``self`` in place of what it works in."""
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
