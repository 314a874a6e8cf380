"""`python -m benchmarks.torture.recorded_client PATH DURABILITY SEED`: what is recorded for the power cuts."""

import asyncio
import sys
from pathlib import Path
from typing import get_args

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.writers import Durability
from benchmarks.torture.journal import Journal
from benchmarks.torture.rounds import repeatable
from benchmarks.torture.work import attempt, works

VISITS = 3
REQUESTS = 25


async def visit_often(path: Path, durability: Durability, seed: str) -> None:
    """Open, work, close, so often."""
    journal = Journal(path.parent, "r")
    planned = works("r", 0, repeatable(seed))
    for _ in range(VISITS):
        async with SqliteAdapter(path, outcomes=HANDOFF, durability=durability) as store:
            for _ in range(REQUESTS):
                await attempt(store, journal, "r", *next(planned), lambda _: None)
    journal.close()


def main() -> None:
    """Do as the arguments say."""
    path, durability, seed = sys.argv[1:]
    (known,) = [each for each in get_args(Durability) if each == durability]
    asyncio.run(visit_often(Path(path), known, seed))


if __name__ == "__main__":
    main()
