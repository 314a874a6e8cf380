"""Erasure from the file: no byte of what was erased is left in it, nor in what lies beside it."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from amfs_sqlite import HANDOFF, EntryRef, SearchQuery, SqliteAdapter
from amfs_sqlite.records.traces import DecisionTrace, TraceEntry
from amfs_sqlite.sqlite.database import scrubbing
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves

WORD = "xylophonequartz"
OTHER_KEYS = 60


def left(path: str) -> dict[str, int]:
    """How often the word stands in each of the files of a store, in any case."""
    found = {
        each.name: each.read_bytes().lower().count(WORD.encode()) for each in Path(path).parent.iterdir()
    }
    return {name: number for name, number in found.items() if number}


class KilledError(Exception):
    """What stands for the end of the process."""


def left_of(path: str) -> bytes:
    return Path(path).read_bytes()


async def fill(adapter: SqliteAdapter) -> None:
    """The word in values of many shapes, rewritten and moved about, among others that stay."""
    for n in range(OTHER_KEYS):
        await adapter.write(draft("svc/b", f"k{n}", f"other words {n} " * 20))
    await adapter.write(draft(value=f"{WORD} first", note=f"{WORD} in an unknown field"))
    await adapter.search(SearchQuery(text=WORD))
    await adapter.write(draft(value={"deep": [WORD.upper(), WORD * 400]}))
    await adapter.commit_outcome(outcome("success", "svc/a/k"))
    await adapter.write(draft(value="harmless"))
    await adapter.write(draft(key="only", value=f"{WORD} alone", tags=("t",)))
    for n in range(0, OTHER_KEYS, 2):
        await adapter.write(draft("svc/b", f"k{n}", "short"))


@proves("retention.bytes")
@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "not-yet-indexed"])
async def test_no_byte_of_what_was_erased_is_left_in_any_file(path: str, indexed: bool) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await fill(adapter)
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        if not indexed:
            await adapter.write(draft(key="only", value=f"{WORD} again"))
        assert left(path)
        report = await adapter.erase([at(), at(key="only")], author="owner")
        assert report.remains == ()
        assert left(path) == {}
        assert (await adapter.search(SearchQuery(text=WORD[:4] + "*"))).entries == ()
        assert await is_sound(adapter)
        assert len(await adapter.list("svc/b")) == OTHER_KEYS
        assert (
            len((await adapter.search(SearchQuery(text="other words", limit=None))).entries)
            == OTHER_KEYS // 2
        )
    assert left(path) == {}


@proves("traces.bytes")
async def test_no_byte_of_it_is_left_in_traces_that_copied_it(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft("svc", "a/b", {"deep": WORD * 400}))
        await adapter.write(draft("svc", "a/b", "harmless"))
        # AMFS's agents put path and key together, and take them apart again at the last slash.
        for entity_path, key in (("svc", "a/b"), ("svc/a", "b")):
            for _ in range(20):
                await adapter.save_trace(copied(entity_path, key, {"deep": WORD * 400}))
        await adapter.save_trace(copied("svc", "other", "stays"))
    async with SqliteAdapter(path) as adapter:
        assert left(path)
        report = await adapter.erase([at("svc", "a/b", 1)], author="owner")
        assert report.remains == ()
        assert left(path) == {}
        await adapter.save_trace(copied("svc/a", "b", WORD))
        assert await adapter.count_traces(entity_path="svc/a") == 21
        (kept,) = await adapter.list_traces(limit=1, offset=1)
        assert [entry.value for entry in kept.causal_entries] == ["stays"]
    assert left(path) == {}


def copied(entity_path: str, key: str, value: object) -> DecisionTrace:
    read = TraceEntry(entity_path=entity_path, key=key, version=1, confidence=1.0, value=value)
    return DecisionTrace(agent_id="alice", session_id="s", causal_entries=(read,))


@proves("retention.bytes")
async def test_an_old_version_goes_where_the_new_one_is_not_indexed_yet(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=WORD))
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value="harmless"))
        await adapter.prune(keep_last=1, author="owner")
        assert left(path) == {}
        assert [each.value for each in (await adapter.search(SearchQuery(text="harmless"))).entries] == [
            "harmless"
        ]


@proves("retention.remains")
async def test_what_a_reader_keeps_in_the_log_is_told_and_goes_the_next_time(path: str) -> None:
    async with SqliteAdapter(path, busy_timeout_s=0.05) as adapter:
        await adapter.write(draft(value=WORD))
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM versions").fetchone()
            report = await adapter.erase([at()], author="owner")
            assert [f"{path} and its log still hold it" in each for each in report.remains] == [True]
            assert left(path)
        again = await adapter.erase([at()], author="owner")
        assert (again.versions, again.remains) == ((), ())
        assert left(path) == {}


@proves("retention.scrub-due")
async def test_a_scrub_that_was_cut_short_is_done_by_the_next_who_writes(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(*_: object) -> NoReturn:
        raise KilledError

    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=WORD))
        await adapter.write(draft(key="other"))
    with monkeypatch.context() as patched:
        patched.setattr(scrubbing, "scrub", cut_short)
        adapter = SqliteAdapter(path)
        await adapter.open()
        with pytest.raises(KilledError):
            await adapter.erase([at()], author="owner")
        with pytest.raises(KilledError):
            await adapter.close()
    assert left(path)
    async with SqliteAdapter(path) as adapter:
        assert await adapter.read("svc/a", "k") is None
    assert left(path)
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="other", value=2))
    assert left(path) == {}


@proves("retention.whole")
@pytest.mark.parametrize("turns", range(12))
async def test_an_erasure_that_is_cancelled_is_done_whole_or_not_at_all(path: str, turns: int) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=WORD))
        erasing = asyncio.create_task(adapter.erase([at()], author="owner"))
        for _ in range(turns):
            await asyncio.sleep(0)
        erasing.cancel()
        await asyncio.wait({erasing})
        is_erased = await adapter.read("svc/a", "k") is None
        assert bool(left(path)) is not is_erased
        assert (await adapter.verify()).ok


@proves("retention.whole")
async def test_who_closes_waits_for_an_erasure_under_way(path: str) -> None:
    adapter = SqliteAdapter(path)
    await adapter.open()
    await adapter.write(draft(value=WORD))
    erasing = asyncio.create_task(adapter.erase([at()], author="owner"))
    for _ in range(3):  # It has been asked for by then, and not been answered.
        await asyncio.sleep(0)
    await adapter.close()
    assert [each.version for each in (await erasing).versions] == [1]
    assert left(path) == {}


@proves("retention.scrub-due")
async def test_an_erasure_of_nothing_new_writes_the_file_anew_only_where_it_is_due(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=WORD))
        await adapter.erase([at()], author="owner")
        before = left_of(path)
        await adapter.erase([at()], author="owner")
        assert left_of(path) == before


@proves("retention.remains")
async def test_copies_made_before_a_migration_or_a_restore_or_never_finished_are_told(path: str) -> None:
    copies = [f"{path}.before-restore-20260101T000000Z", f"{path}.before-schema-9", f"{path}.0123abcd.part"]
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=WORD))
        for copy in copies:
            shutil.copyfile(path, copy)
        report = await adapter.erase([at()], author="owner")
        assert [copy in each for copy, each in zip(copies, report.remains, strict=True)] == [True] * 3


@proves("retention.beside-others")
async def test_an_erasure_beside_writers_and_readers_loses_nothing(path: str) -> None:
    async with SqliteAdapter(path) as first, SqliteAdapter(path) as second:
        await first.write_batch([draft("old", str(n), WORD) for n in range(50)])

        async def write() -> None:
            for n in range(100):
                await second.write(draft("new", str(n)))
                await second.list("new")

        async def erase() -> None:
            for n in range(50):
                await first.erase([EntryRef(entity_path="old", key=str(n))], author="owner")

        await asyncio.gather(write(), erase())
        assert len(await first.list("new")) == 100
        assert await first.list("old") == []
        assert await is_sound(second)
    assert left(path) == {}
