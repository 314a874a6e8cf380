"""What the processes do that write: mixed work, journaled, taken up again where a killed one left off."""

import asyncio
from itertools import islice
from multiprocessing.connection import Connection

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.torture.journal import Journal, told
from benchmarks.torture.work import Client, Work, attempt

TASKS = 2
"""So many requests of one client are under way at once."""


def work_for(pipe: Connection, client: Client, count: int | None) -> None:
    """Do so much mixed work, or without end; first what a killed predecessor was not answered."""

    async def run() -> None:
        journal = client.journal()
        before = told(client.journals, client.name)
        async with SqliteAdapter(client.path, outcomes=HANDOFF, durability=client.durability) as store:

            async def one(mark: str, work: Work) -> None:
                await attempt(store, journal, mark, work)
                pipe.send(mark)

            for mark, work in before.unanswered().items():
                await one(mark, work)
            planned = islice(client.works(len(before.asked)), count)

            async def lane() -> None:
                for mark, work in planned:
                    await one(mark, work)

            await asyncio.gather(*(lane() for _ in range(TASKS)))
        journal.close()

    asyncio.run(run())


def come_and_go(pipe: Connection, client: Client, visits: int, count: int) -> None:
    """Open, do a little, close, again and again: whoever is the last to close moves the log into the file."""
    planned = client.works()

    async def visit(journal: Journal) -> None:
        async with SqliteAdapter(client.path, outcomes=HANDOFF) as store:
            for mark, work in islice(planned, count):
                await attempt(store, journal, mark, work)
                pipe.send(mark)
            pipe.send("closing")

    journal = client.journal()
    for _ in range(visits):
        asyncio.run(visit(journal))
    journal.close()
