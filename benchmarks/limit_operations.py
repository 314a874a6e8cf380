"""The operations that are measured against the limit: the same on both stores, with what is asked of ours."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Literal

from amfs_sqlite import EntryRef, MemoryEntry, OutcomeRecord, SearchQuery, SqliteAdapter
from benchmarks.raw import RawStore
from benchmarks.workload import AGENT, COMMON_WORD, KEYS_PER_PATH, RARE_WORD, VOCABULARY, Workload

Durability = Literal["normal", "full"]
DURABILITIES: Sequence[Durability] = ("normal", "full")

PREPARED = 1_000
BATCH = 100
FOUND = 10
REFS_PER_OUTCOME = 5
LONG_PATH, LONG_KEY_COUNT, HISTORY_LENGTH = "long", 20, 50
TWO_WORDS = f"{VOCABULARY[10]} {VOCABULARY[20]}"

FAST_SEARCH_US, SLOW_SEARCH_US = 200.0, 1_000.0
FAST_SEARCH_RATIO, SLOW_SEARCH_RATIO = 2.4, 1.2

Targets = Mapping[int, float]
"""The greatest ratio for so many callers."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """An operation on ours and the same one on the raw store.

    ``settle`` waits for what the operation leaves to be done after its answer: a write behind it.
    """

    name: str
    ours: Callable[[], Awaitable[object]]
    raw: Callable[[], object]
    targets: Targets = field(default_factory=dict)
    settle: Callable[[], Awaitable[object]] | None = None
    is_search: bool = False
    callers: Sequence[int] = (1, 10, 100)

    def target(self, callers: int, raw_us: float) -> float | None:
        """The greatest ratio, where there is one.

        For searches by one caller it depends on what a raw one takes, since a hop to a thread takes the same
        beside any: between a fast and a slow search it falls evenly.
        """
        if not self.is_search or callers != 1:
            return self.targets.get(callers)
        slowness = (raw_us - FAST_SEARCH_US) / (SLOW_SEARCH_US - FAST_SEARCH_US)
        slowness = min(1.0, max(0.0, slowness))
        return FAST_SEARCH_RATIO - slowness * (FAST_SEARCH_RATIO - SLOW_SEARCH_RATIO)


@dataclass(frozen=True, slots=True)
class Stores:
    """Two copies of one store, both closed: ours and the raw one's."""

    ours: Path
    raw: Path
    key_count: int

    @asynccontextmanager
    async def opened(self, durability: Durability) -> AsyncIterator[tuple[SqliteAdapter, RawStore]]:
        """Both open."""
        async with SqliteAdapter(self.ours, durability=durability) as ours:
            with RawStore(self.raw, durability) as raw:
                yield ours, raw


class Inputs:
    """What operations are given, made before the clock runs; every iterator begins anew, the same."""

    def __init__(self, key_count: int) -> None:
        workload = Workload(seed=1)
        self._addresses = workload.addresses(PREPARED, key_count)
        self._entries = drafts(workload, workload.addresses(PREPARED, key_count))
        paths = range(max(1, key_count // KEYS_PER_PATH))
        self._paths = [f"area/{workload.random.choice(paths)}" for _ in range(PREPARED)]
        self._seed = workload.random.random()

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Paths and keys of entries that are there."""
        return cycle(self._addresses)

    def paths(self) -> Iterator[str]:
        """Paths of KEYS_PER_PATH entries each."""
        return cycle(self._paths)

    def long(self) -> Iterator[tuple[str, str]]:
        """Paths and keys of entries with HISTORY_LENGTH versions."""
        return cycle([(LONG_PATH, f"key-{number}") for number in range(LONG_KEY_COUNT)])

    def entries(self) -> Iterator[MemoryEntry]:
        """Entries to be written."""
        return cycle(self._entries)

    def batches(self) -> Iterator[Sequence[MemoryEntry]]:
        """Batches of BATCH of them."""
        return cycle([self._entries[n : n + BATCH] for n in range(0, PREPARED, BATCH)])

    def outcomes(self) -> Iterator[OutcomeRecord]:
        """Outcomes over REFS_PER_OUTCOME entries, by turns a success and a failure."""
        addresses = self.addresses()
        for number in count():
            yield OutcomeRecord(
                outcome_ref=f"run-{number}",
                outcome_type="failure" if number % 2 else "success",
                agent_id=AGENT,
                refs=tuple(
                    EntryRef(entity_path=path, key=key)
                    for path, key in (next(addresses) for _ in range(REFS_PER_OUTCOME))
                ),
            )

    def kinds(self) -> Iterator[str]:
        """Reads, writes and searches, 70 to 20 to 10."""
        chance = random.Random(self._seed)  # noqa: S311 - to be repeated, not to be secret
        while True:
            yield from chance.choices(("read", "write", "search"), (70, 20, 10), k=PREPARED)


def drafts(workload: Workload, addresses: Sequence[tuple[str, str]]) -> list[MemoryEntry]:
    """An entry with a new value for each address."""
    return [MemoryEntry.draft(*each, workload.value(), agent_id=AGENT) for each in addresses]


def reading(ours: SqliteAdapter, raw: RawStore, inputs: Inputs) -> Iterator[Comparison]:
    """What only reads."""
    mine, theirs = inputs.addresses(), inputs.addresses()
    yield Comparison(
        "read", lambda: ours.read(*next(mine)), lambda: raw.read(*next(theirs)), {1: 1.3, 100: 1.3}
    )
    paths, raw_paths = inputs.paths(), inputs.paths()
    yield Comparison(
        "list 100", lambda: ours.list(next(paths)), lambda: raw.list(next(raw_paths)), {1: 1.5, 100: 1.3}
    )
    long, raw_long = inputs.long(), inputs.long()
    yield Comparison(
        "history 50",
        lambda: ours.history(*next(long), limit=HISTORY_LENGTH),
        lambda: raw.history(*next(raw_long), HISTORY_LENGTH),
        {1: 2.0, 100: 1.4},
    )
    searches = {"rare word": RARE_WORD, "two words": TWO_WORDS, "common word": COMMON_WORD}
    for name, text in searches.items():
        yield searching(f"search {name}", text, ours, raw)


def searching(name: str, text: str, ours: SqliteAdapter, raw: RawStore) -> Comparison:
    """The newest entries with these words."""
    query, asked = newest(text), match(text)
    return Comparison(
        name, lambda: ours.search(query), lambda: raw.search(asked, FOUND), {100: 1.2}, is_search=True
    )


def newest(text: str) -> SearchQuery:
    """A search for the newest entries with these words."""
    return SearchQuery(text=text, limit=FOUND)


def match(text: str) -> str:
    """Words as FTS5 takes them."""
    return " ".join(f'"{word}"' for word in text.split())


def mixed(ours: SqliteAdapter, raw: RawStore, inputs: Inputs) -> Comparison:
    """Seven reads to two writes to one search."""
    kinds, addresses, entries = inputs.kinds(), inputs.addresses(), inputs.entries()
    raw_kinds, raw_addresses, raw_entries = inputs.kinds(), inputs.addresses(), inputs.entries()
    query, asked = newest(RARE_WORD), match(RARE_WORD)

    def one_of_ours() -> Awaitable[object]:
        kind = next(kinds)
        if kind == "read":
            return ours.read(*next(addresses))
        return ours.write(next(entries)) if kind == "write" else ours.search(query)

    def one_raw() -> object:
        kind = next(raw_kinds)
        if kind == "read":
            return raw.read(*next(raw_addresses))
        return raw.write(next(raw_entries)) if kind == "write" else raw.search(asked, FOUND)

    return Comparison("mixed 70/20/10", one_of_ours, one_raw, settle=lambda: ours.write(next(entries)))


def writing(
    ours: SqliteAdapter, raw: RawStore, inputs: Inputs, durability: Durability
) -> Iterator[Comparison]:
    """What writes."""
    entries, raw_entries = inputs.entries(), inputs.entries()

    async def settle() -> object:
        return await ours.write(next(entries))

    yield Comparison(
        f"write, {durability}",
        lambda: ours.write(next(entries)),
        lambda: raw.write(next(raw_entries)),
        {1: 3.0, 100: 0.65} if durability == "normal" else {1: 1.6, 100: 0.25},
        settle=settle,
    )
    batches, raw_batches = inputs.batches(), inputs.batches()
    yield Comparison(
        f"write_batch({BATCH}), {durability}",
        lambda: ours.write_batch(next(batches)),
        lambda: raw.write_batch(next(raw_batches)),
        {1: 1.2, 100: 1.2},
        settle=settle,
    )
    outcomes, raw_outcomes = inputs.outcomes(), inputs.outcomes()
    yield Comparison(
        f"outcome over {REFS_PER_OUTCOME}, {durability}",
        lambda: ours.commit_outcome(next(outcomes)),
        lambda: raw.commit_outcome(next(raw_outcomes)),
        {1: 2.6, 100: 1.0},
        settle=settle,
    )


def opening(stores: Stores, inputs: Inputs) -> Comparison:
    """Opening, the schema looked at, one read, closing."""
    addresses, raw_addresses = inputs.addresses(), inputs.addresses()

    async def ours() -> object:
        async with SqliteAdapter(stores.ours, durability="normal") as store:
            return await store.read(*next(addresses))

    def raw() -> object:
        with RawStore(stores.raw, "normal") as store:
            return store.read(*next(raw_addresses))

    return Comparison("open, first read, close", ours, raw, {1: 2.5}, callers=(1,))
