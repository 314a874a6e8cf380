"""Finding records."""

from amfs_sqlite.models import SearchPage, SearchQuery
from amfs_sqlite.rules.limits import made
from amfs_sqlite.rules.visibility import is_system
from bridge.errors import ReservedPathError
from bridge.operations.arguments import check_record
from bridge.session import Session

DEFAULT_LIMIT = 20


async def recall(
    session: Session,
    *,
    scope: str = "",
    key: str = "",
    text: str = "",
    tag: str = "",
    min_confidence: float = 0.0,
    limit: int | None = DEFAULT_LIMIT,
    cursor: str = "",
) -> SearchPage:
    """Current records that pass every filter, newest first; none of them is touched.

    ``scope`` covers itself and all below it; ``key`` and ``tag`` are exact; ``text`` is words and
    "phrases" that must all occur, a trailing ``*`` for a prefix. An empty filter is none,
    and ``limit`` None is all. Raises ReservedPathError, and what ``AmfsAdapter.search`` raises.
    """
    check_record(session, scope, key)
    if is_system(scope):
        raise ReservedPathError(scope)
    query = made(
        SearchQuery,
        entity_path=scope,
        key=key,
        text=text,
        tag=tag,
        min_confidence=min_confidence,
        limit=limit,
        cursor=cursor,
        include_system=False,
    )
    return await session.adapter.search(query, viewer=session.viewer)
