"""What is erased and what only looks like it are told apart, and what was erased is not put back."""

# ruff: noqa: S608 - statements are put together from words of this file.

from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from parity_tests.ledger import proves
from parity_tests.tampering.edited import found_after

A2 = "WHERE key_id = 1 AND version = 2"
B2 = "WHERE key_id = 2 AND version = 2"
NULLED = f"UPDATE versions SET value = NULL, extra = '{{}}' {A2}"
NULLED_CURRENT = "UPDATE current SET value = NULL, extra = '{}' WHERE id = 1"
LISTED = """(SELECT json_array(json_object('entityPath', 'svc/a', 'key', 'a', 'version', 2, 'contentHash',
    content_hash)) FROM versions WHERE id = 3)"""
GONE = "content svc/a/a@2 #2"

FORGED = {
    "value and extra nulled": (NULLED, f"{GONE}; record svc/a/a@2 #2"),
    "nulled, with a row that names a commit that writes": (
        f"{NULLED}; INSERT INTO erasures VALUES (3, 4)",
        f"{GONE}; erasure svc/a/a@2 #2",
    ),
    "nulled, with a row that names no commit": (
        f"{NULLED}; INSERT INTO erasures VALUES (3, 99)",
        f"{GONE}; erasure svc/a/a@2 #2",
    ),
    "nulled, with a commit made over to say so": (
        (
            f"{NULLED}; INSERT INTO erasures VALUES (3, 8);"
            f" UPDATE commits SET kind = 'erase', listed = {LISTED} WHERE sequence = 8"
        ),
        "commit #8",
    ),
    "nulled and called a tombstone": (
        f"{NULLED}; UPDATE versions SET kind = 'tombstone' {A2}",
        f"{GONE}; record svc/a/a@2 #2",
    ),
    "the newest nulled and called a tombstone": (
        (
            "UPDATE versions SET value = NULL, extra = '{}', kind = 'tombstone' WHERE id = 5;"
            f" {NULLED_CURRENT}; UPDATE current SET kind = 'tombstone' WHERE id = 1"
        ),
        "content svc/a/a@3 #4; record svc/a/a@3 #4",
    ),
    "row of an erasure that was none": (
        "INSERT INTO erasures VALUES (3, 2)",
        "erasure svc/a/a@2 #2",
    ),
    "row of an erasure of no version": ("INSERT INTO erasures VALUES (99, 2)", "erasure #2"),
}
UNDONE = {
    "value of another put back": (
        f"UPDATE versions SET value = '\"x\"' {A2}",
        "content svc/a/a@2 #2; record svc/a/a@2 #2; erasure svc/a/a@2 #2",
    ),
    "value put back": (
        f"UPDATE versions SET value = '\"two\"' {A2}",
        "record svc/a/a@2 #2; erasure svc/a/a@2 #2",
    ),
    "value put back and the row taken away": (
        (
            f'UPDATE versions SET value = \'"two"\', extra = \'{{"custom":{{"a":1}}}}\' {A2};'
            " DELETE FROM erasures WHERE version_id = 3"
        ),
        "erasure svc/a/a@2 #9",
    ),
    "row taken away": (
        "DELETE FROM erasures WHERE version_id = 4",
        "content svc/b/b@2 #3; erasure svc/b/b@2 #9",
    ),
    "all rows taken away": (
        "DELETE FROM erasures",
        (
            "content svc/a/a@2 #2; record svc/a/a@2 #2; content svc/b/b@1 #1; content svc/b/b@2 #3;"
            " erasure svc/a/a@2 #9; erasure svc/b/b@1 #9; erasure svc/b/b@2 #9"
        ),
    ),
    "row of another commit": (
        "UPDATE erasures SET sequence = 8 WHERE version_id = 3",
        "content svc/a/a@2 #2; erasure svc/a/a@2 #2; erasure svc/a/a@2 #9",
    ),
    "unknown fields put back": (
        f'UPDATE versions SET extra = \'{{"custom":{{"a":1}}}}\' {A2}',
        "content svc/a/a@2 #2; erasure svc/a/a@2 #2",
    ),
    "author of what was erased": (
        f"UPDATE versions SET agent_id = 'eve' {B2}",
        "record svc/b/b@2 #3; link svc/b/b@2 #3",
    ),
    "contentHash of what was erased": (
        f"UPDATE versions SET content_hash = (SELECT content_hash FROM versions WHERE id = 1) {B2}",
        (
            "link svc/b/b@2 #3; record svc/b/b@2 #3; content svc/b/b@2 #3; erasure svc/b/b@2 #3;"
            " link svc/b/b@2 #3; commit #3; erasure svc/b/b@2 #9"
        ),
    ),
    "version that was erased removed": (
        f"DELETE FROM versions {A2}",
        "gap svc/a/a@3 #4; link svc/a/a@3 #4; erasure #9; commit #2; erasure svc/a/a@2 #9",
    ),
    "commit that erased removed": (
        "DELETE FROM commits WHERE sequence = 9",
        (
            "content svc/a/a@2 #2; erasure svc/a/a@2 #2; content svc/b/b@1 #1; erasure svc/b/b@1 #1;"
            " content svc/b/b@2 #3; erasure svc/b/b@2 #3; order #10; commit #10"
        ),
    ),
    "one less listed": (
        "UPDATE commits SET listed = json_remove(listed, '$[0]') WHERE sequence = 9",
        "content svc/a/a@2 #2; erasure svc/a/a@2 #2; commit #9",
    ),
    "tombstone with a value": (
        (
            "UPDATE versions SET value = '\"old\"' WHERE kind = 'tombstone';"
            " UPDATE current SET value = '\"old\"' WHERE kind = 'tombstone'"
        ),
        "content svc/c/c@2 #11",
    ),
    "tombstone with null for a value": (
        (
            "UPDATE versions SET value = 'null' WHERE kind = 'tombstone';"
            " UPDATE current SET value = 'null' WHERE kind = 'tombstone'"
        ),
        "content svc/c/c@2 #11",
    ),
    "tombstone made a write": (
        (
            "UPDATE versions SET kind = 'write' WHERE kind = 'tombstone';"
            " UPDATE current SET kind = 'write' WHERE kind = 'tombstone'"
        ),
        "content svc/c/c@2 #11; record svc/c/c@2 #11",
    ),
    "tombstone removed": (
        "DELETE FROM versions WHERE kind = 'tombstone'",
        "gap svc/c/c@2; commit #11",
    ),
    "words of what was erased indexed again": (
        "INSERT INTO text_index (rowid, tokens) VALUES (2, 'svc b b another')",
        "index svc/b/b",
    ),
}


@proves("tampering.erased", "tampering.untouched")
async def test_what_was_erased_and_archived_verifies(erased: Path, path: str) -> None:
    assert await found_after(erased, path, "VACUUM") == []
    async with SqliteAdapter(path) as adapter:
        history = await adapter.history("svc/b", "b")
    assert [each.withdrawn for each in history] == ["erased", "erased"]


@proves("tampering.erased")
@pytest.mark.parametrize("changed", FORGED)
async def test_what_only_looks_erased_is_found_and_named(untouched: Path, path: str, changed: str) -> None:
    statements, findings = FORGED[changed]
    assert await found_after(untouched, path, statements) == findings.split("; ")


@proves("tampering.erased")
@pytest.mark.parametrize("changed", UNDONE)
async def test_an_erasure_that_was_undone_or_hidden_is_found_and_named(
    erased: Path, path: str, changed: str
) -> None:
    statements, findings = UNDONE[changed]
    assert await found_after(erased, path, statements) == findings.split("; ")
