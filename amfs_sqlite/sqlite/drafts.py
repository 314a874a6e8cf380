"""A commit while it is being made: what its changes add to it before it is appended to the log."""

from dataclasses import dataclass, field

from amfs_sqlite.models import CommitEntry, OutcomeEffect


@dataclass(slots=True)
class CommitDraft:
    """Sequence and the digest to build on, and the lines collected so far."""

    sequence: int
    previous_digest: str
    entries: list[CommitEntry] = field(default_factory=list)
    record_digests: list[str] = field(default_factory=list)
    effects: list[OutcomeEffect] = field(default_factory=list)
    outcome_digests: list[str] = field(default_factory=list)

    def add_version(self, entry: CommitEntry, record_digest: str) -> None:
        """A version written."""
        self.entries.append(entry)
        self.record_digests.append(record_digest)

    def add_outcome(self, effects: list[OutcomeEffect], outcome_digest: str) -> None:
        """An outcome recorded, with its effects."""
        self.effects += effects
        self.outcome_digests.append(outcome_digest)
