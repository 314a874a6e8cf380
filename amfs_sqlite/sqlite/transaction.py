"""What a storage function works in: one open transaction, and what was passed in for it."""

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Self

from amfs_sqlite.clock import IdSource
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.sqlite.ground import Ground
from amfs_sqlite.sqlite.rows import UnreadableRowError

LOOP_CHARACTERS = 64 * 1024
USUAL_CHARACTERS = 2_000
PAGE_ROWS = 100

Parameters = Sequence[Any] | Mapping[str, Any]


def weight(stored: str | None) -> int:
    """How much a value weighs for the text index: as many usual entries.

    >>> weight("{}"), weight("x" * 1_000_000)
    (1, 501)
    """
    return 1 + len(stored or "") // USUAL_CHARACTERS


class TooLongForTheLoopError(Exception):
    """What was asked for is better read on another thread."""


@dataclass(slots=True)
class Transaction:
    """Storage functions take it first, never commit it, and call each other freely with it."""

    connection: sqlite3.Connection
    namespace: str
    policy: OutcomePolicy
    ids: IdSource
    now: datetime
    ground: Ground | None = None
    """What the next commit builds on, where this may write."""
    is_in_loop: bool = False
    """Whether this keeps the event loop waiting."""
    branch: str = MAIN_BRANCH
    unindexed_written: int = 0
    """How much was written that the text index has not come to; see ``weight``."""
    unindexed_seen: int = 0
    """How much was looked through because the text index had not come to it."""
    sequence: int = 0
    """Of the commit that was made, or that a repeated request made before; 0 where there is none."""

    @contextmanager
    def elsewhere(self, *, namespace: str | None = None, branch: str | None = None) -> Iterator[Self]:
        """For as long as this lasts it is about another namespace or branch; None stays where it is."""
        here = self.namespace, self.branch
        self.namespace = self.namespace if namespace is None else namespace
        self.branch = self.branch if branch is None else branch
        try:
            yield self
        finally:
            self.namespace, self.branch = here

    def check_length(self, stored: str | None) -> None:
        """Raise TooLongForTheLoopError where reading this text back would keep the event loop for long."""
        if self.is_in_loop and stored is not None and len(stored) > LOOP_CHARACTERS:
            raise TooLongForTheLoopError

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run a statement. A parameter that no column can hold is bound as something unequal to all."""
        try:
            return self.connection.execute(sql, parameters)
        except (UnicodeEncodeError, OverflowError):
            return self.connection.execute(sql, _bindable(parameters))

    def one(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        row: tuple[Any, ...] | None = self.execute(sql, parameters).fetchone()
        return row

    def row(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...]:
        """The first row, which is there in every store that is whole."""
        row: tuple[Any, ...] | None = self.execute(sql, parameters).fetchone()
        if row is None:
            raise UnreadableRowError("a row that every store has is missing")
        return row

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The only column of ``row``."""
        (value,) = self.row(sql, parameters)
        return value

    def all(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Every row."""
        return self.execute(sql, parameters).fetchall()

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[tuple[Any, ...]]:
        """Row by row, for what may be long."""
        return iter(self.execute(sql, parameters))

    def pages(self, sql: str, parameters: Parameters, limit: int | None) -> Iterator[list[tuple[Any, ...]]]:
        """Page by page, for what has more read along with it; one row past the limit is enough to stop at."""
        size = PAGE_ROWS if limit is None else min(limit + 1, PAGE_ROWS)
        return iter(partial(self.execute(sql, parameters).fetchmany, size), [])

    def insert(self, sql: str, parameters: Parameters) -> int | None:
        """Insert a row; its rowid."""
        return self.execute(sql, parameters).lastrowid

    def run(self, sql: str, parameters: Parameters = ()) -> None:
        """A statement without rows."""
        self.execute(sql, parameters)


def _bindable(parameters: Parameters) -> Parameters:
    if isinstance(parameters, Mapping):
        return {name: _unequal(value) for name, value in parameters.items()}
    return [_unequal(value) for value in parameters]


def _unequal(value: Any) -> Any:
    """Text with a lone surrogate as bytes, which equal no text; a huge integer as what lies beyond all."""
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
        return value if encoded.decode("utf-8", "replace") == value else encoded
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return math.inf if value > 0 else -math.inf
    return value
