"""What was taken away whole: from either end, a whole table, or with all that should show it."""

# ruff: noqa: S608 - statements are put together from words of this file.

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter, StoreError
from amfs_sqlite.rules.hashing import integrity_chain
from parity_tests.ledger import proves
from parity_tests.tampering.edited import change, found_after, shown
from parity_tests.tampering.test_branches import EMPTIED as OF_BRANCHES

REMOVED = {
    "first commit": (
        "DELETE FROM commits WHERE sequence = 1",
        "commit svc/a/a@1; commit svc/b/b@1; order #2; commit #2",
    ),
    "first commits with all they wrote": (
        (
            "DELETE FROM versions WHERE sequence <= 2; DELETE FROM commits WHERE sequence <= 2;"
            " DELETE FROM idempotency WHERE sequence <= 2"
        ),
        ("gap svc/a/a@3 #4; link svc/a/a@3 #4; gap svc/b/b@2 #3; link svc/b/b@2 #3; order #3; commit #3"),
    ),
    "newest commits with all they did, the head left": (
        "DELETE FROM commits WHERE sequence > 6",
        "head",
    ),
    "a key with its versions, outcomes and commits": (
        (
            "DELETE FROM outcome_effects WHERE key_id = 2; DELETE FROM versions WHERE key_id = 2;"
            " DELETE FROM entry_tags WHERE key_id = 2; DELETE FROM text_index WHERE rowid = 2;"
            " DELETE FROM current WHERE id = 2; DELETE FROM commits WHERE sequence = 3"
        ),
        "outcome #5; commit #1; order #4; commit #4",
    ),
}
EMPTIED = {
    "schema_migrations": "algorithm",
    "head": "head",
    "commits": (
        "commit svc/a/a@1; commit svc/a/a@2; commit svc/a/a@3; commit svc/b/b@1; commit svc/b/b@2; outcome;"
        " outcome; head"
    ),
    "current": (
        "link @1 #1; link @2 #2; link @3 #4; link @1 #1; link @2 #3; outcome #5; outcome #6; outcome @3;"
        " outcome @1; outcome @3"
    ),
    "versions": "gap svc/a/a; gap svc/b/b; commit #1; commit #2; commit #3; commit #4",
    "outcomes": "outcome svc/a/a@3; outcome svc/b/b@1; outcome svc/a/a@3; commit #5; commit #6",
    "outcome_effects": "outcome svc/a/a@3 #4; outcome #5; outcome #6",
    "entry_tags": "index svc/a/a",
    "text_index": "index svc/a/a; index svc/b/b",
    "text_state": "index",
}
UNNOTICED = ("idempotency",)
UNOPENED = ("meta",)
BESIDE = (
    "agent_group_members",
    "agent_groups",
    "agents",
    "branch_access",
    "digests",
    "dismissed_clusters",
    "events",
    "graph_edges",
    "outcome_paths",
    "outcome_reads",
    "outcome_times",
    "outcome_vectors",
    "pull_requests",
    "pull_reviews",
    "recalls",
    "reuse_events",
    "tags",
    "trace_entries",
    "traces",
    "vectors",
)
"""What is kept beside the log, and held by no digest."""
INVENTED = {"INTEGER": "1", "REAL": "0.5", "TEXT": "'x'", "BLOB": "x'00'"}
DERIVED = {
    "a tag that leads elsewhere": (
        "UPDATE entry_tags SET tag = 'other'",
        "index svc/a/a",
    ),
    "a tag of a key that is missing": ("INSERT INTO entry_tags VALUES ('t', 99)", "index"),
    "a tag of another key": ("INSERT INTO entry_tags VALUES ('t', 2)", "index svc/b/b"),
    "words that lead elsewhere": (
        "UPDATE text_index SET tokens = 'nothing of it' WHERE rowid = 1",
        "index svc/a/a",
    ),
    "words of a key that is missing": (
        "INSERT INTO text_index (rowid, tokens) VALUES (99, 'word')",
        "index",
    ),
    "an index that claims to be further than the store": (
        "UPDATE text_state SET indexed_version_id = indexed_version_id + 1",
        "index",
    ),
    "an index of before is behind, and not wrong": (
        "UPDATE text_state SET indexed_version_id = 0; DELETE FROM text_index",
        "",
    ),
}


@proves("tampering.removed")
@pytest.mark.parametrize("removed", REMOVED)
async def test_what_was_removed_is_found_and_named(untouched: Path, path: str, removed: str) -> None:
    statements, findings = REMOVED[removed]
    assert await found_after(untouched, path, statements) == findings.split("; ")


@proves("tampering.removed")
@pytest.mark.parametrize("table", EMPTIED)
async def test_a_table_that_was_emptied_is_found(untouched: Path, path: str, table: str) -> None:
    assert await found_after(untouched, path, f"DELETE FROM {table}") == EMPTIED[table].split("; ")


@proves("tampering.removed")
async def test_every_table_was_emptied_here(untouched: Path) -> None:
    with closing(sqlite3.connect(untouched)) as raw:
        tables = {
            name
            for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith(("text_index_", "sqlite_"))
        }
    assert tables == {*EMPTIED, *OF_BRANCHES, *UNNOTICED, *UNOPENED, *BESIDE, "erasures"}


@proves("tampering.removed")
@pytest.mark.parametrize("table", UNNOTICED)
async def test_what_requests_stood_for_can_be_forgotten_unnoticed(
    untouched: Path, path: str, table: str
) -> None:
    assert await found_after(untouched, path, f"DELETE FROM {table}") == []


@proves("tampering.beside")
@pytest.mark.parametrize("table", BESIDE)
async def test_what_is_beside_the_log_can_be_invented_unnoticed(
    untouched: Path, path: str, table: str
) -> None:
    with closing(sqlite3.connect(untouched)) as raw:
        types = [row[2] for row in raw.execute(f"PRAGMA table_info({table})")]
    row = ", ".join(INVENTED[each] for each in types)
    assert await found_after(untouched, path, f"INSERT OR REPLACE INTO {table} VALUES ({row})") == []


@proves("tampering.removed")
async def test_a_request_that_stands_for_a_missing_commit_is_found(untouched: Path, path: str) -> None:
    forged = "INSERT INTO idempotency VALUES ('default', 'eve', 'request', 'digest', 99, '{}')"
    assert await found_after(untouched, path, forged) == ["commit"]


@proves("tampering.removed")
@pytest.mark.parametrize("table", UNOPENED)
async def test_a_store_that_lost_its_id_is_not_opened(untouched: Path, path: str, table: str) -> None:
    change(untouched, path, f"DELETE FROM {table}")
    with pytest.raises(StoreError):
        await SqliteAdapter(path).open()


@proves("tampering.removed", "tampering.schema")
@pytest.mark.parametrize("table", ["outcomes", "erasures", "text_index"])
async def test_a_table_that_was_dropped_under_an_open_store_is_found(
    untouched: Path, path: str, table: str
) -> None:
    change(untouched, path, "")
    async with SqliteAdapter(path) as adapter:
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("PRAGMA foreign_keys = OFF")
            raw.execute(f"DROP TABLE {table}")
        assert "algorithm" in {each.code for each in (await adapter.verify()).findings}


@proves("tampering.removed")
async def test_versions_linked_anew_around_one_that_was_removed_are_found(untouched: Path, path: str) -> None:
    change(untouched, path, "DELETE FROM versions WHERE key_id = 1 AND version = 2")
    with closing(sqlite3.connect(path)) as raw:
        (first,) = raw.execute("SELECT integrity_chain FROM versions WHERE id = 1").fetchone()
        (content,) = raw.execute("SELECT content_hash FROM versions WHERE id = 5").fetchone()
        linked = integrity_chain(content, first)
        raw.execute("UPDATE versions SET version = 2, integrity_chain = ? WHERE id = 5", (linked,))
        raw.execute("UPDATE current SET version = 2, integrity_chain = ? WHERE id = 1", (linked,))
        raw.execute("UPDATE outcome_effects SET version = 2, resulting_version = 2 WHERE key_id = 1")
        raw.commit()
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify()
    assert shown(report.findings) == ["record svc/a/a@2 #4", "outcome #5", "outcome #6", "commit #2"]


@proves("tampering.derived")
@pytest.mark.parametrize("changed", DERIVED)
async def test_what_is_derived_is_held_against_what_it_is_derived_from(
    untouched: Path, path: str, changed: str
) -> None:
    statements, findings = DERIVED[changed]
    assert await found_after(untouched, path, statements) == ([findings] if findings else [])
