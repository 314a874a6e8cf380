"""How far something long has come."""

from collections.abc import Callable

from amfs_sqlite.errors import InvalidArgumentError, quoted

STEP = 1000


def check_progress(given: object) -> None:
    """Refuse what can neither be called nor is None. Raises InvalidArgumentError."""
    if given is not None and not callable(given):
        raise InvalidArgumentError("progress", f"is {quoted(given)}; it must be a function of two counts")


class Meter:
    """Tells of every so many things done, and of the last.

    >>> told = []
    >>> meter = Meter(lambda done, total: told.append((done, total)), 1500)
    >>> for _ in range(1500):
    ...     meter.count()
    >>> meter.end()
    >>> told
    [(1000, 1500), (1500, 1500)]
    """

    def __init__(self, progress: Callable[[int, int], None] | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def count(self) -> None:
        """One more is done."""
        self._done += 1
        if self._progress is not None and self._done % STEP == 0:
            self._progress(min(self._done, self._total), self._total)

    def end(self) -> None:
        """All is done, whatever was counted."""
        if self._progress is not None:
            self._progress(self._total, self._total)
