"""Puts an adapter through the contract: `python -m parity_tests --adapter package.module:factory`.

The factory is called as `factory(path, *, namespace, outcomes, clock, ids)` and makes an adapter that
nobody has opened yet. The report says noun by noun what holds, what fails and what is not claimed; a noun
is claimed by implementing all of it.

The exit code is 0 if everything claimed holds, 1 if not, and 2 if there is no such adapter.
"""

import argparse
import sys

from parity_tests.conformance import report
from parity_tests.conformance.candidates import Candidate, CandidateError, found
from parity_tests.conformance.run import claims, lacks, run

ADAPTER = "package.module:factory"


def main(arguments: list[str] | None = None) -> int:
    """Try the adapter that the command line names, and report; the exit code."""
    _, about, exits = (__doc__ or "").strip().split("\n\n")
    parser = argparse.ArgumentParser(prog="python -m parity_tests", description=about, epilog=exits)
    parser.add_argument("--adapter", required=True, metavar=ADAPTER, help="what makes the adapter")
    parser.add_argument("--shares", action="store_true", help="claim that several on one path see one store")
    asked = parser.parse_args(arguments)
    try:
        candidate = Candidate(asked.adapter, found(asked.adapter), shares=asked.shares)
        missing, claimed = lacks(candidate), claims(candidate)
    except CandidateError as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    suite = run([candidate])
    if suite.broken:
        sys.stderr.write("\n".join(suite.broken) + "\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in report.lines(suite.results, claimed, missing)))
    return 0 if report.holds(suite.results, claimed) else 1


if __name__ == "__main__":
    sys.exit(main())
