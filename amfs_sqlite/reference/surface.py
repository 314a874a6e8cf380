"""How the flat surface of the reference names an operation of a noun in one line."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from amfs_sqlite.reference.store import Store
from amfs_sqlite.signatures import as_method

P = ParamSpec("P")
T = TypeVar("T")


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

    return as_method(method, body)
