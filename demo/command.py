"""How the command amfs-sqlite is typed where the demo was started."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

COMMAND = "amfs-sqlite"


def typed_command() -> str:
    """The command that belongs to this Python: by its name, its path, or as a module of it."""
    python = Path(sys.executable)
    script = shutil.which(COMMAND, path=str(python.parent))
    if script is None:
        return f"{_typed(python)} -m bridge.cli"
    found = shutil.which(COMMAND)
    return COMMAND if found and Path(found).samefile(script) else _typed(Path(script))


def _typed(program: Path) -> str:
    """A program as a shell takes it: from the current folder on, if it lies in a folder of that."""
    here = Path.cwd()
    shown = str(program.relative_to(here) if here in program.parent.parents else program)
    return subprocess.list2cmdline([shown]) if os.name == "nt" else shlex.quote(shown)
