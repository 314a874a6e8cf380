"""Commits, as an agent asks for them."""

from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.rules.limits import check_is_text


async def common_ancestor(session: AgentSession, commit_a: str, commit_b: str) -> str | None:
    """The id of the nearest commit both descend from."""
    check_is_text(commit_a, "commit_a")
    check_is_text(commit_b, "commit_b")
    return await session.adapter.common_ancestor(commit_a, commit_b)
