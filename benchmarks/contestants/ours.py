"""``SqliteAdapter``, with the durability named in the argument."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from amfs_sqlite import EntryRef, MemoryEntry, OutcomeRecord, OutcomeType, SearchQuery, SqliteAdapter
from benchmarks.contestants.serving import SEARCH_LIMIT, VERSION_COUNT, Given, Operations, run, versions
from benchmarks.workload import AGENT, RARE_WORD

RARE = SearchQuery(text=RARE_WORD, limit=SEARCH_LIMIT, sort_by="relevance")


async def load(store: SqliteAdapter) -> None:
    """Store the workload."""
    for version in versions():
        await store.write_batch([MemoryEntry.draft(*each, agent_id=AGENT) for each in version])


@asynccontextmanager
async def contestant(folder: Path, durability: Literal["full", "normal"]) -> AsyncIterator[Operations]:
    """The operations, on a file with the workload."""
    async with SqliteAdapter(folder / "ours.db", durability=durability) as store:
        await load(store)

        async def read(given: Given, number: int) -> int:
            return int(await store.read(*given.addresses[number]) is not None)

        async def search(_: Given, __: int) -> int:
            return len((await store.search(RARE)).entries)

        async def list_100(given: Given, number: int) -> int:
            return len(await store.list(given.paths[number]))

        async def history_10(given: Given, number: int) -> int:
            return len(await store.history(*given.addresses[number], limit=VERSION_COUNT))

        async def write(given: Given, number: int) -> int:
            draft = MemoryEntry.draft(*given.addresses[number], given.values[number], agent_id=AGENT)
            return int((await store.write(draft)).version > 1)

        async def outcome_5(given: Given, number: int) -> int:
            return len(await store.commit_outcome(outcome(given, number)))

        yield {
            "read": read,
            "search": search,
            "list 100": list_100,
            "history 10": history_10,
            "write": write,
            "outcome 5": outcome_5,
        }


def outcome(given: Given, number: int) -> OutcomeRecord:
    """A success of the entries of this number."""
    return OutcomeRecord(
        outcome_ref=f"{given.name}, {number}",
        outcome_type=OutcomeType.SUCCESS,
        agent_id=AGENT,
        refs=tuple(EntryRef(entity_path=path, key=key) for path, key in given.groups[number]),
    )


if __name__ == "__main__":
    run(contestant)
