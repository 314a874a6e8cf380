"""py-key-value's ``DiskStore``: keys and values alone, one version, nothing to list or to find by."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from key_value.aio.stores.disk import DiskStore  # its own environment

from benchmarks.contestants.serving import Given, Operations, newest, run


@asynccontextmanager
async def contestant(folder: Path) -> AsyncIterator[Operations]:
    """The operations, on a folder with the workload."""
    async with DiskStore(directory=folder / "disk") as store:
        for path, key, value in newest():
            await store.put(key, value, collection=path)

        async def read(given: Given, number: int) -> int:
            path, key = given.addresses[number]
            return int(await store.get(key, collection=path) is not None)

        async def write(given: Given, number: int) -> int:
            path, key = given.addresses[number]
            await store.put(key, given.values[number], collection=path)
            return 1

        yield {"read": read, "write": write}


if __name__ == "__main__":
    run(contestant)
