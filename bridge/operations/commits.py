"""The commit log: everything that ever changed."""

from collections.abc import Sequence

from amfs_sqlite.models import Commit
from bridge.operations.arguments import check_session
from bridge.session import Session

LOG_LIMIT = 20


async def log(
    session: Session, *, limit: int | None = LOG_LIMIT, before: int | None = None
) -> Sequence[Commit]:
    """The commits this agent can see anything of, newest first.

    ``before`` continues behind a commit's ``sequence``; ``limit`` None is all.
    """
    check_session(session)
    return await session.adapter.list_commits(limit=limit, before=before, viewer=session.viewer)
