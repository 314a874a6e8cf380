"""The commit log: everything that ever changed."""

from collections.abc import Sequence

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import Commit
from amfs_sqlite.rules.hashing import content_hash
from amfs_sqlite.rules.limits import is_several
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


async def archiving(session: Session, commits: Sequence[Commit]) -> frozenset[str]:
    """The ids of those of these commits that archived something, which is then all that they did."""
    check_session(session)
    if not is_several(commits, Commit):
        raise InvalidArgumentError("commits", f"are {quoted(commits)}; give Commits")
    nothing = content_hash(None)
    found = set()
    for commit in commits:
        first = next(iter(commit.entries), None)
        if first is None or first.content_hash != nothing:
            continue
        path, key, version = first.entity_path, first.key, first.version
        stored = await session.adapter.read_at_version(path, key, version, viewer=session.viewer)
        if stored is not None and stored.withdrawn == "archived":
            found.add(commit.id)
    return frozenset(found)
