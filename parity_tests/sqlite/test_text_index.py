"""The text index is kept lazily: what it lacks is found all the same, and a search never writes."""

import asyncio
import signal
import sqlite3
from contextlib import closing

import pytest

from amfs_sqlite import SearchQuery, SqliteAdapter
from amfs_sqlite.rules.text import TOKENIZER_VERSION
from amfs_sqlite.sqlite import index
from amfs_sqlite.sqlite.database.tidying import UNINDEXED_LIMIT
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import received, started
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import settled, trace

STATE = "SELECT indexed_version_id, (SELECT count(*) FROM text_index) FROM text_state"


def indexed(path: str) -> tuple[int, int]:
    """Through which version the index has come, and how many keys it holds."""
    with closing(sqlite3.connect(path)) as raw:
        through, count = raw.execute(STATE).fetchone()
        return int(through), int(count)


async def found(adapter: SqliteAdapter, text: str) -> list[str]:
    page = await adapter.search(SearchQuery(text=text, sort_by="oldest", limit=None))
    return [entry.key for entry in page.entries]


@proves("text-index.finds-what-it-lacks")
async def test_a_search_finds_what_is_not_indexed_yet(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="old", value="red apple"))
        await adapter.write(draft(key="changed", value="red brick"))
    assert indexed(path) == (2, 2)
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="changed", value="blue brick"))
        await adapter.write(draft(key="new", value="red rose"))
        assert indexed(path) == (2, 2)
        assert await found(adapter, "red") == ["old", "new"]
        assert await found(adapter, "brick") == ["changed"]
        assert await found(adapter, "blue br*") == ["changed"]
    assert indexed(path) == (4, 3)
    async with SqliteAdapter(path) as adapter:
        assert await found(adapter, "red") == ["old", "new"]
        assert await found(adapter, "blue") == ["changed"]


@proves("text-index.finds-what-it-lacks")
async def test_another_adapter_finds_what_was_written_a_moment_ago(path: str) -> None:
    async with SqliteAdapter(path) as writer, SqliteAdapter(path) as reader:
        for each in range(20):
            await writer.write(draft(key=str(each), value=f"word w{each}"))
            assert await found(reader, f"w{each}") == [str(each)]
        assert len(await found(reader, "word")) == 20


@proves("text-index.never-by-searching")
async def test_a_search_never_writes(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="word"))
        told: list[str] = []
        await trace(adapter, told.append)
        before = indexed(path)
        for _ in range(3):
            assert await found(adapter, "word") == ["k"]
        assert told == []
        assert indexed(path) == before == (0, 0)


@proves("text-index.never-by-searching")
async def test_who_only_reads_leaves_the_indexing_to_those_who_write(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="word"))
        with closing(sqlite3.connect(path)) as observer:
            before = observer.execute("PRAGMA data_version").fetchone()
            async with SqliteAdapter(path) as reader:
                assert await found(reader, "word") == ["k"]
            assert observer.execute("PRAGMA data_version").fetchone() == before
        assert indexed(path) == (0, 0)
    assert indexed(path) == (1, 1)


@proves("text-index.catches-up")
async def test_many_writes_bring_the_index_up_to_date(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        for each in range(UNINDEXED_LIMIT - 1):
            await adapter.write(draft(key=str(each), value="word"))
        await settled(adapter)
        assert indexed(path) == (0, 0)
        await adapter.write(draft(key="last", value="word"))
        await settled(adapter)
        assert indexed(path) == (UNINDEXED_LIMIT, UNINDEXED_LIMIT)
        assert len(await found(adapter, "word")) == UNINDEXED_LIMIT
        rows = 2 * index.BATCH + UNINDEXED_LIMIT
        await adapter.write_batch([draft(key=f"b{each}", value="word") for each in range(rows)])
        await settled(adapter)
        assert indexed(path) == (UNINDEXED_LIMIT + rows, UNINDEXED_LIMIT + rows)


@proves("text-index.catches-up")
async def test_a_large_value_is_indexed_at_once_and_not_cut_up_by_every_search(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="word " * 100_000))
        await settled(adapter)
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("SELECT indexed_version_id FROM text_state").fetchall() == [(1,)]


@proves("text-index.catches-up")
async def test_searches_beside_the_indexing_miss_nothing(path: str) -> None:
    async with SqliteAdapter(path) as writer, SqliteAdapter(path) as reader:
        await writer.write_batch([draft(key=str(each), value="word") for each in range(UNINDEXED_LIMIT - 1)])
        searches = [found(adapter, "word") for adapter in (writer, reader) for _ in range(10)]
        last = writer.write(draft(key="last", value="word"))
        _, *found_beside = await asyncio.gather(last, *searches)
        counts = {len(each) for each in found_beside if isinstance(each, list)}
        assert counts <= {UNINDEXED_LIMIT - 1, UNINDEXED_LIMIT}
        assert len(await found(reader, "word")) == UNINDEXED_LIMIT


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@proves("text-index.catches-up")
async def test_what_a_killed_process_left_unindexed_is_found_and_indexed_later(path: str) -> None:
    with started(jobs.write_until_killed, path, "mark") as (process, journal):
        received(journal)
        process.kill()
        process.join()
    async with SqliteAdapter(path) as adapter:
        keys = {entry.key for entry in await adapter.list()}
        assert set(await found(adapter, "mark")) == keys - {"judged"}
        await adapter.write(draft(key="next"))
    through, count = indexed(path)
    async with SqliteAdapter(path) as adapter:
        assert count == len(keys) + 1
        assert through == (await adapter.stats()).version_count
        assert set(await found(adapter, "mark")) == keys - {"judged"}


@proves("text-index.another-cut")
async def test_an_index_of_another_cut_is_passed_over_and_made_anew(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write_batch([draft(key=key, value=f"word {key}") for key in "abc"])
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE text_index SET tokens = 'cut otherwise'")
        raw.commit()
    async with SqliteAdapter(path) as adapter:
        assert await found(adapter, "word") == []  # The index is believed while its cut is ours.
    monkeypatch.setattr("amfs_sqlite.sqlite.index.TOKENIZER_VERSION", TOKENIZER_VERSION + 1)
    async with SqliteAdapter(path) as adapter:
        assert await found(adapter, "word") == ["a", "b", "c"]
        assert await found(adapter, "otherwise") == []
        await adapter.write(draft(key="d", value="word d"))
    assert indexed(path) == (4, 4)
    async with SqliteAdapter(path) as adapter:
        assert await found(adapter, "word") == ["a", "b", "c", "d"]
        assert await found(adapter, "otherwise") == []
