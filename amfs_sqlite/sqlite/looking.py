"""Looking at an exported commit: what would become of it, without storing anything."""

from collections.abc import Sequence

from amfs_sqlite.models import CommitEntry, OutcomeEffect
from amfs_sqlite.rules.transfer import ExportedCommit, ExportedOutcome, ExportedVersion
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.receiving import OPINION, Address, Imagined, Receiving, Stored
from amfs_sqlite.sqlite.transaction import Transaction


class Looking(Receiving):
    """Only looks. What an earlier commit of the export would have stored is taken to be as it says.

    ``before`` is what came of the commits before these.
    """

    def __init__(
        self,
        tx: Transaction,
        left_out: frozenset[Address],
        before: Imagined,
    ) -> None:
        super().__init__(tx, left_out)
        self._before = before

    def begin(self, exported: ExportedCommit) -> None:
        self.received.imagined.absent.add((exported.commit.namespace, exported.commit.id))

    def put_version(self, version: ExportedVersion) -> None: ...

    def put_outcome(
        self,
        outcome: ExportedOutcome,  # noqa: ARG002 - what it did is all that counts
        effects: Sequence[OutcomeEffect],
    ) -> None:
        for effect in effects:
            if effect.applied:
                stands = (effect.resulting_version or effect.version, effect.confidence_after)
                self.received.imagined.moved[self.address(effect.entity_path, effect.key)] = stands

    def put_erasure(self, named: CommitEntry, stored: Stored | None) -> None: ...

    def append(self, exported: ExportedCommit, listed: Sequence[CommitEntry]) -> None:  # noqa: ARG002 - as above
        self.received.imagined.absent.discard((exported.commit.namespace, exported.commit.id))

    def stands(self, effect: OutcomeEffect) -> tuple[int, float] | None:
        address = self.address(effect.entity_path, effect.key)
        stands = self.received.imagined.moved.get(address) or self._before.moved.get(address)
        if stands is None:
            row = self.tx.one(OPINION, entries.place(self.tx, effect.entity_path, effect.key))
            stands = None if row is None else (row[1], row[2])
        if stands is None or stands[0] < effect.version:
            return effect.version, effect.confidence_before
        return stands

    def is_here(self, commit_id: str | None) -> bool:
        named = (self.tx.namespace, commit_id or "")
        return named not in self.received.imagined.absent and named not in self._before.absent
