"""How much fits into an answer, and where the next one goes on."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.models import MemoryEntry
from bridge import rendering
from bridge.mcp_server import readings, records
from bridge.mcp_server.readings import Facts, Object

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
    return fitted(lines, (), room_bytes)[0]


def fitted(
    lines: Sequence[Line], facts: Sequence[Facts] = (), room_bytes: int = ANSWER_BYTES - FRAME_BYTES
) -> tuple[list[str], list[Object]]:
    """As ``fitting``; with ``facts`` also the objects of the same records, and both together fit."""
    rendered: list[str] = []
    made: list[Object] = []
    sizes: list[int] = []
    for value_bytes in VALUE_BYTES:
        rendered = [line(value_bytes) for line in lines]
        made = [each(value_bytes) for each in facts]
        sizes = [rendering.size(each) + 1 for each in rendered]
        if made:
            sizes = [text + readings.size(each) + 1 for text, each in zip(sizes, made, strict=True)]
        if sum(sizes) <= room_bytes:
            break
    count = _fitting_count(sizes, room_bytes)
    return rendered[:count], made[:count]


def fitting_texts(texts: Sequence[str], room_bytes: int) -> list[str]:
    """The first of these lines, as many as fit, and at least one."""
    return list(texts[: _fitting_count([rendering.size(text) + 1 for text in texts], room_bytes)])


def _fitting_count(sizes: Sequence[int], room_bytes: int) -> int:
    for i, size in enumerate(sizes):
        room_bytes -= size
        if room_bytes < 0:
            return max(i, 1)
    return len(sizes)


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


class OneRecord(NamedTuple):
    """A record alone: its lines, which characters of its value they show, and where the rest is."""

    lines: str
    start: int
    end: int
    cursor: str


def one_record(
    entry: MemoryEntry, offset: int, number: int, extra: str = "", *, twice: bool = False
) -> OneRecord:
    """A single record with all of its value, or from ``offset`` on as much as fits.

    The cursor for the rest of the value is ``number`` and where it goes on; '' where nothing is left.
    ``twice``: the same must fit a second time, as an object.
    """
    value = rendering.Value(entry.value)
    heading = records.heading(entry) + extra
    if entry.withdrawn and not offset:
        return OneRecord(heading, 0, 0, "")
    room_bytes = (ANSWER_BYTES - FRAME_BYTES) // (2 if twice else 1) - rendering.size(heading)
    whole = value.whole(room_bytes)
    if whole is not None and not offset:
        return OneRecord(f"{heading}  {whole}", 0, len(value.raw), "")
    total = len(value.raw)
    if offset >= total:
        raise InvalidCursorError("lies behind the end of the value")
    shown, end = rendering.piece(value.raw, offset, room_bytes)
    part = f"{value.kind}, characters {offset + 1} to {end} of {total}: {shown}"
    cursor = f"{number}+{end}" if end < total else ""
    return OneRecord(f"{heading}\n{part}", offset, end, cursor)


def ending(cursor: str | None) -> list[str]:
    """The line that says where to go on, if there is more."""
    return [f"next cursor: {cursor}"] if cursor else []
