"""Search: one filter after the other over all current entries."""

from collections.abc import Sequence

from amfs_sqlite.models import MemoryEntry, SearchPage, SearchQuery
from amfs_sqlite.reference.store import Store
from amfs_sqlite.rules.cursors import search_cursor, search_position
from amfs_sqlite.rules.limits import check_search
from amfs_sqlite.rules.text import Term, entry_tokens, matches, terms_of
from amfs_sqlite.rules.visibility import covers, is_expired, is_system


def search(store: Store, query: SearchQuery, viewer: str | None) -> SearchPage:
    """One page of what passes, and how many more only their age or confidence kept out."""
    state = store.state
    check_search(query)
    terms = terms_of(query.text) if query.text else None
    behind = search_position(query, viewer, state.store_id)
    now = store.clock.now()
    passing = [
        (key.current.number if query.order == "newest" else key.number, entry)
        for key in state.keys.values()
        if key.current.is_visible(viewer) and _passes(entry := state.shown(key.current), query, terms)
    ]
    found = [
        (position, entry)
        for position, entry in passing
        if not is_expired(entry.ttl_at, now) and _is_confident(entry, query)
    ]
    found.sort(key=lambda placed: placed[0], reverse=query.order == "newest")
    rest = [placed for placed in found if behind is None or _is_behind(placed[0], behind, query)]
    page = rest[: query.limit]
    return SearchPage(
        entries=tuple(entry for _, entry in page),
        next_cursor=(
            search_cursor(query, viewer, state.store_id, page[-1][0])
            if page and len(page) < len(rest)
            else None
        ),
        below_confidence_count=sum(
            not is_expired(entry.ttl_at, now) and not _is_confident(entry, query) for _, entry in passing
        ),
        expired_count=sum(
            is_expired(entry.ttl_at, now) and _is_confident(entry, query) for _, entry in passing
        ),
    )


def _passes(entry: MemoryEntry, query: SearchQuery, terms: Sequence[Term] | None) -> bool:
    """Whether every filter but confidence and expiry lets the entry through."""
    return (
        covers(query.entity_path, entry.entity_path)
        and (query.include_system or not is_system(entry.entity_path))
        and (not query.key or entry.key == query.key)
        and (not query.tag or query.tag in entry.tags)
        and (terms is None or matches(terms, entry_tokens(entry)))
    )


def _is_confident(entry: MemoryEntry, query: SearchQuery) -> bool:
    return not query.min_confidence or entry.confidence >= query.min_confidence


def _is_behind(position: int, cursor: int, query: SearchQuery) -> bool:
    return position < cursor if query.order == "newest" else position > cursor
