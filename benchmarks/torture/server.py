"""The MCP server: killed between request and answer, visited by hundreds, fed with what is no message."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.memory import megabytes, resident_bytes
from benchmarks.torture.checking import examine
from benchmarks.torture.crew import PATIENCE_S, HangingError
from benchmarks.torture.rounds import Round, Scenario

KILLS = 3
PIPELINED = 5
SESSIONS = 4
OVERLONG_BYTES = 70_000_000
LONG_BYTES = 60_000_000
GARBAGE_LINES = 1000
MOST_GROWTH_BYTES = 400_000_000
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "torture", "version": "1"},
}


class ServerPipes:
    """A server on this file, and our ends of its pipes; what it says is read as it comes."""

    def __init__(self, path: Path, agent: str) -> None:
        command = [sys.executable, "-m", "bridge.mcp_server", "--db", str(path), "--agent", agent]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._heard: queue.Queue[bytes | None] = queue.Queue()
        self._answers: dict[object, dict[str, Any]] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def greet(self) -> None:
        """Open the session. Raises HangingError."""
        self.send({"id": 0, "method": "initialize", "params": HANDSHAKE})
        self.answer(0)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        """A message."""
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_line(self, line: bytes) -> None:
        """Any bytes as a line."""
        if self.process.stdin is not None:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def remember(self, identifier: int, mark: str) -> None:
        """Ask for a record with this word to be stored, safely to be asked again."""
        arguments = {
            "scope": "served",
            "key": f"k{identifier % 7}",
            "value_json": json.dumps({"mark": mark}),
            "idempotency_key": mark,
        }
        params = {"name": "remember", "arguments": arguments}
        self.send({"id": identifier, "method": "tools/call", "params": params})

    def answer(self, identifier: object) -> dict[str, Any]:
        """The answer to the request of this id. Raises HangingError where none comes."""
        while identifier not in self._answers:
            try:
                line = self._heard.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise HangingError(f"no answer to {identifier} within {PATIENCE_S:.0f} s") from None
            if line is None:
                raise HangingError(f"the server ended before it answered {identifier}")
            self._take(line)
        return self._answers.pop(identifier)

    def hear_within(self, seconds: float) -> None:
        """Hear what it says next, if it says it before this much time is over."""
        try:
            line = self._heard.get(timeout=seconds)
        except queue.Empty:
            return
        if line is not None:
            self._take(line)

    def kill(self) -> set[object]:
        """End it at once; the ids of what it had answered."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        while (line := self._heard.get(timeout=PATIENCE_S)) is not None:
            self._take(line)
        return {each for each, answer in self._answers.items() if is_done(answer)}

    def leave(self) -> int:
        """End its input; its exit code. Raises subprocess.TimeoutExpired."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """Nothing of it is left."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # What was still to be sent goes nowhere.
                    pipe.close()

    def _take(self, line: bytes) -> None:
        message = json.loads(line)
        if "id" in message:
            self._answers[message["id"]] = message

    def _listen(self) -> None:
        if self.process.stdout is not None:
            for line in self.process.stdout:
                if line.endswith(b"\n"):  # What a killed one began to say was not said.
                    self._heard.put(line)
        self._heard.put(None)


def is_done(answer: dict[str, Any]) -> bool:
    """Whether an answer says that it was done."""
    return "result" in answer and not answer["result"].get("isError")


@contextmanager
def serving(path: Path, agent: str) -> Iterator[ServerPipes]:
    """A greeted server, killed at the end if it is still there."""
    server = ServerPipes(path, agent)
    try:
        server.greet()
        yield server
    finally:
        server.close()


def kills(round_: Round) -> None:
    """Kill the server at a random moment after several requests; ask the next one for them again."""
    asked: dict[int, str] = {}
    answered: set[object] = set()
    rounds = round_.times(KILLS)
    for number in range(rounds):
        with serving(round_.path, "agent") as server:
            for identifier, mark in asked.items():
                if identifier not in answered:
                    server.remember(identifier, mark)
                    if not is_done(answer := server.answer(identifier)):
                        round_.fault(f"asked again, {mark} was not stored: {answer}")
                    answered.add(identifier)
            if number == rounds - 1:
                break
            new = range(len(asked) + 1, len(asked) + PIPELINED + 1)
            for identifier in new:
                asked[identifier] = f"m{identifier}x{number}"
                server.remember(identifier, asked[identifier])
            for identifier in new[: round_.chance.randrange(PIPELINED)]:
                server.answer(identifier)
                answered.add(identifier)
            server.hear_within(round_.chance.uniform(0, 0.008))
            answered |= server.kill()
            round_.tally.rounds += 1
    _count(round_, [asked[each] for each in sorted(asked)])


def sessions(round_: Round) -> None:
    """Four sessions at once, each with one request, each ended by the end of its input."""
    servers = [ServerPipes(round_.path, f"agent-{each}") for each in range(round_.times(SESSIONS))]
    marks = [f"s{each}" for each in range(len(servers))]
    try:
        for server in servers:
            server.greet()
        for number, (server, mark) in enumerate(zip(servers, marks, strict=True), 1):
            server.remember(number, mark)
        for number, server in enumerate(servers, 1):
            if not is_done(answer := server.answer(number)):
                round_.fault(f"a session was not answered: {answer}")
        for server in servers:
            round_.tally.rounds += 1
            if (code := server.leave()) != 0:
                round_.fault(f"a session ended with {code}")
    finally:
        for server in servers:
            server.close()
    _count(round_, marks)


def garbage(round_: Round) -> None:
    """Lines that are no messages, and some above 60 MB: each costs bounded memory, and it goes on serving."""
    with serving(round_.path, "agent") as server:
        server.remember(1, "before")
        server.answer(1)
        before = resident_bytes(server.process.pid)
        for _ in range(GARBAGE_LINES):
            server.send_line(round_.chance.randbytes(round_.chance.randint(0, 300)).replace(b"\n", b""))
        for identifier, size in ((2, OVERLONG_BYTES), (3, LONG_BYTES)):
            server.send_line(_long_request(identifier, size))
            if is_done(server.answer(identifier)):
                round_.fault(f"a request of {size:,} bytes was taken")
        server.remember(4, "afterwards")
        if not is_done(answer := server.answer(4)):
            round_.fault(f"it does not serve any more: {answer}")
        after = resident_bytes(server.process.pid)
        if (code := server.leave()) != 0:
            round_.fault(f"it ended with {code}")
    round_.tally.rounds += 1
    round_.tally.refused += 2
    round_.tally.notes[f"memory before and after: {megabytes(before)}, {megabytes(after)}"] += 1
    if before is not None and after is not None and after - before > MOST_GROWTH_BYTES:
        round_.fault(f"it holds {megabytes(after)} after long lines, {megabytes(before)} before")
    _count(round_, ["before", "afterwards"])


def _long_request(identifier: int, size: int) -> bytes:
    head = (
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"remember","arguments":'
        % identifier
    )
    return head + b'{"scope":"s","key":"long","value":"' + b"x" * size + b'"}}}'


def _count(round_: Round, marks: list[str]) -> None:
    """Hold the store to the words that were acknowledged, all of them at the end."""
    examined = examine(round_.path)
    there = [mark for *_, mark in examined.versions]
    tally = round_.tally
    tally.acknowledged += len(marks)
    tally.lost += len(set(marks) - set(there))
    tally.doubled += len(there) - len(set(there))
    for problem in examined.problems:
        round_.fault(problem)


SCENARIOS = (
    Scenario("server: kills", "Kill the MCP server between request and answer, ask again.", 30, 1, kills),
    Scenario("server: sessions", "Four sessions over stdio at once, again and again.", 50, 1, sessions),
    Scenario("server: garbage", "Lines that are no messages, and lines of 60 and 70 MB.", 3, 1, garbage),
)
