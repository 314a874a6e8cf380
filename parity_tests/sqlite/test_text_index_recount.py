"""Whatever happened to a store, its text index holds the words of what is current, each counted again."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from multiprocessing.connection import Connection

import pytest

from amfs_sqlite import SearchQuery, SqliteAdapter
from amfs_sqlite.rules.text import TOKENIZER_VERSION, entry_tokens, joined
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.database.tidying import UNINDEXED_LIMIT
from amfs_sqlite.sqlite.rows import entry_of
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import left_in, received, started
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import settled, trace

CHECK = "INSERT INTO text_index (text_index) VALUES ('integrity-check')"
THROUGH = "SELECT indexed_version_id, tokenizer_version FROM text_state"
HELD = "SELECT rowid, tokens FROM text_index"
NEWEST = "SELECT id, version_id FROM current"

KILLS = 8
ANSWERS_BEFORE_A_KILL = 30
STATEMENTS_AT_LEAST = 8
VALUES = ["red apple", "", {"重跑": ["gen", 1.5, True, None]}, "Straße ﬁnd", "w" * 500, ["again"] * 50, 0]

needs_kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


def faults(path: str, cut: int = TOKENIZER_VERSION) -> list[str]:
    """Where the index differs from what is current, among all that it claims to have come through."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(CHECK)  # Raises where the index is not that of its own texts.
        through, made_by = raw.execute(THROUGH).fetchone()
        held, newest = dict(raw.execute(HELD)), dict(raw.execute(NEWEST))
        found = [f"key {key} is held and not stored" for key in held.keys() - newest.keys()]
        found += [] if made_by == cut else [f"it is of cut {made_by}"]
        for key, version in newest.items():
            row = raw.execute(index.ENTRY_OF_KEY, (key,)).fetchone()
            if version <= through and held.get(key) != joined(entry_tokens(entry_of(row))):
                found.append(f"key {key} is held as {held.get(key)!r}")
    return found


def unindexed(path: str) -> list[int]:
    """The keys whose current version the index has not come to."""
    with closing(sqlite3.connect(path)) as raw:
        through, _ = raw.execute(THROUGH).fetchone()
        return [key for key, version in raw.execute(NEWEST) if version > through]


async def rewritten(adapter: SqliteAdapter) -> None:
    """Keys written again and again, alone and together, by outcomes too."""
    for number in range(3 * len(VALUES)):
        value = VALUES[number % len(VALUES)]
        await adapter.write(draft("p/重", f"k{number % 5}", value, tags=(f"t{number}", "é")))
        await adapter.commit_outcome(outcome("success", f"p/重/k{number % 3}", outcome_ref=str(number)))
    await adapter.write_batch([draft(key=f"k{number % 7}", value=VALUES[number % 6]) for number in range(40)])


@proves("text-index.recounted")
async def test_after_rewriting_the_index_holds_the_words_of_what_is_current(path: str) -> None:
    for _ in range(3):
        async with SqliteAdapter(path) as adapter:
            await rewritten(adapter)
        assert (faults(path), unindexed(path)) == ([], [])


@proves("text-index.recounted")
async def test_between_its_batches_the_index_is_right_as_far_as_it_has_come(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(index, "BATCH", 10)
        async with SqliteAdapter(path) as adapter:
            for number in range(UNINDEXED_LIMIT):
                await adapter.write(draft(key=f"k{number}", value=f"word w{number}"))
            await settled(adapter)
            assert len(unindexed(path)) == UNINDEXED_LIMIT - 10
            await adapter.write_batch([draft(key=f"k{number}", value="other") for number in range(0, 30, 3)])
            assert faults(path) == []
        assert faults(path) == []
        assert unindexed(path) != []
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="k0", value="last"))
    assert (faults(path), unindexed(path)) == ([], [])


@proves("text-index.recounted")
async def test_after_another_cut_the_index_is_made_anew_batch_by_batch(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqliteAdapter(path) as adapter:
        await rewritten(adapter)
        keys = await adapter.list()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE text_index SET tokens = 'cut otherwise'")
        raw.commit()
    assert len(faults(path)) == len(keys)
    cut = TOKENIZER_VERSION + 1
    monkeypatch.setattr("amfs_sqlite.sqlite.index.TOKENIZER_VERSION", cut)
    with monkeypatch.context() as patched:
        patched.setattr(index, "BATCH", 3)
        async with SqliteAdapter(path) as adapter:
            await adapter.write(draft(key="k0", value="anew"))
        assert faults(path, cut) == []
        assert len(unindexed(path)) == len(keys) - 3
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="k1", value="anew"))
    assert (faults(path, cut), unindexed(path)) == ([], [])


@proves("text-index.recounted")
async def test_an_index_that_is_not_that_of_its_own_texts_would_be_noticed(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await rewritten(adapter)
    assert faults(path) == []
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE text_index_content SET c0 = 'word' WHERE id = 1")
        raw.commit()
    with pytest.raises(sqlite3.DatabaseError):
        faults(path)


@needs_kills
@proves("text-index.recounted")
async def test_after_kills_of_writers_the_index_is_right_as_far_as_it_has_come(path: str) -> None:
    for number in range(KILLS):
        with started(jobs.write_until_killed, path, f"mark {number}") as (process, journal):
            for _ in range(ANSWERS_BEFORE_A_KILL):
                received(journal)
            process.kill()
            process.join()
        async with SqliteAdapter(path) as adapter:
            await adapter.write(draft(key="next", value=number))
            assert faults(path) == []
        assert (faults(path), unindexed(path)) == ([], [])


def index_and_be_killed(pipe: Connection, path: str, statement: int) -> None:
    """Rewrite what is indexed, close, and be killed when SQLite is about to run this statement of closing."""

    def killing(numbers: Iterator[int]) -> None:
        if next(numbers) == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    async def run() -> None:
        async with SqliteAdapter(path) as adapter:
            await adapter.write_batch([draft(key=key, value=f"round {statement} of {key}") for key in "ab"])
            numbers = count(1)
            await trace(adapter, lambda _: killing(numbers))
        pipe.send("survived")

    asyncio.run(run())


@needs_kills
@proves("text-index.recounted")
async def test_indexing_killed_at_any_of_its_statements_leaves_an_index_that_is_right(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write_batch([draft(key=key, value="first") for key in "abc"])
    for statement in count(1):
        with started(index_and_be_killed, path, statement) as (_, journal):
            survived = list(left_in(journal)) == ["survived"]
        assert faults(path) == []
        async with SqliteAdapter(path) as adapter:
            page = await adapter.search(SearchQuery(text=f"round {statement}"))
            assert {entry.key for entry in page.entries} == {"a", "b"}
        if survived:
            break
    assert unindexed(path) == []
    assert statement > STATEMENTS_AT_LEAST
