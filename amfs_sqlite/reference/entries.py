"""Entries: inserting versions and reading them."""

from collections.abc import Sequence
from datetime import datetime

from amfs_sqlite.models import MemoryEntry, Write
from amfs_sqlite.reference.store import State, Store, View
from amfs_sqlite.rules.hashing import content_hash, integrity_chain
from amfs_sqlite.rules.limits import (
    check_asked,
    check_count,
    check_flag,
    check_instant,
    check_min_confidence,
    check_optional_text,
    check_version,
    check_whole_number,
)
from amfs_sqlite.rules.values import decode, encode
from amfs_sqlite.rules.versions import check_expected, next_version
from amfs_sqlite.rules.visibility import covers, is_expired, is_system


def insert(draft: State, write: Write, now: datetime, branch: str) -> MemoryEntry:
    """Store the next version of a key on a branch; return it as written."""
    entry = write.entry
    address = (entry.entity_path, entry.key)
    there = draft.on(branch)
    standing = there.keys[address].current if address in there.keys else None
    before = there.current(*address, viewer=None)
    seen = there.current(*address, viewer=entry.agent_id)
    current = before.written.version if before else None
    check_expected(write.expected_version, current, seen.written.agent_id if seen else None, address)
    content = content_hash(decode(encode(entry.value)))
    chain = standing.written.integrity_chain if standing else None
    written_at = entry.provenance.written_at or now
    carried = seen.opinion.outcome_count if seen else 0
    complete = entry.model_copy(
        update={
            "outcome_count": carried if write.carries_outcome_count else entry.outcome_count,
            "version": next_version(standing.written.version if standing else None),
            "provenance": entry.provenance.model_copy(update={"written_at": written_at}),
            "content_hash": content,
            "integrity_chain": integrity_chain(content, chain),
            "commit_id": None,
            "superseded_at": None,
            "success_count": 0,
            "failure_count": 0,
            "withdrawn": None,
        }
    )
    return draft.append(complete, "write", branch).as_written()


def read(
    store: Store | View,
    entity_path: str,
    key: str,
    *,
    min_confidence: float | None,
    include_expired: bool,
    viewer: str | None,
) -> MemoryEntry | None:
    """The current version, unless it is hidden, expired, or not confident enough."""
    state = store.state
    check_asked(entity_path, key, viewer)
    check_min_confidence(min_confidence)
    check_flag(include_expired, "include_expired")
    current = state.current(entity_path, key, viewer)
    if current is None:
        return None
    if is_expired(current.written.ttl_at, store.clock.now()) and not include_expired:
        return None
    if min_confidence and current.opinion.confidence < min_confidence:
        return None
    return state.shown(current)


def list_entries(
    store: Store | View,
    entity_path: str | None,
    *,
    include_superseded: bool,
    descendants: bool,
    include_system: bool,
    viewer: str | None,
) -> Sequence[MemoryEntry]:
    """The versions asked for, key by key in the order of first writes."""

    def is_asked_for(path: str) -> bool:
        if is_system(path) and not include_system:
            return False
        return covers(entity_path, path) if descendants else entity_path in (None, "", path)

    state = store.state
    check_optional_text(entity_path, "entity_path")
    check_flag(include_superseded, "include_superseded")
    check_flag(descendants, "descendants")
    check_flag(include_system, "include_system")
    check_optional_text(viewer, "viewer")
    return [
        state.shown(version)
        for (path, _), key in state.keys.items()
        if is_asked_for(path)
        for version in (key.versions if include_superseded else [key.current])
        if version.is_visible(viewer) and (include_superseded or not version.withdrawn)
    ]


def history(
    store: Store | View,
    entity_path: str,
    key: str,
    *,
    since: datetime | str | None,
    until: datetime | str | None,
    after_version: int,
    limit: int | None,
    viewer: str | None,
) -> Sequence[MemoryEntry]:
    """The versions of one key that were written in a span of time, oldest first."""
    state = store.state
    check_asked(entity_path, key, viewer)
    first, last = check_instant(since, "since"), check_instant(until, "until")
    check_whole_number(after_version, "after_version")
    check_count(limit, "limit")
    stored = state.keys.get((entity_path, key))
    versions = [
        state.shown(version)
        for version in (stored.versions if stored else ())
        if version.is_visible(viewer)
        and version.written.version > after_version
        and (first is None or version.written.written_at >= first)
        and (last is None or version.written.written_at <= last)
    ]
    return versions[:limit]


def read_at_version(
    store: Store | View, entity_path: str, key: str, version: int, viewer: str | None
) -> MemoryEntry | None:
    """One version, whatever its age."""
    state = store.state
    check_asked(entity_path, key, viewer)
    check_version(version)
    stored = state.keys.get((entity_path, key))
    found = stored.version(version) if stored else None
    return state.shown(found) if found and found.is_visible(viewer) else None
