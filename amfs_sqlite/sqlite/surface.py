"""How the flat surface names a storage function in one line: as a reading or as a writing operation."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from amfs_sqlite.signatures import as_method
from amfs_sqlite.sqlite.database.connection import Database
from amfs_sqlite.sqlite.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")


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
