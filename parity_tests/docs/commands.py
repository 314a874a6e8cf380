"""What the documents tell people to type: what each command is, and running those that are ours."""

import contextlib
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from parity_tests.docs import pages

SCRIPTS = Path(sys.executable).parent
OURS = ("amfs-sqlite", "amfs-sqlite-mcp", "python")
CLIENTS = ("claude", "uvx")
MODULES = (
    "demo",
    "demo.scout",
    "demo.executor",
    "demo.transcript",
    "demo.amfs_bridge",
    "benchmarks.limit",
    "benchmarks.growth",
    "benchmarks.processes",
    "benchmarks.server",
    "benchmarks.peers",
    "benchmarks.sdk",
    "benchmarks.fuzz",
    "benchmarks.torture",
    "parity_tests",
    "parity_tests.docs.generate",
    "parity_tests.golden",
)
# How people get this project, and how they run what stands in a clone; neither is done by a test.
INSTALLERS = (("pip", "install"), ("pipx", "install"), ("uv", "tool", "install"))
IN_A_CLONE = (
    ("make",),
    ("python3", "dev.py"),
    ("py", "dev.py"),
    ("uv", "run", "--isolated", "--no-project", "dev.py"),
)
# What starts a server of ours: as it is, without being installed, or when a client wants it.
SERVERS = (("amfs-sqlite-mcp",), ("amfs-sqlite", "mcp"))
# The server of the AMFS Python SDK, which we start.
SDK_SERVER = ("amfs-sqlite", "run", "amfs-mcp-server")
# Changes the Python that runs the tests: a test of its own does it to another one.
HOOK = ("amfs-sqlite", "install-hook")
# Programs of the SDK, which do with the hook what they do when we run them.
SDK_PROGRAMS = ("amfs",)

# Where `make setup` puts them, as it is typed in a clone.
CLONE_SCRIPTS = ".venv/bin/"

_VARIABLE = re.compile(r"[A-Z][A-Z_]*=.*", re.DOTALL)
_HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "reader", "version": "1"},
}
LAST_ID = 1
_MESSAGES: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": _HANDSHAKE},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": LAST_ID, "method": "tools/list"},
)


class UnknownCommandError(AssertionError):
    """A command of which no test knows what it is."""


@dataclass(frozen=True)
class Command:
    """One command: the variables set before it, and its words."""

    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parsed(cls, line: str) -> "Command":
        """The command on a line."""
        words = shlex.split(line, comments=True)
        variables = []
        while words and _VARIABLE.fullmatch(words[0]):
            name, _, value = words.pop(0).partition("=")
            variables.append((name, value))
        words[:1] = [word.removeprefix(CLONE_SCRIPTS) for word in words[:1]]
        return cls(tuple(words), tuple(variables))

    def begins(self, *ways: tuple[str, ...]) -> tuple[str, ...] | None:
        """The words behind the first of these beginnings that it has."""
        for way in ways:
            if self.words[: len(way)] == way:
                return self.words[len(way) :]
        return None

    def only_asks(self) -> bool:
        """Whether the command answers at once instead of doing anything."""
        return any(word in ("--help", "--version") for word in self.words)

    def server(self) -> "Command | None":
        """The server that this command starts, or tells a client to start."""
        words = self.words
        if words[:3] == ("claude", "mcp", "add") and "--" in words:
            words = words[words.index("--") + 1 :]
        if words[:2] == ("uvx", "--from"):
            words = words[3:]
        started = Command(words, self.variables)
        return None if started.begins(*SERVERS, SDK_SERVER) is None else started


class Workshop:
    """A folder and a home of its own, where commands are run as on a machine with only ours on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "here"
        self.home = folder / "home"
        for each in (self.folder, self.home):
            each.mkdir()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MEMORY_", "AMFS_", "XDG_", "PIP_", "PYTHON")) and name != "AGENT_ID"
        }
        self.environment = kept | {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "LOCALAPPDATA": str(self.home / "AppData" / "Local"),
            "PATH": os.pathsep.join([str(SCRIPTS), os.environ.get("PATH", "")]),
            "PYTHONUTF8": "1",
            "COLUMNS": "100",
        }

    def run(self, command: Command) -> str:
        """What a command prints, which must end well; nothing where it is sent to a file."""
        words, target = command.words, None
        if words[-2:-1] == (">",):
            words, target = words[:-2], words[-1]
        done = subprocess.run(
            [program(words[0]), *words[1:]],
            cwd=self.folder,
            env=self.environment | dict(command.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), f"{shlex.join(command.words)}: {done.stderr}"
        if target is None:
            return done.stdout
        (self.folder / target).write_text(done.stdout, encoding="utf-8")
        return ""

    def tools(self, command: Command) -> list[str]:
        """The names of the tools that a server lists once it was started by this command."""
        with subprocess.Popen(
            [program(command.words[0]), *command.words[1:]],
            cwd=self.folder,
            env=self.environment | dict(command.variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as server:
            answer = _asked(server)
        assert answer is not None, f"{shlex.join(command.words)} does not serve"
        assert server.returncode == 0, f"{shlex.join(command.words)} ends with {server.returncode}"
        return [tool["name"] for tool in answer["result"]["tools"]]


def _asked(server: "subprocess.Popen[str]") -> dict[str, Any] | None:
    """What a server answers to the last message; None where it ends without an answer."""
    assert server.stdin is not None
    assert server.stdout is not None
    # Whether one that has ended already takes what it is sent is a race, and does not matter.
    with contextlib.suppress(BrokenPipeError):
        server.stdin.writelines(f"{json.dumps(each)}\n" for each in _MESSAGES)
        server.stdin.flush()
    answers = (json.loads(line) for line in server.stdout)
    found: dict[str, Any] | None = next((each for each in answers if each.get("id") == LAST_ID), None)
    with contextlib.suppress(BrokenPipeError):
        server.stdin.close()
    return found


def program(name: str) -> str:
    """The program of this name that stands beside the Python that runs the tests."""
    if name == "python":
        return sys.executable
    assert name in OURS, name
    found = shutil.which(name, path=str(SCRIPTS))
    if found is None:
        pytest.skip(f"{name} is not installed beside this Python: install the project first")
    return found


def installable() -> set[str]:
    """What the pages may have installed, in the folder of a clone: the project, alone or with one of its
    extras, and what the benchmarks draw with. Nothing of ours is asked for by its name: none is published.
    """
    extras = _project()["optional-dependencies"]
    return {".", *(f".[{extra}]" for extra in extras), *_names(extras["benchmarks"])}


def project_requirements() -> set[str]:
    """The names of the libraries that are installed with it."""
    return _names(_project()["dependencies"])


# What comes with the SDK, or is installed by who copies to where it leads.
BESIDE_THE_SDK = {"amfs_filesystem", "amfs_postgres", "psycopg", "amfs_adapter_http", "httpx"}


def optional_libraries() -> set[str]:
    """The libraries that the product uses where they are installed, by the names they are imported under."""
    extras = _project()["optional-dependencies"]
    named = _names([*extras["signing"], *extras["amfs"]])
    return {name.removesuffix("-core") for name in named} | BESIDE_THE_SDK


def project_targets() -> set[str]:
    """What `make` and `dev.py` can be asked for, which is the same."""
    makefile = (pages.ROOT / "Makefile").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^TARGETS := (.*)$", makefile, re.MULTILINE)
    known = set(runpy.run_path(str(pages.ROOT / "dev.py"))["COMMANDS"])
    assert set(listed.split()) == known
    return known


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~; \[]", each)[0] for each in requirements}


def _project() -> dict[str, Any]:
    document = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project: dict[str, Any] = document["project"]
    return project
