#!/usr/bin/env python3
"""Sets up a clone of amfs-sqlite and runs its checks, on Linux, macOS and Windows.

It needs nothing but Python itself: `python3 dev.py` lists what it does.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Older Pythons must come as far as this line, so nothing in this file may be syntax that
# Python 3.6 cannot read.
if sys.version_info < (3, 11):  # noqa: UP036 - for those who run it with an older one
    sys.exit(
        "amfs-sqlite needs Python 3.11 or newer, and this is Python "
        + sys.version.split()[0]
        + ": run dev.py with a newer one, or `make setup PYTHON=python3.13`"
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
# Run from inside the environment it is about to replace, it needs the Python behind that one.
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)
STAMP = VENV / "setup-finished"
LOCK = ROOT / "requirements.txt"
PACKAGES = ("amfs_sqlite", "bridge", "demo", "parity_tests")
UV = "uv==0.13.9"
# The suite mostly waits for the disk and for programs it starts, so every core has a part of it.
ON_ALL_CORES = ("--numprocesses", "auto", "--dist", "worksteal")

# Settings of pip that say where packages come from are the user's own to make. All others are
# left out: PIP_TARGET or PIP_REQUIRE_HASHES, say, would bend what is installed here, and how.
PIP_KEPT = {
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_NO_CACHE_DIR",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_TRUSTED_HOST",
}
DROPPED = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}


def setup() -> None:
    """Make .venv with all that the lock names and this project, editable."""
    state = _state()
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == state and _python(VENV).exists():
        return
    _say(f"setting up {VENV}")
    # The stamp goes first and comes last: a setup that is stopped on its way leaves none.
    STAMP.unlink(missing_ok=True)
    _remove(VENV)
    _make_venv(VENV)
    _install(VENV, "--no-build-isolation", "--editable", str(ROOT))
    STAMP.write_text(state, encoding="utf-8")


def demo(*args: str) -> None:
    """Run the demo; more arguments go to it."""
    setup()
    _run(_python(VENV), "-I", "-m", "demo", *args)


def test(*args: str) -> None:
    """Run the tests on all cores; more arguments go to pytest, `-n 0` for one process."""
    setup()
    _run(_python(VENV), "-I", "-m", "pytest", *ON_ALL_CORES, *args)


def soak(*args: str) -> None:
    """Compare the adapters for thousands of long runs, always new ones; more arguments go to pytest."""
    setup()
    profile = ("--hypothesis-profile", "soak", "--timeout", "0")
    _run(_python(VENV), "-I", "-m", "pytest", "parity_tests/properties", *profile, *args)


def lint() -> None:
    """Check style, format and types."""
    setup()
    checks = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",))
    # All of them run, so that one run shows everything that is wrong.
    failed = [check for check in checks if not _succeeds(_python(VENV), "-I", "-m", *check)]
    if failed:
        sys.exit("failed: " + ", ".join(" ".join(check) for check in failed))


def lock(*args: str) -> None:
    """Renew requirements.txt from pyproject.toml; `--upgrade` takes the newest versions."""
    with tempfile.TemporaryDirectory() as folder:
        # Not in .venv: a lock that cannot be installed must not stand in the way of a new one.
        venv = Path(folder) / "venv"
        _run(BASE_PYTHON, "-I", "-m", "venv", venv)
        _pip(venv, UV)
        # One lock for all systems and Python versions; written anew, but its pins are kept
        # unless they no longer fit or an upgrade was asked for.
        command = ["uv", "pip", "compile", "--universal", "--python-version", "3.11"]
        command += ["--generate-hashes", "--extra", "parity", "--extra", "amfs", "--group", "dev", "--quiet"]
        command += ["--custom-compile-command", "make lock", "--output-file", LOCK.name]
        _run(_python(venv), "-I", "-m", *command, "pyproject.toml", *args)


def wheel_test() -> None:
    """Build sdist and wheel, and run the tests against the wheel, away from the sources."""
    setup()
    with tempfile.TemporaryDirectory() as folder:
        dist, venv, empty = (Path(folder) / name for name in ("dist", "venv", "empty"))
        empty.mkdir()
        # The wheel is built from the unpacked sdist, so this checks both.
        _run(_python(VENV), "-I", "-m", "build", "--no-isolation", "--outdir", dist, ROOT)
        (wheel,) = dist.glob("*.whl")
        _make_venv(venv)
        _install(venv, str(wheel))
        _check_installed(venv, empty)
        # Outside the clone pyproject.toml does not say these two.
        strict = ("-W", "error", "--timeout", "60")
        _run(_python(venv), "-m", "pytest", "--pyargs", "parity_tests", *ON_ALL_CORES, *strict, cwd=empty)


def clean() -> None:
    """Remove .venv, what builds left behind and caches."""
    STAMP.unlink(missing_ok=True)
    leftovers = [".venv", "build", "dist", "*.egg-info", ".coverage", "htmlcov", "__pycache__"]
    leftovers += [".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"]
    leftovers += [f"{package}/**/__pycache__" for package in PACKAGES]
    for pattern in leftovers:
        for path in list(ROOT.glob(pattern)):
            _remove(path)


def _state() -> str:
    """What a setup depends on: when one of these changes, it is done anew."""
    digest = hashlib.sha256()
    for part in (LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes()):
        digest.update(hashlib.sha256(part).digest())
    # A virtual environment holds paths, so one that was moved with its clone no longer works.
    digest.update(f"{sys.version}\n{ROOT}".encode())
    return digest.hexdigest()


def _make_venv(venv: Path) -> None:
    """Make a virtual environment that holds what the lock names."""
    _run(BASE_PYTHON, "-I", "-m", "venv", venv)
    _pip(venv, "--require-hashes", "--requirement", str(LOCK))


def _install(venv: Path, *project: str) -> None:
    """Install this project on top of the lock, which must hold all that it needs."""
    _pip(venv, "--no-deps", *project)
    _run(_python(venv), "-I", "-m", "pip", "check", "--quiet")


def _pip(venv: Path, *args: str) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    _run(_python(venv), "-I", "-m", "pip", "install", *quiet, *args)


def _check_installed(venv: Path, cwd: Path) -> None:
    """Stop unless all packages come from this environment, and not from the clone."""
    code = (
        "import importlib, pathlib, sys\n"
        "venv = pathlib.Path(sys.prefix).resolve()\n"
        "for name in sys.argv[1:]:\n"
        "    found = pathlib.Path(importlib.import_module(name).__file__).resolve()\n"
        "    assert venv in found.parents, f'{found} is not in {venv}'\n"
    )
    _run(_python(venv), "-c", code, *PACKAGES, cwd=cwd)


def _python(venv: Path) -> Path:
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def _run(*command: object, cwd: Path = ROOT) -> None:
    """Run a program, and end with its exit code if it fails."""
    code = _call(command, cwd)
    if code:
        _say("failed: " + " ".join(str(part) for part in command[:6]))
        sys.exit(code)


def _succeeds(*command: object) -> bool:
    return _call(command, ROOT) == 0


def _call(command: "tuple[object, ...]", cwd: Path) -> int:
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in DROPPED and (not name.startswith("PIP_") or name in PIP_KEPT)
    }
    return subprocess.run([str(part) for part in command], cwd=cwd, env=env, check=False).returncode


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _say(text: str) -> None:
    # Flushed, so that it stands before what a program started after it prints.
    print(text, flush=True)


COMMANDS = {
    "setup": setup,
    "demo": demo,
    "test": test,
    "soak": soak,
    "lint": lint,
    "lock": lock,
    "wheel-test": wheel_test,
    "clean": clean,
}
TAKES_ARGUMENTS = {"demo", "test", "soak", "lock"}


def main() -> None:
    """Run the subcommand that the command line names."""
    name, args = (sys.argv[1] if len(sys.argv) > 1 else "help"), sys.argv[2:]
    command = COMMANDS.get(name)
    if command is None or (args and name not in TAKES_ARGUMENTS):
        lines = [f"  {key:<12}{function.__doc__}" for key, function in COMMANDS.items()]
        _say("\n".join(["usage: python3 dev.py COMMAND", "", *lines]))
        sys.exit(0 if name in {"help", "-h", "--help"} else 2)
    try:
        command(*args)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
