"""Power cuts, simulated on the level of files: what was not synced is lost, torn or mixed up."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.torture.checking import Examined, doubled, examine, missing, read_by_hand
from benchmarks.torture.disk import copy
from benchmarks.torture.journal import Told
from benchmarks.torture.judging import more
from benchmarks.torture.recording import (
    LOSSES,
    SECTOR,
    NoRecorderError,
    after_power_cut,
    moments,
    recorded,
    told_by,
)
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.writers import Durability

CUTS = 24
TAILS = 12
WORK = 12


def full(round_: Round) -> None:
    """Cut the power while it works with durability full: everything acknowledged stays."""
    _cut_often(round_, "full")


def normal(round_: Round) -> None:
    """The same with durability normal: the newest may go, what stays is whole and in the order of commits."""
    _cut_often(round_, "normal")


def _cut_often(round_: Round, durability: Durability) -> None:
    folder = round_.folder / "recorded"
    folder.mkdir()
    path = folder / "store.db"
    arguments = (str(path), durability, round_.name)
    try:
        made = recorded(round_.folder / "strace.log", "benchmarks.torture.recorded_client", *arguments)
    except NoRecorderError as missing_recorder:
        round_.tally.notes[f"not run: {missing_recorder}"] += 1
        return
    whole, _ = read_by_hand(path)
    after = round_.folder / "after"
    possible = moments(made, folder)
    for number in range(len(LOSSES) if round_.is_short else CUTS):
        shutil.rmtree(after, ignore_errors=True)
        after.mkdir()
        loss = LOSSES[number % len(LOSSES)]
        moment = round_.chance.choice(possible)
        files, lines = after_power_cut(made, moment, loss, round_.chance, folder)
        for name, content in files.items():
            (after / name).write_bytes(content)
            (after / name).chmod(0o600)
        said = Told()
        for line in told_by(lines):
            said.add(line)
        _hold_to(round_, examine(after / "store.db"), said, whole, durability)


def _hold_to(
    round_: Round, found: Examined, said: Told, whole: Sequence[object], durability: Durability
) -> None:
    tally = round_.tally
    tally.rounds += 1
    tally.acknowledged += len(said.acknowledged)
    gone = len(missing(said, found.versions))
    if durability == "full":
        tally.lost += gone
    else:
        tally.forgone += gone
    tally.doubled += len(doubled(found.versions))
    if found.versions != whole[: len(found.versions)]:
        round_.fault("what is left is no beginning of what was written")
    for problem in found.problems:
        round_.fault(problem)


def torn_tail(round_: Round) -> None:
    """Tear the last commit of a log at its sectors: it is there or not, and all before it is there."""
    asyncio.run(_write_one_more(round_))
    first, last = round_.folder / "first.db", round_.folder / "last.db"
    before, after = (each.with_name(each.name + "-wal").read_bytes() for each in (first, last))
    states = [_versions(round_, each) for each in (first, last)]
    copy(round_.folder / "store.db", round_.folder / "kept.db")
    sectors = range(len(before) // SECTOR, len(after) // SECTOR + 1)
    for sector in round_.chance.sample(sectors, min(round_.times(TAILS), len(sectors))):
        place = max(len(before), sector * SECTOR)
        torn = {
            "cut": after[:place],
            "zeroes": after[:place] + bytes(len(after) - place),
            "noise": after[:place] + round_.chance.randbytes(len(after) - place),
            "a hole": after[:place] + bytes(len(after[place : place + SECTOR])) + after[place + SECTOR :],
        }
        for content in torn.values():
            copy(round_.folder / "kept.db", round_.path)
            round_.log.write_bytes(content)
            found = examine(round_.path)
            round_.tally.rounds += 1
            round_.tally.acknowledged += len(states[0])
            round_.tally.lost += len(set(states[0]) - set(found.versions))
            round_.tally.doubled += len(doubled(found.versions))
            if found.versions not in states:
                round_.fault(f"a commit torn at byte {place} is there in part")
            for problem in found.problems:
                round_.fault(problem)


async def _write_one_more(round_: Round) -> None:
    path = round_.folder / "open.db"
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        await more(store, round_.folder, f"a{round_.chance.randrange(1000)}", WORK)
        copy(path, round_.folder / "first.db")
        copy(path, round_.path)
        await more(store, round_.folder, f"b{round_.chance.randrange(1000)}", 1)
        copy(path, round_.folder / "last.db")


def _versions(round_: Round, path: Path) -> Sequence[object]:
    looked_at = round_.folder / "looked-at.db"
    copy(path, looked_at)
    versions, problems = read_by_hand(looked_at)
    for problem in problems:
        round_.fault(problem)
    return versions


SCENARIOS = (
    Scenario("power: full", "Cut the power at any call to the disk, durability full.", 12, 1, full),
    Scenario("power: normal", "The same, durability normal.", 12, 1, normal),
    Scenario("power: torn tail", "Tear the last commit of the log at its sectors.", 15, 1, torn_tail),
)
