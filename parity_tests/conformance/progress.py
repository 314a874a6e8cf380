"""How far a trial has come, told while it runs."""

from dataclasses import dataclass
from typing import TextIO

from parity_tests.conformance.results import Result

WIDTH = 78
EVERY = 100


@dataclass
class Progress:
    """Tells of every test in one line that is written over where ``is_live``, else of every hundredth.

    Of a test that hung or ended its process it tells in any case. Without a stream it tells nothing.
    """

    stream: TextIO | None = None
    is_told: bool = False
    is_live: bool = False
    _count: int = 0
    _number: int = 0
    _noun: str = ""

    def collected(self, count: int, before: int) -> None:
        """So many tests will be run, and so many were."""
        self._count, self._number = before + count, before

    def begins(self, result: Result) -> None:
        """A test begins."""
        self._number += 1
        is_next = result.noun != self._noun or self._number % EVERY == 0
        self._noun = result.noun
        said = f"test {self._number} of {self._count}, {result.noun}"
        if self.is_told and self.is_live:
            self._write(f"\r{said}: {result.name}"[:WIDTH].ljust(WIDTH))
        elif self.is_told and is_next:
            self._write(f"{said}\n")

    def loses(self, result: Result) -> None:
        """A test has hung, or ended its process."""
        self.done()
        error = result.problem.error if result.problem else ""
        self._write(f"test {self._number} of {self._count}, {result.noun}: {result.name}: {error}\n")

    def done(self) -> None:
        """Leave an empty line behind."""
        if self.is_told and self.is_live:
            self._write("\r" + " " * WIDTH + "\r")

    def _write(self, text: str) -> None:
        if self.stream is not None:
            self.stream.write(text)
            self.stream.flush()
