"""What a branch is read with."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from amfs_sqlite.clock import CountedIds
from amfs_sqlite.rules.confidence import AMFS_0_3
from amfs_sqlite.sqlite.overlays import seen
from amfs_sqlite.sqlite.transaction import Transaction
from parity_tests.ledger import proves

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@proves("branches-kept.statements")
@pytest.mark.parametrize("sql", ["SELECT 1 FROM current", "SELECT c.key FROM versions AS v, current AS c"])
def test_a_statement_that_would_read_main_on_a_branch_is_run_on_none(sql: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        tx = Transaction(connection, "default", AMFS_0_3, CountedIds(), NOW)
        assert seen(tx, sql) == sql
        with tx.elsewhere(branch="trial"), pytest.raises(ValueError, match="not a statement"):
            seen(tx, sql)
