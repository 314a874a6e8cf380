"""What the SDK's callers give with a call: its own models, and the namespace that it is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.rules.limits import check_name
from amfs_sqlite.sqlite.transaction import Transaction

Theirs = TypeVar("Theirs", bound=BaseModel)


def checked(given: object, kind: type[Theirs], argument: str) -> Theirs:
    """A model of this kind. Raises InvalidArgumentError for anything else."""
    if not isinstance(given, kind):
        raise InvalidArgumentError(argument, f"is {quoted(given)}; it must be an amfs_core {kind.__name__}")
    return given


@contextmanager
def under(tx: Transaction, namespace: str) -> Iterator[None]:
    """For as long as this lasts the transaction is about this namespace. Raises InvalidArgumentError."""
    check_name(namespace, "namespace")
    with tx.elsewhere(namespace=namespace):
        yield
