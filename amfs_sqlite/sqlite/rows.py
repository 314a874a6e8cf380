"""Rows to models and back, and nothing else."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from amfs_sqlite.modelling import Model
from amfs_sqlite.models import (
    ArtifactRef,
    Commit,
    CommitEntry,
    MemoryEntry,
    OutcomeEffect,
    OutcomeRecord,
    Provenance,
)
from amfs_sqlite.records.graph import GraphEdge
from amfs_sqlite.records.traces import DecisionTrace
from amfs_sqlite.rules import traces
from amfs_sqlite.rules.values import decode, encode

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Model)

# What reading a damaged row may come to: JSON that is none, that is another shape, a year 300000.
UNREADABLE = (ValueError, TypeError, AttributeError, OverflowError, RecursionError)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class UnreadableRowError(Exception):
    """A row that is no longer what it was stored as."""


def _readable(read: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    @wraps(read)
    def checked(row: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(row, *args, **kwargs)
        except UNREADABLE as error:
            raise UnreadableRowError("a stored row cannot be read any more; verify tells which") from error

    return checked


def microseconds(moment: datetime) -> int:
    """An instant as it is stored.

    >>> microseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - _EPOCH) // _MICROSECOND


def moment(stored: int) -> datetime:
    """An instant as it is shown.

    >>> moment(1000000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    return _EPOCH + timedelta(microseconds=stored)


def optional_microseconds(instant: datetime | None) -> int | None:
    """As ``microseconds``; none stays none."""
    return None if instant is None else microseconds(instant)


@_readable
def entry_of(row: Sequence[Any]) -> MemoryEntry:
    """An entry from the columns that ``entries.ENTRY`` and ``entries.ENTRY_VERSION`` select, in order."""
    (
        path, key, version, value, amfs_version, agent_id, session_id, written_at, tags, shared,
        ttl_at, artifact_refs, extra, content_hash, chain, commit_id,
        confidence, outcome_count, success_count, failure_count, superseded_at, kind,
    ) = row  # fmt: skip
    provenance = {
        "agent_id": agent_id,
        "session_id": session_id,
        "written_at": moment(written_at),
        "pattern_refs": () if tags == "[]" else _tags(tags),
    }
    fields = {
        "amfs_version": amfs_version,
        "entity_path": path,
        "key": key,
        "version": version,
        "value": None if value is None else decode(value),
        "provenance": Provenance.whole(provenance),
        "confidence": confidence,
        "outcome_count": outcome_count,
        "ttl_at": None if ttl_at is None else moment(ttl_at),
        "artifact_refs": None,
        "shared": shared == 1,
        "content_hash": content_hash,
        "integrity_chain": chain,
        "commit_id": commit_id,
        "superseded_at": None if superseded_at is None else moment(superseded_at),
        "success_count": success_count,
        "failure_count": failure_count,
        "withdrawn": None if value is not None else "archived" if kind == "tombstone" else "erased",
    }
    if extra == "{}" and artifact_refs is None:
        return MemoryEntry.whole(fields, {})
    fields["artifact_refs"] = _artifact_refs(artifact_refs)
    return MemoryEntry(**decode(extra), **fields)


def _tags(stored: str) -> tuple[str, ...]:
    tags = decode(stored)
    if type(tags) is not list or not all(type(tag) is str for tag in tags):
        raise ValueError("tags are a list of texts")
    return tuple(tags)


def _artifact_refs(stored: str | None) -> tuple[ArtifactRef, ...] | None:
    if stored is None:
        return None
    return tuple(ArtifactRef.from_wire(ref) for ref in json.loads(stored))


def version_columns(entry: MemoryEntry, value: str | None) -> tuple[Any, ...]:
    """What ``current`` and ``versions`` store alike, from value to integrity_chain."""
    refs = entry.artifact_refs
    return (
        value,
        entry.amfs_version,
        entry.provenance.agent_id,
        entry.provenance.session_id,
        microseconds(entry.written_at),
        encode(list(entry.provenance.pattern_refs)) if entry.provenance.pattern_refs else "[]",
        int(entry.shared),
        optional_microseconds(entry.ttl_at),
        None if refs is None else encode([ref.to_wire() for ref in refs], "artifact_refs"),
        encode(entry.model_extra, "extra") if entry.model_extra else "{}",
        entry.content_hash,
        entry.integrity_chain,
    )


@_readable
def commit_of(row: Sequence[Any], entries: Sequence[CommitEntry], effects: Sequence[OutcomeEffect]) -> Commit:
    """A commit from the columns of ``commits.COMMIT``, in order, and what belongs to it."""
    (
        sequence, namespace, branch, commit_id, kind, message, author, session_id,
        parent_ids, tree, listed, created_at, digest,
    ) = row  # fmt: skip
    named = tuple(CommitEntry.from_wire(entry) for entry in json.loads(listed))
    return Commit(
        sequence=sequence,
        namespace=namespace,
        branch=branch,
        id=commit_id,
        kind=kind,
        message=message,
        author_agent_id=author,
        session_id=session_id,
        parent_ids=tuple(json.loads(parent_ids)),
        tree_hash=tree,
        entries=tuple(entries) or named,
        effects=tuple(effects),
        created_at=moment(created_at),
        digest=digest,
    )


@_readable
def effect_of(row: Sequence[Any]) -> OutcomeEffect:
    """An effect from the columns of ``outcomes.EFFECT``, in order."""
    path, key, version, policy, before, after, applied, reason, resulting_version = row
    return OutcomeEffect(
        entity_path=path,
        key=key,
        version=version,
        policy=policy,
        confidence_before=before,
        confidence_after=after,
        applied=bool(applied),
        reason=reason,
        resulting_version=resulting_version,
    )


@_readable
def record_of(stored: str) -> OutcomeRecord:
    """An outcome as it was reported."""
    return OutcomeRecord.from_wire(decode(stored))


@_readable
def model_of(stored: str, kind: type[M]) -> M:
    """What is stored whole, as its wire form."""
    return kind.from_wire(decode(stored))


@_readable
def edge_of(row: Sequence[Any]) -> GraphEdge:
    """An edge from the columns of ``graph.COLUMNS``, in order."""
    *named, confidence, evidence_count, first_seen, last_seen, provenance = row
    seen = (moment(first_seen), moment(last_seen), None if provenance is None else decode(provenance))
    # What RETURNING gives of a REAL that has no fraction is an integer.
    values = (*named, float(confidence), evidence_count, *seen)
    return GraphEdge.whole(dict(zip(GraphEdge.model_fields, values, strict=True)))


@_readable
def trace_of(stored: str, values: Sequence[str | None]) -> DecisionTrace:
    """A trace and the values of its entries."""
    return traces.shown(stored, values)
