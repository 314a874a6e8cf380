"""Recalls: what stands beside a key without being written in its versions, and the embedding of a version."""

import math
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.overlays import here, seen
from amfs_sqlite.sqlite.rows import entry_of
from amfs_sqlite.sqlite.transaction import Transaction


def _beside(select: str, version_id: str) -> str:
    """The same rows with the columns of ``Recall`` behind their own."""
    columns, tables = select.rsplit("\nFROM ", 1)
    return (
        f"{columns}, r.recall_count, r.tier, r.priority_score, e.vector\nFROM {tables}"
        f"LEFT JOIN recalls AS r ON r.key_id = c.id LEFT JOIN vectors AS e ON e.version_id = {version_id}"
    )


ENTRY = _beside(entries.ENTRY, "c.version_id")
ENTRY_VERSION = _beside(entries.ENTRY_VERSION, "v.id")
PRESENT_ENTRY = f"{ENTRY} WHERE {entries.AT} AND {entries.PRESENT}"
BESIDE = f"""
SELECT r.recall_count, r.tier, r.priority_score, e.vector FROM current AS c
CROSS JOIN versions AS v ON v.key_id = c.id AND v.version = :version
LEFT JOIN recalls AS r ON r.key_id = c.id LEFT JOIN vectors AS e ON e.version_id = v.id WHERE {entries.AT}"""
BESIDE_COUNT = 4
FOUND = f"""
SELECT {entries.BUILT_ON},
       {ENTRY.lstrip().removeprefix("SELECT ")} WHERE {entries.AT}"""
STANDING_COUNT = len(entries.Standing._fields)
COUNTS = slice(17, 20)
"""The places of the counts of outcomes among the columns of ``ENTRY``."""

INCREMENT = f"""
INSERT INTO recalls (key_id, recall_count)
SELECT c.id, :count FROM current AS c WHERE {entries.AT} AND {entries.PRESENT}
ON CONFLICT (key_id) DO UPDATE SET recall_count = recall_count + excluded.recall_count
RETURNING recall_count"""
RAISE_COUNT = """
INSERT INTO recalls (key_id, recall_count) VALUES (?, ?)
ON CONFLICT (key_id) DO UPDATE SET recall_count = max(recall_count, excluded.recall_count)"""
RANK = f"""
INSERT INTO recalls (key_id, recall_count, tier, priority_score)
SELECT c.id, 0, :tier, :score FROM current AS c WHERE {entries.AT} AND {entries.PRESENT}
ON CONFLICT (key_id) DO UPDATE SET tier = coalesce(excluded.tier, tier),
       priority_score = coalesce(excluded.priority_score, priority_score)"""
CARRY_VECTOR = """
INSERT OR REPLACE INTO vectors (version_id, dimension, vector)
SELECT ?, dimension, vector FROM vectors WHERE version_id = ?"""
DROP_VECTOR = "DELETE FROM vectors WHERE version_id = ?"
PUT_VECTOR = "INSERT OR REPLACE INTO vectors (version_id, dimension, vector) VALUES (?, ?, ?)"


Row = tuple[Any, ...]
"""The columns that ``ENTRY`` and ``ENTRY_VERSION`` select, in order."""


class Recall(NamedTuple):
    """What stands beside an entry; ``vector`` is its version's embedding."""

    recall_count: int | None = None
    tier: int | None = None
    priority_score: float | None = None
    vector: bytes | None = None

    def fields(self) -> dict[str, Any]:
        """Under AMFS's names, those that are not as by default alone."""
        named = {
            "recall_count": self.recall_count or None,
            "tier": self.tier,
            "priority_score": self.priority_score,
            "embedding": None if self.vector is None else unpacked(self.vector),
        }
        return {name: value for name, value in named.items() if value is not None}


class Recalled(NamedTuple):
    """An entry and what stands beside it."""

    entry: MemoryEntry
    recall: Recall


class Found(NamedTuple):
    """What stands at an address, withdrawn or not: to build on, and its columns, not looked at yet."""

    standing: entries.Standing
    row: tuple[Any, ...]

    @property
    def recalled(self) -> Recalled:
        """The entry and what stands beside it."""
        return recalled(self.row)

    @property
    def value(self) -> str | None:
        """The text of its value; None where it was withdrawn."""
        text: str | None = self.row[entries.VALUE]
        return text

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many outcomes, successes and failures it knows of."""
        outcomes, successes, failures = self.row[COUNTS]
        return outcomes, successes, failures

    @property
    def recall(self) -> Recall:
        """What stands beside it."""
        return Recall(*self.row[-BESIDE_COUNT:])


def packed(embedding: Sequence[float]) -> bytes:
    """An embedding as it is stored: single precision, little-endian.

    >>> packed([1.0, -0.5]).hex()
    '0000803f000000bf'
    """
    numbers = array("f", embedding)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(vector: bytes) -> list[float]:
    """A stored embedding.

    >>> unpacked(packed([1.0, -0.5]))
    [1.0, -0.5]
    """
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def recalled(row: Sequence[Any]) -> Recalled:
    """From the columns that ``ENTRY`` and ``ENTRY_VERSION`` select, in order."""
    return Recalled(entry_of(row[:-BESIDE_COUNT]), Recall(*row[-BESIDE_COUNT:]))


def read(tx: Transaction, entity_path: str, key: str) -> Recalled | None:
    """The current version, expired or not; None where nothing is there."""
    row = tx.one(seen(tx, PRESENT_ENTRY), entries.place(tx, entity_path, key))
    return None if row is None else recalled(row)


def beside(tx: Transaction, entry: MemoryEntry) -> Recall:
    """What stands beside a stored version of the transaction's own branch."""
    at = entries.own_place(tx, entry.entity_path, entry.key)
    return Recall(*tx.row(BESIDE, at | {"version": entry.version}))


def found(tx: Transaction, entity_path: str, key: str) -> Found | None:
    """What stands there to build on, and to show."""
    row = tx.one(seen(tx, FOUND), entries.place(tx, entity_path, key))
    return None if row is None else Found(entries.Standing(*row[:STANDING_COUNT]), row[STANDING_COUNT:])


def each(
    tx: Transaction,
    where: str = "",
    parameters: Mapping[str, Any] | None = None,
    *,
    versions: bool = False,
    order: str | None = None,
    limit: int | None = None,
) -> Iterator[Recalled]:
    """As ``rows``, each read."""
    return map(recalled, rows(tx, where, parameters, versions=versions, order=order, limit=limit))


def rows(
    tx: Transaction,
    where: str = "",
    parameters: Mapping[str, Any] | None = None,
    *,
    versions: bool = False,
    order: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> Iterator[Row]:
    """The current versions that this condition lets through, or all versions, by path, key and version where
    no other ``order`` is given.
    """
    select = ENTRY_VERSION if versions else ENTRY
    conditions = [entries.HERE, "v.value IS NOT NULL" if versions else entries.PRESENT, where or "1"]
    order = order or ("c.entity_path, c.key" + (", v.version" if versions else ""))
    sql = f"{select} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT :limit OFFSET :offset"
    page = {"limit": -1 if limit is None else limit, "offset": offset}
    return tx.each(seen(tx, sql), here(tx) | page | dict(parameters or {}))


def increment(tx: Transaction, entity_path: str, key: str, count: int = 1) -> int | None:
    """Count more readings of a key, and say how many there are; None where nothing is there."""
    rows = tx.all(seen(tx, INCREMENT), entries.place(tx, entity_path, key) | {"count": count})
    return rows[0][0] if rows else None


def raise_count(tx: Transaction, key_id: int, count: int) -> None:
    """At least this many readings."""
    tx.run(RAISE_COUNT, (key_id, count))


def rank(tx: Transaction, entity_path: str, key: str, tier: int | None, score: float | None) -> bool:
    """Set a key's tier and priority, None leaving it as it is; whether the key is there."""
    at = entries.place(tx, entity_path, key)
    return tx.execute(seen(tx, RANK), at | {"tier": tier, "score": score}).rowcount > 0


def put_vector(tx: Transaction, version_id: int, embedding: Sequence[float]) -> None:
    """Keep the embedding that a version was written with.

    Raises InvalidArgumentError for a number that single precision does not have.
    """
    vector = packed(embedding)
    if not all(map(math.isfinite, unpacked(vector))):
        raise InvalidArgumentError("embedding", "has a number that is none, or too large to be kept")
    tx.run(PUT_VECTOR, (version_id, len(embedding), vector))


def drop_vector(tx: Transaction, version_id: int) -> None:
    """Take a version's embedding out: it tells of a value that is to be gone."""
    tx.run(DROP_VECTOR, (version_id,))


def carry_vector(tx: Transaction, version_id: int, before: int) -> None:
    """Keep for a version the embedding of the one before it, whose value it has."""
    tx.run(CARRY_VECTOR, (version_id, before))
