"""What the processes do that write: mixed work, journaled, taken up again where a killed one left off."""

import asyncio
import random
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.writers import Durability
from benchmarks.torture.journal import Journal, told
from benchmarks.torture.rounds import repeatable
from benchmarks.torture.work import attempt, works

TASKS = 2
"""So many requests of one client are under way at once."""


def work_for(
    pipe: Connection, path: Path, client: str, seed: str, count: int | None, durability: Durability
) -> None:
    """Do so much mixed work, or without end; first what a killed predecessor was not answered."""

    async def run() -> None:
        journal = Journal(path.parent, client)
        before = told(path.parent, client)
        async with SqliteAdapter(path, outcomes=HANDOFF, durability=durability) as store:
            for mark, work in before.unanswered().items():
                await attempt(store, journal, client, mark, work, pipe.send)
            planned = islice(works(client, len(before.asked), repeatable(seed)), count)

            async def lane() -> None:
                for mark, work in planned:
                    await attempt(store, journal, client, mark, work, pipe.send)

            await asyncio.gather(*(lane() for _ in range(TASKS)))
        journal.close()

    asyncio.run(run())


def come_and_go(pipe: Connection, path: Path, client: str, seed: str, visits: int, count: int) -> None:
    """Open, do a little, close, again and again: whoever is the last to close moves the log into the file."""

    async def visit(journal: Journal, first: int, chance: random.Random) -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            for mark, work in islice(works(client, first, chance), count):
                await attempt(store, journal, client, mark, work, pipe.send)
            pipe.send("closing")

    journal = Journal(path.parent, client)
    first = len(told(path.parent, client).asked)
    chance = repeatable(seed)
    for each in range(visits):
        asyncio.run(visit(journal, first + each * count, chance))
    journal.close()
