"""Search: one filter after the other over all current entries."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from amfs_sqlite.models import MemoryEntry, SearchPage, SearchQuery
from amfs_sqlite.reference.store import State, Store, StoredKey
from amfs_sqlite.rules.cursors import search_cursor, search_position
from amfs_sqlite.rules.limits import check_instant, check_optional_text, check_search
from amfs_sqlite.rules.ranking import MAX_RANKED, SORTS, SortField, path_rank, relevance
from amfs_sqlite.rules.text import Term, contains, entry_tokens, matches, terms_of
from amfs_sqlite.rules.visibility import covers, is_expired, is_system

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Found(NamedTuple):
    """An entry that passes, and what it is sorted by, in the order of importance."""

    entry: MemoryEntry
    position: list[float]


def search(store: Store, query: SearchQuery, viewer: str | None) -> SearchPage:
    """One page of what passes, and how many more only their age or confidence kept out."""
    state = store.state
    check_search(query)
    check_optional_text(viewer, "viewer")
    terms = terms_of(query.text) if query.text else None
    behind = search_position(query, viewer, state.store_id)
    now = store.clock.now()
    may_rank = _hit_count(state, terms, viewer) <= MAX_RANKED if behind is None else behind[0] > 0
    is_ranked = query.sort_by != "relevance" or may_rank
    passing = [
        Found(entry, _position(key, entry, query, terms if is_ranked else None))
        for key in _present(state)
        if key.current.is_visible(viewer) and _passes(entry := state.shown(key.current), query, terms)
    ]
    live = [found for found in passing if not is_expired(found.entry.ttl_at, now)]
    sure = [found for found in passing if _is_confident(found.entry, query)]
    ordered = sorted(
        (found for found in live if found in sure), key=lambda found: _ascending(found.position, query)
    )
    rest = [
        found
        for found in ordered
        if behind is None or _ascending(found.position, query) > _ascending(behind, query)
    ]
    page = rest[: query.limit]
    return SearchPage(
        entries=tuple(found.entry for found in page),
        next_cursor=(
            search_cursor(query, viewer, state.store_id, page[-1].position)
            if page and len(page) < len(rest)
            else None
        ),
        below_confidence_count=len(live) - len(ordered),
        expired_count=len(sure) - len(ordered),
        ranked=is_ranked,
    )


def _present(state: State) -> list[StoredKey]:
    return [key for key in state.keys.values() if not key.current.withdrawn]


def _hit_count(state: State, terms: Sequence[Term] | None, viewer: str | None) -> int:
    """How many entries that the viewer can see hold the text, whatever else is asked for."""
    shown = (state.shown(key.current) for key in _present(state) if key.current.is_visible(viewer))
    return sum(matches(terms or (), entry_tokens(entry)) for entry in shown)


def _passes(entry: MemoryEntry, query: SearchQuery, terms: Sequence[Term] | None) -> bool:
    """Whether every filter but least confidence and expiry lets the entry through."""
    since, until = check_instant(query.since, "since"), check_instant(query.until, "until")
    return (
        _is_under(entry.entity_path, query)
        and (query.include_system or not is_system(entry.entity_path))
        and (not query.key or entry.key == query.key)
        and (not query.tag or query.tag in entry.tags)
        and (not query.agent_id or entry.agent_id == query.agent_id)
        and (since is None or entry.written_at >= since)
        and (until is None or entry.written_at <= until)
        and (query.max_confidence is None or entry.confidence <= query.max_confidence)
        and (not query.contains or contains(entry, query.contains))
        and (terms is None or matches(terms, entry_tokens(entry)))
    )


def _is_under(entity_path: str, query: SearchQuery) -> bool:
    asked = (query.entity_path,) if query.entity_paths is None else query.entity_paths
    return any(
        not path or (covers(path, entity_path) if query.descendants else path == entity_path)
        for path in asked
    )


def _is_confident(entry: MemoryEntry, query: SearchQuery) -> bool:
    return not query.min_confidence or entry.confidence >= query.min_confidence


def _position(
    key: StoredKey, entry: MemoryEntry, query: SearchQuery, terms: Sequence[Term] | None
) -> list[float]:
    fields: dict[SortField, float] = {
        "version_number": key.current.number,
        "key_number": key.number,
        "path_rank": path_rank(query.entity_paths, entry.entity_path),
        "relevance": relevance(terms, entry_tokens(entry)) if terms else 0.0,
        "confidence": entry.confidence,
        # Whole microseconds, which a float no longer tells apart in far years.
        "written_at": (entry.written_at - EPOCH) // MICROSECOND,
        "version": entry.version,
    }
    return [fields[name] for name, _ in SORTS[query.sort_by]]


def _ascending(position: Sequence[float], query: SearchQuery) -> list[float]:
    """The position with what sorts downwards turned round, so that all of it sorts upwards."""
    fields = zip(position, SORTS[query.sort_by], strict=True)
    return [-number if downwards else number for number, (_, downwards) in fields]
