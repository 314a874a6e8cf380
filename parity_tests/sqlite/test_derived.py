"""A text index and tags that differ from the entries: found whatever the difference, and made anew."""

import sqlite3
from contextlib import closing

import pytest

from amfs_sqlite import SearchQuery, SqliteAdapter
from amfs_sqlite.sqlite import migrate
from amfs_sqlite.sqlite.doctor.health import examine, treat
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import database_of
from parity_tests.sqlite.test_health import BUSY_S, changed_behind, folder_of, problems

INDEX_DAMAGE = {
    "lost": ["DELETE FROM text_index WHERE rowid = 3"],
    "cleared": ["DELETE FROM text_index"],
    "other words": ["UPDATE text_index SET tokens = 'word w99' WHERE rowid = 3"],
    "words of nothing": ["INSERT INTO text_index (rowid, tokens) VALUES (999, 'ghost')"],
    "content alone": ["UPDATE text_index_content SET c0 = 'word w99' WHERE id = 3"],
    "lists alone": [
        "CREATE TABLE kept AS SELECT * FROM text_index_content WHERE id = 3",
        "DELETE FROM text_index WHERE rowid = 3",
        "INSERT INTO text_index_content SELECT * FROM kept",
        "DROP TABLE kept",
    ],
    "torn": ["DELETE FROM text_index_data WHERE id > 10"],
    "garbled": ["UPDATE text_index_data SET block = zeroblob(4)"],
    "overwritten": ["UPDATE text_index_data SET block = zeroblob(40) WHERE id > 10"],
    "emptied": [
        "CREATE VIRTUAL TABLE other USING fts5 (tokens, tokenize = 'ascii')",
        "DELETE FROM text_index_data WHERE id > 1",
        "INSERT INTO text_index_data SELECT * FROM other_data WHERE id = 10",
        "DELETE FROM text_index_idx",
        "DROP TABLE other",
    ],
}
TAG_DAMAGE = {
    "lost": ["DELETE FROM entry_tags WHERE tag = 'bright'"],
    "surplus": ["INSERT INTO entry_tags VALUES ('bright', 1)"],
    "another": ["UPDATE entry_tags SET tag = 'dark' WHERE tag = 'bright'"],
}
DAMAGE = [("text_index", name, done) for name, done in INDEX_DAMAGE.items()]
DAMAGE += [("tags", name, done) for name, done in TAG_DAMAGE.items()]


@proves("doctor.derived")
@pytest.mark.parametrize(
    ("code", "name", "statements"), DAMAGE, ids=[f"{code} {name}" for code, name, _ in DAMAGE]
)
async def test_an_index_that_differs_is_found_and_made_anew(
    store: str, code: str, name: str, statements: list[str]
) -> None:
    with changed_behind(store, *statements):
        report = examine(store)
    assert problems(report) == [code]
    assert not report.ok
    assert problems(examine(store)) == [code]
    assert treat(report) == ()
    assert examine(store).ok
    async with SqliteAdapter(store) as adapter:
        for number in range(1, 20):
            (found,) = (await adapter.search(SearchQuery(text=f"w{number}"))).entries
            assert found.key == f"k{number}"
        assert len((await adapter.search(SearchQuery(tag="bright", limit=None))).entries) == 10
        assert (await adapter.verify()).ok
    with closing(sqlite3.connect(store)) as raw:
        objects = {(kind, each): sql for kind, each, sql in raw.execute(migrate.OBJECTS)}
    assert objects == migrate.objects()


async def index_findings(path: str) -> list[str]:
    """What verify says of what is indexed."""
    async with SqliteAdapter(path, mode="ro") as adapter:
        return [each.code for each in (await adapter.verify()).findings if each.code == "index"]


@proves("doctor.agrees")
@pytest.mark.parametrize(("name", "statements"), [(name, done) for _, name, done in DAMAGE])
async def test_what_is_found_of_an_index_verify_finds_too(
    store: str, name: str, statements: list[str]
) -> None:
    with changed_behind(store, *statements):
        assert not examine(store).ok
    assert await index_findings(store)
    async with SqliteAdapter(store) as adapter:
        assert {each.code for each in (await adapter.verify()).findings} == {"index"}


@proves("doctor.agrees")
@pytest.mark.parametrize("where", ["file", "memory"])
async def test_looking_at_the_lists_of_words_writes_nothing_and_can_be_repeated(
    store: str, where: str
) -> None:
    before = folder_of(store)
    async with SqliteAdapter(store if where == "file" else ":memory:") as adapter:
        if where == "memory":
            await adapter.write(draft(tags=("t",)))
        for _ in range(3):
            assert (await adapter.verify()).ok
            database = database_of(adapter)
            assert await database.scan(lambda tx: tx.value("PRAGMA query_only")) == (where == "file")
            assert await database.scan(lambda tx: tx.all("SELECT name FROM temp.sqlite_master")) == []
    after = folder_of(store)
    assert {name: after[name] for name in before} == before


@proves("doctor.agrees")
async def test_words_that_other_tables_of_characters_cut_otherwise_are_no_fault(store: str) -> None:
    with changed_behind(
        store, "UPDATE text_index SET tokens = 'svc k1 odd bright word w1 ber' WHERE rowid = 2"
    ):
        report = examine(store)
    assert (problems(report), report.ok) == ([], True)
    assert await index_findings(store) == []


@proves("doctor.agrees")
async def test_an_index_that_claims_more_than_there_is_is_a_fault_for_both(store: str) -> None:
    with changed_behind(store, "UPDATE text_state SET indexed_version_id = 999"):
        report = examine(store)
    assert problems(report) == ["text_index"]
    assert await index_findings(store) == ["index"]
    assert treat(report) == ()
    assert (examine(store).ok, await index_findings(store)) == (True, [])


@proves("doctor.derived", "doctor.nothing-unasked")
async def test_making_anew_waits_for_a_writer_and_says_when_it_waited_in_vain(store: str) -> None:
    with changed_behind(store, "DELETE FROM text_index"), closing(sqlite3.connect(store)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        (untreated,) = treat(examine(store), busy_timeout_s=BUSY_S)
        assert (untreated.finding.code, untreated.error.code) == ("text_index", "busy")
        raw.execute("ROLLBACK")
    assert treat(examine(store)) == ()
    assert examine(store).ok


@proves("doctor.derived")
async def test_what_is_not_indexed_yet_and_what_was_withdrawn_is_no_fault(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        for number in range(5):
            await adapter.write(draft(key=f"k{number}", value=f"w{number}", tags=("t",)))
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="k1", value="other", tags=("u",)))
        await adapter.erase([draft(key="k2").ref.model_copy(update={"version": None})], author="owner")
        assert examine(path).ok
    assert examine(path).ok


@proves("doctor.derived")
async def test_a_tag_that_holds_a_nul_is_made_anew_whole(store: str) -> None:
    async with SqliteAdapter(store) as adapter:
        await adapter.write(draft(key="cut", tags=("a\0b",)))
    with changed_behind(store, "DELETE FROM entry_tags"):
        report = examine(store)
    assert treat(report) == ()
    assert problems(examine(store)) == []
    async with SqliteAdapter(store) as adapter:
        assert (await adapter.verify()).ok
        assert [each.key for each in (await adapter.search(SearchQuery(tag="a\0b"))).entries] == ["cut"]
