"""Candidates: adapters of others that are put through the suite."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from amfs_sqlite import AMFS_0_3, AmfsAdapter, Clock, CountedIds, FixedClock, IdSource, OutcomePolicy
from parity_tests.adapters import AdapterFactory, AdapterKind
from parity_tests.conformance.problems import one_line
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

    Nouns in ``without`` count as not claimed, whatever it implements. ``needed`` is filled while a test
    runs: the nouns not claimed of which it called an operation.
    """

    name: str
    factory: AdapterFactory
    shares: bool = False
    promises: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
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
            if noun not in claimed(own) or noun in self.without
            for operation in operations(noun)
        }
        if replaced:
            # A kind of its own, so that an adapter with slots can be tried like any other.
            adapter.__class__ = type(own)(own.__name__, (own,), {"__slots__": (), **replaced})
        return adapter

    def lacks(self, folder: Path) -> dict[str, tuple[str, ...]]:
        """For every noun the operations that one made here does not implement. Raises CandidateError."""
        adapter = self._made(folder)
        missing = dict(lacking(type(adapter)))
        if missing["Lifecycle"]:
            lacks = ", ".join(missing["Lifecycle"])
            raise CandidateError(
                f"{self.name} makes a {type(adapter).__name__} without {lacks}: what cannot be opened and"
                " closed cannot be tried"
            )
        return missing

    def _made(self, folder: Path) -> AmfsAdapter:
        options: dict[str, Any] = {"outcomes": AMFS_0_3, "clock": FixedClock(), "ids": CountedIds()}
        try:
            adapter: Any = self.factory(folder / "asked.db", namespace="default", **options)
        except BaseException as wrong:
            if isinstance(wrong, TypeError) and wrong.__traceback__ and not wrong.__traceback__.tb_next:
                asked = "(path, *, namespace, outcomes, clock, ids)"
                raise CandidateError(f"{self.name} does not take {asked}: {wrong}") from wrong
            raise CandidateError(f"{self.name} makes no adapter, and raises {one_line(wrong)}") from wrong
        if inspect.isawaitable(adapter):
            if inspect.iscoroutine(adapter):
                adapter.close()
            raise CandidateError(f"{self.name} makes a {type(adapter).__name__}; it must be a plain function")
        made: AmfsAdapter = adapter
        return made


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
    except BaseException as wrong:
        raise CandidateError(f"{place!r} cannot be imported: {one_line(wrong)}") from wrong
    for part in name.split("."):
        if not hasattr(factory, part):
            raise CandidateError(f"{place!r} cannot be imported: there is no {part!r} in {module}")
        factory = getattr(factory, part)
    if not callable(factory):
        raise CandidateError(f"{place!r} is a {type(factory).__name__}, which cannot be called")
    made: AdapterFactory = factory
    return made
