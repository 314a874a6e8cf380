"""A server in a process of its own that is sent such lines, and what must hold: it answers, and serves on."""

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

from parity_tests.fuzzing.lines import Line

FOUND = Path(__file__).with_name("found.jsonl")
"""Lines that a server once failed on, or that are hard on one: each a name, and lines in base64."""

SERVER = (sys.executable, "-m", "bridge.mcp_server")

PATIENCE_S = 50.0
MOST_DIGITS = 4_000
MOST_MEMORY_BYTES = 1024 * 1024 * 1024
HANDSHAKE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "fuzz", "version": "1"},
    },
}


class BrokenServerError(AssertionError):
    """What does not hold, and the lines that were sent since it last did."""

    def __init__(self, problem: str, lines: Sequence[bytes]) -> None:
        self.problem = problem
        self.lines = tuple(lines)
        super().__init__(problem)


class Visit:
    """A server, and this side of its pipes."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stdin: IO[bytes] = process.stdin
        self._said: Queue[bytes | None] = Queue()
        self._complaints: list[bytes] = []
        self._probe = 0
        self._readers = [
            threading.Thread(target=_read, args=(process.stdout, self._said.put), daemon=True),
            threading.Thread(target=_read, args=(process.stderr, self._complained), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def greet(self) -> None:
        """Open the session."""
        self._send([json.dumps(HANDSHAKE).encode()])
        self._await({"hello"}, [])
        self._send([b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'])

    def send(self, lines: Sequence[Line]) -> None:
        """Send these, and see that all that must be answered is, and that the server still serves.

        Raises BrokenServerError.
        """
        contents = [line.content for line in lines]
        self._probe += 1
        probe = f"probe-{self._probe}"
        asked = json.dumps({"jsonrpc": "2.0", "id": probe, "method": "ping", "params": {}}).encode()
        try:
            self._send([*contents, asked])
        except OSError as gone:
            raise BrokenServerError(f"the server is gone: {self._told()}", contents) from gone
        self._await({probe, *(line.answered for line in lines if line.answered is not None)}, contents)
        self._check(contents)

    def leave(self) -> None:
        """End the input: the server must end well."""
        self._stdin.close()
        code = self._process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        self._check([])
        if code:
            raise BrokenServerError(f"the server ended with {code}: {self._told()}", [])

    def end(self) -> None:
        """Kill it, whatever it does, and hear all that it said."""
        self._process.kill()
        for reader in self._readers:
            reader.join(PATIENCE_S)

    def _send(self, lines: Iterable[bytes]) -> None:
        content = b"".join(line + b"\n" for line in lines)
        self._stdin.write(content)
        self._stdin.flush()

    def _await(self, wanted: set[int | str], lines: Sequence[bytes]) -> None:
        missing = set(wanted)
        while missing:
            try:
                said = self._said.get(timeout=PATIENCE_S)
            except Empty:
                problem = f"no answer to {sorted(map(str, missing))[:5]} within {PATIENCE_S:g} s"
                raise BrokenServerError(problem, lines) from None
            if said is None:
                raise BrokenServerError(f"the server ended: {self._told()}", lines)
            try:
                message = json.loads(said, parse_int=_whole)
            except ValueError:
                raise BrokenServerError(f"a line that is no JSON: {said[:200]!r}", lines) from None
            if message.get("jsonrpc") != "2.0":
                raise BrokenServerError(f"a line that is no message: {said[:200]!r}", lines)
            if isinstance(message.get("id"), int | str):
                missing.discard(message["id"])

    def _check(self, lines: Sequence[bytes]) -> None:
        if "Traceback" in self._told():
            raise BrokenServerError(f"a traceback: {self._told()[-2000:]}", lines)
        if (size := _memory_bytes(self._process.pid)) > MOST_MEMORY_BYTES:
            raise BrokenServerError(f"the server holds {size} bytes", lines)

    def _told(self) -> str:
        return b"".join(self._complaints).decode(errors="replace")

    def _complained(self, line: bytes | None) -> None:
        if line is not None:
            self._complaints.append(line)


@contextmanager
def visit(db: Path, command: Sequence[str] = SERVER) -> Iterator[Visit]:
    """A server on this file, greeted; killed at the end if it is still there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")}
    with subprocess.Popen(
        [*command, "--db", str(db), "--agent", "fuzz", "--durability", "normal"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=kept,
    ) as process:
        visited = Visit(process)
        try:
            visited.greet()
            yield visited
        finally:
            visited.end()


def found() -> list[tuple[str, list[Line]]]:
    """What is kept there."""
    kept = [json.loads(each) for each in FOUND.read_text(encoding="ascii").splitlines()]
    return [(each["name"], [Line(base64.b64decode(line)) for line in each["lines"]]) for each in kept]


def spelled(name: str, lines: Sequence[bytes]) -> str:
    """The same as it is kept: one line of JSON."""
    return json.dumps({"name": name, "lines": [base64.b64encode(line).decode() for line in lines]})


def _whole(digits: str) -> int | str:
    """An id comes back as it was sent, with more digits than Python may read as a number."""
    return int(digits) if len(digits) < MOST_DIGITS else digits


def _read(stream: IO[bytes], tell: Any) -> None:
    for line in stream:
        tell(line)
    tell(None)


def _memory_bytes(pid: int) -> int:
    """What the process holds in memory; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
