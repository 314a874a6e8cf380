"""Opening a file that another process is just creating."""

import sqlite3
from contextlib import closing

from amfs_sqlite import CountedIds, FixedClock, SqliteAdapter
from amfs_sqlite.sqlite import migrate
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import database_of, look_around, store_id_of

STORE_ID = "SELECT value FROM meta WHERE name = 'store_id'"
LOOKS = 3


def connected(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=0)


@proves("processes.first-starts")
def test_who_saw_the_file_empty_waits_while_the_one_who_fills_it_holds_it(path: str) -> None:
    adapter = SqliteAdapter(path)
    begun: list[str] = []
    with closing(connected(path)) as ours, closing(connected(path)) as others:
        assert ours.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        others.execute("BEGIN IMMEDIATE")
        migrate.run(others, path, FixedClock().now(), CountedIds())
        others.execute("COMMIT")
        (store_id,) = others.execute(STORE_ID).fetchone()
        others.execute("BEGIN EXCLUSIVE")

        def tell(statement: str) -> None:
            begun.extend([statement] if statement == "BEGIN" else [])
            if len(begun) == LOOKS and others.in_transaction:
                others.execute("ROLLBACK")

        ours.set_trace_callback(tell)
        look_around(database_of(adapter), ours)
    assert store_id_of(adapter) == store_id
    assert len(begun) == LOOKS
