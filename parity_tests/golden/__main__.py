"""Replays recorded transcripts: `python -m parity_tests.golden PATH`.

Ends with 0 when every answer is the recorded one or explained by the ledger of deviations, on every adapter;
with 1 at the first that is not, naming file, step and call, what was expected, what was answered, and why no
row of the ledger explains it; with 2 when there is nothing to replay, or what is there is no recording.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from parity_tests.golden import adapters, recordings
from parity_tests.golden.deviations import ROWS
from parity_tests.golden.replay import replay
from parity_tests.golden.report import Report, printable
from parity_tests.golden.transcript import Transcript, TranscriptError

DESCRIPTION = "Replays what AMFS 0.3 was recorded to answer on our adapters, and compares step by step."
ENDS = (
    "Ends with 0 when every answer is the recorded one or explained by a row of the ledger of deviations, "
    "with 1 at the first that is not, and with 2 when there is nothing to replay."
)


@dataclass
class Counts:
    """What was replayed so far."""

    files: int = 0
    steps: int = 0
    rows: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        rows = f"{len(self.rows)} of {len(ROWS)} rows exercised"
        named = f": {', '.join(sorted(self.rows))}" if self.rows else ""
        return f"{_counted(self.files, 'file')}, {_counted(self.steps, 'step')}, {rows}{named}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the file or folder named; the exit code."""
    given = _parser().parse_args(arguments)
    place: Path = given.path
    if not place.exists():
        return _refused(f"there is no file or folder {given.path}")
    files = recordings.files(place)
    if not files:
        return _refused(f"no recordings (*.json) in {given.path}")
    with _quiet():
        return _replay_all(files, is_quiet=given.quiet)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m parity_tests.golden", description=DESCRIPTION, epilog=ENDS)
    parser.add_argument("path", metavar="PATH", type=Path, help="a recording, or a folder of them (*.json)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no line for each file, only the last one")
    return parser


@contextmanager
def _quiet() -> Iterator[None]:
    """Callbacks that fail are part of transcripts; their log is not."""
    log = logging.getLogger("amfs_sqlite")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


def _replay_all(files: Sequence[Path], *, is_quiet: bool) -> int:
    counts = Counts()
    for path in files:
        try:
            found = recordings.load(path)
            for note in found.notes:
                _say(f"note: {path.name}: {note}", sys.stderr)
            is_met, rows = _is_met(found)
        except TranscriptError as refused:
            return _refused(str(refused))
        counts.rows |= rows
        if not is_met:
            _say(f"stopped after {counts}", sys.stdout)
            return 1
        counts.files += 1
        counts.steps += len(found.steps)
        if not is_quiet:
            named = ", ".join(sorted(rows)) or "none"
            _say(f"{path.name}: {_counted(len(found.steps), 'step')}, rows {named}", sys.stdout)
    _say(f"met: {counts}", sys.stdout)
    return 0


def _is_met(found: Transcript) -> tuple[bool, set[str]]:
    """Whether every adapter meets a transcript, and the rows that were needed; tells the first difference."""
    rows: set[str] = set()
    for kind in adapters.KINDS:
        report = _replayed(found, kind)
        rows |= report.rows
        if report.difference is not None:
            for line in report.difference.told(kind):
                _say(line, sys.stdout)
            return False, rows
    return True, rows


def _replayed(found: Transcript, kind: str) -> Report:
    with TemporaryDirectory() as folder:
        return asyncio.run(replay(found, adapters.KINDS[kind](Path(folder))))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _refused(line: str) -> int:
    _say(line, sys.stderr)
    return 2


def _say(line: str, stream: TextIO) -> None:
    stream.write(printable(line) + "\n")


if __name__ == "__main__":
    sys.exit(main())
