"""Who hears of what is written: callbacks by path while it is written, or subscriptions after it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from amfs_sqlite.errors import quoted
from parity_tests.golden.transcript import TranscriptError
from parity_tests.golden.view import Entry


@dataclass(frozen=True)
class Subscription:
    """One watch, set up after so many others and so many commits of its board."""

    before: int
    board: str
    path: str | None
    callback: str
    viewer: str | None
    after: int

    def covers(self, entry: Entry, manner: frozenset[str]) -> bool:
        """Whether it hears of this entry."""
        path = entry["entityPath"]
        if self.path is None:
            is_under = "watch" not in manner
        else:
            is_under = path == self.path or path.startswith(f"{self.path}/")
        is_open = self.viewer is None or "private" in manner
        return is_under and (is_open or entry["shared"] or entry["provenance"]["agentId"] == self.viewer)

    def is_like(self, other: "Subscription") -> bool:
        """Whether it calls the same callback for the same path."""
        return (self.board, self.path, self.callback) == (other.board, other.path, other.callback)


@dataclass
class Watches:
    """All that were set up. What is silent calls no more; what is cancelled says so."""

    all: list[Subscription] = field(default_factory=list)
    handles: dict[str, Subscription] = field(default_factory=dict)
    silent: set[Subscription] = field(default_factory=set)
    cancelled: set[Subscription] = field(default_factory=set)

    def copy(self) -> "Watches":
        """The same, to go on from."""
        return Watches([*self.all], {**self.handles}, {*self.silent}, {*self.cancelled})

    def add(self, handle: str, asked: Subscription) -> None:
        """Set one up."""
        self.all.append(asked)
        self.handles[handle] = asked

    def cancel(self, handle: str, manner: frozenset[str]) -> None:
        """Silence one; in the SDK all that are like it."""
        asked = self._subscribed(handle)
        if asked not in self.cancelled:
            self.cancelled.add(asked)
            like = {each for each in self.all if "watch" in manner and each.is_like(asked)}
            self.silent |= like | {asked}

    def is_cancelled(self, handle: str) -> bool:
        """Whether this handle was cancelled."""
        return self._subscribed(handle) in self.cancelled

    def _subscribed(self, handle: str) -> Subscription:
        if handle not in self.handles:
            raise TranscriptError(f"the watch {quoted(handle)} is not set up yet")
        return self.handles[handle]

    def on(self, board: str) -> list[Subscription]:
        """What watches a board, in set-up order."""
        return [each for each in self.all if each.board == board and each not in self.silent]

    def hearing(self, board: str, entry: Entry, commit: int, manner: frozenset[str]) -> Iterator[str]:
        """The callbacks that hear of an entry of the commit of this number, as they come to be called."""
        if "watch" in manner:
            yield from self._registered(board, entry, manner)
            return
        for each in self.on(board):
            if each not in self.silent and each.after < commit and each.covers(entry, manner):
                yield each.callback

    def _registered(self, board: str, entry: Entry, manner: frozenset[str]) -> Iterator[str]:
        # A path keeps its place when nobody watches it any more.
        for path in _growing(lambda: [str(each.path) for each in self.all if each.board == board]):
            hears = partial(self._callbacks, board, path, entry, manner)
            yield from _growing(hears)

    def _callbacks(self, board: str, path: str, entry: Entry, manner: frozenset[str]) -> list[str]:
        return [
            each.callback for each in self.on(board) if str(each.path) == path and each.covers(entry, manner)
        ]


def _growing(names: Callable[[], list[str]]) -> Iterator[str]:
    """What is there, and what comes in the meantime, without what goes."""
    seen: set[str] = set()
    while left := [name for name in names() if name not in seen]:
        seen.add(left[0])
        yield left[0]
