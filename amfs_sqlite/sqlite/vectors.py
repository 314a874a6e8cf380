"""Vectors of current versions, to be compared: all of them, or those that sqlite-vec finds near."""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from amfs_sqlite.sqlite.database import files
from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.recalls import packed
from amfs_sqlite.sqlite.transaction import Transaction

EXTENSION = "sqlite_vec"
IS_KNOWN = "SELECT count(*) FROM pragma_function_list WHERE name = 'vec_distance_cosine'"
VECTORS = "FROM current AS c CROSS JOIN vectors AS e ON e.version_id = c.version_id"
DIMENSIONS = f"SELECT DISTINCT e.dimension {VECTORS} WHERE {{conditions}}"
ALL = f"SELECT c.id, e.vector {VECTORS} WHERE {{conditions}} ORDER BY c.entity_path, c.key"
# sqlite-vec computes in single precision: what it has a little behind the last place may belong before it.
# It has no distance for what has no direction.
NEAR = f"""
WITH x AS MATERIALIZED (
    SELECT c.id, c.version_id, c.entity_path, c.key, vec_distance_cosine(e.vector, :query) AS distance
    {VECTORS} WHERE {{conditions}}
)
SELECT x.id, e.vector FROM x CROSS JOIN vectors AS e ON e.version_id = x.version_id
WHERE x.distance IS NULL OR x.distance <= :tolerance + coalesce((
    SELECT y.distance FROM x AS y WHERE y.distance IS NOT NULL ORDER BY y.distance LIMIT 1 OFFSET :limit - 1
), 2.0)
ORDER BY x.entity_path, x.key"""
TOLERANCE = 1e-3


def dimensions(tx: Transaction, asked: Conditions) -> list[int]:
    """How many numbers the vectors of those that match have, each once."""
    rows = tx.all(DIMENSIONS.format(conditions=asked), asked.parameters)
    return sorted(dimension for (dimension,) in rows)


def compared(
    tx: Transaction, asked: Conditions, query: Sequence[float], *, limit: int, at_once: int
) -> Iterator[list[tuple[int, bytes]]]:
    """Keys that match, by path and key, and their vectors, so many at once: all that may be among the
    ``limit`` nearest, and maybe others.
    """
    sql, parameters = ALL, asked.parameters
    if limit > 0 and query and has_distance(tx.connection):
        sql = NEAR
        parameters = parameters | {"query": packed(query), "limit": limit, "tolerance": TOLERANCE}
    cursor = tx.execute(sql.format(conditions=asked), parameters)
    return iter(lambda: cursor.fetchmany(at_once), [])


def has_distance(connection: sqlite3.Connection) -> bool:
    """Whether this connection knows sqlite-vec, once it was let load it where it can."""
    if _knows(connection):
        return True
    extension = _extension()
    if extension is None or not hasattr(connection, "enable_load_extension"):
        return False
    connection.enable_load_extension(True)
    try:
        extension.load(connection)
    except sqlite3.Error as refused:
        # All vectors are compared instead, to the same result.
        files.log.warning("sqlite-vec cannot be loaded: %s", refused)
        return False
    finally:
        connection.enable_load_extension(False)
    return _knows(connection)


def _knows(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute(IS_KNOWN).fetchone() != (0,))


@cache
def _extension() -> Any:
    return None if find_spec(EXTENSION) is None else import_module(EXTENSION)
