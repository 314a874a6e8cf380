"""Servers in processes of their own, at the other end of two pipes."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

PATIENCE_S = 50.0
"""How long anything may take before a test gives up; nothing is asserted about time."""

MAX_LINE_BYTES = 10_000_000
COMMAND = (sys.executable, "-m", "bridge.mcp_server")
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def environment(**more: str) -> dict[str, str]:
    """This process' environment without what would be settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MEMORY_") and name != "AGENT_ID"
    }
    return kept | more


class ServerProcess:
    """A server, and this side of its pipes; every line it says is held to be a message."""

    def __init__(self, process: Process, era: str) -> None:
        self.process = process
        self.era = era
        self.complaints = ""
        self._lines: BufferedByteReceiveStream | None = None
        if process.stdout is not None:
            self._lines = BufferedByteReceiveStream(process.stdout)
        self._answers: dict[object, dict[str, Any]] = {}
        self._next_id = 1000

    async def greet(self) -> None:
        """Open the session, and see that it is."""
        await self.open()
        assert "result" in await self.answer(0)

    async def open(self) -> None:
        """Say what opens a session in this era."""
        if self.era == "legacy":
            await self.send(self.request(0, "initialize", HANDSHAKE))
            await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            await self.send(self.request(0, "server/discover", {}))

    def request(self, identifier: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """A request as the era has it."""
        meta = {} if self.era == "legacy" else {"_meta": ENVELOPE}
        return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {**params, **meta}}

    async def send(self, message: Mapping[str, Any] | bytes) -> None:
        """A message, or a line of any bytes."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        await self.process.stdin.send(line + b"\n")

    async def ask(self, tool: str, **arguments: Any) -> int:
        """Send a call and return its id, without waiting for the answer."""
        self._next_id += 1
        params = {"name": tool, "arguments": arguments}
        await self.send(self.request(self._next_id, "tools/call", params))
        return self._next_id

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text that a tool answers, which must be no error."""
        answer = await self.answer(await self.ask(tool, **arguments))
        assert not answer["result"].get("isError"), answer
        text: str = answer["result"]["content"][0]["text"]
        return text

    async def answer(self, identifier: object) -> dict[str, Any]:
        """The answer to the request of this id."""
        while identifier not in self._answers:
            await self.read_message()
        return self._answers.pop(identifier)

    async def read_message(self) -> dict[str, Any]:
        """The next message; kept for ``answer`` if it is one."""
        assert self._lines is not None
        with anyio.fail_after(PATIENCE_S):
            line = await self._lines.receive_until(b"\n", MAX_LINE_BYTES)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "id" in message:
            assert message["id"] not in self._answers
            self._answers[message["id"]] = message
        return message

    async def leave(self) -> int:
        """End the input; see the process through to its end."""
        assert self.process.stdin is not None
        await self.process.stdin.aclose()
        return await self.ended()

    async def ended(self) -> int:
        """The exit code, once everything it still had to say was read."""
        assert self._lines is not None
        with anyio.fail_after(PATIENCE_S):
            with contextlib.suppress(anyio.IncompleteRead):
                while True:
                    await self.read_message()
            assert self._lines.buffer == b""
            return await self.process.wait()

    def answers(self) -> dict[object, dict[str, Any]]:
        """The answers that nobody asked for yet."""
        return self._answers


@asynccontextmanager
async def server(
    db: Path | str,
    *options: str,
    era: str = "legacy",
    variables: Mapping[str, str] | None = None,
    greet: bool = True,
    stdout: int = subprocess.PIPE,
) -> AsyncIterator[ServerProcess]:
    """A server on this file, which is killed at the end if it is still there.

    ``stdout`` is a descriptor of the test's own for what the server says; nobody is greeted then.
    """
    process = await anyio.open_process(
        [*COMMAND, "--db", str(db), *options],
        env=environment(**(variables or {})),
        stdout=stdout,
        stderr=subprocess.PIPE,
    )
    served = ServerProcess(process, era)
    try:
        async with anyio.create_task_group() as reading:
            assert process.stderr is not None
            reading.start_soon(_listen, process.stderr, served)
            if greet and stdout == subprocess.PIPE:
                await served.greet()
            yield served
            if process.returncode is None:
                process.kill()
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def _listen(complaints: ByteReceiveStream, served: ServerProcess) -> None:
    async for chunk in complaints:
        served.complaints += chunk.decode("utf-8", "replace")
