"""What is there, as one agent sees it: scopes, a summary of one, and the tree of all."""

from collections import Counter
from collections.abc import Sequence

from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.models import ScopeInfo
from amfs_sqlite.rules.limits import check_count, check_optional_text

TREE_DEPTH = 3


async def list_scopes(session: AgentSession) -> Sequence[str]:
    """Every path with current entries, by code point."""
    return sorted(scope.path for scope in await session.adapter.scopes(viewer=session.agent_id))


async def info(session: AgentSession, entity_path: str | None) -> ScopeInfo:
    """A summary of exactly this path; of nothing, where nothing is."""
    check_optional_text(entity_path, "entity_path")
    wanted = entity_path or ""
    for scope in await session.adapter.scopes(wanted, viewer=session.agent_id):
        if scope.path == wanted:
            return scope
    return ScopeInfo(path=wanted, entry_count=0, avg_confidence=0.0, keys=())


async def tree(session: AgentSession, max_depth: int | None) -> str:
    """The paths as an indented tree, each name with the number of entries at and below it."""
    check_count(max_depth, "max_depth")
    max_depth = TREE_DEPTH if max_depth is None else max_depth
    counts: Counter[tuple[str, ...]] = Counter()
    for scope in await session.adapter.scopes(viewer=session.agent_id):
        names = scope.path.split("/")
        for depth in range(1, min(len(names), max_depth) + 1):
            counts[tuple(names[:depth])] += scope.entry_count
    return "\n".join(f"{'  ' * (len(names) - 1)}{names[-1]} ({counts[names]})" for names in sorted(counts))
