"""Processes that are killed at random moments: at work, starting, migrating, claiming, closing."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.torture import clients, visitors
from benchmarks.torture.checking import examine, read_by_hand, settle
from benchmarks.torture.crew import CONTEXT, Worker, at_work, seen_through
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.torture.work import client_of
from bridge.operations import packets
from bridge.session import Session
from parity_tests.migrations.make_file import FOLDER

WRITERS = 8
KILLS = 10
MOST_ANSWERS_BEFORE_A_KILL = 20
STARTERS = 4
TAKERS = 6
OLD_SCHEMA = FOLDER / "schema_1.db"


def writers(round_: Round) -> None:
    """Kill one of eight that write, start it anew, so often; a new one first repeats what was unanswered."""
    chance = round_.chance
    named = [client_of(round_, f"w{slot}") for slot in range(WRITERS)]
    with at_work(clients.work_for, [(each, None) for each in named]) as workers:
        for number in range(round_.times(KILLS)):
            slot = chance.randrange(WRITERS)
            for _ in range(chance.randint(0, MOST_ANSWERS_BEFORE_A_KILL)):
                workers[slot].hear()
            workers[slot].hear_within(chance.uniform(0, 0.01))
            workers[slot].kill()
            round_.tally.rounds += 1
            another = replace(named[slot], seed=f"{named[slot].seed}/{number}")
            workers[slot] = Worker(clients.work_for, another, None)
        for worker in workers:
            worker.kill()
    with at_work(clients.work_for, [(each, 0) for each in named]) as workers:
        seen_through(workers)
    settle(round_)


def first_start(round_: Round) -> None:
    """Several open at once what is not there yet; some are killed on the way."""
    _start_together(round_)
    settle(round_)


def migration(round_: Round) -> None:
    """The same with a file of schema 1, which the first of them migrates: all it held is still there."""
    place_old_file(round_.path)
    undisturbed = round_.folder / "undisturbed.db"
    place_old_file(undisturbed)
    expected = asyncio.run(_everything(undisturbed))
    _start_together(round_)
    if asyncio.run(_everything(round_.path))[: len(expected)] != expected:
        round_.fault("a migrated file does not hold what it held before")
    before, _ = read_by_hand(OLD_SCHEMA)
    copies = [each for each in round_.folder.glob("store.db.before-schema-*") if ".part" not in each.name]
    if not copies or any(read_by_hand(each) != (before, []) for each in copies):
        round_.fault("what was kept before the migration is not what was there")
    settle(round_)


def place_old_file(path: Path) -> None:
    """A file as the first release wrote it."""
    shutil.copyfile(OLD_SCHEMA, path)
    path.chmod(0o600)


async def _everything(path: Path) -> Sequence[str]:
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        changes = [each async for each in store.changes(follow=False)]
    return [each.entry.model_dump_json(exclude={"superseded_at"}) for each in changes]


def _start_together(round_: Round) -> None:
    chance = round_.chance
    together = CONTEXT.Barrier(STARTERS)
    each = [(client_of(round_, f"s{n}"), together) for n in range(STARTERS)]
    with at_work(visitors.start, each) as workers:
        killed = chance.sample(workers, chance.randint(1, STARTERS - 1))
        for worker in killed:
            worker.hear()
            worker.hear_within(chance.uniform(0, 0.004))
            worker.kill()
            round_.tally.rounds += 1
        seen_through([worker for worker in workers if worker not in killed])


def claims(round_: Round) -> None:
    """Six take one packet at once, some are killed: one holds it, and nobody else was told to."""
    given = asyncio.run(_give(round_.path))
    together = CONTEXT.Barrier(TAKERS)
    chance = round_.chance
    names = [f"t{each}" for each in range(TAKERS)]
    with at_work(visitors.claim, [(round_.path, name, together) for name in names]) as workers:
        for slot in chance.sample(range(TAKERS), chance.randint(1, TAKERS - 1)):
            workers[slot].hear()
            workers[slot].hear_within(chance.uniform(0, 0.004))
            workers[slot].kill()
            round_.tally.rounds += 1
        said = [worker.see_through() for worker in workers]
    told = [name for name, words in zip(names, said, strict=True) if given in words]
    round_.tally.acknowledged += len(told)
    asyncio.run(_check_claim(round_, given, told))


async def _give(path: Path) -> str:
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        given = await packets.give(Session(store, "giver", "session-giver"), "the work", refs=[])
        return given.packet.id


async def _check_claim(round_: Round, given: str, told: Sequence[str]) -> None:
    """Whoever was told holds it; where nobody was, at most one does; whoever holds it gets it again."""
    async with SqliteAdapter(round_.path, outcomes=HANDOFF) as store:
        packet = await packets.show(Session(store, "giver", "session-giver"), given)
        holder = packet.claimed_by
        history = [each async for each in store.changes(follow=False)]
        if len(history) != (1 if holder is None else 2):
            round_.tally.doubled += 1
        if len(told) > 1:
            round_.tally.doubled += len(told) - 1
        if told and holder not in told:
            round_.tally.lost += 1
        if holder is not None:
            again = await packets.take(Session(store, holder, f"session-{holder}"), given)
            if not isinstance(again, packets.Taken) or again.packet.id != given:
                round_.fault(f"{holder} holds the packet and does not get it again")
        for finding in (await store.verify()).findings:
            round_.fault(f"verify: {finding.message}")


def checkpoints(round_: Round) -> None:
    """Three open, write and close again and again; one is killed as it closes, which moves the log."""
    chance = round_.chance
    each = [(client_of(round_, f"c{slot}"), 6, 3) for slot in range(3)]
    with at_work(clients.come_and_go, each) as workers:
        victim = chance.choice(workers)
        for _ in range(chance.randint(1, 5)):
            while victim.hear() != "closing":
                pass
        victim.hear_within(chance.uniform(0, 0.006))
        victim.kill()
        round_.tally.rounds += 1
        seen_through([worker for worker in workers if worker is not victim])
    settle(round_)


def backups(round_: Round) -> None:
    """Kill the one that copies while two write: a copy that has its name is whole, and the next one is."""
    chance = round_.chance
    copies = round_.folder / "copies"
    copies.mkdir()
    first, second = copies / "first.db", copies / "second.db"
    each = [(client_of(round_, f"b{slot}"), 60) for slot in range(2)]
    with at_work(clients.work_for, each) as writers:
        writers[0].hear()
        with at_work(visitors.back_up, [(round_.path, first)]) as (copier,):
            copier.hear()
            copier.hear_within(chance.uniform(0, 0.8))
            copier.kill()
        with at_work(visitors.back_up, [(round_.path, second)]) as (copier,):
            copier.see_through()
        seen_through(writers)
    round_.tally.rounds += 1
    settle(round_)
    whole, _ = read_by_hand(round_.path)
    if not second.exists():
        round_.fault("a backup after a killed one was not made")
    for copy in (first, second):
        if not copy.exists():
            round_.tally.notes["no copy"] += 1
            continue
        round_.tally.notes["a whole copy"] += 1
        examined = examine(copy)
        if examined.versions != whole[: len(examined.versions)]:
            round_.fault("a copy is no beginning of what was written")
        for problem in examined.problems:
            round_.fault(f"{copy.name}: {problem}")


SCENARIOS = (
    Scenario("kills: writers", "Eight processes of mixed work, one killed and started anew.", 30, 1, writers),
    Scenario("kills: first start", "Four open a new file at once, some are killed.", 100, 3, first_start),
    Scenario("kills: migration", "Four open a file of schema 1 at once, some are killed.", 100, 3, migration),
    Scenario("kills: claim", "Six take one handoff at once, some are killed.", 80, 3, claims),
    Scenario("kills: backup", "One copies the store while two write, and is killed.", 60, 2, backups),
    Scenario("kills: checkpoint", "Three come and go, one is killed as it closes.", 80, 3, checkpoints),
)
