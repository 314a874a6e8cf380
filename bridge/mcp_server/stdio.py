"""One client on standard input and output: lines of JSON in, lines of JSON out.

In place of the SDK's transport, for three things: every request id gets an answer, a line has a
limit, and the end of input or a signal ends the process without a thread that cannot be woken.
"""

import json
import logging
import os
import select
import stat
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic_core import PydanticSerializationError

from bridge.mcp_server.lines import LineSplitter, OverlongLine
from bridge.mcp_server.screening import Refusal, Unreadable, screened

CHUNK_BYTES = 64 * 1024
# From the end of input on: how long what was asked before may still take, and then how long
# its answers may take to go out.
DRAIN_S = 1.5
FLUSH_S = 0.5

logger = logging.getLogger(__name__)

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


def claim_standard_streams() -> tuple[int, int]:
    """Take standard input and output for the client; whatever else prints goes to standard error.

    Returns the descriptors to read from and to write to. Raises OSError where one is closed.
    """
    source, sink = os.dup(0), os.dup(1)
    if sys.platform != "win32":
        # A client may share pipes that do not block with us; a thread of ours waits for each.
        os.set_blocking(source, True)
        os.set_blocking(sink, True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere if sys.stderr is None else 2, 1)
    os.close(nowhere)
    return source, sink


@asynccontextmanager
async def connected(source: int, sink: int, stop: anyio.Event) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The streams to serve one client over.

    ``stop`` ends the input, whoever sets it; the end of the input and a client that is gone set it
    too. Then what was asked before is answered, for DRAIN_S at most, and the incoming stream ends.
    """
    wire = _Wire(source, sink, stop)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.receive)
        tasks.start_soon(wire.send)
        yield wire.incoming, wire.outgoing
        with anyio.move_on_after(FLUSH_S):
            await wire.sent.wait()
        tasks.cancel_scope.cancel()


class _Wire:
    def __init__(self, source: int, sink: int, stop: anyio.Event) -> None:
        self.sent = anyio.Event()
        self._source = source
        self._sink = sink
        self._stop = stop
        self._received, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        self._refused, self._leaving = anyio.create_memory_object_stream[SessionMessage | Refusal]()
        self.outgoing: Outgoing = self._refused.clone()
        self._unanswered: set[RequestId] = set()
        self._settled = anyio.Event()
        self._unreadable_count = 0
        self._client_is_gone = False

    async def receive(self) -> None:
        """Pass on what comes in until it ends or is to end, and wait for the answers due."""
        async with self._received, self._refused:
            async with anyio.create_task_group() as reading:
                reading.start_soon(self._read)
                await self._stop.wait()
                reading.cancel_scope.cancel()
            with anyio.move_on_after(DRAIN_S):
                while self._unanswered:
                    self._settled = anyio.Event()
                    await self._settled.wait()

    async def send(self) -> None:
        """Write out what the server answers until it has no more."""
        async with self._leaving:
            async for item in self._leaving:
                await self._write(_encoded(item))
                if isinstance(item, SessionMessage):
                    self._settle(getattr(item.message, "id", None))
        self.sent.set()

    async def _read(self) -> None:
        arriving, chunks = anyio.create_memory_object_stream[bytes]()
        # A daemon of our own, since nothing can wake a thread that reads: it must not be waited for.
        threading.Thread(
            target=_pump,
            args=(self._source, arriving, anyio.lowlevel.current_token()),
            name="standard input",
            daemon=True,
        ).start()
        lines = LineSplitter()
        async with chunks:
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    await self._take(line)
            await self._take(lines.rest())
        self._stop.set()

    async def _take(self, line: bytes | OverlongLine) -> None:
        if isinstance(line, bytes) and not line.strip():
            return
        message = screened(line)
        if not isinstance(message, Unreadable):
            await self._pass_on(message)
            return
        self._unreadable_count += 1
        # Not every one: a client that does not read standard error must not stop us with it.
        if self._unreadable_count & (self._unreadable_count - 1) == 0:
            count = self._unreadable_count
            logger.warning("a line of input is no message: %s (%d so far)", message.reason, count)
        for refusal in message.refusals:
            await self._refused.send(refusal)

    async def _pass_on(self, message: JSONRPCMessage) -> None:
        asked: RequestId | None = None
        # A listener's request stays open for as long as the client listens: nobody waits for it.
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            asked = message.id
            self._unanswered.add(asked)
        elif getattr(message, "method", None) == "notifications/cancelled":
            self._settle((getattr(message, "params", None) or {}).get("requestId"))
        try:
            await self._received.send(SessionMessage(message))
        except BaseException:
            self._settle(asked)
            raise

    def _settle(self, identifier: object) -> None:
        if isinstance(identifier, str | int):
            self._unanswered.discard(identifier)
            self._settled.set()

    async def _write(self, line: bytes) -> None:
        if self._client_is_gone:
            return
        try:
            if _is_taken_at_once(self._sink, line):
                _write_all(self._sink, line)
            else:
                await anyio.to_thread.run_sync(_write_all, self._sink, line, abandon_on_cancel=True)
        except OSError as gone:
            logger.info("the client is gone: %s", gone)
            self._client_is_gone = True
            self._stop.set()


def _pump(source: int, chunks: MemoryObjectSendStream[bytes], token: anyio.lowlevel.EventLoopToken) -> None:
    """Runs in a thread: hand on what can be read, no faster than it is taken."""
    try:
        try:
            while chunk := os.read(source, CHUNK_BYTES):
                anyio.from_thread.run(chunks.send, chunk, token=token)
        except OSError as broken:
            logger.warning("standard input cannot be read any more: %s", broken)
        anyio.from_thread.run_sync(chunks.close, token=token)
    except (anyio.BrokenResourceError, anyio.RunFinishedError, CancelledError):
        logger.debug("nobody takes the input any more")


def _is_taken_at_once(sink: int, line: bytes) -> bool:
    """Whether writing will not wait: a pipe that is ready has room for so much, and a thread costs more."""
    return (
        sys.platform != "win32"
        and len(line) <= select.PIPE_BUF
        and stat.S_ISFIFO(os.fstat(sink).st_mode)
        and sink in select.select([], [sink], [], 0)[1]
    )


def _write_all(sink: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(sink, left) :]


def _encoded(item: SessionMessage | Refusal) -> bytes:
    if isinstance(item, Refusal):
        return item.line()
    message = item.message
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError):
        logger.exception("a message to the client cannot be written as JSON")
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            return b""
        reason = "internal_error: the answer cannot be written as JSON"
        return Refusal(json.dumps(message.id).encode(), INTERNAL_ERROR, reason).line()
