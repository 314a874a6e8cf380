"""What is stored and what is returned: frozen, snake_case in Python, AMFS's camelCase names on the
wire.

A field marked *ours* is not AMFS's: it is filled by an adapter, ignored on an entry passed in, and
left out of the wire form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
)

from amfs_sqlite.clock import instant, spelled
from amfs_sqlite.modelling import Model, OpenModel, PartModel

AMFS_VERSION = "0.1.0"
MAIN_BRANCH = "main"
DEFAULT_NAMESPACE = "default"

Instant = Annotated[datetime, BeforeValidator(instant), PlainSerializer(spelled, when_used="json")]


def _unsigned_zero(number: float) -> float:
    """Minus zero as zero: they are equal, so they must hash alike."""
    return number + 0.0


Confidence = Annotated[float, AfterValidator(_unsigned_zero)]
LISTS_TOO = Field(strict=False)
Strings = Annotated[tuple[str, ...], LISTS_TOO]


class EntryRef(PartModel):
    """An entry, or one version of it, by address."""

    entity_path: str
    key: str
    version: int | None = None

    def __str__(self) -> str:
        at = "" if self.version is None else f"@{self.version}"
        return f"{self.entity_path}/{self.key}{at}"


class Provenance(PartModel):
    """Who wrote a version, when, and under which tags.

    ``written_at`` may be None on an entry to be written: the adapter stamps it with its clock.
    ``pattern_refs`` are AMFS's name for tags.
    """

    agent_id: str
    session_id: str = ""
    written_at: Instant | None = None
    pattern_refs: Strings = ()


class ArtifactRef(PartModel):
    """A pointer to something outside the store."""

    uri: str
    media_type: str | None = None
    label: str | None = None
    size_bytes: int | None = None

    def to_wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


Withdrawal = Literal["archived", "erased"]
"""``archived``: this version says that from here on nothing is there. ``erased``: its value was removed."""


class MemoryEntry(OpenModel):
    """One version of one entry. Unknown fields are kept and come back under the name they came
    with.

    ``version``, ``content_hash``, ``integrity_chain`` and ``commit_id`` of an entry passed in are
    ignored; every stored version carries its own.
    """

    amfs_version: str = AMFS_VERSION
    entity_path: str
    key: str
    version: int = 1
    value: Any = None
    provenance: Provenance
    confidence: Confidence = 1.0
    outcome_count: int = 0
    ttl_at: Instant | None = None
    artifact_refs: Annotated[tuple[ArtifactRef, ...], LISTS_TOO] | None = None
    shared: bool = True
    content_hash: str | None = None
    integrity_chain: str | None = None
    commit_id: str | None = None
    superseded_at: Instant | None = Field(default=None, exclude=True)
    """Ours: when the next version was written; None while this one is current."""
    success_count: int = Field(default=0, exclude=True)
    """Ours: applied successes since this value was written."""
    failure_count: int = Field(default=0, exclude=True)
    """Ours: applied failures since this value was written."""
    withdrawn: Withdrawal | None = Field(default=None, exclude=True)
    """Ours: why there is no value any more; None while there is one."""

    @classmethod
    def draft(
        cls,
        entity_path: str,
        key: str,
        value: Any,
        *,
        agent_id: str,
        session_id: str = "",
        tags: Sequence[str] = (),
        confidence: float = 1.0,
        shared: bool = True,
        ttl_at: datetime | str | None = None,
    ) -> Self:
        """An entry to be written, from the few things a writer usually says.

        Raises ValueError, for one text as ``tags`` too.
        """
        signed = {"agent_id": agent_id, "session_id": session_id, "pattern_refs": tags}
        return cls(
            entity_path=entity_path,
            key=key,
            value=value,
            provenance=Provenance.model_validate(signed),
            confidence=confidence,
            shared=shared,
            ttl_at=None if ttl_at is None else instant(ttl_at),
        )

    @property
    def ref(self) -> EntryRef:
        """The address of exactly this version."""
        return EntryRef(entity_path=self.entity_path, key=self.key, version=self.version)

    @property
    def agent_id(self) -> str:
        """The author."""
        return self.provenance.agent_id

    @property
    def tags(self) -> tuple[str, ...]:
        """``provenance.pattern_refs`` under its everyday name."""
        return self.provenance.pattern_refs

    @property
    def written_at(self) -> datetime:
        """When this version was written. Raises ValueError on an entry that was never stored."""
        if self.provenance.written_at is None:
            raise ValueError("this entry was never stored: it has no written_at yet")
        return self.provenance.written_at

    def to_wire(self) -> dict[str, Any]:
        wire = super().to_wire()
        if self.artifact_refs is None:
            del wire["artifactRefs"]
        else:
            wire["artifactRefs"] = [ref.to_wire() for ref in self.artifact_refs]
        return wire


class OutcomeType(StrEnum):
    """How something that relied on entries turned out. The last four are AMFS's older names."""

    SUCCESS = "success"
    MINOR_FAILURE = "minor_failure"
    FAILURE = "failure"
    CRITICAL_FAILURE = "critical_failure"
    CLEAN_DEPLOY = "clean_deploy"
    REGRESSION = "regression"
    P2_INCIDENT = "p2_incident"
    P1_INCIDENT = "p1_incident"


class OutcomeRecord(OpenModel):
    """A report of how something turned out, and which entries it relied on.

    ``causal_entry_keys`` are AMFS's ``path/key`` strings; ``refs`` are addresses in parts.
    ``outcome_type`` is text here so that an adapter can refuse an unknown one by name.
    ``committed_at`` may be None: the adapter stamps it with its clock. Unknown fields are kept.
    """

    outcome_ref: str
    outcome_type: str
    agent_id: str
    causal_confidence: float = 1.0
    committed_at: Instant | None = None
    causal_entry_keys: Strings = ()
    refs: Annotated[tuple[EntryRef, ...], LISTS_TOO] = ()
    note: str = ""
    session_id: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """AMFS's fields always; ``refs``, ``note`` and ``sessionId`` where they hold something."""
        wire = super().to_wire()
        for ours in ("refs", "note", "sessionId"):
            if not wire[ours]:
                del wire[ours]
        return wire


EffectReason = Literal["already_applied", "stale"]


class OutcomeEffect(Model):
    """What one outcome did to one entry.

    ``version`` is the version the outcome was about, ``resulting_version`` the one that holds
    ``confidence_after`` (the same one, or the next where the policy makes versions), None when not
    ``applied``; then ``reason`` says why, and both confidences are the current version's (of a
    private one: those of the version named).
    """

    entity_path: str
    key: str
    version: int
    policy: str
    confidence_before: float
    confidence_after: float
    applied: bool
    reason: EffectReason | None = None
    resulting_version: int | None = None


class RecordedOutcome(Model):
    """One outcome as it stands in the log, with its effects in the order of its references."""

    record: OutcomeRecord
    effects: Annotated[tuple[OutcomeEffect, ...], LISTS_TOO]
    commit_id: str
    sequence: int


class CommitEntry(Model):
    """A version that a commit wrote."""

    entity_path: str
    key: str
    version: int
    content_hash: str | None = None


CommitKind = Literal["write", "outcome", "description", "erase"]


class Commit(Model):
    """One change of the store, all or nothing.

    ``parent_ids`` is AMFS's graph: the commit before it on its branch. ``tree_hash`` covers the
    content hashes of ``entries``.
    """

    id: str
    message: str = ""
    author_agent_id: str
    session_id: str | None = None
    entries: Annotated[tuple[CommitEntry, ...], LISTS_TOO] = ()
    tree_hash: str | None = None
    parent_ids: Strings = ()
    branch: str = MAIN_BRANCH
    created_at: Instant
    namespace: str = DEFAULT_NAMESPACE
    sequence: int = Field(default=0, exclude=True)
    """Ours: the store-wide order of commits, from 1."""
    kind: CommitKind = Field(default="write", exclude=True)
    """Ours: what the commit did."""
    digest: str | None = Field(default=None, exclude=True)
    """Ours: covers the commit, its versions and effects, and the digest of the commit before it."""
    effects: Annotated[tuple[OutcomeEffect, ...], LISTS_TOO] = Field(default=(), exclude=True)
    """Ours: what its outcomes did to entries."""


@dataclass(frozen=True, slots=True)
class Write:
    """A change: write this entry, where its current version is the expected one (None: whatever it is).

    With ``carries_outcome_count`` the count goes on from the current version that the entry's author can
    see (0 where there is none), in place of the entry's own.
    """

    entry: MemoryEntry
    expected_version: int | None = None
    carries_outcome_count: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """A change: record this outcome."""

    record: OutcomeRecord


Change = Write | Outcome


class CommitResult(Model):
    """What a commit did: the entries written or moved, in the order of the changes, and every effect."""

    commit: Commit
    entries: Annotated[tuple[MemoryEntry, ...], LISTS_TOO]
    effects: Annotated[tuple[OutcomeEffect, ...], LISTS_TOO] = ()


ChangeKind = Literal["write", "outcome"]


class ChangeEvent(Model):
    """One change: the entry as it stood right after it, and the cursor behind it.

    ``kind`` is ``outcome`` where an outcome moved the entry, in place or by a version of its own.
    """

    cursor: str
    kind: ChangeKind
    commit_id: str
    sequence: int
    entry: MemoryEntry


class RetentionReport(Model):
    """What was erased or archived, or, of a dry run, would be.

    ``versions`` are those whose values are gone, or of an archiving those that say that nothing is there (of
    a dry run the current ones before them); in the order of keys, then versions. ``commit_ids`` are the
    commits that did it, in order. ``remains`` are sentences about what of it may still stand in the files
    of the store, and about copies beside them that were made before a migration or a restore. Backups and
    exports elsewhere are not looked for.
    """

    versions: Annotated[tuple[CommitEntry, ...], LISTS_TOO] = ()
    commit_ids: Strings = ()
    dry_run: bool = False
    remains: Strings = ()


SearchOrder = Literal["newest", "oldest", "relevance", "confidence", "recency", "version"]


class SearchQuery(Model):
    """What to look for among current entries. An empty filter (None or '') is no filter.

    ``entity_path`` covers the path and, with ``descendants``, everything below it. ``entity_paths`` takes
    its place: what any of them covers, '' among them everything, none of them nothing. ``key``, ``tag`` and
    ``agent_id`` are exact. ``since`` and ``until`` are inclusive instants of writing, in any ISO 8601
    spelling. ``min_confidence`` 0 does not filter, ``max_confidence`` 0 does.

    ``contains`` is a substring of path, key or value text, whatever its case; of a value that is no string
    the compact JSON is looked at. ``text`` is words and "phrases" that must all occur, wherever they stand,
    a trailing ``*`` for a prefix.

    ``sort_by``: ``newest`` by the writing of the current version in the store's own order, latest first;
    ``oldest`` by the first writing of the key; ``recency`` by ``written_at``, latest first; ``confidence``
    and ``version``, highest first; ``relevance`` to the text, best first. Ties go by the order of
    ``entity_paths``, then by the first writing of the key. ``limit`` None means all.
    """

    model_config = ConfigDict(extra="forbid")

    entity_path: str | None = None
    entity_paths: Annotated[tuple[str, ...], LISTS_TOO] | None = None
    descendants: bool = True
    key: str | None = None
    tag: str | None = None
    agent_id: str | None = None
    since: datetime | str | None = None
    until: datetime | str | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    contains: str | None = None
    text: str | None = None
    sort_by: SearchOrder = "newest"
    limit: int | None = 100
    cursor: str | None = None
    include_system: bool = True


class SearchPage(Model):
    """One page of a search, in the order asked for.

    ``below_confidence_count`` and ``expired_count`` tell how many more entries all the other
    filters would have let through, in the whole search and not only on this page. ``ranked`` is False where
    relevance was asked for and more than 500 entries that the viewer can see hold the text: they come in the
    order of first writes.
    """

    entries: Annotated[tuple[MemoryEntry, ...], LISTS_TOO]
    next_cursor: str | None = None
    below_confidence_count: int = 0
    expired_count: int = 0
    ranked: bool = True


class ScopeInfo(Model):
    """The current entries at exactly one path. Order of keys: first write."""

    path: str
    entry_count: int
    avg_confidence: float
    keys: Strings
    oldest: Instant | None = None
    newest: Instant | None = None


class MemoryStats(Model):
    """Counts over current entries; both maps in first-write order, by author and by path.

    ``include_system`` goes for all of them but ``commit_count`` and ``outcome_count``.
    """

    total_entries: int
    total_entities: int
    total_agents: int
    agents: dict[str, int]
    entities: dict[str, int]
    confidence_avg: float
    outcome_linked_count: int
    version_count: int = Field(default=0, exclude=True)
    """Ours: versions, superseded ones included."""
    commit_count: int = Field(default=0, exclude=True)
    """Ours: commits of the namespace that the caller can see anything of."""
    outcome_count: int = Field(default=0, exclude=True)
    """Ours: outcomes recorded."""


FindingCode = Literal[
    "content",
    "record",
    "link",
    "gap",
    "order",
    "commit",
    "outcome",
    "head",
    "algorithm",
    "erasure",
    "index",
    "anchor",
    "file",
]


class Finding(Model):
    """One thing that does not verify, and where."""

    code: FindingCode
    message: str
    entity_path: str | None = None
    key: str | None = None
    version: int | None = None
    commit_id: str | None = None


class VerifyReport(Model):
    """What verify checked and what it found, in the order of keys, then commits.

    ``checked_from`` is the number of the first commit that was checked: 1 for the whole store, or the first
    behind the anchor it was asked to begin at. Then the counts are of what came since: the keys that were
    touched, the versions, commits and outcomes.
    """

    key_count: int
    version_count: int
    commit_count: int
    outcome_count: int
    findings: Annotated[tuple[Finding, ...], LISTS_TOO] = ()
    checked_from: int = 1

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings
