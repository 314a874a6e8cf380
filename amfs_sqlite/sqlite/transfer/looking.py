"""Looking at an exported commit: what would become of it, without storing anything."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from amfs_sqlite.models import CommitEntry, OutcomeEffect
from amfs_sqlite.rules.transfer import ExportedCommit, ExportedOutcome, ExportedVersion
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sqlite.transfer.receiving import Address, Receiving

HEAD = "SELECT sequence, digest FROM head"
NEWEST = f"SELECT c.version, c.confidence, c.integrity_chain FROM current AS c WHERE {entries.AT}"
PARTED = (-1, "")


class Newest(NamedTuple):
    """The current version of a key."""

    version: int
    confidence: float
    integrity_chain: str


@dataclass(slots=True)
class Imagined:
    """What would be otherwise than it is, had the commits before been stored: one for a whole look."""

    newest: dict[Address, Newest] = field(default_factory=dict)
    """Of every key that they would have written or moved."""
    owed: set[tuple[Address, int]] = field(default_factory=set)
    """The versions that would have come without value, up to their erasure."""
    absent: set[tuple[str, str]] = field(default_factory=set)
    """The commits, by namespace and id, that would not be here."""
    head: tuple[int, str | None] | None = None
    """The newest commit, ``PARTED`` where it would be no commit of the export; None before the first."""


class Looking(Receiving[Newest]):
    """Only looks, and imagines what it would have stored."""

    def __init__(self, tx: Transaction, left_out: frozenset[Address], imagined: Imagined) -> None:
        super().__init__(tx, left_out)
        self._imagined = imagined
        self._head: tuple[int, str] = tx.row(HEAD)

    def head(self) -> tuple[int, str | None]:
        return self._imagined.head or self._head

    def begin(self, exported: ExportedCommit) -> None:
        self._imagined.absent.add((exported.commit.namespace, exported.commit.id))

    def before(self, entity_path: str, key: str) -> Newest | None:
        imagined = self._imagined.newest.get(self.address(entity_path, key))
        if imagined is not None:
            return imagined
        row = self.tx.one(NEWEST, entries.own_place(self.tx, entity_path, key))
        return None if row is None else Newest(*row)

    def put_version(self, version: ExportedVersion, before: Newest | None) -> None:  # noqa: ARG002 - only looks
        entry = version.entry
        address = self.address(entry.entity_path, entry.key)
        self._imagined.newest[address] = Newest(entry.version, entry.confidence, entry.integrity_chain or "")
        if version.is_erased:
            self._imagined.owed.add((address, entry.version))

    def put_outcome(
        self,
        outcome: ExportedOutcome,  # noqa: ARG002 - what it did is all that counts
        effects: Sequence[OutcomeEffect],
    ) -> None:
        for effect in effects:
            newest = self.before(effect.entity_path, effect.key)
            if newest is not None and effect.applied and effect.resulting_version == effect.version:
                moved = newest._replace(confidence=effect.confidence_after)
                self._imagined.newest[self.address(effect.entity_path, effect.key)] = moved

    def put_erasure(self, named: CommitEntry) -> None:
        self._imagined.owed.discard((self.address(named.entity_path, named.key), named.version))

    def append(self, exported: ExportedCommit, listed: Sequence[CommitEntry], *, is_whole: bool) -> None:  # noqa: ARG002 - as above
        commit = exported.commit
        self._imagined.absent.discard((commit.namespace, commit.id))
        goes_on = is_whole and self.head() == (commit.sequence - 1, exported.previous)
        self._imagined.head = (commit.sequence, commit.digest) if goes_on else PARTED

    def stands(self, entity_path: str, key: str) -> tuple[int, float] | None:
        newest = self.before(entity_path, key)
        return newest and newest[:2]

    def is_owed(self, named: CommitEntry) -> bool:
        address = self.address(named.entity_path, named.key)
        return (address, named.version) in self._imagined.owed or super().is_owed(named)

    def is_here(self, commit_id: str | None) -> bool:
        return (self.tx.namespace, commit_id or "") not in self._imagined.absent
