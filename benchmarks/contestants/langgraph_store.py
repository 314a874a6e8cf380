"""LangGraph's ``AsyncSqliteStore``, opened as its documentation does: with the durability of SQLite's
defaults. It keeps one version, and without an embedding model it finds no text.

It answers equal questions that are under way at once only once. With 100 keys to a path they would
all be equal, so each list asks for another limit: what is timed is listing.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from langgraph.store.base import PutOp  # type: ignore[import-not-found]  # its own environment
from langgraph.store.sqlite import AsyncSqliteStore  # type: ignore[import-not-found]  # its own environment

from benchmarks.contestants.serving import Given, Operations, newest, run
from benchmarks.workload import KEYS_PER_PATH


@asynccontextmanager
async def contestant(folder: Path) -> AsyncIterator[Operations]:
    """The operations, on a file with the workload."""
    async with AsyncSqliteStore.from_conn_string(str(folder / "langgraph.db")) as store:
        await store.setup()
        await store.abatch([PutOp(tuple(path.split("/")), key, value) for path, key, value in newest()])

        async def read(given: Given, number: int) -> int:
            path, key = given.addresses[number]
            return int(await store.aget(tuple(path.split("/")), key) is not None)

        async def list_100(given: Given, number: int) -> int:
            namespace = tuple(given.paths[number].split("/"))
            return len(await store.asearch(namespace, limit=KEYS_PER_PATH + number))

        async def write(given: Given, number: int) -> int:
            path, key = given.addresses[number]
            await store.aput(tuple(path.split("/")), key, given.values[number])
            return 1

        yield {"read": read, "list 100": list_100, "write": write}


if __name__ == "__main__":
    run(contestant)
