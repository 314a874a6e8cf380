"""The schema: what the data dictionary says, what the migrations make, and what a new store has are one."""

import re
import sqlite3
from contextlib import closing
from importlib import resources

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite import migrate
from parity_tests.ledger import proves

DICTIONARY = resources.files("amfs_sqlite.sqlite") / "schema.sql"
OBJECTS = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name"


def objects(raw: sqlite3.Connection) -> list[tuple[str, ...]]:
    """All that a file is made of; comments and spaces do not count."""
    return [
        (*names, " ".join(re.sub("--.*", "", sql).split())) for *names, sql in raw.execute(OBJECTS).fetchall()
    ]


def made_by(*scripts: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as raw:
        for script in scripts:
            for statement in migrate.statements(script):
                raw.execute(statement)
        return objects(raw)


@proves("migrations.dictionary")
async def test_migrations_replayed_from_nothing_give_what_the_dictionary_says(path: str) -> None:
    said = made_by(DICTIONARY.read_text(encoding="utf-8"))
    assert len(said) > 20
    assert made_by(*(step.sql for step in migrate.migrations())) == said
    async with SqliteAdapter(path):
        pass
    with closing(sqlite3.connect(path)) as raw:
        assert objects(raw) == said


@proves("migrations.dictionary")
def test_a_script_is_taken_apart_without_losing_anything() -> None:
    script = DICTIONARY.read_text(encoding="utf-8")
    assert "".join(migrate.statements(script)) == script


@proves("migrations.numbers")
async def test_migrations_are_numbered_without_gaps_up_to_the_newest(path: str) -> None:
    steps = migrate.migrations()
    assert [step.version for step in steps] == list(range(1, migrate.NEWEST + 1))
    assert len({step.name for step in steps}) == len(steps)
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.describe()).schema_version == migrate.NEWEST
    with closing(sqlite3.connect(path)) as raw:
        recorded = raw.execute("SELECT version, name FROM schema_migrations ORDER BY version").fetchall()
        assert raw.execute("PRAGMA user_version").fetchone() == (migrate.NEWEST,)
    assert recorded == [(step.version, step.name) for step in steps]
