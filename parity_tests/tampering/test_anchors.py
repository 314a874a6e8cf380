"""What only an anchor shows: an older copy, a cut, a history made over; and what is checked since one."""

# ruff: noqa: S608 - statements are put together from words of this file.

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, Anchor, CountedIds, FixedClock, SqliteAdapter
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.tampering.edited import change, fill, found_after, shown

CUT = (
    "DELETE FROM commits WHERE sequence > 6;"
    " UPDATE head SET sequence = 6, digest = (SELECT digest FROM commits WHERE sequence = 6)"
)
A2 = "WHERE key_id = 1 AND version = 2"
NEW_A = "WHERE key_id = 1 AND version = 4"

BEFORE = {
    "value": f"UPDATE versions SET value = '\"forged\"' {A2}",
    "author": f"UPDATE versions SET agent_id = 'eve' {A2}",
    "commit": "UPDATE commits SET message = 'forged' WHERE sequence = 2",
    "outcome": "UPDATE outcomes SET outcome_ref = 'forged' WHERE id = 1",
}
BEFORE_AND_COUNTED = {
    "version removed": f"DELETE FROM versions {A2}",
    "version added": (
        "CREATE TEMP TABLE copied AS SELECT * FROM versions WHERE id = 1;"
        " UPDATE copied SET id = 99, version = 9; INSERT INTO versions SELECT * FROM copied"
    ),
    "outcome removed": "DELETE FROM outcomes WHERE id = 1",
    "commit of the anchor removed": "DELETE FROM commits WHERE sequence = 8",
    "commit of the anchor made over": "UPDATE commits SET digest = id || digest WHERE sequence = 8",
}
SINCE = {
    "value": (f"UPDATE versions SET value = '\"x\"' {NEW_A}", "content svc/a/a@4 #9; link svc/a/a@4 #9"),
    "author": (
        f"UPDATE versions SET agent_id = 'eve' {NEW_A}",
        "record svc/a/a@4 #9; link svc/a/a@4 #9",
    ),
    "chain": (
        f"UPDATE versions SET integrity_chain = content_hash {NEW_A}",
        "link svc/a/a@4 #9; link svc/a/a@4 #9",
    ),
    "chain of the version before": (
        "UPDATE versions SET integrity_chain = content_hash WHERE key_id = 1 AND version = 3",
        "link svc/a/a@4 #9",
    ),
    "version removed": (f"DELETE FROM versions {NEW_A}", "gap svc/a/a@4; commit #9"),
    "version before it removed with all that counts": (
        "DELETE FROM versions WHERE key_id = 1 AND version = 3",
        "anchor; gap svc/a/a@4 #9; link svc/a/a@4 #9; commit #4",
    ),
    "current row": ("UPDATE current SET tags = '[]' WHERE id = 1", "link svc/a/a@4 #9"),
    "current row of a key that an outcome moved": (
        "UPDATE current SET confidence = 0.99 WHERE id = 2",
        "outcome svc/b/b@2 #3",
    ),
    "outcome": ("UPDATE outcomes SET outcome_ref = 'forged' WHERE id = 3", "outcome #10"),
    "effect": (
        "UPDATE outcome_effects SET confidence_after = 0.9 WHERE outcome_id = 3",
        "outcome svc/b/b@2 #3; outcome #10",
    ),
    "commit": ("UPDATE commits SET author = 'eve' WHERE sequence = 10", "commit #10"),
    "commit removed": ("DELETE FROM commits WHERE sequence = 9", "commit svc/a/a@4; order #10; commit #10"),
    "newest commit removed": (
        "DELETE FROM commits WHERE sequence = 11",
        "content svc/a/a@1 #1; erasure svc/a/a@1 #1; head",
    ),
    "erasure undone": (
        "UPDATE versions SET value = '\"one\"' WHERE id = 1",
        "record svc/a/a@1 #1; erasure svc/a/a@1 #1",
    ),
    "author of what was erased": ("UPDATE versions SET agent_id = 'eve' WHERE id = 1", "record svc/a/a@1 #1"),
    "erasure of nothing": ("INSERT INTO erasures VALUES (99, 11)", "erasure #11"),
    "tags": ("DELETE FROM entry_tags WHERE key_id = 1", "index svc/a/a"),
    "words": ("UPDATE text_index SET tokens = 'x' WHERE rowid = 1", "index svc/a/a"),
}


async def anchor_of(path: Path) -> Anchor:
    async with SqliteAdapter(path, clock=FixedClock()) as adapter:
        return await adapter.anchor()


async def gone_on(untouched: Path, path: Path) -> Anchor:
    """An anchor, and behind it commit 9 that writes a fourth version of `a`, 10 with an outcome of `b`, and
    11 that erases the first version of `a`.
    """
    change(untouched, str(path), "")
    anchor = await anchor_of(path)
    ids = CountedIds()
    ids.count = 8
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=FixedClock(), ids=ids) as adapter:
        await adapter.write(draft("svc/a", "a", "four", tags=("t",), confidence=0.5))
        await adapter.commit_outcome(outcome("success", at("svc/b", "b"), outcome_ref="run-3"))
        await adapter.erase([at("svc/a", "a", 1)], author="owner")
    return anchor


@proves("tampering.anchored")
async def test_an_older_copy_that_was_put_back_is_shown_by_an_anchor_alone(
    untouched: Path, tmp_path: Path
) -> None:
    path, older = tmp_path / "store.db", tmp_path / "older.db"
    await gone_on(untouched, path)
    anchor = await anchor_of(path)
    change(untouched, str(older), "")
    assert await found_after(older, str(path), "VACUUM") == []
    assert await found_after(older, str(path), "VACUUM", anchor=anchor) == ["anchor"]


@proves("tampering.anchored")
async def test_a_cut_with_the_head_put_back_is_shown_by_an_anchor_alone(untouched: Path, path: str) -> None:
    anchor = await anchor_of(untouched)
    assert await found_after(untouched, path, CUT) == []
    assert await found_after(untouched, path, CUT, anchor=anchor) == ["anchor"]
    assert await found_after(untouched, path, CUT, since=anchor) == ["anchor"]


@proves("tampering.anchored")
async def test_a_history_that_was_made_over_is_shown_by_an_anchor_alone(
    untouched: Path, tmp_path: Path, path: str
) -> None:
    forged = tmp_path / "forged.db"
    await fill(forged, first="won")
    anchor = await anchor_of(untouched)
    assert (await anchor_of(forged)).store_id == anchor.store_id
    assert await found_after(forged, path, "VACUUM") == []
    assert await found_after(forged, path, "VACUUM", anchor=anchor) == ["anchor"]


@proves("tampering.anchored")
async def test_a_store_whose_id_was_changed_does_not_pass_for_itself(untouched: Path, path: str) -> None:
    anchor = await anchor_of(untouched)
    renamed = "UPDATE meta SET value = 'x' WHERE name = 'store_id'"
    assert await found_after(untouched, path, renamed, anchor=anchor) == ["anchor"]


@proves("tampering.anchored", "tampering.untouched")
async def test_a_copy_a_backup_and_a_vacuumed_file_hold_against_the_anchor(
    untouched: Path, tmp_path: Path
) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    anchor = await gone_on(untouched, path)
    newest = await anchor_of(path)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(backup)) as target:
        source.backup(target)
        source.execute("VACUUM")
    backup.chmod(0o600)
    shutil.copyfile(path, tmp_path / "copy.db")
    for each in (path, backup, tmp_path / "copy.db"):
        async with SqliteAdapter(each) as adapter:
            assert (await adapter.verify(anchor=anchor)).findings == ()
            assert (await adapter.verify(anchor=anchor, since=newest)).findings == ()


@proves("tampering.since")
@pytest.mark.parametrize("changed", SINCE)
async def test_what_was_changed_behind_an_anchor_is_found_without_looking_before_it(
    untouched: Path, tmp_path: Path, path: str, changed: str
) -> None:
    statements, findings = SINCE[changed]
    later = tmp_path / "later.db"
    anchor = await gone_on(untouched, later)
    assert await found_after(later, path, statements, since=anchor) == findings.split("; ")
    assert {*findings.split("; ")} - {"anchor"} <= {*await found_after(later, path, statements)}


@proves("tampering.since")
@pytest.mark.parametrize("changed", BEFORE)
async def test_what_was_changed_before_an_anchor_is_found_only_by_looking_at_everything(
    untouched: Path, tmp_path: Path, path: str, changed: str
) -> None:
    later = tmp_path / "later.db"
    anchor = await gone_on(untouched, later)
    assert await found_after(later, path, BEFORE[changed], since=anchor) == []
    assert await found_after(later, path, BEFORE[changed], anchor=anchor) != []


@proves("tampering.since")
@pytest.mark.parametrize("changed", BEFORE_AND_COUNTED)
async def test_what_an_anchor_counted_and_is_no_more_makes_everything_be_checked(
    untouched: Path, tmp_path: Path, path: str, changed: str
) -> None:
    later = tmp_path / "later.db"
    anchor = await gone_on(untouched, later)
    change(later, path, BEFORE_AND_COUNTED[changed])
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify(since=anchor)
        assert report.findings[1:] == (await adapter.verify()).findings != ()
    assert (report.findings[0].code, report.checked_from) == ("anchor", 1)


@proves("tampering.since", "tampering.untouched")
async def test_behind_an_anchor_nothing_is_found_where_nothing_was_changed(
    untouched: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    anchor = await gone_on(untouched, path)
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify(since=anchor)
    assert shown(report.findings) == []
    assert (report.key_count, report.version_count, report.commit_count, report.outcome_count) == (2, 1, 3, 1)
    assert report.checked_from == 9
