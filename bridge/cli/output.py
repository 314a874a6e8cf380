"""Standard output: rows for people, as wide as their terminal, or one JSON document for programs."""

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, TextIO

from pydantic_core import to_json
from rich.console import Console
from rich.text import Text

from amfs_sqlite.clock import spelled
from amfs_sqlite.errors import AmfsError
from bridge import rendering
from bridge.cli.layout import Listing, Row

SHORT_HASH_DIGITS = 12
# What POSIX says of a pipe that nobody reads any more, and what Windows says of it.
READER_LEFT = (errno.EPIPE, errno.EINVAL)
# Room for any address there is, so that what is shown can be copied.
REF_BYTES = 128_000


class OutputError(AmfsError):
    """What was found could not be written out. The store is as the command left it."""

    code = "output"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"standard output cannot be written: {problem}")


@dataclass(frozen=True, slots=True)
class Marks:
    """What the gutter of a list is drawn with."""

    item: str
    line: str
    pause: str
    link: str


DRAWN = Marks(item="\u25cf", line="\u2502", pause="\u250a", link="\u25c6")
TYPED = Marks(item="*", line="|", pause=":", link="+")


class Output:
    """What a command says on standard output, or on the stream given.

    A character that its encoding does not have is escaped. A reader who left ends the output and
    not the command, whose exit code stays what it would have been.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        stream = stream or sys.stdout
        self._encoding: str = getattr(stream, "encoding", None) or "utf-8"
        # Without a colour system no escape code at all is written, not even for bold.
        plain = bool(os.environ.get("NO_COLOR")) or not stream or not stream.isatty()
        self._screen = _Screen(
            file=stream, color_system=None if plain else "auto", markup=False, highlight=False, emoji=False
        )
        drawn = "".join(astuple(DRAWN))
        self.marks = DRAWN if presentable(drawn, self._encoding) == drawn else TYPED

    def text(self, shown: str, style: str = "") -> Text:
        """Words of ours, or stored text that was escaped."""
        return Text(presentable(shown, self._encoding), style=style)

    def name(self, stored: str, style: str = "") -> Text:
        """A stored name: bare where it is one plain word, else in quotes."""
        return self.text(rendering.word(stored, REF_BYTES), style)

    def line(self, stored: str, style: str = "", limit_bytes: int = rendering.MESSAGE_BYTES) -> Text:
        """Stored text on one line."""
        return self.text(rendering.one_line(stored, limit_bytes), style)

    def at(self, moment: datetime) -> Text:
        """An instant to the second."""
        return self.text(f"{spelled(moment)[:19].replace('T', ' ')}Z")

    def hash(self, digest: str | None, *, full: bool) -> Text:
        """A hash or an id, its beginning only unless ``full``."""
        if digest is None:
            return self.text("none", "dim")
        return self.name(digest if full else digest[:SHORT_HASH_DIGITS], "dim")

    def show(self, rows: Iterable[Row]) -> None:
        """Rows for people."""
        with self._writing():
            self._screen.print(Listing(rows), end="")

    def whole(self, text: str) -> None:
        """One line to be copied, however wide it is."""
        self._write(presentable(text, self._encoding))

    def document(self, members: Mapping[str, Any]) -> None:
        """One JSON document in ASCII, which every encoding has and no terminal obeys.

        A number that JSON does not have, which only tampering can bring into a store, is null.
        """
        written = to_json(members, indent=2, ensure_ascii=True, inf_nan_mode="null").decode()
        self._write(written.replace("\x7f", "\\u007f"))

    def _write(self, lines: str) -> None:
        with self._writing():
            self._screen.file.write(f"{lines}\n")
            self._screen.file.flush()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as failed:
            self._screen.on_broken_pipe()
            if failed.errno not in READER_LEFT:
                raise OutputError(failed.strerror or str(failed)) from failed


def presentable(text: str, encoding: str) -> str:
    r"""The text with what this encoding does not have as JSON's escapes.

    >>> print(presentable("caf\u00e9", "ascii"), presentable("cafe", "ascii"))
    caf\u00e9 cafe
    """
    if _has(text, encoding):
        return text
    return "".join(one if _has(one, encoding) else json.dumps(one)[1:-1] for one in text)


def _has(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def write_no_more() -> None:
    """From here on standard output leads nowhere, for what is left in the stream's own buffer too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        self.quiet = True
        write_no_more()
