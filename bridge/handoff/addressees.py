"""Whom a packet is for: whether anybody of that name has been at work here."""

from bridge.session import Session

RECENT_CHANGES = 1_000
PAGE_CHANGES = 100


async def is_known(session: Session, agent_id: str) -> bool:
    """Whether any of the last RECENT_CHANGES that the session can see is this agent's.

    An agent that has only read is not known: reading leaves no trace.
    """
    if agent_id == session.agent_id:
        return True
    before: int | None = None
    for _ in range(RECENT_CHANGES // PAGE_CHANGES):
        page = await session.adapter.list_commits(limit=PAGE_CHANGES, before=before, viewer=session.viewer)
        if any(commit.author_agent_id == agent_id for commit in page):
            return True
        if len(page) < PAGE_CHANGES:
            return False
        before = page[-1].sequence
    return False
