"""What an adapter lists of itself, held against what it was asked to store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from amfs_sqlite.rules.hashing import content_hash, integrity_chain
from parity_tests.golden.answers import without_hashes
from parity_tests.golden.comparison import difference
from parity_tests.golden.logs import Commit, named
from parity_tests.golden.view import HASHES, Entry, address

Place = tuple[str, str, int]
"""Path, key and version."""


@dataclass(frozen=True)
class Fault:
    """What is not as it must be: an answer of a call, or what an adapter then holds, and why not."""

    reason: str
    expected: Any
    got: Any
    is_answer: bool = False


class Listing:
    """The versions of one adapter and its log, as they were listed last."""

    def __init__(self) -> None:
        self._chains: dict[Place, tuple[str, str]] = {}
        self._commits: dict[Place, str] = {}

    def fault(
        self,
        stored: Sequence[Entry],
        committed: Sequence[Commit],
        versions: Sequence[Entry],
        log: Sequence[Commit],
    ) -> Fault | None:
        """Where versions and log (newest first) are not what had to be stored and committed."""
        self._commits = {_place(each): commit["id"] for commit in log for each in commit["entries"]}
        told = [_told(commit) for commit in reversed(log)]
        return (
            _first("stored", stored, without_hashes(versions))
            or _first("committed", committed, told)
            or self._first_hash_fault(stored, versions)
        )

    def hash_fault(self, entry: Entry) -> Fault | None:
        """Where the hashes of an entry are not those of its value, its key's history and its commit."""
        place = _place(entry)
        content, chain = self._chains.get(place, ("", ""))
        right = dict(zip(HASHES, (content, chain, self._commits.get(place, "")), strict=True))
        got = {name: entry[name] for name in HASHES}
        return None if got == right else Fault(f"the hashes of {place} are not its own", right, got)

    def _first_hash_fault(self, stored: Sequence[Entry], versions: Sequence[Entry]) -> Fault | None:
        for entry in stored:
            place = _place(entry)
            if place not in self._chains:
                _, before = self._chains.get((*address(entry), entry["version"] - 1), ("", None))
                content = content_hash(entry["value"])
                self._chains[place] = (content, integrity_chain(content, before))
        return next((fault for entry in versions if (fault := self.hash_fault(entry))), None)


def _place(entry: Mapping[str, Any]) -> Place:
    return entry["entityPath"], entry["key"], entry["version"]


def _told(commit: Commit) -> Commit:
    """What a commit says that can be foretold."""
    names = ("message", "authorAgentId", "sessionId")
    return {name: commit.get(name) for name in names} | {"entries": [*map(named, commit["entries"])]}


def _first(done: str, expected: Sequence[Any], got: Sequence[Any]) -> Fault | None:
    for one, other in zip_longest(expected, got):
        if one is None or other is None:
            reason = f"not {done}" if other is None else f"{done} unasked"
            return Fault(f"this is {reason}", one, other)
        if found := difference(one, other):
            return Fault(f"this is {done} otherwise than asked: {found}", one, other)
    return None
