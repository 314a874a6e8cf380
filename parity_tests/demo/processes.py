"""Starts the demo's programs as a user does, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import demo

ROOT = Path(demo.__file__).parents[1]


def started(
    *arguments: str, memory_db: Path | str | None = None, temporary: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m` with these arguments, run to its end; what it prints must be ASCII."""
    env = {name: value for name, value in os.environ.items() if name != "MEMORY_DB"}
    if memory_db is not None:
        env["MEMORY_DB"] = str(memory_db)
    if temporary is not None:
        env |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="ascii",
        check=False,
    )
