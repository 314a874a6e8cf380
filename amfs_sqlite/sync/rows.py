"""Rows as the SDK's entries, at once: a list makes so many that every step on the way counts."""

from collections.abc import Sequence
from typing import Any

from amfs_core.models import MemoryEntry, Provenance

from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.values import decode
from amfs_sqlite.sqlite.recalls import Recall, recalled
from amfs_sqlite.sqlite.rows import UNREADABLE, moment
from amfs_sqlite.sync.translation import LISTS, NOTHING_SAID, shown_entry, whole

# Fields without a column that the SDK has as JSON has them.
AS_IN_JSON: dict[str, type] = {
    "evidence_success": float,
    "evidence_failure": float,
    "prior_confidence": float,
    "importance_score": float,
    "uplift": float,
    "is_artifact": bool,
}


def entry_of_row(row: Sequence[Any], branch: str = MAIN_BRANCH) -> MemoryEntry:
    """From the columns that ``recalls.ENTRY`` and ``ENTRY_VERSION`` select: what ``shown_entry`` makes of
    ``recalls.recalled``, which is asked for all that is rare, or cannot be read.
    """
    try:
        entry = _usual(row, branch)
    except UNREADABLE:
        entry = None
    return shown_entry(*recalled(row), branch) if entry is None else entry


def _usual(row: Sequence[Any], branch: str) -> MemoryEntry | None:
    """The entry, where it has no more than most have."""
    (
        path, key, version, value, amfs_version, agent_id, session_id, written_at, tags, shared,
        ttl_at, artifact_refs, extra, content_hash, chain, commit_id,
        confidence, outcome_count, success_count, failure_count, _superseded_at, _kind, *beside,
    ) = row  # fmt: skip
    more = {} if extra == "{}" else decode(extra)
    if artifact_refs is not None or any(
        type(said) is not AS_IN_JSON.get(name) for name, said in more.items()
    ):
        return None
    provenance = {
        "agent_id": agent_id,
        "session_id": session_id,
        "written_at": moment(written_at),
        "pattern_refs": [] if tags == "[]" else decode(tags),
    }
    fields = NOTHING_SAID.copy()
    for name in LISTS:
        fields[name] = []
    fields["amfs_version"] = amfs_version
    fields["entity_path"] = path
    fields["key"] = key
    fields["version"] = version
    fields["value"] = decode(value)
    fields["provenance"] = whole(Provenance, provenance)
    fields["confidence"] = confidence
    fields["outcome_count"] = outcome_count
    fields["success_count"] = success_count
    fields["failure_count"] = failure_count
    fields["ttl_at"] = None if ttl_at is None else moment(ttl_at)
    fields["shared"] = shared == 1
    fields["branch"] = branch
    fields["content_hash"] = content_hash
    fields["integrity_chain"] = chain
    fields["commit_id"] = commit_id
    if beside != NOTHING_BESIDE:
        fields |= Recall(*beside).fields()
    fields |= more
    return whole(MemoryEntry, fields)


NOTHING_BESIDE = [None] * len(Recall._fields)
