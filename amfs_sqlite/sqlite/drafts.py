"""A commit while it is being made: what its changes add to it before it is appended to the log."""

from dataclasses import dataclass, field
from typing import NamedTuple

from amfs_sqlite.models import CommitEntry, MemoryEntry, OutcomeEffect
from amfs_sqlite.sqlite.ground import Ground


class Line(NamedTuple):
    """A version that the commit writes."""

    entity_path: str
    key: str
    version: int
    content_hash: str

    @classmethod
    def of(cls, entry: MemoryEntry) -> "Line":
        """The line of an entry that was stored."""
        return cls(entry.entity_path, entry.key, entry.version, entry.content_hash or "")

    def shown(self) -> CommitEntry:
        """As a commit lists it."""
        return as_listed(*self)


def as_listed(entity_path: str, key: str, version: int, content_hash: str) -> CommitEntry:
    """A stored version as a commit lists it."""
    return CommitEntry.whole(
        {"entity_path": entity_path, "key": key, "version": version, "content_hash": content_hash}
    )


@dataclass(slots=True)
class CommitDraft:
    """The ground it stands on, and the lines collected so far."""

    ground: Ground
    lines: list[Line] = field(default_factory=list)
    record_digests: list[str] = field(default_factory=list)
    effects: list[OutcomeEffect] = field(default_factory=list)
    outcome_digests: list[str] = field(default_factory=list)

    @property
    def sequence(self) -> int:
        """The sequence that the commit will have."""
        return self.ground.sequence + 1

    def add_version(self, line: Line, record_digest: str) -> None:
        """A version written."""
        self.lines.append(line)
        self.record_digests.append(record_digest)

    def add_outcome(self, effects: list[OutcomeEffect], outcome_digest: str) -> None:
        """An outcome recorded, with its effects."""
        self.effects += effects
        self.outcome_digests.append(outcome_digest)
