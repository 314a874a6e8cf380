r"""Stored text as it may be shown: on one line, and unable to look like anything else.

What a record holds was written by somebody else. A reader must see where it begins and ends, and no
character of it may be invisible, turn the direction of reading, begin a line, or command a terminal.
Every escape is JSON's, so that a text in quotes is read back by any JSON parser as it was.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from amfs_sqlite.models import EffectReason, Withdrawal

NAME_BYTES = 300
MESSAGE_BYTES = 2_000

# Why an outcome did not move a record.
REASONS: Mapping[EffectReason, str] = MappingProxyType(
    {
        "already_applied": "this outcome_ref was applied to it before",
        "stale": "its value has changed since that version",
    }
)

# Why a version has no value.
WITHDRAWN: Mapping[Withdrawal, str] = MappingProxyType(
    {"archived": "archived: from here on nothing is there", "erased": "erased: its value was removed"}
)

# Printable by their category, and yet not to be seen.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)]))
)
_SUSPECT = re.compile(r"[^ -~]")
_PLAIN = re.compile(r'[^\s"\\\[\],]+')


def escaped(text: str) -> str:
    r"""The text with every character that is not to be seen written as an escape.

    >>> print(escaped("a\nb\u202ec"))
    a\nb\u202ec
    """
    return _SUSPECT.sub(lambda found: _character(found[0]), text)


def token(text: str) -> str:
    r"""The text as a JSON string.

    >>> print(token('say "hi"\n'))
    "say \"hi\"\n"
    """
    return escaped(json.dumps(text, ensure_ascii=False))


def word(text: str, limit_bytes: int = NAME_BYTES) -> str:
    """The text bare where it is one plain word, else as a JSON string; cut visibly at the limit.

    >>> word("listing/482"), word("a  b"), word("")
    ('listing/482', '"a  b"', '""')
    """
    shown = text if _PLAIN.fullmatch(text) and text == escaped(text) else token(text)
    if size(shown) <= limit_bytes:
        return shown
    beginning, end = piece(text, 0, limit_bytes)
    return f"{beginning}...({end} of {len(text)} characters)"


def piece(text: str, start: int, limit_bytes: int) -> tuple[str, int]:
    """As much of the text from ``start`` as fits as a JSON string, and where that ends.

    >>> piece("abcdef", 2, 5)
    ('"cde"', 5)
    """
    count = min(limit_bytes, len(text) - start)
    while size(shown := token(text[start : start + count])) > limit_bytes and count > 1:
        count = max(1, min(count - 1, count * limit_bytes // size(shown)))
    return shown, start + count


def size(text: str) -> int:
    """Bytes in UTF-8; what has no such form counts as its escape."""
    return len(text.encode("utf-8", "backslashreplace"))


def one_line(text: str, limit_bytes: int = MESSAGE_BYTES) -> str:
    """A message of ours that may quote stored text: one line, cut visibly at the limit."""
    line = escaped(text)
    if size(line) <= limit_bytes:
        return line
    return f"{line.encode()[:limit_bytes].decode(errors='ignore')}...(cut)"


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "record"), counted(0, "record")
    ('1 record', '0 records')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def percent(confidence: float) -> str:
    """A confidence as it is told.

    >>> percent(0.84), percent(0.335), percent(1.0)
    ('84%', '33.5%', '100%')
    """
    return f"{round(confidence * 100, 2):g}%"


class Value:
    """A value as text: as JSON where it fits, else a piece of it as a JSON string.

    ``raw`` is what is cut into pieces: the text itself, of anything else its JSON.
    """

    def __init__(self, value: Any) -> None:
        self._is_text = isinstance(value, str)
        self.raw: str = value if self._is_text else _json(value)

    @property
    def kind(self) -> str:
        """What the characters of ``raw`` are."""
        return "text" if self._is_text else "JSON"

    def whole(self, limit_bytes: int) -> str | None:
        """The value as JSON; None where it is larger than this."""
        if len(self.raw) > limit_bytes:
            return None
        shown = token(self.raw) if self._is_text else escaped(self.raw)
        return shown if size(shown) <= limit_bytes else None

    def reach(self, limit_bytes: int) -> int:
        """How many characters of ``raw`` ``beginning`` shows."""
        if self.whole(limit_bytes) is not None:
            return len(self.raw)
        return piece(self.raw, 0, limit_bytes)[1]

    def beginning(self, limit_bytes: int, advice: str) -> str:
        """The value, or what fits of it, how much that is, and how to have the rest."""
        whole = self.whole(limit_bytes)
        if whole is not None:
            return whole
        shown, end = piece(self.raw, 0, limit_bytes)
        return f"{shown}...({self.kind} cut: {end} of {len(self.raw)} characters; {advice})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _character(one: str) -> str:
    if one.isprintable() and one not in _INVISIBLE:
        return one
    return json.dumps(one)[1:-1]
