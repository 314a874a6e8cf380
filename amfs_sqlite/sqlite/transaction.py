"""What a storage function works in: one open transaction, and what was passed in for it."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amfs_sqlite.clock import IdSource
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.confidence import OutcomePolicy

Parameters = Sequence[Any] | Mapping[str, Any]


@dataclass(slots=True)
class Transaction:
    """Storage functions take it first, never commit it, and call each other freely with it."""

    connection: sqlite3.Connection
    namespace: str
    policy: OutcomePolicy
    ids: IdSource
    now: datetime
    branch: str = MAIN_BRANCH
    versions_written: int = 0

    def one(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        row: tuple[Any, ...] | None = self.connection.execute(sql, parameters).fetchone()
        return row

    def row(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...]:
        """The first row, which is there."""
        row: tuple[Any, ...] = self.connection.execute(sql, parameters).fetchone()
        return row

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The only column of the first row, which is there."""
        (value,) = self.row(sql, parameters)
        return value

    def all(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Every row."""
        return self.connection.execute(sql, parameters).fetchall()

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[tuple[Any, ...]]:
        """Row by row, for what may be long."""
        return iter(self.connection.execute(sql, parameters))

    def insert(self, sql: str, parameters: Parameters) -> int | None:
        """Insert a row; its rowid."""
        return self.connection.execute(sql, parameters).lastrowid

    def run(self, sql: str, parameters: Parameters = ()) -> None:
        """A statement without rows."""
        self.connection.execute(sql, parameters)
