"""`python -m benchmarks.torture.recorded_client PATH DURABILITY SEED`: what the power cuts are about."""

import asyncio
import sys
from pathlib import Path
from typing import get_args

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.torture.work import Client, attempt
from benchmarks.writers import Durability

VISITS = 3
REQUESTS = 25


async def visit_often(path: Path, durability: Durability, seed: str) -> None:
    """Open, work, close, so often."""
    client = Client(path, "r", seed, path.parent)
    journal, planned = client.journal(), client.works()
    for _ in range(VISITS):
        async with SqliteAdapter(path, outcomes=HANDOFF, durability=durability) as store:
            for _ in range(REQUESTS):
                await attempt(store, journal, *next(planned))
    journal.close()


def main() -> None:
    """Do as the arguments say."""
    path, durability, seed = sys.argv[1:]
    (known,) = [each for each in get_args(Durability) if each == durability]
    asyncio.run(visit_often(Path(path), known, seed))


if __name__ == "__main__":
    main()
