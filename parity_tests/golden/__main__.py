"""Replays a folder of recorded transcripts: `python -m parity_tests.golden DIR`.

Ends with 0 when every answer is the recorded one or explained by the ledger of deviations, on every adapter;
with 1 at the first that is not, naming file and step, what was expected, and what was got; with 2 when there
is nothing to replay.
"""

import asyncio
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from parity_tests.golden import adapters, transcript
from parity_tests.golden.replay import Report, replay

USAGE = "usage: python -m parity_tests.golden DIR"


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the folder named; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        return _said(USAGE, sys.stderr, 2)
    files = transcript.files(Path(given[0]))
    if not files:
        return _said(f"no transcripts (*.json) in {given[0]}", sys.stderr, 2)
    with _quiet():
        return _replay_all(files)


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


def _replay_all(files: Sequence[Path]) -> int:
    for path in files:
        try:
            found = transcript.load(path)
        except transcript.TranscriptError as unreadable:
            return _said(str(unreadable), sys.stderr, 2)
        rows: set[str] = set()
        for kind in adapters.KINDS:
            report = _replayed(found, kind)
            rows |= report.rows
            if report.difference is not None:
                return _said(f"{kind}: {report.difference}", sys.stdout, 1)
        _said(f"{path.name}: {len(found.steps)} steps, rows {', '.join(sorted(rows))}", sys.stdout, 0)
    return 0


def _replayed(found: transcript.Transcript, kind: str) -> Report:
    with TemporaryDirectory() as folder:
        return asyncio.run(replay(found, adapters.KINDS[kind](Path(folder))))


def _said(line: str, stream: TextIO, exit_code: int) -> int:
    stream.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
