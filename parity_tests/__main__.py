"""Puts an adapter through the contract: `python -m parity_tests --adapter package.module:factory`.

The factory is called as `factory(path, *, namespace, outcomes, clock, ids)` and makes an adapter that
nobody has opened yet. The report says noun by noun what holds, what fails and what is not claimed; a noun
is claimed by implementing all of it.

The exit code is 0 if everything claimed holds, 1 if not, and 2 if there is no such adapter.
"""

import argparse
import math
import sys
from typing import TextIO

from parity_tests.conformance.progress import Progress
from parity_tests.conformance.report import Report
from parity_tests.conformance.results import ROWS, SHARING
from parity_tests.conformance.trial import Trial

ADAPTER = "package.module:factory"
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Try the adapter that the command line names, and report; the exit code."""
    asked = _parser().parse_args(arguments)
    is_live = sys.stderr.isatty()
    is_told = is_live if asked.progress is None else asked.progress
    trial = Trial(
        asked.adapter,
        shares=asked.shares,
        nouns=frozenset(asked.noun),
        timeout_s=asked.timeout,
        stops=asked.x,
        progress=Progress(sys.stderr, is_told, is_live),
    )
    try:
        trial.run()
    except KeyboardInterrupt:
        _write(sys.stderr, "interrupted: nothing is reported\n")
        return INTERRUPTED
    return _told(trial, shows_all=asked.all)


def _told(trial: Trial, *, shows_all: bool) -> int:
    """Report on a trial; the exit code."""
    if trial.refused is not None:
        _write(sys.stderr, f"{trial.refused.why}\n")
        return trial.refused.code
    claims = [noun for noun in ROWS if (trial.shares if noun == SHARING else not trial.lacks[noun])]
    told = trial.nouns | {each.fault for each in trial.results.values() if each.state == "fails"}
    rows = [noun for noun in ROWS if noun in told or not trial.nouns]
    not_claimed = [noun for noun in trial.nouns if noun not in claims]
    if not_claimed:
        _write(sys.stderr, f"{trial.adapter} does not claim {', '.join(sorted(not_claimed))}\n")
        return 2
    report = Report(
        [*trial.results.values()], claims, trial.lacks, rows, sorted(trial.given_up), not trial.was_stopped
    )
    _write(sys.stdout, "".join(f"{line}\n" for line in report.lines(shows_all=shows_all)))
    return 0 if report.holds() else 1


def _parser() -> argparse.ArgumentParser:
    _, about, exits = (__doc__ or "").strip().split("\n\n")
    parser = argparse.ArgumentParser(prog="python -m parity_tests", description=about, epilog=exits)
    parser.add_argument("--adapter", required=True, metavar=ADAPTER, help="what makes the adapter")
    parser.add_argument("--shares", action="store_true", help="claim that several on one path see one store")
    parser.add_argument(
        *("--noun",),
        action="append",
        default=[],
        choices=ROWS,
        metavar="NAME",
        help=f"try this noun alone, of {', '.join(ROWS)}; may be said several times",
    )
    parser.add_argument(
        *("--timeout",),
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long one test may take (10)",
    )
    parser.add_argument("-x", action="store_true", help="stop at the first failure")
    parser.add_argument("--all", action="store_true", help="show every failure, and all of it")
    parser.add_argument(
        *("--progress",),
        action=argparse.BooleanOptionalAction,
        help="tell how far it has come (where the errors go to a terminal)",
    )
    return parser


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not math.isfinite(seconds) or seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _write(stream: TextIO, text: str) -> None:
    """Write what the stream can show; the rest is escaped."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
