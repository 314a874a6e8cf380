"""Starts programs as a user of the SDK does, in a folder of their own and away from any network."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

PATIENCE_S = 120.0
"""How long a program may take before a test gives up; nothing is asserted about time."""
TEST_PATIENCE_S = 300
"""How long a test may take that starts program after program, where others need the machine too."""

RUN = (sys.executable, "-m", "bridge.cli", "run")
CONFIGURATION = """\
namespace: team
layers:
  primary:
    adapter: sqlite
    options:
      path: memory.db
"""
# What the SDK, the command or a library would take for a setting of its own.
SETTINGS = ("AMFS_", "MEMORY_", "XDG_", "FASTMCP_", "HF_", "AGENT_ID", "NO_COLOR", "FORCE_COLOR", "PYTHON")


def needs(module: str, distribution: str) -> pytest.MarkDecorator:
    """A test that is left out where this program of the SDK is not installed."""
    return pytest.mark.skipif(
        find_spec(module) is None, reason=f"{distribution} is not installed: pip install {distribution}"
    )


class Place:
    """A folder to work in, and what a program started there has in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "here"
        self.home = folder / "home"
        for each in (self.folder, self.home):
            each.mkdir()
        (self.folder / "amfs.yaml").write_text(CONFIGURATION, encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
        self.environment = kept | {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "PYTHONUTF8": "1",
            "COLUMNS": "200",
            "NO_COLOR": "1",
            "AMFS_AGENT_ID": "scout",
            "HF_HUB_OFFLINE": "1",
        }

    @property
    def db(self) -> Path:
        """The file that the configuration names."""
        return self.folder / "memory.db"

    def started(self, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """A command that was run to its end, with nothing on its standard input."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )

    def said(self, *command: str) -> str:
        """What a command prints, which must end well and complain of nothing."""
        done = self.started(*command)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    @contextmanager
    def serving(self, *command: str) -> Iterator["Server"]:
        """A server that is killed at the end if it is still there, or once it takes too long."""
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        out_of_patience = threading.Timer(PATIENCE_S, process.kill)
        out_of_patience.start()
        server = Server(process)
        try:
            yield server
        finally:
            process.kill()
            out_of_patience.cancel()
            server.ended()


class Server:
    """A server in a process of its own, and what it says on standard error."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._said_more = threading.Condition()
        self._has_ended = False
        self._listener.start()

    def line_with(self, text: str) -> str:
        """The first line that holds this text, once it was said."""
        with self._said_more:
            self._said_more.wait_for(lambda: self._has_ended or self._found(text) is not None)
            found = self._found(text)
        assert found is not None, "".join(self.lines)
        return found

    def ended(self) -> int:
        """The exit code, once everything it had to say was read."""
        code = self.process.wait()
        self._listener.join()
        return code

    def _found(self, text: str) -> str | None:
        return next((line for line in self.lines if text in line), None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            for line in self.process.stderr:
                with self._said_more:
                    self.lines.append(line)
                    self._said_more.notify_all()
        with self._said_more:
            self._has_ended = True
            self._said_more.notify_all()
