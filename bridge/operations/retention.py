"""Letting go of records: erasing values, pruning old versions, archiving what has expired. For the owner."""

from collections.abc import Collection
from contextlib import aclosing

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import EntryRef, RetentionReport
from amfs_sqlite.rules.limits import check_is_text, check_optional_text, check_several
from bridge.handoff import filing
from bridge.operations.arguments import check_refs, check_session
from bridge.operations.redaction import Redactor
from bridge.session import Session

COMMITS_READ = 500


async def erase(
    session: Session,
    refs: Collection[EntryRef] = (),
    *,
    written_by: str | None = None,
    message: str = "",
    dry_run: bool = False,
) -> RetentionReport:
    """Erase one version by a ref with its number, a record with its history by a ref without, and everything
    that ``written_by`` wrote: the packets it gave too, whoever holds them now, since each of their versions
    holds its words.

    A packet that pins what is erased says so when it is taken. Raises EntryNotFoundError for a ref that is
    not stored, and InvalidArgumentError where nothing is named.
    """
    _check_owner(session)
    check_several(refs, "refs")
    check_refs(refs)
    check_optional_text(written_by, "written_by")
    given = [] if written_by is None else await _given_by(session, written_by)
    return await session.adapter.erase(
        (*refs, *given),
        written_by=written_by,
        author=session.agent_id,
        message=Redactor(session).text(message),
        session_id=session.session_id,
        dry_run=dry_run,
    )


async def prune(
    session: Session,
    scope: str | None = None,
    *,
    keep_last: int | None = None,
    keep_days: float | None = None,
    message: str = "",
    dry_run: bool = False,
) -> RetentionReport:
    """Erase old versions of the records at or below the scope (None is everywhere).

    Kept are the current version, the newest ``keep_last`` of each record, what was current in the last
    ``keep_days`` days, and every version that a packet pins which is not closed or cancelled. One that is
    given meanwhile may pin what goes; who takes it is told. Packets themselves are never pruned. Raises
    InvalidArgumentError where neither number is given.
    """
    _check_owner(session)
    check_optional_text(scope, "scope")
    return await session.adapter.prune(
        entity_path=scope,
        keep_last=keep_last,
        keep_days=keep_days,
        keep=await _pinned(session),
        include_system=False,
        author=session.agent_id,
        message=Redactor(session).text(message),
        session_id=session.session_id,
        dry_run=dry_run,
    )


async def archive(
    session: Session, scope: str | None = None, *, message: str = "", dry_run: bool = False
) -> RetentionReport:
    """Put away what has expired at or below the scope (None is everywhere): lists show it no longer, its
    history stays.
    """
    _check_owner(session)
    check_optional_text(scope, "scope")
    return await session.adapter.archive_expired(
        entity_path=scope,
        include_system=False,
        author=session.agent_id,
        message=Redactor(session).text(message),
        session_id=session.session_id,
        dry_run=dry_run,
    )


async def has_written(session: Session, agent_id: str) -> bool:
    """Whether any commit that wrote a version, whatever became of it, is by this agent."""
    _check_owner(session)
    check_is_text(agent_id, "agent_id")
    before = None
    while page := await session.adapter.list_commits(limit=COMMITS_READ, before=before):
        if any(each.author_agent_id == agent_id and each.kind == "write" for each in page):
            return True
        before = page[-1].sequence
    return False


async def _given_by(session: Session, agent_id: str) -> list[EntryRef]:
    """The packets that this agent gave."""
    async with aclosing(filing.look_through(session, None)) as packets:
        return [
            EntryRef(entity_path=filing.HANDOFF_PATH, key=filed.packet.id)
            async for filed in packets
            if filed.packet.from_agent == agent_id
        ]


async def _pinned(session: Session) -> list[EntryRef]:
    """What is handed over and not yet done with."""
    pinned: list[EntryRef] = []
    async with aclosing(filing.look_through(session, filing.UNFINISHED_TAG)) as packets:
        async for filed in packets:
            pinned += [pin.ref for pin in filed.packet.pins]
    return pinned


def _check_owner(session: Session) -> None:
    check_session(session)
    if not session.owner:
        raise InvalidArgumentError("session", "is an agent's; letting go is for the owner of the file")
