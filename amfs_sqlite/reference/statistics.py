"""Statistics: counts and summaries over what the viewer can see."""

from collections import Counter
from collections.abc import Sequence

from amfs_sqlite.models import MemoryEntry, MemoryStats, ScopeInfo
from amfs_sqlite.reference.commits import list_commits
from amfs_sqlite.reference.entries import list_entries
from amfs_sqlite.reference.outcomes import list_outcomes
from amfs_sqlite.reference.store import Store
from amfs_sqlite.rules.confidence import mean


def stats(store: Store, *, include_system: bool, viewer: str | None) -> MemoryStats:
    """Counts over the current entries, the versions, the commits and the outcomes."""
    current = _entries(store, None, include_system, viewer)
    versions = _entries(store, None, include_system, viewer, include_superseded=True)
    agents = Counter(entry.agent_id for entry in current)
    entities = Counter(entry.entity_path for entry in current)
    return MemoryStats(
        total_entries=len(current),
        total_entities=len(entities),
        total_agents=len(agents),
        agents=dict(agents),
        entities=dict(entities),
        confidence_avg=mean(entry.confidence for entry in current),
        outcome_linked_count=sum(entry.outcome_count > 0 for entry in current),
        version_count=len(versions),
        commit_count=len(list_commits(store, limit=None, before=None, viewer=viewer)),
        outcome_count=len(
            list_outcomes(
                store,
                outcome_ref=None,
                entity_path=None,
                key=None,
                limit=None,
                before=None,
                viewer=viewer,
            )
        ),
    )


def scopes(
    store: Store, entity_path: str | None, *, include_system: bool, viewer: str | None
) -> Sequence[ScopeInfo]:
    """One summary per path with current entries."""
    current = _entries(store, entity_path, include_system, viewer)
    paths = dict.fromkeys(entry.entity_path for entry in current)
    return [_scope(path, [entry for entry in current if entry.entity_path == path]) for path in paths]


def _scope(path: str, entries: Sequence[MemoryEntry]) -> ScopeInfo:
    return ScopeInfo(
        path=path,
        entry_count=len(entries),
        avg_confidence=mean(entry.confidence for entry in entries),
        keys=tuple(entry.key for entry in entries),
        oldest=min(entry.written_at for entry in entries),
        newest=max(entry.written_at for entry in entries),
    )


def _entries(
    store: Store,
    entity_path: str | None,
    include_system: bool,
    viewer: str | None,
    *,
    include_superseded: bool = False,
) -> Sequence[MemoryEntry]:
    return list_entries(
        store,
        entity_path,
        include_superseded=include_superseded,
        descendants=True,
        include_system=include_system,
        viewer=viewer,
    )
