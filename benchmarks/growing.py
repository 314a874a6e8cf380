"""A store that grows from one size to the next, and copies of it as it was at each."""

import random
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from amfs_sqlite import HANDOFF, MemoryEntry, SqliteAdapter
from benchmarks.reporting import Steps
from benchmarks.workload import AGENT, KEYS_PER_PATH, Workload, address

BATCH = 500
VERSIONS_PER_KEY = 10
HISTORY_LENGTH = 50
VERSIONS_PER_LONG_KEY = 500
LONG_KEY_LIMIT = 100

Address = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A store of this size. Its keys are ``address(0)`` to ``address(key_count - 1)``, and ``long_keys``,
    each with HISTORY_LENGTH versions that lie scattered among the newest ones.
    """

    path: Path
    version_count: int
    key_count: int
    long_keys: Sequence[Address]
    load_us_per_version: float

    @property
    def path_count(self) -> int:
        """How many paths hold KEYS_PER_PATH keys each."""
        return self.key_count // KEYS_PER_PATH

    @property
    def bytes_per_version(self) -> float:
        """The size of the file, text index included, for each version in it."""
        return self.path.stat().st_size / self.version_count

    def copied(self, path: Path) -> "Snapshot":
        """The same in another file."""
        shutil.copy(self.path, path)
        return replace(self, path=path)


def adapter(path: Path) -> SqliteAdapter:
    """The way every store of these measurements is opened."""
    return SqliteAdapter(path, durability="normal", outcomes=HANDOFF)


def drafts(workload: Workload, addresses: Sequence[Address]) -> list[MemoryEntry]:
    """A new value for each of the addresses."""
    return [MemoryEntry.draft(*each, workload.value(), agent_id=AGENT) for each in addresses]


async def grown(before: Snapshot | None, path: Path, size: int, steps: Steps) -> Snapshot:
    """A store of so many versions at this path, begun with all that was there before."""
    there, key_count = (before.version_count, before.key_count) if before else (0, 0)
    if before:
        before.copied(path)
    workload = Workload(seed=size)
    long_keys = _long_keys(size)
    key_target = max(KEYS_PER_PATH, size // VERSIONS_PER_KEY)
    addresses = _addresses(workload.random, size - there, range(key_count, key_target), long_keys)
    loading_s = await _load(path, workload, addresses, steps)
    return Snapshot(path, size, key_target, long_keys, 1e6 * loading_s / (size - there))


async def _load(path: Path, workload: Workload, addresses: Iterator[Address], steps: Steps) -> float:
    """Write a new value to each of the addresses. The seconds that the writing took."""
    loading_s = 0.0
    async with adapter(path) as store:
        while batch := drafts(workload, list(islice(addresses, BATCH))):
            begun = time.perf_counter()
            await store.write_batch(batch)
            loading_s += time.perf_counter() - begun
            steps.next()
    return loading_s


def _long_keys(size: int) -> list[Address]:
    count = min(LONG_KEY_LIMIT, size // VERSIONS_PER_LONG_KEY)
    return [(f"long/{size}", f"key-{number}") for number in range(count)]


def _addresses(
    chance: random.Random, count: int, new_keys: range, long_keys: Sequence[Address]
) -> Iterator[Address]:
    """So many addresses: paths fill one after the other, and meanwhile all that is there is rewritten."""
    slots = ["long"] * (len(long_keys) * HISTORY_LENGTH) + ["new"] * len(new_keys)
    slots += ["again"] * (count - len(slots))
    chance.shuffle(slots)
    new, long = iter(new_keys), cycle(long_keys)
    there = new_keys.start
    for slot in slots:
        if slot == "long":
            yield next(long)
        elif slot == "new":
            there = next(new) + 1
            yield address(there - 1)
        else:
            yield address(chance.randrange(max(there, 1)))
