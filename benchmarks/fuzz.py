"""`python -m benchmarks.fuzz`: the server, or the adapters, are given what comes by chance."""

import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from random import Random, SystemRandom

import click
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from benchmarks.reporting import progress, run
from parity_tests.fuzzing.lines import Line, Lines
from parity_tests.fuzzing.visits import BrokenServerError, spelled, visit
from parity_tests.properties.machine import SideBySide

LINES_TOGETHER = 40
LINES_A_SERVER = 4_000
EXAMPLES_TOGETHER = 20
STEPS = 40

minutes_option = click.option(
    "--minutes", type=click.FloatRange(min=0), default=1.0, show_default=True, help="How long at least."
)
seed_option = click.option(
    "--seed",
    "first_seed",
    type=click.IntRange(min=0),
    help="Where chance begins; one of its own if not given.",
)


@click.group()
def main() -> None:
    """Throw what comes by chance at the product; end with 1 and say with which seed if anything broke.

    What broke the server is printed as a line for parity_tests/fuzzing/found.jsonl, which a test replays.
    """


@main.command()
@minutes_option
@seed_option
def stdio(minutes: float, first_seed: int | None) -> None:
    """Damaged lines and whole ones for the MCP server: it answers, and goes on serving.

    Nothing on its standard error may be a traceback, and its memory stays bounded.
    """
    end_s = time.monotonic() + 60 * minutes
    sent = 0
    with progress("stdio", 0) as steps:
        for number in _seeds(first_seed):
            try:
                sent += _served(number, end_s)
            except BrokenServerError as broken:
                _say(f"seed {number}: {broken.problem}")
                print(spelled(f"seed {number}", _fewest(broken.lines)))
                sys.exit(1)
            steps.next(f"{sent:,} lines, seed {number}")
            if time.monotonic() >= end_s:
                break
    print(f"{sent:,} lines were sent; all that had to be answered was, and every server went on serving")


@main.command()
@minutes_option
@seed_option
def api(minutes: float, first_seed: int | None) -> None:
    """Operations by chance on both adapters: they must answer alike after every step, and verify."""
    end_s = time.monotonic() + 60 * minutes
    runs = 0
    with progress("api", 0) as steps:
        for number in _seeds(first_seed):
            machine = seed(number)(type("Run", (SideBySide,), {}))
            try:
                run_state_machine_as_test(machine, settings=_settings())
            except Exception:
                _say(f"seed {number}:")
                raise
            runs += EXAMPLES_TOGETHER
            steps.next(f"{runs:,} runs, seed {number}")
            if time.monotonic() >= end_s:
                break
    print(f"{runs:,} runs of up to {STEPS} steps; both adapters answered alike after each")


def _settings() -> settings:
    return settings(
        max_examples=EXAMPLES_TOGETHER,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


def _seeds(first: int | None) -> "count[int]":
    return count(SystemRandom().randrange(2**32) if first is None else first)


def _served(number: int, end_s: float) -> int:
    """Lines of this seed for one server on a new file; how many were sent."""
    lines = Lines(Random(number))  # noqa: S311 - what it draws is no secret
    sent = 0
    with tempfile.TemporaryDirectory() as folder, visit(Path(folder) / "memory.db") as server:
        while sent < LINES_A_SERVER and time.monotonic() < end_s:
            server.send([lines.next() for _ in range(LINES_TOGETHER)])
            sent += LINES_TOGETHER
        server.leave()
    return sent


def _fewest(lines: Sequence[bytes]) -> Sequence[bytes]:
    """The first one that breaks a server by itself, or else all."""
    for line in lines:
        with tempfile.TemporaryDirectory() as folder, visit(Path(folder) / "memory.db") as server:
            try:
                server.send([Line(line)])
            except BrokenServerError:
                return [line]
    return lines


def _say(message: str) -> None:
    print(message, file=sys.stderr)


if __name__ == "__main__":
    run(main)
