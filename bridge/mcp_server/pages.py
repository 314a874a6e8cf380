"""How much fits into an answer, and where the next one goes on."""

import re
from collections.abc import Callable, Sequence

from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.models import MemoryEntry
from bridge import rendering
from bridge.mcp_server import records

ANSWER_BYTES = 40_000
# What stands around the records of an answer: banner, counts, cursor.
FRAME_BYTES = 2_000
# How much of each value is shown: the first of these with which all records fit.
VALUE_BYTES = (20_000, 8_000, 4_000, 2_000, 1_000, 500, 200)

_POSITION = re.compile(r"([0-9]{1,18})(?:\+([0-9]{1,18}))?")

Line = Callable[[int], str]
"""Renders one record with at most this many bytes of its value."""


def fitting(lines: Sequence[Line], room_bytes: int = ANSWER_BYTES - FRAME_BYTES) -> list[str]:
    """The records rendered: all of them if their values can be shortened so far, else the first ones."""
    rendered: list[str] = []
    for value_bytes in VALUE_BYTES:
        rendered = [line(value_bytes) for line in lines]
        if sum(rendering.size(each) + 1 for each in rendered) <= room_bytes:
            return rendered
    return fitting_texts(rendered, room_bytes)


def fitting_texts(texts: Sequence[str], room_bytes: int) -> list[str]:
    """The first of these lines, as many as fit, and at least one."""
    for i, text in enumerate(texts):
        room_bytes -= rendering.size(text) + 1
        if room_bytes < 0:
            return list(texts[: max(i, 1)])
    return list(texts)


def position(cursor: str) -> tuple[int, int]:
    """The number and the offset that a cursor of ours holds; both are 0 without one.

    >>> position(""), position("7"), position("7+1000")
    ((0, 0), (7, 0), (7, 1000))
    """
    if not cursor:
        return 0, 0
    found = _POSITION.fullmatch(cursor)
    if found is None:
        raise InvalidCursorError("is not one of ours")
    return int(found[1]), int(found[2] or 0)


def one_record(entry: MemoryEntry, offset: int, number: int, extra: str = "") -> tuple[str, str]:
    """A single record with all of its value, or from ``offset`` on as much as fits.

    Returns the lines, and the cursor for the rest of the value: ``number`` and where it goes on;
    '' where nothing is left.
    """
    value = rendering.Value(entry.value)
    heading = records.heading(entry) + extra
    room_bytes = ANSWER_BYTES - FRAME_BYTES - rendering.size(heading)
    whole = value.whole(room_bytes)
    if whole is not None and not offset:
        return f"{heading}  {whole}", ""
    total = len(value.raw)
    if offset >= total:
        raise InvalidCursorError("lies behind the end of the value")
    shown, end = rendering.piece(value.raw, offset, room_bytes)
    part = f"{value.kind}, characters {offset + 1} to {end} of {total}: {shown}"
    return f"{heading}\n{part}", f"{number}+{end}" if end < total else ""


def ending(cursor: str | None) -> list[str]:
    """The line that says where to go on, if there is more."""
    return [f"next cursor: {cursor}"] if cursor else []
