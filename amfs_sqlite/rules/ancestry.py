"""Ancestry: the nearest commit that two commits descend from."""

from collections.abc import Callable, Iterable, Sequence

Place = tuple[int, Sequence[str]]
"""A commit's sequence and the ids of its parents."""


def common_ancestor(commit_a: str, commit_b: str, place_of: Callable[[str], Place | None]) -> str | None:
    """The nearest common ancestor, itself included: fewest steps in sum, ties to the newer commit.

    ``place_of`` answers None for an id that is not stored: no commit descends from such an id.

    >>> log = {"1": (1, ()), "2": (2, ("1",)), "3": (3, ("1",)), "4": (4, ("3", "lost"))}
    >>> common_ancestor("2", "4", log.get), common_ancestor("3", "4", log.get)
    ('1', '3')
    >>> common_ancestor("lost", "lost", log.get), common_ancestor("lost", "4", log.get)
    ('lost', None)
    """
    if commit_a == commit_b:
        return commit_a
    sides = (_Ancestors(commit_a, place_of), _Ancestors(commit_b, place_of))
    nearest: tuple[int, int, str] | None = None
    depth = 0
    # What was not found in fewer than depth steps from both is at least depth steps away in sum.
    while any(side.front for side in sides) and (nearest is None or nearest[0] >= depth):
        for side, other in (sides, sides[::-1]):
            for commit in side.front:
                if commit in other.steps:
                    steps = side.steps[commit] + other.steps[commit]
                    found = (steps, -side.sequences[commit], commit)
                    nearest = found if nearest is None else min(nearest, found)
        depth += 1
        for side in sides:
            side.reach_further(depth)
    return None if nearest is None else nearest[2]


class _Ancestors:
    """What one commit descends from, as far as it was followed; ``front`` was reached last."""

    def __init__(self, commit: str, place_of: Callable[[str], Place | None]) -> None:
        self.place_of = place_of
        self.steps: dict[str, int] = {}
        self.sequences: dict[str, int] = {}
        self.parents: dict[str, Sequence[str]] = {}
        self.front = self._reached([commit], 0)

    def reach_further(self, depth: int) -> None:
        self.front = self._reached(
            [parent for commit in self.front for parent in self.parents[commit]], depth
        )

    def _reached(self, commits: Iterable[str], depth: int) -> list[str]:
        fresh = []
        for commit in commits:
            place = None if commit in self.steps else self.place_of(commit)
            if place is not None:
                self.steps[commit] = depth
                self.sequences[commit], self.parents[commit] = place
                fresh.append(commit)
        return fresh
