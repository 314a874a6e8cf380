"""How the front door names a function of a noun in one line: as reading or as writing."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from amfs_sqlite.signatures import as_method
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.errors import as_sdk_errors

P = ParamSpec("P")
T = TypeVar("T")


class OnBlockingDatabase(Protocol):
    """What has a database behind it."""

    _database: BlockingDatabase


def reading(body: Callable[Concatenate[Transaction, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method that runs this function in a snapshot of all that was asked for before."""

    @wraps(body)
    def method(self: OnBlockingDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with as_sdk_errors():
            self._database.settle()
            return self._database.read(body, *args, **kwargs)

    return as_method(method, body)


def peeking(body: Callable[Concatenate[Transaction, P], T]) -> Callable[Concatenate[Any, P], T]:
    """As ``reading``, without what was put off."""

    @wraps(body)
    def method(self: OnBlockingDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with as_sdk_errors():
            return self._database.read(body, *args, **kwargs)

    return as_method(method, body)


def writing(body: Callable[Concatenate[Transaction, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method that runs this function in a transaction, committed before it returns.

    The function may run twice, where another one in the same transaction fails: it must have no effect
    beside the database, and must not change what it is given.
    """

    @wraps(body)
    def method(self: OnBlockingDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with as_sdk_errors():
            return self._database.write(body, *args, **kwargs)

    return as_method(method, body)
