"""`python -m benchmarks.torture`: what becomes of what was acknowledged, whatever happens."""

import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from benchmarks.reporting import json_option, progress, quick_option, run
from benchmarks.torture import cancelling, crowd, disk, erasing, kills, loop, power, server
from benchmarks.torture import page as reliability
from benchmarks.torture.rounds import Round, Scenario, Tally, repeatable
from benchmarks.torture.telling import show, write_json

SCENARIOS: Sequence[Scenario] = (
    *kills.SCENARIOS,
    *erasing.SCENARIOS,
    *crowd.SCENARIOS,
    *disk.SCENARIOS,
    *power.SCENARIOS,
    *cancelling.SCENARIOS,
    *loop.SCENARIOS,
    *server.SCENARIOS,
)

DEFAULT_SEED = "0"


@click.command()
@quick_option
@json_option
@click.option(
    "--rounds", "rounds", type=click.IntRange(1), help="Rounds of each scenario, in place of its own."
)
@click.option("--only", "only", multiple=True, help="Scenarios whose names begin like this.")
@click.option("--seed", default=DEFAULT_SEED, show_default=True, help="Repeats the same choices.")
@click.option("--page", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write the page there.")
def main(
    *,
    quick: bool,
    json_path: Path | None,
    rounds: int | None,
    only: Sequence[str],
    seed: str,
    page: Path | None,
) -> None:
    """Kill, crowd, starve and cut off processes that share one file; hold the file to what they were told.

    Ends with 1 where anything acknowledged was lost, anything is stored twice, or damage went unnoticed.
    """
    chosen = [each for each in SCENARIOS if not only or each.name.startswith(tuple(only))]
    if not chosen:
        raise click.BadParameter(
            f"no scenario begins like this; there are {', '.join(each.name for each in SCENARIOS)}"
        )
    logging.getLogger("amfs_sqlite").setLevel(logging.ERROR)
    tallies = {each.name: Tally() for each in chosen}
    counts = {each.name: rounds or (each.quick_rounds if quick else each.rounds) for each in chosen}
    with progress("torture:", sum(counts.values())) as steps:
        for scenario in chosen:
            for number in range(counts[scenario.name]):
                play(scenario, tallies[scenario.name], f"{seed}/{number}")
                steps.next(scenario.name)
    show(tallies)
    write_json(json_path, tallies)
    if page is not None:
        given = {"--quick": quick, f"--rounds {rounds}": rounds, f"--seed {seed}": seed != DEFAULT_SEED}
        command = [
            "python -m benchmarks.torture",
            *(option for option, is_given in given.items() if is_given),
        ]
        reliability.write(page, chosen, tallies, " ".join(command))
    sys.exit(any(each.failures for each in tallies.values()))


def play(scenario: Scenario, tally: Tally, seed: str, *, is_short: bool = False) -> None:
    """One round in a folder of its own. Whatever is raised in it is a fault of the round."""
    name = f"{scenario.name} {seed}"
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        round_ = Round(Path(folder), repeatable(name), name, tally, is_short)
        try:
            scenario.run(round_)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and the other rounds go on
            round_.fault(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    run(main)
