"""Storing what is new of an exported commit, behind the head of the log."""

from collections.abc import Sequence

from amfs_sqlite.models import CommitEntry, OutcomeEffect
from amfs_sqlite.rules.hashing import tree_hash
from amfs_sqlite.rules.transfer import ExportedCommit, ExportedOutcome, ExportedVersion
from amfs_sqlite.sqlite import commits, entries, index, outcomes, retention
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sqlite.transfer.receiving import STORED, Address, Receiving, Stored, at_version

OPINION = f"SELECT c.version, c.confidence FROM current AS c WHERE {entries.AT}"
KEY = f"SELECT c.id FROM current AS c WHERE {entries.AT}"


class Storing(Receiving[entries.Standing]):
    """Stores what is new."""

    def __init__(self, tx: Transaction, left_out: frozenset[Address]) -> None:
        super().__init__(tx, left_out)
        self._draft = commits.begin(tx)

    def head(self) -> tuple[int, str | None]:
        ground = self._draft.ground
        return ground.sequence, ground.digest

    def begin(self, exported: ExportedCommit) -> None:  # noqa: ARG002 - nothing of it is stored yet
        self._draft = CommitDraft(self._draft.ground)

    def before(self, entity_path: str, key: str) -> entries.Standing | None:
        return entries.standing(self.tx, entity_path, key)

    def put_version(self, version: ExportedVersion, before: entries.Standing | None) -> None:
        entries.put(
            self.tx,
            self._draft,
            version.entry,
            version.value,
            before=before,
            kind=version.kind,
            extra_hash=version.extra_hash,
            digest=version.record_digest,
        )
        if version.value is None and before is not None:
            index.remove(self.tx, before.key_id)

    def put_outcome(self, outcome: ExportedOutcome, effects: Sequence[OutcomeEffect]) -> None:
        keyed = [(self._key_of(effect), effect) for effect in effects]
        newest = self._draft.ground.newest_version_id
        outcomes.put(self.tx, self._draft, outcome.record, keyed, newest_version_id=newest)
        for key_id, effect in keyed:
            if effect.applied and effect.resulting_version == effect.version:
                outcomes.move(self.tx, key_id, outcome.record, effect)

    def _key_of(self, effect: OutcomeEffect) -> int:
        key_id: int = self.tx.value(KEY, entries.own_place(self.tx, effect.entity_path, effect.key))
        return key_id

    def put_erasure(self, named: CommitEntry) -> None:
        at = at_version(self.tx, named.entity_path, named.key, named.version)
        stored = Stored(*self.tx.row(STORED, at))
        if stored.has_value:
            retention.blank(self.tx, stored, index.indexed_through(self.tx))
        self.tx.run(retention.RECORD, (stored.id, self._draft.sequence))

    def append(self, exported: ExportedCommit, listed: Sequence[CommitEntry], *, is_whole: bool) -> None:  # noqa: ARG002 - its digest tells
        commit, draft = exported.commit, self._draft
        tree = commit.tree_hash
        if any(isinstance(change, ExportedVersion) for change in exported.changes):
            tree = tree_hash(line.content_hash for line in draft.lines) if draft.lines else None
        commits.append(
            self.tx,
            draft,
            commit_id=commit.id,
            kind=commit.kind,
            message=commit.message,
            author=commit.author_agent_id,
            session_id=commit.session_id,
            given=commit.model_copy(update={"entries": tuple(listed), "tree_hash": tree}),
            describes=exported.describes,
        )
        self.whole.sequence = draft.ground.sequence
        self.whole.unindexed_written = self.tx.unindexed_written

    def stands(self, entity_path: str, key: str) -> tuple[int, float] | None:
        return self.tx.one(OPINION, entries.own_place(self.tx, entity_path, key))
