"""The state: what is stored, in dicts and lists, and the one way to change it, all or nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self, TypeVar

from amfs_sqlite.clock import Clock, IdSource
from amfs_sqlite.errors import AdapterClosedError
from amfs_sqlite.models import (
    MAIN_BRANCH,
    Commit,
    CommitEntry,
    CommitResult,
    MemoryEntry,
    OutcomeEffect,
    OutcomeRecord,
    Withdrawal,
)
from amfs_sqlite.records.branches import Branch
from amfs_sqlite.records.traces import DecisionTrace
from amfs_sqlite.rules import branches, hashing, traces
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.values import decode, encode
from amfs_sqlite.rules.visibility import is_visible

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What outcomes move, while everything else about a version stays as it was written."""

    confidence: float
    outcome_count: int
    success_count: int
    failure_count: int

    @classmethod
    def of(cls, entry: MemoryEntry) -> Self:
        """The opinion that an entry carries."""
        return cls(entry.confidence, entry.outcome_count, entry.success_count, entry.failure_count)


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One version: as it was written, and the opinion of it as it stands.

    ``number`` is the store-wide order of versions, ``sequence`` the commit that wrote this one.
    ``written`` has neither the value nor unknown fields: both are kept as text, so that nobody
    outside holds a part of them. ``value`` is None in a tombstone and once it was erased.
    """

    number: int
    sequence: int
    kind: str
    written: MemoryEntry
    value: str | None
    extra: str
    extra_hash: str
    opinion: Opinion
    digest: str
    branch: str = MAIN_BRANCH

    @property
    def withdrawn(self) -> Withdrawal | None:
        """Why there is no value; None while there is one."""
        if self.value is not None:
            return None
        return "archived" if self.kind == "tombstone" else "erased"

    def as_written(self) -> MemoryEntry:
        """The version as it was written, less what was erased since, as a new object."""
        fields = {name: getattr(self.written, name) for name in MemoryEntry.model_fields}
        fields["value"] = None if self.value is None else decode(self.value)
        fields["withdrawn"] = self.withdrawn
        return MemoryEntry.model_validate(fields | decode(self.extra))

    @property
    def listed(self) -> CommitEntry:
        """The version as a commit names it."""
        written = self.written
        return CommitEntry(
            entity_path=written.entity_path,
            key=written.key,
            version=written.version,
            content_hash=written.content_hash,
        )

    def is_visible(self, viewer: str | None) -> bool:
        """Whether the viewer may see this version."""
        return is_visible(self.written.shared, self.written.agent_id, viewer)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """One key with its versions, oldest first.

    ``number`` is the order of keys by first write, ``version_count`` how many versions there were
    ever.
    """

    number: int
    version_count: int
    versions: tuple[StoredVersion, ...]

    @property
    def current(self) -> StoredVersion:
        """The newest version."""
        return self.versions[-1]

    def version(self, version: int) -> StoredVersion | None:
        """The version of this number, if there is one."""
        return next((stored for stored in self.versions if stored.written.version == version), None)


@dataclass(frozen=True, slots=True)
class StoredBranch:
    """One branch: its text, the sequence of the newest commit when it was made, and, key by key, the
    versions that it wrote itself.
    """

    record: str
    base: int
    keys: Mapping[tuple[str, str], StoredKey]

    @property
    def branch(self) -> Branch:
        """The branch, as a new object."""
        return Branch.from_wire(decode(self.record))


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """One commit. Of ``commit`` the entries are those it lists without having written them."""

    commit: Commit
    describes: str | None
    digest: str


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """One outcome: the record's wire form as text, and what it did.

    ``newest_version`` is the store-wide number of the newest version there was before it.
    """

    sequence: int
    newest_version: int
    wire: str
    effects: tuple[OutcomeEffect, ...]

    @property
    def record(self) -> OutcomeRecord:
        """The record, as a new object."""
        return OutcomeRecord.from_wire(decode(self.wire))


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What an idempotency key stands for: the digest of the request, and what it returned."""

    payload: str
    result: CommitResult


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """One trace: its text without the values of its entries, and those, None for what was erased."""

    record: str
    values: tuple[str | None, ...]

    @property
    def trace(self) -> DecisionTrace:
        """The trace, as a new object."""
        return traces.shown(self.record, self.values)

    def without(self, entity_path: str, key: str, version: int) -> Self:
        """The trace without the value of this version, whatever it took for its path and its key."""
        read = zip(self.trace.causal_entries, self.values, strict=True)
        addresses = traces.spellings(entity_path, key)
        kept = [
            None if entry.version == version and (entry.entity_path, entry.key) in addresses else value
            for entry, value in read
        ]
        return replace(self, values=tuple(kept))


@dataclass
class State:
    """Everything stored. The things in its collections never change: a change replaces them."""

    store_id: str
    namespace: str
    keys: dict[tuple[str, str], StoredKey] = field(default_factory=dict)
    commits: dict[int, StoredCommit] = field(default_factory=dict)
    outcomes: list[StoredOutcome] = field(default_factory=list)
    results: dict[tuple[str, str], StoredResult] = field(default_factory=dict)
    erasures: dict[int, int] = field(default_factory=dict)
    """By the number of the version, the sequence of the commit that erased it."""
    traces: dict[str, StoredTrace] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)
    """By id, its text."""
    agents: dict[str, str] = field(default_factory=dict)
    """By name, its text."""
    groups: dict[str, str] = field(default_factory=dict)
    """By id, its text without members."""
    group_of: dict[str, str] = field(default_factory=dict)
    """By agent, the id of its group."""
    dismissed: dict[tuple[str, str], datetime] = field(default_factory=dict)
    """By account and suggested group, when it was."""
    edges: dict[tuple[str, str, str, str], str] = field(default_factory=dict)
    """By branch, source, relation and target, its text."""
    branches: dict[str, StoredBranch] = field(default_factory=dict)
    """By name."""
    access: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """By branch, type and id of the grantee, its text."""
    tags: dict[str, str] = field(default_factory=dict)
    """By name, its text."""
    pulls: dict[str, str] = field(default_factory=dict)
    """By id, the text of a pull request."""
    reviews: dict[str, str] = field(default_factory=dict)
    """By id, its text."""
    head: tuple[int, str] = (0, hashing.GENESIS)

    def copy(self) -> Self:
        """A state that can change without this one."""
        return replace(
            self,
            keys=dict(self.keys),
            commits=dict(self.commits),
            outcomes=list(self.outcomes),
            results=dict(self.results),
            erasures=dict(self.erasures),
            traces=dict(self.traces),
            events=dict(self.events),
            agents=dict(self.agents),
            groups=dict(self.groups),
            group_of=dict(self.group_of),
            dismissed=dict(self.dismissed),
            edges=dict(self.edges),
            branches=dict(self.branches),
            access=dict(self.access),
            tags=dict(self.tags),
            pulls=dict(self.pulls),
            reviews=dict(self.reviews),
        )

    @property
    def next_sequence(self) -> int:
        """The sequence of the commit that is made next."""
        return self.head[0] + 1

    @property
    def versions(self) -> list[StoredVersion]:
        """Every version, of every branch; the newest has their number."""
        written = [self.keys, *(stored.keys for stored in self.branches.values())]
        return [version for keys in written for key in keys.values() for version in key.versions]

    def on(self, branch: str) -> Self:
        """The state as a branch shows it, to be read and not to be changed.

        Raises InvalidArgumentError for a branch that was never made.
        """
        return replace(self, keys=dict(self._shown_on(branch)))

    def _shown_on(self, branch: str) -> Mapping[tuple[str, str], StoredKey]:
        """What the parent showed when the branch was made, and behind it what the branch wrote itself."""
        if branch == MAIN_BRANCH:
            return self.keys
        stored = self.branches.get(branch)
        if stored is None:
            raise branches.never_made(branch)
        shown = {}
        for address, key in self._shown_on(stored.branch.parent_branch).items():
            then = tuple(version for version in key.versions if version.sequence <= stored.base)
            if then:
                shown[address] = replace(key, versions=then)
        for address, key in stored.keys.items():
            then = shown[address].versions if address in shown else ()
            shown[address] = replace(key, versions=(*then, *key.versions))
        return shown

    def append(self, entry: MemoryEntry, kind: str, branch: str = MAIN_BRANCH) -> StoredVersion:
        """Store an entry, complete with version, hashes and counts, as the newest of its key on a branch.

        Raises InvalidArgumentError for a branch that is not active.
        """
        if branch != MAIN_BRANCH:
            branches.check_active(branch, self.branches[branch].branch.status)
        address = (entry.entity_path, entry.key)
        keys = self._written_on(branch)
        key = keys.get(address) or StoredKey(len(keys) + 1, 0, ())
        fields = {name: getattr(entry, name) for name in MemoryEntry.model_fields}
        stored = StoredVersion(
            number=len(self.versions) + 1,
            sequence=self.next_sequence,
            kind=kind,
            written=MemoryEntry.model_validate(fields | {"value": None}),
            value=None if kind == "tombstone" else encode(entry.value),
            extra=encode(entry.model_extra or {}, "extra"),
            extra_hash=hashing.content_hash(decode(encode(entry.model_extra or {}, "extra"))),
            opinion=Opinion.of(entry),
            digest="",
            branch=branch,
        )
        stored = replace(stored, digest=record_digest(self.namespace, stored))
        changed = replace(key, version_count=entry.version, versions=(*key.versions, stored))
        self._write(branch, address, changed)
        return stored

    def move(self, version: StoredVersion, opinion: Opinion) -> StoredVersion:
        """Give a version another opinion."""
        return self._put(version, replace(version, opinion=opinion))

    def erase(self, version: StoredVersion, sequence: int) -> None:
        """Take the value and the unknown fields of a version away, by the commit of this sequence."""
        self._put(version, replace(version, value=None, extra="{}"))
        self.erasures[version.number] = sequence
        written = version.written
        for trace_id, stored in self.traces.items():
            self.traces[trace_id] = stored.without(written.entity_path, written.key, written.version)

    def _put(self, version: StoredVersion, changed: StoredVersion) -> StoredVersion:
        address = (version.written.entity_path, version.written.key)
        key = self._written_on(version.branch)[address]
        versions = tuple(changed if each is version else each for each in key.versions)
        self._write(version.branch, address, replace(key, versions=versions))
        return changed

    def _written_on(self, branch: str) -> Mapping[tuple[str, str], StoredKey]:
        return self.keys if branch == MAIN_BRANCH else self.branches[branch].keys

    def _write(self, branch: str, address: tuple[str, str], key: StoredKey) -> None:
        if branch == MAIN_BRANCH:
            self.keys[address] = key
        else:
            stored = self.branches[branch]
            self.branches[branch] = replace(stored, keys={**stored.keys, address: key})

    def written_by(self, sequence: int) -> list[StoredVersion]:
        """The versions that a commit wrote, in order."""
        written = [version for version in self.versions if version.sequence == sequence]
        return sorted(written, key=lambda version: version.number)

    def reported_by(self, sequence: int) -> list[StoredOutcome]:
        """The outcomes that a commit recorded, in order."""
        return [outcome for outcome in self.outcomes if outcome.sequence == sequence]

    def shown(self, version: StoredVersion) -> MemoryEntry:
        """A version as it is read: with the opinion as it stands, and what came after."""
        key = self.keys[version.written.entity_path, version.written.key]
        later = [each for each in key.versions if each.written.version > version.written.version]
        commit = self.commits.get(version.sequence)
        return version.as_written().model_copy(
            update={
                "confidence": version.opinion.confidence,
                "outcome_count": version.opinion.outcome_count,
                "success_count": version.opinion.success_count,
                "failure_count": version.opinion.failure_count,
                "superseded_at": later[0].written.written_at if later else None,
                "commit_id": commit.commit.id if commit else None,
            }
        )

    def stored(self, entity_path: str, key: str, version: int) -> StoredVersion:
        """A version that is known to be there."""
        return next(each for each in self.keys[entity_path, key].versions if each.written.version == version)

    def current(self, entity_path: str, key: str, viewer: str | None) -> StoredVersion | None:
        """What is there now, where something is and the viewer may see it."""
        stored = self.keys.get((entity_path, key))
        if stored is None or stored.current.withdrawn or not stored.current.is_visible(viewer):
            return None
        return stored.current


def record_digest(namespace: str, version: StoredVersion) -> str:
    """The digest of a version as it was written."""
    return hashing.record_digest(
        version.as_written(),
        namespace=namespace,
        branch=version.branch,
        kind=version.kind,
        extra_hash=version.extra_hash,
    )


def hidden_from(state: State, viewer: str | None) -> Callable[[str, str, int], bool]:
    """Tells of any version (path, key, version) whether it is there and hidden from the viewer."""

    def is_hidden(entity_path: str, key: str, version: int) -> bool:
        stored = state.keys.get((entity_path, key))
        found = stored.version(version) if stored else None
        return found is not None and not found.is_visible(viewer)

    return is_hidden


class Store:
    """The state while the adapter is open, and what the adapter was given to work with."""

    def __init__(self, namespace: str, policy: OutcomePolicy, clock: Clock, ids: IdSource) -> None:
        self.namespace = namespace
        self.policy = policy
        self.clock = clock
        self.ids = ids
        self._store_id = ids.hex(32)
        self._state: State | None = None
        self._is_closed = False

    @property
    def state(self) -> State:
        """The state. Raises AdapterClosedError unless the adapter is open."""
        if self._state is None:
            raise AdapterClosedError(self.problem)
        return self._state

    @property
    def is_open(self) -> bool:
        """Whether there is a state."""
        return self._state is not None

    def open(self) -> None:
        """Begin empty. Raises AdapterClosedError after ``close``: the content is gone."""
        if self._is_closed:
            raise AdapterClosedError(self.problem)
        self._state = self._state or State(self._store_id, self.namespace)

    def close(self) -> None:
        """Let go of everything stored."""
        self._is_closed = self._is_closed or self._state is not None
        self._state = None

    def change(self, work: Callable[[State], Result]) -> Result:
        """Do the work on a copy, which becomes the state when all of it is done."""
        draft = self.state.copy()
        result = work(draft)
        self._state = draft
        return result

    @property
    def problem(self) -> str:
        """Why there is no state."""
        if self._is_closed:
            return "was closed and kept everything in memory alone: make a new one"
        return "was never opened"


class View:
    """What entries are read from: a branch of a store."""

    def __init__(self, store: Store, branch: str) -> None:
        self.clock = store.clock
        self._store = store
        self._branch = branch

    @property
    def state(self) -> State:
        """The state as the branch shows it."""
        return self._store.state.on(self._branch)
