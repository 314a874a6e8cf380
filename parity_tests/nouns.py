"""The nouns of the protocol, and which of them an adapter claims."""

import inspect
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

from amfs_sqlite import AmfsAdapter, protocol

UNION: Mapping[str, type] = MappingProxyType(
    {
        each.__name__: each
        for each in AmfsAdapter.__mro__
        if each.__name__ in protocol.__all__ and each is not AmfsAdapter
    }
)
"""The nouns that every whole adapter has, in the order of the protocol."""
CAPABILITIES: Mapping[str, type] = MappingProxyType(
    {
        name: getattr(protocol, name)
        for name in protocol.__all__
        if name not in UNION and name != AmfsAdapter.__name__
    }
)
"""The nouns beside it, which an adapter has or has not."""
NOUNS: Mapping[str, type] = MappingProxyType({**UNION, **CAPABILITIES})
"""Every noun."""

CONTEXT = ("__aenter__", "__aexit__")


class NotClaimed(Protocol):
    """What stands for an operation of a noun that an adapter does not claim."""

    is_not_claimed: bool

    def __call__(self, *args: Any, **options: Any) -> NoReturn: ...


def operations(noun: str) -> tuple[str, ...]:
    """The names of a noun's operations and properties.

    >>> operations("Search"), operations("Lifecycle")[:2]
    (('search',), ('namespace', 'policy_name'))
    """
    return tuple(
        name
        for name, member in vars(NOUNS[noun]).items()
        if (inspect.isfunction(member) or isinstance(member, property))
        and (not name.startswith("_") or name in CONTEXT)
    )


def noun_of(operation: str) -> str | None:
    """The noun an operation belongs to.

    >>> noun_of("write"), noun_of("fly")
    ('Entries', None)
    """
    return next((noun for noun in NOUNS if operation in operations(noun)), None)


def declared(operation: str) -> Any:
    """An operation or property as its noun declares it.

    >>> declared("write") is AmfsAdapter.write
    True
    """
    return getattr(NOUNS[noun_of(operation) or ""], operation)


@cache
def lacking(adapter: type) -> Mapping[str, tuple[str, ...]]:
    """For every noun the operations that a kind of adapter does not implement.

    An operation that is inherited from the protocol answers nothing, so it is not implemented.

    >>> lacking(AmfsAdapter)["Integrity"], lacking(object)["Search"]
    (('verify', 'anchor'), ('search',))
    """
    return {
        noun: tuple(name for name in operations(noun) if not _implements(adapter, name)) for noun in NOUNS
    }


@cache
def claimed(adapter: type) -> tuple[str, ...]:
    """The nouns that a kind of adapter claims: those it implements whole."""
    return tuple(noun for noun, missing in lacking(adapter).items() if not missing)


def _implements(adapter: type, operation: str) -> bool:
    owner = next((each for each in adapter.__mro__ if operation in vars(each)), None)
    if owner is None or owner in (*NOUNS.values(), AmfsAdapter):
        return False
    return not getattr(vars(owner)[operation], "is_not_claimed", False)
