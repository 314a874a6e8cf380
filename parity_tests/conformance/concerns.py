"""What a test concerns: which adapters it is run on, of which noun it is, and which nouns it needs."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from parity_tests.adapters import AdapterKind
from parity_tests.conformance.results import SHARING
from parity_tests.ledger import Behaviour
from parity_tests.nouns import NOUNS, UNION, noun_of

FIXTURES = ("adapter_kind", "open_shared")


def promised(item: pytest.Item) -> Iterator[str]:
    """The ids of the behaviours that a test proves."""
    for mark in item.iter_markers("behaviour"):
        yield from mark.args


def name(item: pytest.Item) -> str:
    """A test's name in results, which no other test has."""
    return f"{item.path.name}::{item.name}"


def adapter_kind(item: pytest.Item) -> AdapterKind | None:
    """What a test is run on; None for one that needs none, or one that shares where none does."""
    parameters = _parameters(item)
    kind = next((parameters[fixture] for fixture in FIXTURES if fixture in parameters), None)
    return kind if isinstance(kind, AdapterKind) else None


def noun(item: pytest.Item, behaviours: Mapping[str, Behaviour]) -> str | None:
    """The noun that a test is of: what its first promise is made by, or the operation it is about."""
    if "open_shared" in getattr(item, "fixturenames", ()):
        return SHARING
    for promise in promised(item):
        first = noun_of_promise(behaviours[promise])
        if first is not None:
            return first
    return next(iter(sorted(about(item))), None)


def noun_of_promise(behaviour: Behaviour) -> str | None:
    """The noun that makes a promise: that of the first of its sources which is an operation or a noun."""
    sources = (source.partition(".")[0] for source in behaviour.source)
    return next((source for source in sources if source in NOUNS), None)


def about(item: pytest.Item) -> set[str]:
    """The nouns that a test's parameters name, by an operation or by themselves."""
    parameters = _parameters(item)
    if "noun" in parameters:
        named = parameters["noun"].__name__
        return {named} if named in NOUNS else {*UNION}
    operation = parameters.get("operation")
    found = noun_of(operation) if isinstance(operation, str) else None
    return set() if found is None else {found}


def _parameters(item: pytest.Item) -> Mapping[str, Any]:
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else callspec.params
