"""Entries and outcomes as tests write them: everything but the point of the test has a default."""

from typing import Any

from amfs_sqlite import EntryRef, MemoryEntry, OutcomeRecord


def draft(
    path: str = "svc/a",
    key: str = "k",
    value: Any = 1,
    *,
    agent: str = "alice",
    session: str = "",
    written_at: Any = None,
    tags: tuple[str, ...] = (),
    **fields: Any,
) -> MemoryEntry:
    """An entry to be written; more fields go in as they are, unknown ones too."""
    provenance = {
        "agent_id": agent,
        "session_id": session,
        "written_at": written_at,
        "pattern_refs": tags,
    }
    named = {"entity_path": path, "key": key, "value": value, "provenance": provenance}
    return MemoryEntry.model_validate(named | fields)


def private(path: str = "svc/a", key: str = "k", value: Any = 1, **fields: Any) -> MemoryEntry:
    """An entry to be written that only its author may see."""
    return draft(path, key, value, shared=False, **fields)


def outcome(
    outcome_type: str = "success",
    *refs: EntryRef | str,
    outcome_ref: str = "run-1",
    agent: str = "alice",
    **fields: Any,
) -> OutcomeRecord:
    """An outcome that names these entries: text as AMFS does, addresses in parts as `refs`."""
    named = {
        "outcome_ref": outcome_ref,
        "outcome_type": outcome_type,
        "agent_id": agent,
        "causal_entry_keys": [each for each in refs if isinstance(each, str)],
        "refs": [each for each in refs if isinstance(each, EntryRef)],
    }
    return OutcomeRecord.model_validate(named | fields)


def at(path: str = "svc/a", key: str = "k", version: int | None = None) -> EntryRef:
    """An address."""
    return EntryRef(entity_path=path, key=key, version=version)
