"""Several processes on one file: nothing is lost, nothing is skipped, and nobody is told to try again."""

import sqlite3
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from amfs_sqlite import SqliteAdapter
from amfs_sqlite.sqlite import migrate
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import Crew
from parity_tests.drafts import draft
from parity_tests.ledger import proves

START_ROUNDS = 15
SHARED_KEYS = 3
WRITES_EACH = 60
COUNTS_EACH = 15
READS_EACH = 60


async def is_whole(path: str) -> bool:
    """Whether verify, which follows every chain and looks for every gap, finds nothing."""
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify()
        assert report.findings == ()
        return report.version_count > 0


@proves("processes.first-starts")
async def test_all_who_start_first_at_once_start(crew: Crew, tmp_path: Path) -> None:
    for each in range(START_ROUNDS):
        path = str(tmp_path / f"store-{each}.db")
        ids = crew.together(jobs.first_start, path)
        assert len(set(ids)) == 1
        with closing(sqlite3.connect(path)) as raw:
            applied = raw.execute("SELECT version FROM schema_migrations ORDER BY version").fetchall()
            assert applied == [(step.version,) for step in migrate.migrations()]
            assert raw.execute("SELECT count(*) FROM current").fetchone() == (crew.size,)
        assert await is_whole(path)


@proves("processes.no-lost-writes")
async def test_no_write_of_many_processes_is_lost(crew: Crew, path: str) -> None:
    answers = crew.together(jobs.write_shared_keys, path, SHARED_KEYS, WRITES_EACH)
    acknowledged = sorted(each for answer in answers for each in answer)
    async with SqliteAdapter(path) as adapter:
        stored = [
            (entry.key, str(entry.value), entry.version)
            for entry in await adapter.list(include_superseded=True)
        ]
    assert sorted(stored) == acknowledged
    for _, versions in groupby(sorted(stored), key=itemgetter(0)):
        numbers = sorted(version for _, _, version in versions)
        assert numbers == list(range(1, len(numbers) + 1))
    assert await is_whole(path)


@proves("processes.compare-and-set")
async def test_numbers_counted_up_by_many_processes_add_up(crew: Crew, path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="counter", value=0))
        conflicts = crew.together(jobs.count_up, path, COUNTS_EACH)
        entry = await adapter.read("svc/a", "counter")
    assert sum(conflicts) > 0, "nobody met anybody: this proved nothing"
    assert entry is not None
    assert (entry.value, entry.version) == (crew.size * COUNTS_EACH, crew.size * COUNTS_EACH + 1)
    assert await is_whole(path)


@proves("processes.compare-and-set")
async def test_one_of_many_processes_wins_a_claim(crew: Crew, path: str) -> None:
    assert sorted(crew.together(jobs.claim, path)) == [*[False] * (crew.size - 1), True]


@proves("processes.idempotency")
async def test_a_request_made_by_many_processes_is_carried_out_once(crew: Crew, path: str) -> None:
    answers = crew.together(jobs.write_once, path)
    assert len({(entry.version, entry.commit_id, entry.written_at) for entry in answers}) == 1
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.stats()).version_count == 1


@proves("processes.readers-beside-writers")
async def test_readers_beside_writers_miss_nothing_and_meet_no_error(crew: Crew, path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(key="k", value="word"))
    last = crew.together(jobs.read_or_write, path, READS_EACH)
    assert max(last) == 1 + READS_EACH * crew.size // 2
    assert await is_whole(path)
