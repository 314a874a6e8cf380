"""Cursors of pages that go by time, as AMFS spells them: the last row seen, its time and what breaks ties."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from amfs_sqlite.clock import instant
from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.rules.limits import check_count, check_optional_text, check_whole_number

T = TypeVar("T")

MALFORMED = (binascii.Error, UnicodeError, ValueError, TypeError, KeyError, RecursionError)


class Keyset(NamedTuple):
    """Where a row stands in an order by time; ``tiebreak`` is JSON that no other row of that time has."""

    at: datetime
    tiebreak: Any


def keyset_cursor(at: datetime, tiebreak: Any) -> str:
    """A cursor behind the row of this time, aware and in UTC, and of this tiebreak.

    >>> from datetime import UTC
    >>> keyset_cursor(datetime(2026, 1, 1, tzinfo=UTC), "a")
    'eyJ0IjoiMjAyNi0wMS0wMVQwMDowMDowMCswMDowMCIsImsiOiJhIn0'
    """
    spelled = json.dumps({"t": at.isoformat(), "k": tiebreak}, separators=(",", ":"))
    return base64.urlsafe_b64encode(spelled.encode()).decode().rstrip("=")


def keyset_position(cursor: str | None, kind: type[T]) -> tuple[datetime, T] | None:
    """Where a cursor stands, whose tiebreak is of this kind; None without one, '' among them.

    Raises InvalidCursorError for what is none.

    >>> keyset_position("eyJ0IjoiMjAyNi0wMS0wMVQwMDowMDowMCswMDowMCIsImsiOiJhIn0", str)
    Keyset(at=datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), tiebreak='a')
    """
    check_optional_text(cursor, "cursor")
    if not cursor:
        return None
    try:
        stood = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        at, tiebreak = _instant(stood["t"]), stood["k"]
    except MALFORMED as refused:
        raise InvalidCursorError("is not one of ours") from refused
    if not isinstance(tiebreak, kind):
        raise InvalidCursorError("is of another list")
    return Keyset(at, tiebreak)


def _instant(spelling: Any) -> datetime:
    if not isinstance(spelling, str):
        raise TypeError("no text")
    return instant(spelling)


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list that goes by time and id, the newest first."""

    limit: int | None
    offset: int
    behind: tuple[datetime, str] | None


def checked_page(limit: int | None, offset: int, cursor: str | None) -> Page:
    """Which part is asked for: a cursor takes the place of the offset. Raises InvalidCursorError."""
    check_count(limit, "limit")
    check_whole_number(offset, "offset")
    behind = keyset_position(cursor, str)
    return Page(limit, 0 if behind else offset, behind)
