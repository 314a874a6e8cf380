"""``python -m benchmarks.peers``: the same work on ours and on what else an agent's memory could be kept in.

Every contestant runs in a process and an environment of its own. The first run sets these up from
pinned versions, which needs the network; later ones find them in the user's cache folder.
"""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from benchmarks.contestants.driver import Driver
from benchmarks.contestants.environments import UnavailableError
from benchmarks.contestants.roster import CONTESTANTS, Contestant
from benchmarks.contestants.serving import AT_LEAST, KEY_COUNT, MANY, VERSION_COUNT
from benchmarks.measuring import Contender, Round, Timing, side_by_side
from benchmarks.reporting import Report, Steps, json_option, microseconds, progress, quick_option

NONE = "-"
MOST = 2_000
"""Operations of one round at most."""
ROWS = [(operation, callers) for operation in AT_LEAST for callers in (1, MANY)]


@dataclass(frozen=True)
class Effort:
    """How many rounds, and how long one of them should take."""

    rounds: int
    round_s: float
    fewest: int

    def count(self, tried: Round, callers: int) -> int:
        """Operations that fill a round, after one was tried."""
        wanted = int(self.round_s / tried.per_operation_s)
        return max(min(wanted, MOST), self.fewest if callers == 1 else callers)


FULL = Effort(rounds=7, round_s=0.25, fewest=5)
QUICK = Effort(rounds=3, round_s=0.04, fewest=2)


@dataclass
class Race:
    """What came of it: timings by row and contestant, and why someone is missing."""

    timings: dict[tuple[str, int], dict[str, Timing]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def ratio(self, row: tuple[str, int], contestant: Contestant) -> float | None:
        """A contestant's time in times of the column of ours it stands beside."""
        timings = self.timings.get(row, {})
        own, ours = timings.get(contestant.name), timings.get(contestant.beside)
        return None if own is None or ours is None else own.mean_us / ours.mean_us


@click.command()
@json_option
@quick_option
def main(json_path: Path | None, quick: bool) -> None:
    """Time ours beside its peers, each in an environment of its own."""
    race = asyncio.run(_race(QUICK if quick else FULL))
    report = Report(
        f"Beside the peers: {KEY_COUNT:,} keys, {VERSION_COUNT} versions, time for each operation"
    )
    for (operation, callers), timings in race.timings.items():
        columns = {each.name: _figures(race, (operation, callers), each, timings) for each in CONTESTANTS}
        report.add(operation, callers, {_flat(name): figures for name, figures in columns.items()})
    for name, reason in race.missing.items():
        report.add("missing", _flat(name), {"reason": reason})
    report.show(["", *(each.name for each in CONTESTANTS)], [_row(race, row) for row in ROWS])
    click.echo("\n".join([*_legend(race), "", *_verdict(race)]))
    report.write_json(json_path)


async def _race(effort: Effort) -> Race:
    race = Race()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        progress("peers:", 2 * len(CONTESTANTS) + len(ROWS)) as steps,
    ):
        async with AsyncExitStack() as leaving:
            drivers = await _start(Path(folder), race, steps, leaving)
            for row in ROWS:
                steps.next(_flat(_label(row)))
                race.timings[row] = await _time(row, drivers, effort, race)
    return race


async def _start(folder: Path, race: Race, steps: Steps, leaving: AsyncExitStack) -> dict[str, Driver]:
    """Everyone who can take part, loaded."""
    started: list[Driver] = []
    for number, contestant in enumerate(CONTESTANTS):
        steps.next(f"setting up {_flat(contestant.name)}")
        try:
            environment = await asyncio.to_thread(contestant.environment)
            driver = await Driver.start(contestant, environment, folder / str(number))
        except (UnavailableError, OSError) as failed:
            race.missing[contestant.name] = str(failed)
            continue
        leaving.push_async_callback(driver.stop)
        started.append(driver)
    drivers = {}
    for driver in started:
        name = driver.contestant.name
        steps.next(f"loading {_flat(name)}")
        try:
            await driver.loaded()
        except UnavailableError as failed:
            race.missing[name] = str(failed)
        else:
            drivers[name] = driver
    return drivers


async def _time(
    row: tuple[str, int], drivers: dict[str, Driver], effort: Effort, race: Race
) -> dict[str, Timing]:
    """The row, without those who fail in it: they are out of the rest, too."""
    operation, callers = row
    while True:
        failed: dict[str, str] = {}
        racing = {
            name: _contender(driver, row, effort, failed)
            for name, driver in drivers.items()
            if callers in driver.can.get(operation, ())
        }
        try:
            return await side_by_side(racing, effort.rounds)
        except UnavailableError:
            race.missing.update(failed)
            for name in failed:
                del drivers[name]


def _contender(driver: Driver, row: tuple[str, int], effort: Effort, failed: dict[str, str]) -> Contender:
    operation, callers = row
    count = effort.fewest if callers == 1 else callers

    async def contend(number: int) -> Round:
        nonlocal count
        try:
            taken = await driver.round(operation, callers, count, number + 1)
        except UnavailableError as reason:
            failed[driver.contestant.name] = str(reason)
            raise
        if number == 0:
            count = effort.count(taken, callers)
        return taken

    return contend


def _figures(
    race: Race, row: tuple[str, int], contestant: Contestant, timings: Mapping[str, Timing]
) -> dict[str, float | None] | None:
    timing = timings.get(contestant.name)
    return None if timing is None else {"ratio": race.ratio(row, contestant), **asdict(timing)}


def _row(race: Race, row: tuple[str, int]) -> Sequence[str]:
    return [_label(row), *(_cell(race, row, each) for each in CONTESTANTS)]


def _cell(race: Race, row: tuple[str, int], contestant: Contestant) -> str:
    timing, ratio = race.timings[row].get(contestant.name), race.ratio(row, contestant)
    if timing is None:
        return NONE
    is_yardstick = ratio is None or contestant.name == contestant.beside
    return microseconds(timing.mean_us) + ("" if is_yardstick else f"\n× {_digits(ratio)}")


def _legend(race: Race) -> list[str]:
    """What the columns are, and why one has nothing but dashes."""
    lines = [
        f"×: in times of ours. By {MANY} callers: the time of all, by operations. {NONE}: it cannot do that."
    ]
    for each in CONTESTANTS:
        reason = race.missing.get(each.name)
        lines.append(f"  {_flat(each.name)}: {each.remark}" + (f" NOT MEASURED: {reason}" if reason else ""))
    return lines


def _verdict(race: Race) -> list[str]:
    """Whether ours is ahead of every peer in every figure it has."""
    ratios = {
        (row, each): ratio
        for row in ROWS
        for each in CONTESTANTS
        if each.is_peer and (ratio := race.ratio(row, each)) is not None
    }
    behind = [
        f"  {_flat(_label(row))}: {_flat(each.name)} takes × {_digits(ratio)} of {_flat(each.beside)}"
        for (row, each), ratio in ratios.items()
        if ratio <= 1
    ]
    absent = [f"Not measured: {', '.join(map(_flat, race.missing))}."] if race.missing else []
    if behind:
        return [f"A peer is ahead of ours in {len(behind)} of {len(ratios)} figures:", *behind, *absent]
    return [f"Ours is ahead of every peer in all {len(ratios)} figures measured.", *absent]


def _label(row: tuple[str, int]) -> str:
    operation, callers = row
    return operation if callers == 1 else f"{operation}\nby {callers} callers"


def _flat(name: str) -> str:
    return name.replace("\n", " ")


def _digits(ratio: float | None) -> str:
    if ratio is None:
        return NONE
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


if __name__ == "__main__":
    main()
