"""Brings a file to the newest schema, one recorded step at a time; refuses what is newer or not ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from amfs_sqlite.clock import IdSource
from amfs_sqlite.errors import ForeignFileError, NewerSchemaError, StoreCorruptError
from amfs_sqlite.rules.hashing import GENESIS
from amfs_sqlite.rules.text import TOKENIZER_VERSION
from amfs_sqlite.sqlite.database.files import APPLICATION_ID
from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction

OLDEST_SQLITE = (3, 37, 0)  # the first with STRICT tables

RECORD_MIGRATION = "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)"
NAME_STORE = "INSERT INTO meta (name, value) VALUES ('store_id', ?)"
STORE_ID = "SELECT value FROM meta WHERE name = 'store_id'"
FIRST_HEAD = "INSERT INTO head (one, sequence, digest) VALUES (1, 0, ?)"
FIRST_TEXT_STATE = "INSERT INTO text_state (one, indexed_version_id, tokenizer_version) VALUES (1, 0, ?)"
TABLE_COUNT = "SELECT count(*) FROM sqlite_master"


# What makes the schema; the tables behind the text index are SQLite's own.
OBJECTS = r"""
SELECT type, name, sql FROM sqlite_master
WHERE sql IS NOT NULL AND name NOT LIKE 'text\_index\_%' ESCAPE '\'"""


class Migration(NamedTuple):
    """One step, and the schema version it leads to."""

    version: int
    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Every step in order: ``migrations/0001_initial.sql`` leads to version 1, and so on."""
    found = []
    for script in sorted((Path(__file__).parent / "migrations").glob("*.sql")):
        number, _, name = script.name.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, script.read_text(encoding="utf-8")))
    return tuple(found)


NEWEST = 3


@cache
def objects() -> dict[tuple[str, str], str]:
    """Everything that the migrations make, by kind and name."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in migrations():
            connection.executescript(step.sql)
        return {(kind, name): sql for kind, name, sql in connection.execute(OBJECTS)}


def is_needed(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the file lacks a migration. Raises for a newer schema and for a foreign file."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreCorruptError(path, f"needs SQLite {OLDEST_SQLITE}, found {sqlite3.sqlite_version}")
    version = schema_of(connection)
    if version > NEWEST:
        raise NewerSchemaError(path, version, NEWEST)
    if version and _application(connection) != APPLICATION_ID:
        raise ForeignFileError(path, "is a SQLite file of another program")
    if not version and connection.execute(TABLE_COUNT).fetchone() != (0,):
        raise ForeignFileError(path, "holds tables of another program")
    return version < NEWEST


def run(connection: sqlite3.Connection, path: str, now: datetime, ids: IdSource) -> None:
    """Apply what is missing, inside the transaction that the caller holds.

    Which steps are missing is read again here: another process may have applied them meanwhile.
    """
    if not is_needed(connection, path):
        return
    version = schema_of(connection)
    for step in migrations():
        if step.version > version:
            for statement in statements(step.sql):
                connection.execute(statement)
            connection.execute(RECORD_MIGRATION, (step.version, step.name, microseconds(now)))
    if version == 0:
        connection.execute(NAME_STORE, (ids.hex(32),))
        connection.execute(FIRST_HEAD, (GENESIS,))
        connection.execute(FIRST_TEXT_STATE, (TOKENIZER_VERSION,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {NEWEST}")


def store_id(tx: Transaction) -> str:
    """The identity of this file, which its cursors carry."""
    value: str = tx.value(STORE_ID)
    return value


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: ``executescript`` would commit the transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def schema_of(connection: sqlite3.Connection) -> int:
    """The version of the schema that the file has; 0 for none yet."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _application(connection: sqlite3.Connection) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return int(application)
