"""Whether a store holds what its journals say, once each, and holds together."""

import asyncio
import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from amfs_sqlite import HANDOFF, MemoryEntry, SearchQuery, SqliteAdapter
from benchmarks.torture.journal import Stored, Told, told
from benchmarks.torture.rounds import Round
from benchmarks.torture.work import COUNTER, words

VERSIONS = """
SELECT c.entity_path, c.key, v.version, v.value FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE v.value IS NOT NULL ORDER BY v.id"""
CHECK_TEXT_INDEX = "INSERT INTO text_index (text_index) VALUES ('integrity-check')"
UNMARKED = ""
"""For values that no client of ours wrote."""
MOST_TOLD = 3
"""Of each kind of fault so many are told one by one."""


@dataclass(slots=True)
class Examined:
    """What is in a store, and what does not hold there."""

    versions: list[Stored] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def settle(round_: Round, path: Path | None = None) -> None:
    """Hold the store of a round, or the one at this path, to the journals in its folder, and count."""
    said, tally = told(round_.folder), round_.tally
    examined = examine(round_.path if path is None else path)
    lost = missing(said, examined.versions)
    twice = doubled(examined.versions)
    tally.acknowledged += len(said.acknowledged)
    tally.lost += len(lost)
    tally.doubled += len(twice)
    for each in [*lost[:MOST_TOLD], *twice[:MOST_TOLD]]:
        tally.notes[f"{round_.name}: lost or twice: {each}"] += 1
    for problem in [*examined.problems[:MOST_TOLD], *contradictions(said, examined.versions)]:
        round_.fault(problem)


def missing(said: Told, versions: Sequence[Stored]) -> list[Stored]:
    """What was acknowledged and is not there as it was acknowledged."""
    there = set(versions)
    return [each for each in said.stored if each not in there]


def doubled(versions: Sequence[Stored]) -> list[str]:
    """The marks of values that are there more than once."""
    counted = Counter(mark for *_, mark in versions if mark != UNMARKED)
    return [mark for mark, count in counted.items() if count > 1]


def contradictions(said: Told, versions: Sequence[Stored]) -> Iterator[str]:
    """What is stored although it was declined, erased or never asked for, and what is there only in part."""
    marks = Counter(mark.rpartition("e")[0] for *_, mark in versions if mark != UNMARKED)
    for mark in marks.keys() & said.declined:
        yield f"{mark} was declined and is stored"
    for mark in marks.keys() & said.erased:
        yield f"{mark} was erased and is stored"
    for mark in marks.keys() - said.asked.keys():
        yield f"{mark} is stored and was never asked for"
    for mark, count in marks.items():
        work = said.asked.get(mark)
        if work is not None and count != len(words(mark, work)):
            yield f"{mark} is stored in part: {count} of its entries"


def examine(path: Path) -> Examined:
    """Look at the store through our adapter, and then by hand."""
    return asyncio.run(_examined(path))


async def _examined(path: Path) -> Examined:
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        entries = await store.list(include_superseded=True)
        report = await store.verify()
        problems = [f"verify: {each.code}: {each.message}" for each in report.findings]
        problems += [problem async for problem in _search_problems(store, entries)]
    versions, by_hand = read_by_hand(path)
    seen = Counter(_stored(entry) for entry in entries if entry.value is not None)
    if seen != Counter(versions):
        by_hand.append("the adapter lists other versions than the file holds")
    return Examined(versions, [*problems, *_gaps(entries), *by_hand])


def _stored(entry: MemoryEntry) -> Stored:
    return entry.entity_path, entry.key, entry.version, _mark(entry.value)


def _mark(value: object) -> str:
    return str(value["mark"]) if isinstance(value, dict) and "mark" in value else UNMARKED


async def _search_problems(store: SqliteAdapter, entries: Sequence[MemoryEntry]) -> AsyncIterator[str]:
    """Current values that their own word does not find, and others that it still finds."""
    current = {(each.entity_path, each.key): each.version for each in entries}
    for entry in entries:
        if _mark(entry.value) == UNMARKED:
            continue
        page = await store.search(SearchQuery(text=entry.value["mark"]))
        found = [(each.entity_path, each.key, each.version) for each in page.entries]
        at = (entry.entity_path, entry.key)
        is_there = current[at] == entry.version and entry.ttl_at is None  # What has expired is not.
        expected = [(*at, entry.version)] if is_there else []
        if found != expected:
            yield f"a search for {entry.value['mark']} finds {found} and not {expected}"


def _gaps(entries: Sequence[MemoryEntry]) -> Iterator[str]:
    numbers: dict[tuple[str, str], list[int]] = {}
    for entry in entries:
        numbers.setdefault((entry.entity_path, entry.key), []).append(entry.version)
        if (entry.entity_path, entry.key) == COUNTER and entry.value["count"] != entry.version:
            yield f"the counter says {entry.value['count']} in version {entry.version}"
    for address, versions in numbers.items():
        if versions != list(range(1, len(versions) + 1)):
            yield f"{address} has versions {versions}"


def read_by_hand(path: Path) -> tuple[list[Stored], list[str]]:
    """All versions in the order they were written, and what SQLite finds wrong with the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        rows = raw.execute(VERSIONS).fetchall()
        problems = [f"integrity_check: {line}" for (line,) in raw.execute("PRAGMA integrity_check")]
        try:
            raw.execute(CHECK_TEXT_INDEX)
        except sqlite3.DatabaseError as damaged:
            problems.append(f"the text index does not hold together: {damaged}")
    versions = [(path_, key, version, _mark(json.loads(value))) for path_, key, version, value in rows]
    return versions, [each for each in problems if each != "integrity_check: ok"]
