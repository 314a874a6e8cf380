"""How much memory a process holds: from /proc where there is one, else from `ps`, else unknown."""

import os
import shutil
import subprocess
from pathlib import Path

PROC = Path("/proc")


def resident_bytes(pid: int) -> int | None:
    """All pages of the process that are in memory, those of libraries and mapped files included."""
    return _status_bytes(pid, "VmRSS:") if _has_proc() else _ps_bytes(pid)


def private_bytes(pid: int) -> int | None:
    """What the process allocated: a mapped database counts only where /proc does not tell it apart."""
    return _status_bytes(pid, "RssAnon:") if _has_proc() else _ps_bytes(pid)


def child_processes() -> set[int]:
    """The ids of this process' children; none where nothing tells."""
    if _has_proc():
        threads = (PROC / "self" / "task").iterdir()
        lines = [(thread / "children").read_text(encoding="ascii") for thread in threads]
        return {int(pid) for line in lines for pid in line.split()}
    lines = _ps("-A", "-o", "pid=,ppid=").splitlines()
    pairs = [line.split() for line in lines]
    return {int(pid) for pid, parent in pairs if int(parent) == os.getpid()}


def megabytes(count: float | None) -> str:
    """A number of bytes for a table.

    >>> megabytes(12_345_678), megabytes(None)
    ('12.3 MB', '-')
    """
    return "-" if count is None else f"{count / 1e6:.1f} MB"


def _has_proc() -> bool:
    return (PROC / "self" / "status").exists()


def _status_bytes(pid: int, field: str) -> int | None:
    lines = (PROC / str(pid) / "status").read_text(encoding="utf-8").splitlines()
    found = [line.split()[1] for line in lines if line.startswith(field)]
    return int(found[0]) * 1024 if found else None


def _ps_bytes(pid: int) -> int | None:
    found = _ps("-o", "rss=", "-p", str(pid)).strip()
    return int(found) * 1024 if found else None


def _ps(*arguments: str) -> str:
    if shutil.which("ps") is None:
        return ""
    return subprocess.run(["ps", *arguments], capture_output=True, text=True, check=True).stdout
