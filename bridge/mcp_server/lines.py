"""Bytes as lines of bounded length: whoever sends one without end costs no more than the limit."""

from collections.abc import Iterator
from dataclasses import dataclass

# A value at its own limit, every character of it written as an escape, still fits.
MAX_LINE_BYTES = 64 * 1024 * 1024
KEPT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class OverlongLine:
    """What is left of a line above the limit: its first and last bytes, and how many it had."""

    head: bytes
    tail: bytes
    size: int


class LineSplitter:
    r"""Cuts what is fed to it at each newline.

    >>> list(LineSplitter().feed(b"one\ntwo\nthr"))
    [b'one', b'two']
    """

    def __init__(self, limit_bytes: int = MAX_LINE_BYTES, kept_bytes: int = KEPT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept_bytes = kept_bytes
        self._start()

    def feed(self, chunk: bytes) -> Iterator[bytes | OverlongLine]:
        """The lines that end in this chunk."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._finish()
        self._add(rest)

    def rest(self) -> bytes | OverlongLine:
        """What came after the last newline; empty where nothing did."""
        return self._finish()

    def _start(self) -> None:
        self._held = bytearray()
        self._head: bytes | None = None
        self._size = 0

    def _add(self, part: bytes) -> None:
        self._held += part
        self._size += len(part)
        if self._size > self._limit_bytes:
            if self._head is None:
                self._head = bytes(self._held[: self._kept_bytes])
            del self._held[: -self._kept_bytes]

    def _finish(self) -> bytes | OverlongLine:
        held, head, size = bytes(self._held), self._head, self._size
        self._start()
        return held if head is None else OverlongLine(head, held, size)
