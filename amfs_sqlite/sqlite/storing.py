"""Storing what is new of an exported commit, behind the head of the log."""

from collections.abc import Sequence

from amfs_sqlite.errors import ImportLineError, quoted
from amfs_sqlite.models import CommitEntry, OutcomeEffect
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import integrity_chain, outcome_digest, tree_hash
from amfs_sqlite.rules.transfer import ExportedCommit, ExportedOutcome, ExportedVersion
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite import commits, entries, index, outcomes, retention
from amfs_sqlite.sqlite.drafts import CommitDraft, Line
from amfs_sqlite.sqlite.receiving import OPINION, Address, Receiving, Stored
from amfs_sqlite.sqlite.rows import version_columns
from amfs_sqlite.sqlite.transaction import Transaction, weight

MOVE_OPINION = """
UPDATE current SET confidence = ?, outcome_count = outcome_count + 1, success_count = success_count + ?,
       failure_count = failure_count + ?
WHERE id = ?"""


class Storing(Receiving):
    """Stores what is new. Raises ImportLineError for what cannot follow from what is here."""

    def __init__(self, tx: Transaction, left_out: frozenset[Address]) -> None:
        super().__init__(tx, left_out)
        self._draft = commits.begin(tx)
        self._line = 0

    def receive(self, exported: ExportedCommit) -> None:
        ground = self._draft.ground
        goes_on = (ground.sequence + 1, ground.digest) == (exported.commit.sequence, exported.previous)
        super().receive(exported)
        if goes_on and ground.digest != exported.commit.digest:
            raise ImportLineError(exported.line, "is a commit that does not follow from those before it")

    def begin(self, exported: ExportedCommit) -> None:
        self._draft = CommitDraft(self._draft.ground)
        self._line = exported.line

    def put_version(self, version: ExportedVersion) -> None:
        entry, ground = version.entry, self._draft.ground
        before = entries.standing(self.tx, entry.entity_path, entry.key)
        expected = 1 + (before.version if before else 0)
        if entry.version != expected:
            raise ImportLineError(
                version.line, f"is version {entry.version} of its key, and {expected} would be next here"
            )
        content = entry.content_hash or ""
        if integrity_chain(content, before and before.integrity_chain) != entry.integrity_chain:
            raise ImportLineError(
                version.line, "has an integrityChain that does not follow from the version before"
            )
        ground.newest_version_id += 1
        ground.newest_key_id += before is None
        key_id = before.key_id if before else ground.newest_key_id
        columns = (
            *version_columns(entry, version.value),
            ground.newest_version_id,
            entry.version,
            version.kind,
            self._draft.sequence,
            entry.confidence,
            entry.outcome_count,
            entry.success_count,
            entry.failure_count,
        )
        if before is None:
            here = (self.tx.namespace, self.tx.branch, entry.entity_path, entry.key)
            self.tx.run(entries.INSERT_CURRENT, (*columns, *here))
        else:
            self.tx.run(entries.UPDATE_CURRENT, (*columns, key_id))
        self.tx.run(entries.INSERT_VERSION, (*columns, key_id, version.extra_hash, version.record_digest))
        self._derive(version, key_id, before)
        self._draft.add_version(Line.of(entry), version.record_digest)

    def _derive(self, version: ExportedVersion, key_id: int, before: entries.Standing | None) -> None:
        """What is kept beside the rows: the tags and words of what is there now."""
        has_value = version.value is not None
        new = version.entry.provenance.pattern_refs if has_value else ()
        entries.retag(self.tx, key_id, before.tags if before else "[]", new)
        if has_value:
            self.whole.unindexed_written += weight(version.value)
        else:
            index.remove(self.tx, key_id)

    def put_outcome(self, outcome: ExportedOutcome, effects: Sequence[OutcomeEffect]) -> None:
        record, draft = outcome.record, self._draft
        wire = record.to_wire()
        digest = outcome_digest(wire, effects)
        named = (self.tx.namespace, record.outcome_ref, record.outcome_type, record.agent_id)
        place = (draft.sequence, draft.ground.newest_version_id)
        stored = (*place, *named, encode(wire, "outcome"), digest)
        outcome_id = self.tx.insert(outcomes.INSERT_OUTCOME, stored)
        success = is_success(outcome_type(record.outcome_type))
        for effect in effects:
            key_id = self._key_of(outcome.line, effect)
            columns = (
                outcome_id,
                key_id,
                effect.version,
                effect.policy,
                int(success),
                effect.confidence_before,
                effect.confidence_after,
                int(effect.applied),
                effect.reason,
                effect.resulting_version,
            )
            self.tx.run(outcomes.INSERT_EFFECT, columns)
            if effect.applied and effect.resulting_version == effect.version:
                counts = (int(success), int(not success))
                self.tx.run(MOVE_OPINION, (effect.confidence_after, *counts, key_id))
        draft.add_outcome(list(effects), digest)

    def _key_of(self, line: int, effect: OutcomeEffect) -> int:
        address = (effect.entity_path, effect.key)
        row = self.tx.one(OPINION, entries.place(self.tx, *address))
        newest = 0 if row is None else max(row[1], self._stands.get(address, (0, 0.0))[0])
        if row is None or not 0 < effect.version <= newest:
            about = f"version {effect.version} of {quoted(effect.key)} under {quoted(effect.entity_path)}"
            raise ImportLineError(line, f"is an outcome about {about}, which is not there")
        key_id: int = row[0]
        return key_id

    def put_erasure(self, named: CommitEntry, stored: Stored | None) -> None:
        if stored is None or stored.content_hash != named.content_hash:
            about = f"version {named.version} of {quoted(named.key)} under {quoted(named.entity_path)}"
            raise ImportLineError(self._line, f"erases {about}, which is not there with this contentHash")
        if stored.has_value:
            retention.blank(self.tx, stored, index.indexed_through(self.tx))
        self.tx.run(retention.RECORD, (stored.id, self._draft.sequence))

    def append(self, exported: ExportedCommit, listed: Sequence[CommitEntry]) -> None:
        commit, draft = exported.commit, self._draft
        tree = commit.tree_hash
        if any(isinstance(change, ExportedVersion) for change in exported.changes):
            tree = tree_hash(line.content_hash for line in draft.lines) if draft.lines else None
        newest = draft.ground.newest_commit_id
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
        if (commit.namespace, commit.branch) != (self.whole.namespace, self.whole.branch):
            draft.ground.newest_commit_id = newest
        self.whole.sequence = draft.ground.sequence

    def stands(self, effect: OutcomeEffect) -> tuple[int, float] | None:
        row = self.tx.one(OPINION, entries.place(self.tx, effect.entity_path, effect.key))
        return None if row is None else row[1:]
