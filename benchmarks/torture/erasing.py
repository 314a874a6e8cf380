"""Erasures that are killed: what was erased is in no file of the store, what was not is untouched."""

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from amfs_sqlite import HANDOFF, EntryRef, SqliteAdapter
from benchmarks.torture import clients
from benchmarks.torture.checking import settle
from benchmarks.torture.crew import at_work, seen_through
from benchmarks.torture.journal import Told, told
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.torture.work import Client, Work, attempt, client_of

ERASURES = 6
GENERATIONS = 3


def write_and_erase(pipe: Connection, client: Client, count: int) -> None:
    """Store a value of its own under a key of its own and erase it again, so often."""

    async def run() -> None:
        journal = client.journal()
        first = len(told(client.journals, client.name).asked)
        async with SqliteAdapter(client.path, outcomes=HANDOFF) as store:
            for number in range(first, first + count):
                mark = f"{client.name}n{number}"
                work: Work = {"kind": "write", "path": "secret", "keys": [mark], "fillers": 1}
                await attempt(store, journal, mark, work)
                pipe.send("written")
                journal.erases(mark)
                secret = EntryRef(entity_path="secret", key=mark)
                if not (await store.erase([secret], author=client.name)).remains:
                    journal.was_erased(mark)
                pipe.send("erased")
        journal.close()

    asyncio.run(run())


def erasure(round_: Round) -> None:
    """Kill one that stores and erases while another writes, so often; the last one comes through."""
    chance = round_.chance
    with at_work(clients.work_for, [(client_of(round_, "w"), 60)]) as writers:
        for generation in range(GENERATIONS):
            eraser = client_of(round_, f"x{generation}")
            with at_work(write_and_erase, [(eraser, ERASURES)]) as (worker,):
                if generation == GENERATIONS - 1:
                    worker.see_through()
                    continue
                for _ in range(chance.randint(1, 2 * ERASURES - 1)):
                    worker.hear()
                worker.hear_within(chance.uniform(0, 0.03))
                worker.kill()
                round_.tally.rounds += 1
        seen_through(writers)
    settle(round_)
    said = told(round_.folder)
    for problem in left_behind(round_.path, said):
        round_.fault(problem)
    round_.tally.notes["erasures that were killed, or that left a copy and said so"] += len(
        said.erasing
    ) - len(said.erased)


def left_behind(path: Path, said: Told) -> list[str]:
    """What was erased and is still in a file of the store."""
    files = [each for each in path.parent.glob(f"{path.name}*") if each.suffix != ".journal"]
    content = {each.name: each.read_bytes() for each in files}
    return [
        f"{mark} was erased and is still in {name}"
        for mark in sorted(said.erased)
        for name, held in content.items()
        if f"{mark}e0".encode() in held
    ]


SCENARIOS = (
    Scenario("kills: erasure", "One stores and erases beside a writer, and is killed.", 30, 1, erasure),
)
