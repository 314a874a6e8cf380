"""Retention that is killed: what was erased is in no file of the store, what was not is untouched."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal, get_args

from amfs_sqlite import HANDOFF, EntryRef, MemoryEntry, RetentionReport, SqliteAdapter
from amfs_sqlite.sqlite.doctor import health
from benchmarks.torture import clients
from benchmarks.torture.checking import read_by_hand, settle
from benchmarks.torture.crew import Worker, at_work, seen_through
from benchmarks.torture.journal import Journal, Told, told
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.torture.work import Client, Work, attempt, client_of, imprint, words

KEY = "k"
PASSED = "2000-01-01T00:00:00Z"
WITHDRAWALS = 6
GENERATIONS = 3
REQUESTS = (0, 60)
SHARED_CHARACTERS = 4
"""The text index spells a word without the beginning that it shares with the one before it."""
LONG_VALUES = 30
LONG_CHARACTERS = 20_000
IS_DUE = "SELECT count(*) FROM meta WHERE name = 'scrub_due'"

Withdrawal = Literal["erase", "prune", "archive"]
Ending = Literal["close", "again", "doctor"]


async def put(store: SqliteAdapter, journal: Journal, mark: str, how: Withdrawal) -> None:
    """Store what is to be let go of in this way, under a path of its own."""
    work: Work = {"kind": "write", "path": f"secret/{mark}", "keys": [KEY], "fillers": 1, "how": how}
    if how == "archive":
        await attempt(store, journal, mark, {**work, "ttl_at": PASSED})
        return
    await attempt(store, journal, mark, work)
    # A longer one gets another place in its page, and the first one stays in the free part of it.
    await attempt(store, journal, _next(mark), {**work, "fillers": 5})


async def let_go(store: SqliteAdapter, journal: Journal, mark: str, how: Withdrawal) -> None:
    """Let go of it, for the first time or again, and write down what was said."""
    if how == "archive":
        await _asked(store, journal.client, mark, how)
        journal.was_archived(mark)
        return
    gone = [mark] if how == "prune" else [mark, _next(mark)]
    for each in gone:
        journal.erases(each)
    if not (await _asked(store, journal.client, mark, how)).remains:
        for each in gone:
            journal.was_erased(each)


def _next(mark: str) -> str:
    """The mark of the version behind one that is to go."""
    return f"{mark}s"


async def _asked(store: SqliteAdapter, author: str, mark: str, how: Withdrawal) -> RetentionReport:
    path = f"secret/{mark}"
    if how == "erase":
        return await store.erase([EntryRef(entity_path=path, key=KEY)], author=author)
    if how == "prune":
        return await store.prune(entity_path=path, keep_last=1, author=author)
    return await store.archive_expired(entity_path=path, author=author)


def put_and_let_go(pipe: Connection, client: Client, count: int) -> None:
    """Store so much and close, which indexes it; then let go of it, in all ways by turns."""

    async def run() -> None:
        journal = client.journal()
        ways = get_args(Withdrawal)
        named = [(f"{client.name}n{number}", ways[number % len(ways)]) for number in range(count)]
        async with SqliteAdapter(client.path, outcomes=HANDOFF) as store:
            for mark, how in named:
                await put(store, journal, mark, how)
        async with SqliteAdapter(client.path, outcomes=HANDOFF) as store:
            for mark, how in named:
                pipe.send("letting go")
                await let_go(store, journal, mark, how)
        journal.close()

    asyncio.run(run())


def erasure(round_: Round) -> None:
    """Kill those that store and let go while another writes; one more finishes what they left half done."""
    chance = round_.chance
    asyncio.run(_fill(round_.path))
    with at_work(clients.work_for, [(client_of(round_, "w"), chance.choice(REQUESTS))]) as writers:
        writers[0].hear_within(chance.uniform(0, 0.1))
        for generation in range(round_.times(GENERATIONS)):
            client = client_of(round_, f"x{generation}")
            with at_work(put_and_let_go, [(client, WITHDRAWALS)]) as (worker,):
                for _ in range(chance.randint(1, WITHDRAWALS)):
                    worker.hear()
                if chance.random() < 0.7:
                    _wait_for_a_commit(round_.path, worker)
                worker.hear_within(chance.uniform(0, 0.01))
                worker.kill()
            round_.tally.rounds += 1
            with _looking(round_.path) as raw:
                round_.tally.notes["killed between the commit of an erasure and its end"] += _is_due(raw)
        seen_through(writers)
    _finish(round_, chance.choice(get_args(Ending)))
    said = told(round_.folder)
    for problem in [*left_behind(round_.path, said), *not_archived(round_.path, said)]:
        round_.fault(problem)
    settle(round_)


async def _fill(path: Path) -> None:
    """So much that to write the file anew takes its time."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        long = {"long": "x" * LONG_CHARACTERS}
        await store.write_batch(
            [MemoryEntry.draft("long", f"k{each}", long, agent_id="z") for each in range(LONG_VALUES)]
        )


def _wait_for_a_commit(path: Path, worker: Worker) -> None:
    """Until an erasure is committed and not yet through, or the worker has ended."""
    with _looking(path) as raw:
        while not _is_due(raw):
            if worker.hear_within(0.0001):
                try:
                    worker.hear()
                except EOFError:
                    return


def _looking(path: Path) -> closing[sqlite3.Connection]:
    """For reading alone: what closes the last connection otherwise empties the log."""
    return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None))


def _is_due(raw: sqlite3.Connection) -> bool:
    return bool(raw.execute(IS_DUE).fetchone()[0])


def _finish(round_: Round, ending: Ending) -> None:
    """What a user does after that: go on and close, give the same command again, or ask the doctor."""
    round_.tally.notes[f"finished by: {ending}"] += 1
    if ending == "doctor":
        for untreated in health.treat(health.examine(str(round_.path))):
            round_.fault(f"the doctor did not put it right: {untreated.error}")
    else:
        asyncio.run(_go_on(round_, ending))


async def _go_on(round_: Round, ending: Ending) -> None:
    said = told(round_.folder)
    journal = Journal(round_.folder, "again")
    async with SqliteAdapter(round_.path, outcomes=HANDOFF) as store:
        if ending == "close":
            await store.write(MemoryEntry.draft("shared", "end", "reached", agent_id="z"))
            return
        for mark in sorted(said.erasing):
            if f"secret/{mark}" == said.asked[mark]["path"]:
                await let_go(store, journal, mark, said.asked[mark]["how"])
    journal.close()


def left_behind(path: Path, said: Told) -> Iterator[str]:
    """Words that are in a file of the store and in no version of it: of what was erased, above all."""
    # First of all, since whoever opens the file may change what is in it.
    content = {each.name: each.read_bytes() for each in path.parent.glob(f"{path.name}*")}
    versions, _ = read_by_hand(path)
    there = {word for *_, word in versions}
    gone = (word for mark, work in said.asked.items() for word in words(mark, work) if word not in there)
    for word in gone:
        traces = (word.encode(), imprint(word)[SHARED_CHARACTERS:].encode())
        for name in (name for name, held in content.items() if any(each in held for each in traces)):
            yield f"{word} is in no version any more, and still in {name}"


def not_archived(path: Path, said: Told) -> Iterator[str]:
    """What is there although an answer said that it was put away, or was put away more than once."""
    with closing(sqlite3.connect(path)) as raw:
        rows = raw.execute("SELECT entity_path, version, value IS NULL FROM current")
        now = {entity_path: (version, is_gone) for entity_path, version, is_gone in rows}
    for mark in sorted(said.archived):
        if now.get(f"secret/{mark}") != (2, True):
            yield f"{mark} was archived and is not as it should be: {now.get(f'secret/{mark}')}"


SCENARIOS = (
    Scenario(
        "kills: erasure", "Erase, prune and archive beside a writer, killed, then finished.", 40, 1, erasure
    ),
)
