"""Writes down what the demos print: `python -m demo.transcript docs/demo-transcript.md`."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKET_ID = re.compile(r"\bh_[0-9a-f]{8}\b")
PLACE = re.compile(r"(?<=MEMORY_DB=).*(?=  # temporary)")
COMMAND = re.compile(r"(?<=^\$ ).*(?= (?:demo|log) --db demo\.db$)", re.MULTILINE)

DOCUMENT = """\
# What the demo prints

Two agents hand work over through one SQLite file, each in a process of its own: this is the whole
output of `python -m demo` (`make demo` in a clone). It is the same every time, but for the place of
the file, the ids of the packets, which are numbered here, and where the command at the end lies.

Made by `python -m demo.transcript docs/demo-transcript.md`; a test compares it with what the demo
prints.

```text
{output}```

## The same manner of work over AMFS's own interface

This is the whole output of `python -m demo.amfs_bridge`: a handoff through `AgentMemory`, under the
outcome policy of AMFS 0.3, on the reference adapter and on SQLite side by side.

```text
{bridge}```
"""


def printed(module: str) -> str:
    """What a demo prints. Raises CalledProcessError where it fails."""
    command = [sys.executable, "-m", module]
    done = subprocess.run(  # noqa: S603 - this interpreter, on this package
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="ascii", check=True
    )
    return done.stdout


def masked(output: str) -> str:
    """The output without what differs from run to run.

    >>> masked("packet h_1f4089bf, packet h_653f05f6, packet h_1f4089bf")
    'packet h_00000001, packet h_00000002, packet h_00000001'
    """
    ids = list(dict.fromkeys(PACKET_ID.findall(output)))
    numbered = PACKET_ID.sub(lambda found: f"h_{ids.index(found[0]) + 1:08}", output)
    placed = PLACE.sub("shared.db", numbered)
    return COMMAND.sub("amfs-sqlite", placed)


def document(output: str, bridge: str) -> str:
    """The transcript of what both demos print."""
    return DOCUMENT.format(output=masked(output), bridge=bridge)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the transcript to the file named; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m demo.transcript PATH", file=sys.stderr)
        return 2
    Path(given[0]).write_text(
        document(printed("demo"), printed("demo.amfs_bridge")), encoding="ascii", newline="\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
