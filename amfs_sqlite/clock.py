"""Time and identity, passed in. The only module that asks the machine for either."""

import os
import random
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Protocol

from amfs_sqlite.errors import quoted

RETRY_FIRST_S = 0.0005
RETRY_LONGEST_S = 0.01


class Clock(Protocol):
    """Where an adapter gets its time from."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands until it is set; for tests, demos and replays."""

    def __init__(self, at: datetime | str = "2026-01-01T00:00:00Z") -> None:
        self.at = instant(at)

    def now(self) -> datetime:
        return self.at

    def set(self, at: datetime | str) -> None:
        """Move to another instant, forward or back."""
        self.at = instant(at)


class IdSource(Protocol):
    """Where identifiers come from."""

    def hex(self, digits: int) -> str:
        """A new identifier of this many lower-case hexadecimal digits (1 to 32)."""
        ...


class RandomIds:
    """Identifiers from the machine's randomness."""

    def hex(self, digits: int) -> str:
        return os.urandom((digits + 1) // 2).hex()[:digits]


class CountedIds:
    """Identifiers that count 1, 2, 3 …; for tests, demos and replays."""

    def __init__(self) -> None:
        self.count = 0

    def hex(self, digits: int) -> str:
        self.count += 1
        return f"{self.count:0{digits}x}"[-digits:]


def instant(spelling: datetime | date | str) -> datetime:
    """An instant in UTC from any ISO 8601 spelling; without an offset it is UTC, a bare date is its
    midnight.

    Raises ValueError when it is no instant.

    >>> instant("2026-01-01T00:00:00-05:00").isoformat()
    '2026-01-01T05:00:00+00:00'
    >>> instant("2026-01-01") == instant("2026-01-01T00:00:00Z")
    True
    """
    if isinstance(spelling, str):
        moment = datetime.fromisoformat(spelling.strip())
    elif isinstance(spelling, datetime):
        moment = spelling
    elif isinstance(spelling, date):
        moment = datetime(spelling.year, spelling.month, spelling.day, tzinfo=UTC)
    else:
        raise ValueError(f"{quoted(spelling)} is no instant")  # noqa: TRY004 - pydantic wants a ValueError
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as beyond:
        raise ValueError(f"{spelling!r} lies outside the years 1 to 9999") from beyond


def spelled(moment: datetime) -> str:
    """The one spelling we write: ISO 8601 in UTC with ``Z``, milliseconds, or microseconds where
    there are any.

    >>> spelled(instant("2026-01-01T05:00:00.25"))
    '2026-01-01T05:00:00.250Z'
    """
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec=precision).removesuffix("+00:00") + "Z"


def ticks_s() -> float:
    """Seconds by a clock that never goes back, from no point in particular."""
    return time.perf_counter()


def patience(timeout_s: float) -> Iterator[None]:
    """Attempts at something contended: yields at once, then after short jittered waits until the
    time is up.

    The jitter makes waiting fair among many processes, which SQLite's own busy handler is not.
    """
    deadline = time.monotonic() + timeout_s
    longest = RETRY_FIRST_S
    while True:
        yield
        left = deadline - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, random.uniform(RETRY_FIRST_S / 2, longest)))  # noqa: S311 - no secret
        longest = min(longest * 2, RETRY_LONGEST_S)
