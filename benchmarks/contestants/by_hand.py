"""``sqlite3`` by hand, on a file of ours: the limit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from amfs_sqlite import MemoryEntry, SqliteAdapter
from benchmarks.contestants.ours import load, outcome
from benchmarks.contestants.serving import SEARCH_LIMIT, VERSION_COUNT, Given, Operations, run
from benchmarks.raw import RawStore
from benchmarks.workload import AGENT, RARE_WORD


@asynccontextmanager
async def contestant(folder: Path) -> AsyncIterator[Operations]:
    """The operations, on a file with the workload."""
    path = folder / "raw.db"
    async with SqliteAdapter(path, durability="normal") as store:
        await load(store)
    with RawStore(path, "normal") as raw:

        def read(given: Given, number: int) -> int:
            return int(raw.read(*given.addresses[number]) is not None)

        def search(_: Given, __: int) -> int:
            return len(raw.search(f'"{RARE_WORD}"', SEARCH_LIMIT)[0])

        def list_100(given: Given, number: int) -> int:
            return len(raw.list(given.paths[number]))

        def history_10(given: Given, number: int) -> int:
            return len(raw.history(*given.addresses[number], VERSION_COUNT))

        def write(given: Given, number: int) -> int:
            draft = MemoryEntry.draft(*given.addresses[number], given.values[number], agent_id=AGENT)
            return int(raw.write(draft).version > 1)

        def outcome_5(given: Given, number: int) -> int:
            return len(raw.commit_outcome(outcome(given, number)))

        yield {
            "read": read,
            "search": search,
            "list 100": list_100,
            "history 10": history_10,
            "write": write,
            "outcome 5": outcome_5,
        }


if __name__ == "__main__":
    run(contestant)
