"""A creation that is killed at any of its statements leaves nothing that the next one cannot open."""

import signal
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite import migrate
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import left_in, started
from parity_tests.drafts import draft
from parity_tests.ledger import proves

STATEMENTS_AT_LEAST = 25


def size(path: str) -> int:
    return Path(path).stat().st_size if Path(path).exists() else 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@proves("migrations.killed")
async def test_a_creation_killed_at_any_of_its_statements_is_taken_up_by_the_next(tmp_path: Path) -> None:
    half_written = 0
    for statement in count(1):
        path = str(tmp_path / f"store-{statement}.db")
        with started(jobs.create_and_be_killed, path, statement) as (_, journal):
            survived = list(left_in(journal)) == ["survived"]
        half_written += bool(size(path) and size(f"{path}-journal"))
        async with SqliteAdapter(path) as adapter:
            assert (await adapter.describe()).schema_version == migrate.NEWEST
            assert (await adapter.write(draft())).version == 1
            assert (await adapter.verify()).findings == ()
        with closing(sqlite3.connect(path)) as raw:
            applied = raw.execute("SELECT version FROM schema_migrations ORDER BY version").fetchall()
            assert applied == [(step.version,) for step in migrate.migrations()]
        if survived:
            break
    assert statement > STATEMENTS_AT_LEAST
    assert half_written, "no creation was killed while its pages were on the way to the disk"
