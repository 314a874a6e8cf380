"""What is measured on a store of any size."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import TypeVar

from amfs_sqlite import EntryRef, OutcomeRecord, SearchQuery, SqliteAdapter
from benchmarks.growing import Snapshot, adapter, drafts
from benchmarks.measuring import Contender, Round, concurrently
from benchmarks.workload import AGENT, COMMON_WORD, RARE_WORD, VOCABULARY, Workload, address

PREPARED = 2_000
BATCH = 100
FOUND = 10
TWO_WORDS = f"{VOCABULARY[10]} {VOCABULARY[20]}"

T = TypeVar("T")


class Operations:
    """The operations on one open store. What they are given is made before the clock runs."""

    def __init__(self, store: SqliteAdapter, snapshot: Snapshot) -> None:
        workload = Workload(seed=1)
        chance = workload.random
        self._store = store
        self._addresses = cycle(workload.addresses(PREPARED, snapshot.key_count))
        entries = drafts(workload, workload.addresses(PREPARED, snapshot.key_count))
        self._entries = cycle(entries)
        self._batches = cycle([entries[n : n + BATCH] for n in range(0, PREPARED, BATCH)])
        self._paths = cycle([f"area/{chance.randrange(snapshot.path_count)}" for _ in range(PREPARED)])
        self._long_keys = cycle(snapshot.long_keys)
        self._outcomes = _outcomes(workload, snapshot.key_count)

    def each(self) -> Mapping[str, Callable[[], Awaitable[object]]]:
        """All of them, by their names in tables. Those that write come last, the log after single writes."""
        return {
            "read": self._read,
            "list 100": self._list,
            "history 50": self._history,
            "search rare word": lambda: self._search(RARE_WORD),
            "search two words": lambda: self._search(TWO_WORDS),
            "search common word": lambda: self._search(COMMON_WORD),
            "search common word, newest": lambda: self._search(COMMON_WORD, newest=True),
            "stats": self._store.stats,
            "changes, first 1,000": self._changes,
            "write": lambda: self._store.write(next(self._entries)),
            "list_commits 50": lambda: self._store.list_commits(limit=50),
            "outcome over 5": lambda: self._store.commit_outcome(next(self._outcomes)),
            "write_batch 100": lambda: self._store.write_batch(next(self._batches)),
        }

    async def _read(self) -> None:
        _expect(await self._store.read(*next(self._addresses)))

    async def _list(self) -> None:
        _expect(len(await self._store.list(next(self._paths))) == 100)

    async def _history(self) -> None:
        _expect(len(await self._store.history(*next(self._long_keys))) == 50)

    async def _search(self, text: str, *, newest: bool = False) -> None:
        query = SearchQuery(text=text, sort_by="newest" if newest else "relevance", limit=FOUND)
        await self._store.search(query)

    async def _changes(self) -> None:
        left = 1000
        async for _ in self._store.changes(follow=False):
            left -= 1
            if left == 0:
                break
        _expect(left == 0)


def of_operation(operation: Callable[[], Awaitable[object]], count: int) -> Contender:
    """A round is so many calls, one after the other."""

    async def numbered(number: int) -> object:  # noqa: ARG001 - every call takes what is next
        return await operation()

    async def one_round(number: int) -> Round:  # noqa: ARG001 - and so does every round
        return await concurrently(numbered, count, callers=1)

    return one_round


def of_opening(snapshot: Snapshot, count: int) -> Contender:
    """A round is so many times: open a store that nobody has open, read an entry. Closing does not count."""
    addresses = cycle(Workload(seed=1).addresses(PREPARED, snapshot.key_count))

    async def one_round(number: int) -> Round:  # noqa: ARG001 - every round takes what is next
        latencies = [await _opening_s(snapshot.path, next(addresses)) for _ in range(count)]
        return Round(sum(latencies), latencies)

    return one_round


async def first_search_s(store: SqliteAdapter, name: str, key_count: int, write_count: int) -> float:
    """Seconds of the first search after so many writes to so many new keys, in batches."""
    workload = Workload(seed=2)
    addresses = [address(n % key_count) for n in range(write_count)]
    entries = drafts(workload, [(f"{name}/{path}", key) for path, key in addresses])
    for start in range(0, write_count, BATCH):
        await store.write_batch(entries[start : start + BATCH])
    begun = time.perf_counter()
    await store.search(SearchQuery(text=RARE_WORD, sort_by="relevance", limit=FOUND))
    return time.perf_counter() - begun


async def _opening_s(path: Path, at: tuple[str, str]) -> float:
    store = adapter(path)
    begun = time.perf_counter()
    await store.open()
    try:
        _expect(await store.read(*at))
        return time.perf_counter() - begun
    finally:
        await store.close()


def _outcomes(workload: Workload, key_count: int) -> Iterator[OutcomeRecord]:
    """Reports without end. The policy moves an entry once for each ``outcome_ref``, so none comes twice."""
    number = 0
    while True:
        number += 1
        refs = workload.random.sample(range(key_count), 5)
        yield OutcomeRecord(
            outcome_ref=f"run-{number}",
            outcome_type="success",
            agent_id=AGENT,
            refs=tuple(EntryRef(entity_path=path, key=key) for path, key in map(address, refs)),
        )


def _expect(found: object) -> None:
    """A measurement of an operation that found nothing would look splendid."""
    if not found:
        raise RuntimeError("the store does not hold what was to be measured")
