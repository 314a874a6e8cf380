"""Candidates: adapters of others that are put through the suite."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from amfs_sqlite import AMFS_0_3, AmfsAdapter, Clock, CountedIds, FixedClock, IdSource, OutcomePolicy
from parity_tests.adapters import AdapterFactory, AdapterKind
from parity_tests.nouns import NOUNS, claimed, lacking, operations


class CandidateError(Exception):
    """What was named is no adapter that could be tried. The message says why, in one line."""


@dataclass(frozen=True)
class NotClaimed:
    """Stands for an operation of a noun that is not claimed: a test that calls it ends there, and is told."""

    noun: str
    tell: Callable[[str], None]
    is_not_claimed: bool = True

    def __call__(self, *_args: Any, **_options: Any) -> NoReturn:
        self.tell(self.noun)
        pytest.skip(f"needs {self.noun}")


@dataclass
class Candidate:
    """An adapter to be tried: how it is made, and which promises of the ledger it is tried for (None: all).

    ``needed`` is filled while a test runs: the nouns not claimed of which it called an operation.
    """

    name: str
    factory: AdapterFactory
    shares: bool = False
    promises: frozenset[str] | None = None
    needed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.kind = AdapterKind(self.name, self.make, self.shares)

    def make(
        self, path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
    ) -> AmfsAdapter:
        """What the factory makes, with every operation that is not claimed replaced."""
        adapter = self.factory(path, namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)
        own: Any = type(adapter)
        replaced: dict[str, Any] = {
            operation: NotClaimed(noun, self.needed.add)
            for noun in NOUNS
            if noun not in claimed(own)
            for operation in operations(noun)
        }
        if replaced:
            # A kind of its own, so that an adapter with slots can be tried like any other.
            adapter.__class__ = type(own)(own.__name__, (own,), {"__slots__": (), **replaced})
        return adapter

    def lacks(self, folder: Path) -> dict[str, tuple[str, ...]]:
        """For every noun the operations that one made here does not implement. Raises CandidateError."""
        try:
            adapter = self.factory(
                folder / "asked.db",
                namespace="default",
                outcomes=AMFS_0_3,
                clock=FixedClock(),
                ids=CountedIds(),
            )
        except TypeError as refused:
            raise CandidateError(
                f"{self.name} does not take (path, *, namespace, outcomes, clock, ids): {refused}"
            ) from refused
        missing = dict(lacking(type(adapter)))
        if missing["Lifecycle"]:
            lacks = ", ".join(missing["Lifecycle"])
            raise CandidateError(
                f"{self.name} makes a {type(adapter).__name__} without {lacks}: what cannot be opened and"
                " closed cannot be tried"
            )
        return missing


def found(place: str) -> AdapterFactory:
    """The factory at `package.module:name`. Raises CandidateError where there is none.

    >>> found("parity_tests.adapters:oracle").__name__
    'oracle'
    """
    module, _, name = place.partition(":")
    if not module or not name:
        raise CandidateError(f"{place!r} names no factory; write it like package.module:factory")
    try:
        factory: Any = importlib.import_module(module)
        for part in name.split("."):
            factory = getattr(factory, part)
    except (ImportError, AttributeError) as missing:
        raise CandidateError(f"{place!r} cannot be imported: {missing}") from missing
    if not callable(factory):
        raise CandidateError(f"{place!r} is a {type(factory).__name__}, which cannot be called")
    made: AdapterFactory = factory
    return made
