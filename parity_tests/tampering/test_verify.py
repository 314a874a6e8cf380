"""What is changed behind the adapter's back, with plain sqlite3 on the closed file, is found and named."""

# ruff: noqa: S608 - statements are put together from words of this file.

from pathlib import Path

import pytest

from amfs_sqlite import SqliteAdapter
from parity_tests.ledger import proves
from parity_tests.tampering.edited import found_after

A = "WHERE key_id = 1 AND version ="
ZEROS = "0" * 64

WRITTEN = {
    "value": (f"UPDATE versions SET value = '\"forged\"' {A} 2", "content svc/a/a@2 #2"),
    "value of its newest version": (
        f"UPDATE versions SET value = '\"x\"' {A} 3; UPDATE current SET value = '\"x\"' WHERE id = 1",
        "content svc/a/a@3 #4",
    ),
    "value that hashes as its own text": (f"UPDATE versions SET value = 'two' {A} 2", "content svc/a/a@2 #2"),
    "value nested too deep": (f"UPDATE versions SET value = '{'[' * 5000}' {A} 2", "content svc/a/a@2 #2"),
    "value that JSON does not have": (f"UPDATE versions SET value = 'NaN' {A} 2", "content svc/a/a@2 #2"),
    "value that is no UTF-8": (
        f"UPDATE versions SET value = CAST(x'22ff22' AS TEXT) {A} 2",
        "content svc/a/a@2 #2",
    ),
    "value taken away": (f"UPDATE versions SET value = NULL {A} 2", "content svc/a/a@2 #2"),
    "number of another kind": ("UPDATE versions SET value = '1.0' WHERE value = '1'", "content svc/b/b@1 #1"),
    "author": (f"UPDATE versions SET agent_id = 'eve' {A} 2", "record svc/a/a@2 #2"),
    "author that is no UTF-8": (
        f"UPDATE versions SET agent_id = CAST(x'ff' AS TEXT) {A} 2",
        "record svc/a/a@2 #2",
    ),
    "session": (f"UPDATE versions SET session_id = 'other' {A} 2", "record svc/a/a@2 #2"),
    "time": (f"UPDATE versions SET written_at = written_at - 1 {A} 2", "record svc/a/a@2 #2"),
    "time beyond all calendars": (
        f"UPDATE versions SET written_at = 9000000000000000000 {A} 2",
        "record svc/a/a@2 #2",
    ),
    "tags": (f"UPDATE versions SET tags = '[]' {A} 2", "record svc/a/a@2 #2"),
    "tags that are none": (f"UPDATE versions SET tags = '5' {A} 2", "record svc/a/a@2 #2"),
    "tags that are no JSON": (f"UPDATE versions SET tags = '[' {A} 2", "record svc/a/a@2 #2"),
    "shared": (f"UPDATE versions SET shared = 0 {A} 2", "record svc/a/a@2 #2"),
    "ttl": (f"UPDATE versions SET ttl_at = NULL {A} 2", "record svc/a/a@2 #2"),
    "confidence": (f"UPDATE versions SET confidence = 0.9 {A} 2", "record svc/a/a@2 #2"),
    "infinite confidence": (f"UPDATE versions SET confidence = 9e999 {A} 2", "record svc/a/a@2 #2"),
    "outcome count": (f"UPDATE versions SET outcome_count = 0 {A} 2", "record svc/a/a@2 #2"),
    "success count": (f"UPDATE versions SET success_count = 1 {A} 2", "record svc/a/a@2 #2"),
    "failure count": (f"UPDATE versions SET failure_count = 1 {A} 2", "record svc/a/a@2 #2"),
    "artifact refs": (f"UPDATE versions SET artifact_refs = '[]' {A} 2", "record svc/a/a@2 #2"),
    "artifact refs that are none": (
        f"UPDATE versions SET artifact_refs = '[1]' {A} 2",
        "record svc/a/a@2 #2",
    ),
    "extra": (f"UPDATE versions SET extra = '{{}}' {A} 2", "record svc/a/a@2 #2"),
    "extra in the way": (f"UPDATE versions SET extra = '{{\"value\":1}}' {A} 2", "record svc/a/a@2 #2"),
    "kind": (f"UPDATE versions SET kind = 'outcome' {A} 2", "record svc/a/a@2 #2; outcome svc/a/a@2"),
    "amfs version": (f"UPDATE versions SET amfs_version = '9' {A} 2", "record svc/a/a@2 #2"),
}
LINKED = {
    "content hash": (
        f"UPDATE versions SET content_hash = '{ZEROS}' {A} 2",
        "content svc/a/a@2 #2; link svc/a/a@2 #2; record svc/a/a@2 #2; commit #2",
    ),
    "content hash to junk": (
        f"UPDATE versions SET content_hash = 'junk' {A} 2",
        "algorithm svc/a/a@2 #2; link svc/a/a@2 #2; record svc/a/a@2 #2; commit #2",
    ),
    "chain": (
        f"UPDATE versions SET integrity_chain = '{ZEROS}' {A} 2",
        "link svc/a/a@2 #2; link svc/a/a@3 #4",
    ),
    "chain to nothing": (
        f"UPDATE versions SET integrity_chain = '' {A} 2",
        "algorithm svc/a/a@2 #2; link svc/a/a@3 #4",
    ),
    "record digest": (
        f"UPDATE versions SET record_digest = '{ZEROS}' {A} 2",
        "record svc/a/a@2 #2; commit #2",
    ),
    "record digest to nothing": (
        f"UPDATE versions SET record_digest = '' {A} 2",
        "algorithm svc/a/a@2 #2; commit #2",
    ),
    "version number": (
        f"UPDATE versions SET version = 4 {A} 3",
        "gap svc/a/a@4 #4; record svc/a/a@4 #4; link svc/a/a@4 #4; outcome svc/a/a@4 #4",
    ),
    "version swapped with the next": (
        (
            f"UPDATE versions SET version = 99 {A} 1; UPDATE versions SET version = 1 {A} 2;"
            f" UPDATE versions SET version = 2 {A} 99"
        ),
        (
            "link svc/a/a@1 #2; record svc/a/a@1 #2; order svc/a/a@2 #1; link svc/a/a@2 #1;"
            " record svc/a/a@2 #1; link svc/a/a@3 #4"
        ),
    ),
    "version swapped with another key's": (
        (
            "UPDATE versions SET key_id = 9 WHERE id = 1; UPDATE versions SET key_id = 1 WHERE id = 2;"
            " UPDATE versions SET key_id = 2 WHERE id = 1"
        ),
        "record svc/a/a@1 #1; link svc/a/a@2 #2; record svc/b/b@1 #1; link svc/b/b@2 #3",
    ),
    "version copied to another key": (
        (
            "CREATE TEMP TABLE copied AS SELECT * FROM versions WHERE id = 5;"
            " UPDATE copied SET id = 6, key_id = 2; INSERT INTO versions SELECT * FROM copied"
        ),
        (
            "link svc/b/b@3 #4; record svc/b/b@3 #4; link svc/b/b@3 #4; outcome svc/b/b@3 #4;"
            " order #5; order #6; commit #4"
        ),
    ),
    "version in another commit": (f"UPDATE versions SET sequence = 3 {A} 2", "commit #2; commit #3"),
    "version deleted in the middle": (
        f"DELETE FROM versions {A} 2",
        "gap svc/a/a@3 #4; link svc/a/a@3 #4; commit #2",
    ),
    "last version deleted": (f"DELETE FROM versions {A} 3", "gap svc/a/a@3; commit #4"),
    "all versions of a key deleted": (
        "DELETE FROM versions WHERE key_id = 1",
        "gap svc/a/a; commit #1; commit #2; commit #4",
    ),
    "key deleted": ("DELETE FROM current WHERE id = 2", "link @1 #1; link @2 #3; outcome #5; outcome @1"),
    "key deleted with all its versions": (
        "DELETE FROM current WHERE id = 2; DELETE FROM versions WHERE key_id = 2",
        "outcome #5; outcome @1; commit #1; commit #3",
    ),
    "path": (
        "UPDATE current SET entity_path = 'svc/c' WHERE id = 2",
        "record svc/c/b@1 #1; record svc/c/b@2 #3; outcome #5",
    ),
    "path that is no UTF-8": (
        "UPDATE current SET entity_path = CAST(x'ff' AS TEXT) WHERE id = 2",
        "record \\udcff/b@1 #1; record \\udcff/b@2 #3; outcome #5",
    ),
    "key": (
        "UPDATE current SET key = 'c' WHERE id = 2",
        "record svc/b/c@1 #1; record svc/b/c@2 #3; outcome #5",
    ),
    "namespace": (
        "UPDATE current SET namespace = 'other' WHERE id = 2",
        "record svc/b/b@1 #1; record svc/b/b@2 #3",
    ),
    "branch": (
        "UPDATE current SET branch = 'other' WHERE id = 2",
        "record svc/b/b@1 #1; record svc/b/b@2 #3; link",
    ),
    "names of two keys": (
        (
            "UPDATE current SET entity_path = 'x' WHERE id = 1;"
            " UPDATE current SET entity_path = 'svc/a', key = 'a' WHERE id = 2;"
            " UPDATE current SET entity_path = 'svc/b', key = 'b' WHERE id = 1"
        ),
        (
            "record svc/b/b@1 #1; record svc/b/b@2 #2; record svc/b/b@3 #4;"
            " record svc/a/a@1 #1; record svc/a/a@2 #3; outcome #5; outcome #6"
        ),
    ),
}
CURRENT = {
    **{
        f"current {column}": (f"UPDATE current SET {column} = {forged} WHERE id = 1", "link svc/a/a@3 #4")
        for column, forged in {
            "value": "'\"forged\"'",
            "agent_id": "'eve'",
            "session_id": "'other'",
            "written_at": "0",
            "tags": "'[]'",
            "shared": "0",
            "ttl_at": "NULL",
            "artifact_refs": "NULL",
            "extra": "'{}'",
            "content_hash": "'junk'",
            "integrity_chain": "''",
            "sequence": "2",
            "version_id": "9",
            "version": "2",
        }.items()
    },
    **{
        f"current {column}": (f"UPDATE current SET {column} = 0 WHERE id = 1", "outcome svc/a/a@3 #4")
        for column in ("confidence", "outcome_count", "success_count")
    },
    "current version to one that is not there": (
        "UPDATE current SET version = 5 WHERE id = 1",
        "gap svc/a/a@5",
    ),
}
LOGGED = {
    **{
        f"commit {column}": (f"UPDATE commits SET {column} = {forged} WHERE sequence = 3", "commit #3")
        for column, forged in {
            "namespace": "'other'",
            "branch": "'other'",
            "kind": "'outcome'",
            "message": "'forged'",
            "author": "'eve'",
            "session_id": "'s'",
            "parent_ids": "'[]'",
            "tree_hash": f"'{ZEROS}'",
            "listed": "'[1]'",
            "describes": "'saved'",
            "created_at": "0",
        }.items()
    },
    "commit id": ("UPDATE commits SET id = 'forged' WHERE sequence = 3", "commit #forged"),
    "parents that are none": ("UPDATE commits SET parent_ids = '[1]' WHERE sequence = 3", "commit #3"),
    "commit digest": (f"UPDATE commits SET digest = '{ZEROS}' WHERE sequence = 3", "commit #3; commit #4"),
    "message of a description": ("UPDATE commits SET message = 'forged' WHERE sequence = 8", "commit #8"),
    "description deleted": ("DELETE FROM commits WHERE sequence = 8", "head"),
    "commit deleted in the middle": (
        "DELETE FROM commits WHERE sequence = 3",
        "commit svc/b/b@2; order #4; commit #4",
    ),
    "last commits deleted": (
        "DELETE FROM commits WHERE sequence > 3",
        "commit svc/a/a@3; outcome; outcome; head",
    ),
    "head": ("UPDATE head SET sequence = 9", "head"),
    "head digest": (f"UPDATE head SET digest = '{ZEROS}'", "head"),
    "head deleted": ("DELETE FROM head", "head"),
    "last commit and head to match": (
        (
            "DELETE FROM commits WHERE sequence = 4;"
            " UPDATE head SET sequence = 8, digest = (SELECT digest FROM commits WHERE sequence = 8)"
        ),
        "commit svc/a/a@3; order #5; commit #5",
    ),
    "everything deleted but the head": (
        (
            "DELETE FROM current; DELETE FROM versions; DELETE FROM commits; DELETE FROM outcomes;"
            " DELETE FROM outcome_effects"
        ),
        "head",
    ),
}
FORGED_EFFECT = (
    "INSERT INTO outcome_effects (outcome_id, key_id, version, policy, success, confidence_before,"
    " confidence_after, applied, resulting_version)"
)
COPIED_EFFECT = "SELECT 99, id, version, 'handoff', 1, confidence, 0.99, 1, version FROM current WHERE id = 2"
MOVED = (
    "UPDATE current SET confidence = 0.99, outcome_count = outcome_count + 1,"
    " success_count = success_count + 1 WHERE id = 2"
)
JUDGED = {
    **{
        f"outcome {column}": (f"UPDATE outcomes SET {column} = {forged} WHERE id = 1", "outcome #5")
        for column, forged in {
            "namespace": "'other'",
            "outcome_ref": "'run-9'",
            "outcome_type": "'minor_failure'",
            "agent_id": "'eve'",
            "record": "replace(record, 'alice', 'eve')",
        }.items()
    },
    "outcome type that is none": ("UPDATE outcomes SET outcome_type = 'x' WHERE id = 1", "outcome #5"),
    "outcome that is none": ("UPDATE outcomes SET record = '[1]' WHERE id = 1", "outcome #5"),
    "outcome that is no JSON": ("UPDATE outcomes SET record = '' WHERE id = 1", "outcome #5"),
    "outcome digest": (
        f"UPDATE outcomes SET digest = '{ZEROS}' WHERE id = 1",
        "outcome #5; commit #5",
    ),
    "outcome set back among the versions": (
        "UPDATE outcomes SET newest_version_id = 4 WHERE id = 1",
        "order #5",
    ),
    "outcome set before versions to come": (
        "UPDATE outcomes SET newest_version_id = 6 WHERE id = 2",
        "order #6",
    ),
    "outcome in another commit": (
        "UPDATE outcomes SET sequence = 6 WHERE id = 1",
        "commit #5; commit #6",
    ),
    "outcome deleted": (
        "DELETE FROM outcomes WHERE id = 1",
        "outcome svc/a/a@3; outcome svc/b/b@1; commit #5",
    ),
    "effect of no outcome, and the confidence with it": (
        f"{FORGED_EFFECT} {COPIED_EFFECT}; {MOVED}",
        "outcome svc/b/b@2",
    ),
    "effect of no outcome on a version that is superseded": (
        f"{FORGED_EFFECT} VALUES (99, 1, 1, 'handoff', 1, 0.5, 0.01, 1, 1)",
        "outcome svc/a/a@1",
    ),
    "outcome deleted with its effects": (
        "DELETE FROM outcomes WHERE id = 1; DELETE FROM outcome_effects WHERE outcome_id = 1",
        "outcome svc/a/a@3 #4; outcome svc/a/a@3 #4; commit #5",
    ),
    "effect after": (
        "UPDATE outcome_effects SET confidence_after = 0.9 WHERE id = 1",
        "outcome svc/a/a@3 #4; outcome #5",
    ),
    "effect before": (
        "UPDATE outcome_effects SET confidence_before = 0.9 WHERE id = 3",
        "outcome svc/a/a@3 #4; outcome #6",
    ),
    "effect success": (
        "UPDATE outcome_effects SET success = 0 WHERE id = 1",
        "outcome svc/a/a@3 #4; outcome #5",
    ),
    "effect applied": (
        "UPDATE outcome_effects SET applied = 0 WHERE id = 3",
        "outcome svc/a/a@3 #4; outcome #6",
    ),
    "effect reason": ("UPDATE outcome_effects SET reason = 'because' WHERE id = 2", "outcome #5"),
    "effect policy": ("UPDATE outcome_effects SET policy = 'amfs-0.3' WHERE id = 2", "outcome #5"),
    "effect version": (
        "UPDATE outcome_effects SET version = 2 WHERE id = 1",
        "outcome svc/a/a@3 #4; outcome svc/a/a@3 #4; outcome #5",
    ),
    "effect on another key": ("UPDATE outcome_effects SET key_id = 1 WHERE id = 2", "outcome #5"),
    "effect not applied, deleted": ("DELETE FROM outcome_effects WHERE id = 2", "outcome #5"),
    "effect deleted": (
        "DELETE FROM outcome_effects WHERE id = 3",
        "outcome svc/a/a@3 #4; outcome #6",
    ),
}


@proves("tampering.untouched")
async def test_an_untouched_store_verifies_and_was_looked_at(untouched: Path, path: str) -> None:
    assert await found_after(untouched, path, "VACUUM") == []
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify()
    assert (report.key_count, report.version_count, report.commit_count, report.outcome_count) == (2, 5, 8, 2)


@proves("tampering.written")
@pytest.mark.parametrize("changed", WRITTEN)
async def test_a_change_of_what_was_written_with_a_version_is_found_and_named(
    untouched: Path, path: str, changed: str
) -> None:
    statements, findings = WRITTEN[changed]
    assert await found_after(untouched, path, statements) == findings.split("; ")


@proves("tampering.linked")
@pytest.mark.parametrize("changed", LINKED)
async def test_a_change_of_what_links_versions_and_keys_is_found_and_named(
    untouched: Path, path: str, changed: str
) -> None:
    statements, findings = LINKED[changed]
    assert await found_after(untouched, path, statements) == findings.split("; ")


@proves("tampering.current")
@pytest.mark.parametrize("changed", CURRENT)
async def test_a_change_of_what_is_current_is_found_and_named(
    untouched: Path, path: str, changed: str
) -> None:
    statements, findings = CURRENT[changed]
    assert await found_after(untouched, path, statements) == findings.split("; ")


@proves("tampering.logged")
@pytest.mark.parametrize("changed", LOGGED)
async def test_a_change_of_the_commit_log_is_found_and_named(
    untouched: Path, path: str, changed: str
) -> None:
    statements, findings = LOGGED[changed]
    assert await found_after(untouched, path, statements) == findings.split("; ")


@proves("tampering.schema")
@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TRIGGER t AFTER INSERT ON commits BEGIN DELETE FROM idempotency; END",
        "CREATE VIEW v AS SELECT * FROM current",
        "CREATE TABLE notes (note TEXT)",
        "DROP INDEX versions_by_commit",
    ],
)
async def test_what_the_schema_does_not_have_or_lacks_is_found(
    untouched: Path, path: str, statements: str
) -> None:
    assert await found_after(untouched, path, statements) == ["algorithm"]


@proves("tampering.judged")
@pytest.mark.parametrize("changed", JUDGED)
async def test_a_change_of_outcomes_and_their_effects_is_found_and_named(
    untouched: Path, path: str, changed: str
) -> None:
    statements, findings = JUDGED[changed]
    assert await found_after(untouched, path, statements) == findings.split("; ")
