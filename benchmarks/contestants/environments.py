"""Environments for the contestants: made once from pinned versions, kept in the user's cache folder."""

import hashlib
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

TIMEOUT_S = 600.0
READY = "ready"
"""A file in an environment that is complete."""


class UnavailableError(Exception):
    """A contestant cannot take part; the message says why, in one line."""


def this_python() -> Path:
    """The interpreter of the benchmark itself."""
    return Path(sys.executable)


def python_with(requirements: Path) -> Path:
    """The interpreter of an environment with these requirements. Raises UnavailableError."""
    folder = _folder(requirements, platform.python_version())
    scripts = sysconfig.get_path("scripts", "venv", {"base": str(folder)})
    python = Path(scripts) / f"python{sysconfig.get_config_var('EXE') or ''}"
    if not (folder / READY).exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        install = ["-m", "pip", "install", "--disable-pip-version-check", "--requirement"]
        _run([str(python), *install, str(requirements)])
        (folder / READY).touch()
    return python


def node_modules(package: Path) -> Path:
    """A folder with what this ``package.json`` depends on. Raises UnavailableError."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise UnavailableError("Node.js with npm is needed, and is not on the PATH")
    folder = _folder(package, "node")
    if not (folder / READY).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copyfile(package, folder / "package.json")
        _run([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)])
        (folder / READY).touch()
    return folder


def _folder(pinned: Path, runtime: str) -> Path:
    """One for each set of pinned versions and each runtime."""
    digest = hashlib.sha256(pinned.read_bytes() + runtime.encode()).hexdigest()[:12]
    return user_cache_path("amfs-sqlite", appauthor=False) / "benchmarks" / f"{pinned.stem}-{digest}"


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise UnavailableError(f"its environment could not be set up: {failed}") from failed
    if done.returncode:
        raise UnavailableError(
            f"its environment could not be set up: {last_line(done.stderr or done.stdout)}"
        )


def last_line(text: str) -> str:
    r"""What a program said last, without the frame that Python draws around a group of errors.

    >>> last_line("Traceback\n  | ValueError: no\n  +------\n\n")
    'ValueError: no'
    """
    lines = [line.strip(" |+-") for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "no reason given")
