"""Receiving one commit of an export: what of it is here, what is new, and what does not fit."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from amfs_sqlite.errors import ImportLineError, quoted
from amfs_sqlite.models import MAIN_BRANCH, CommitEntry, OutcomeEffect
from amfs_sqlite.rules.hashing import integrity_chain
from amfs_sqlite.rules.transfer import ExportedCommit, ExportedOutcome, ExportedVersion, ImportConflict
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.versions import next_version
from amfs_sqlite.sqlite import commits, entries
from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction

COMMIT_FACTS = """
SELECT sequence, branch, kind, message, author, session_id, parent_ids, describes, created_at FROM commits
WHERE namespace = ? AND id = ?"""
STORED = f"""
SELECT v.id, v.key_id, c.version_id, v.record_digest, v.integrity_chain, v.content_hash,
       typeof(v.value) <> 'null', v.kind, e.sequence
FROM current AS c CROSS JOIN versions AS v ON v.key_id = c.id AND v.version = :version
LEFT JOIN erasures AS e ON e.version_id = v.id WHERE {entries.AT}"""
RECORDED = f"""
SELECT count(*) FROM outcomes AS o CROSS JOIN outcome_effects AS e ON e.outcome_id = o.id
JOIN current AS c ON c.id = e.key_id
WHERE o.sequence = :sequence AND e.version = :version AND e.applied = 1 AND {entries.AT}"""
COUNTED = (
    "commit", "version", "outcome", "erased", "known_commit", "known_version",
    "left_out_commit", "left_out_version", "kept_erased",
)  # fmt: skip
OTHER_VERSION = "another version is stored here under this number"
OTHER_COMMIT = "a commit that wrote or moved it has an id that is another commit's here"
OTHER_OPINION = "outcomes moved it otherwise here than in the export"
NOT_HERE = "the commit that wrote it is here without it"
TOMBSTONE = "tombstone"

Address = tuple[str, str, str, str]
"""Namespace, branch, path and key."""


class Stored(NamedTuple):
    """A version that is here under the same address and number."""

    id: int
    key_id: int
    current_id: int
    record_digest: str
    integrity_chain: str
    content_hash: str
    has_value: int
    kind: str
    erased_by: int | None

    def is_owed_as(self, content_hash: str | None) -> bool:
        """Whether it came without its value, which had this hash, and no commit here erases it yet."""
        is_gone = not self.has_value and self.kind != TOMBSTONE and self.erased_by is None
        return is_gone and self.content_hash == content_hash

    def is_same(self, version: ExportedVersion) -> bool:
        """Whether it is the exported one, down to its author, with the same versions before it."""
        here = (self.record_digest, self.integrity_chain)
        return here == (version.record_digest, version.entry.integrity_chain)


def at_version(tx: Transaction, entity_path: str, key: str, version: int) -> dict[str, Any]:
    """The parameters of ``STORED``."""
    return entries.own_place(tx, entity_path, key) | {"version": version}


class Before(Protocol):
    """What the next version of a key is built on."""

    @property
    def version(self) -> int: ...
    @property
    def integrity_chain(self) -> str: ...


B = TypeVar("B", bound=Before)


@dataclass(slots=True)
class Received:
    """What became of some commits."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    left_out: set[Address] = field(default_factory=set)
    conflicts: list[ImportConflict] = field(default_factory=list)


class Receiving(ABC, Generic[B]):
    """Decides what becomes of each commit; what is done about it is up to those below.

    ``left_out`` are the keys of which nothing more is stored. Raises ImportLineError for what cannot follow
    from what is here.
    """

    def __init__(self, tx: Transaction, left_out: frozenset[Address]) -> None:
        self.received = Received()
        self.whole = tx
        self.tx = tx
        """As ``whole``, in the namespace and branch of the commit that is being received."""
        self._left_out_before = left_out
        # What stands at an address once the changes of this commit that came before are stored.
        self._stands: dict[tuple[str, str], tuple[int, float]] = {}
        self._is_whole = True

    def receive(self, exported: ExportedCommit) -> None:
        """Take in one commit. Where this store is what the export was before it, it is afterwards too."""
        commit = exported.commit
        goes_on = self.head() == (commit.sequence - 1, exported.previous)
        self._receive(exported)
        if goes_on and self.head() != (commit.sequence, commit.digest):
            raise ImportLineError(exported.line, "is a commit that does not follow from those before it")

    def _receive(self, exported: ExportedCommit) -> None:
        commit, counts = exported.commit, self.received.counts
        self.tx = replace(self.whole, namespace=commit.namespace, branch=commit.branch)
        known = self.tx.one(COMMIT_FACTS, (commit.namespace, commit.id))
        if known is not None:
            sequence, *facts = known
            self._compare(exported, sequence if tuple(facts) == _facts(exported) else None)
            return
        _check_branch(exported)
        self._stands.clear()
        self._is_whole = True
        self.begin(exported)
        taken = [self._takes(change) for change in exported.changes]
        listed = self._listed(exported)
        if any(taken) or (not taken and self._stands_alone(exported, listed)):
            is_whole = self._is_whole and all(taken) and len(listed) == len(commit.entries)
            self.append(exported, listed, is_whole=is_whole)
            counts["commit"] += 1
        else:
            counts["left_out_commit"] += 1

    @abstractmethod
    def head(self) -> tuple[int, str | None]:
        """Sequence and digest of the newest commit, with those that were received."""

    @abstractmethod
    def begin(self, exported: ExportedCommit) -> None:
        """The changes of this commit follow."""

    @abstractmethod
    def before(self, entity_path: str, key: str) -> B | None:
        """What the next version of this key is built on."""

    @abstractmethod
    def put_version(self, version: ExportedVersion, before: B | None) -> None:
        """A version that is new here, and the next of its key."""

    @abstractmethod
    def put_outcome(self, outcome: ExportedOutcome, effects: Sequence[OutcomeEffect]) -> None:
        """An outcome that is new here, with those of its effects that fit what is here."""

    @abstractmethod
    def put_erasure(self, named: CommitEntry) -> None:
        """A version that the commit erases, and that was not erased here before."""

    @abstractmethod
    def append(self, exported: ExportedCommit, listed: Sequence[CommitEntry], *, is_whole: bool) -> None:
        """The commit is to be stored, with what was put since it began; ``is_whole`` if that is all of it."""

    @abstractmethod
    def stands(self, entity_path: str, key: str) -> tuple[int, float] | None:
        """Which version stands there, and its confidence."""

    def is_owed(self, named: CommitEntry) -> bool:
        """Whether this version is here without its value, and no commit here erases it yet."""
        stored = self._stored(named.entity_path, named.key, named.version)
        return stored is not None and stored.is_owed_as(named.content_hash)

    def _stored(self, entity_path: str, key: str, version: int) -> Stored | None:
        """What is here under this address and number."""
        row = self.tx.one(STORED, at_version(self.tx, entity_path, key, version))
        return None if row is None else Stored(*row)

    def _compare(self, exported: ExportedCommit, sequence: int | None) -> None:
        """A commit of this id is here: nothing of it is new, but something of it may have been left out, and
        it may be another; ``sequence`` is None then.
        """
        self.received.counts["left_out_commit" if sequence is None else "known_commit"] += 1
        for change in exported.changes:
            if isinstance(change, ExportedOutcome):
                self._compare_effects(change.effects, sequence)
            elif sequence is None or not self._is_here(change):
                self._leave_out(change, OTHER_COMMIT if sequence is None else NOT_HERE)
        for named in exported.commit.entries if exported.commit.kind == "erase" else ():
            if self.is_owed(named):
                raise ImportLineError(
                    exported.line,
                    f"erases {_about(named)}, whose value is gone here; the commit is here without that",
                )

    def _compare_effects(self, effects: Sequence[OutcomeEffect], sequence: int | None) -> None:
        for effect in effects:
            address = (effect.entity_path, effect.key)
            at = entries.own_place(self.tx, *address) | {"sequence": sequence, "version": effect.version}
            if effect.applied and not self._is_left_out(*address) and not self.tx.value(RECORDED, at):
                reason = OTHER_COMMIT if sequence is None else OTHER_OPINION
                self._note(*address, effect.version, reason)

    def _takes(self, change: ExportedVersion | ExportedOutcome) -> bool:
        """Put a change if it is new; whether it was."""
        if isinstance(change, ExportedOutcome):
            return self._takes_outcome(change)
        if self._is_here(change):
            return False
        entry = change.entry
        if self._is_left_out(entry.entity_path, entry.key):
            self.received.counts["left_out_version"] += 1
            return False
        before = self.before(entry.entity_path, entry.key)
        if before is not None and entry.version <= before.version:
            self._leave_out(change, OTHER_VERSION)
            return False
        _check_follows(change, before)
        self.put_version(change, before)
        self._stands[entry.entity_path, entry.key] = (entry.version, entry.confidence)
        self.received.counts["version"] += 1
        return True

    def _is_here(self, version: ExportedVersion) -> bool:
        """Whether this very version is stored; where another one is, its key is left out."""
        entry = version.entry
        stored = self._stored(entry.entity_path, entry.key, entry.version)
        if stored is None or self._is_left_out(entry.entity_path, entry.key):
            return False
        if not stored.is_same(version):
            self._note(entry.entity_path, entry.key, entry.version, OTHER_VERSION)
            return False
        self.received.counts["known_version"] += 1
        self.received.counts["kept_erased"] += stored.erased_by is not None and not version.is_erased
        return True

    def _takes_outcome(self, outcome: ExportedOutcome) -> bool:
        effects = [each for each in outcome.effects if self._fits(each, outcome.line)]
        self._is_whole = self._is_whole and len(effects) == len(outcome.effects)
        if outcome.effects and not effects:
            return False
        self.put_outcome(outcome, effects)
        self.received.counts["outcome"] += 1
        return True

    def _fits(self, effect: OutcomeEffect, line: int) -> bool:
        """Whether an effect follows from what is here; where it does not, its key is left out."""
        address = (effect.entity_path, effect.key)
        if self._is_left_out(*address):
            return False
        stands = self._stands.get(address) or self.stands(*address)
        if not effect.applied:
            if stands is None or not 0 < effect.version <= stands[0]:
                raise ImportLineError(line, f"is an outcome about {_about(effect)}, which is not there")
            return True
        if stands != (effect.version, effect.confidence_before):
            self._note(*address, effect.version, OTHER_OPINION)
            return False
        self._stands[address] = (effect.resulting_version or effect.version, effect.confidence_after)
        return True

    def _listed(self, exported: ExportedCommit) -> Sequence[CommitEntry]:
        """What the commit names: of one that erases, what it erases here."""
        if exported.commit.kind != "erase":
            return exported.commit.entries
        return [each for each in exported.commit.entries if self._erases(each)]

    def _erases(self, named: CommitEntry) -> bool:
        # What came without its value gets its erasure, though its key be left out from a later version on.
        if self._is_left_out(named.entity_path, named.key) and not self.is_owed(named):
            return False
        stored = self._stored(named.entity_path, named.key, named.version)
        if stored is not None and stored.erased_by is not None:
            return False
        self.put_erasure(named)
        self.received.counts["erased"] += stored is not None and bool(stored.has_value)
        return True

    def _stands_alone(self, exported: ExportedCommit, listed: Sequence[CommitEntry]) -> bool:
        """Whether a commit without changes is to be stored for what it says itself."""
        match exported.commit.kind:
            case "erase":
                return bool(listed)
            case "description":
                return self.is_here(exported.describes)
        return True

    def is_here(self, commit_id: str | None) -> bool:
        """Whether the commit of this id is here, or would be."""
        return bool(self.tx.value(commits.IS_KNOWN, (self.tx.namespace, commit_id)))

    def _is_left_out(self, entity_path: str, key: str) -> bool:
        address = self.address(entity_path, key)
        return address in self._left_out_before or address in self.received.left_out

    def address(self, entity_path: str, key: str) -> Address:
        """A key of the commit that is being received, among all there are."""
        return self.tx.namespace, self.tx.branch, entity_path, key

    def _leave_out(self, version: ExportedVersion, reason: str) -> None:
        entry = version.entry
        self.received.counts["left_out_version"] += 1
        if not self._is_left_out(entry.entity_path, entry.key):
            self._note(entry.entity_path, entry.key, entry.version, reason)

    def _note(self, entity_path: str, key: str, version: int, reason: str) -> None:
        """From here on nothing of this key is stored."""
        self.received.left_out.add(self.address(entity_path, key))
        conflict = ImportConflict(
            namespace=self.tx.namespace, entity_path=entity_path, key=key, version=version, reason=reason
        )
        self.received.conflicts.append(conflict)


def _check_branch(exported: ExportedCommit) -> None:
    """What lies below a branch is told by no line, so nothing on one can be checked."""
    branch = exported.commit.branch
    if branch != MAIN_BRANCH and any(isinstance(each, ExportedVersion) for each in exported.changes):
        raise ImportLineError(
            exported.line, f"writes on the branch {quoted(branch)}, and an import is of {MAIN_BRANCH} alone"
        )


def _check_follows(version: ExportedVersion, before: Before | None) -> None:
    entry, expected = version.entry, next_version(before.version if before else None)
    if entry.version != expected:
        raise ImportLineError(
            version.line, f"is version {entry.version} of its key, and {expected} would be next here"
        )
    chain = integrity_chain(entry.content_hash or "", before.integrity_chain if before else None)
    if chain != entry.integrity_chain:
        raise ImportLineError(
            version.line, "has an integrityChain that does not follow from the version before"
        )


def _about(named: CommitEntry | OutcomeEffect) -> str:
    return f"version {named.version} of {quoted(named.key)} under {quoted(named.entity_path)}"


def _facts(exported: ExportedCommit) -> tuple[Any, ...]:
    """What a commit keeps wherever it is imported: not its place, nor what was left out of it."""
    commit = exported.commit
    return (
        commit.branch,
        commit.kind,
        commit.message,
        commit.author_agent_id,
        commit.session_id,
        encode(list(commit.parent_ids)),
        exported.describes,
        microseconds(commit.created_at),
    )
