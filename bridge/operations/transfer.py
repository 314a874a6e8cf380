"""Taking a whole store elsewhere, and putting one together again. For the owner."""

from collections.abc import Callable

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.protocol.transfer import Transfer
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.transfer import ExportReport, ImportReport
from bridge.operations.arguments import check_session
from bridge.session import Session


async def export(
    session: Session, write: Callable[[bytes], object], *, progress: Progress | None = None
) -> ExportReport:
    """Write the whole store, every namespace and private records too, line by line.

    ``write`` and ``progress`` are called in another thread.
    """
    return await _transfer(session).export_to(write, progress=progress)


async def import_from(
    session: Session,
    reader: ExportReader,
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Store what an export holds and this store does not. What does not fit what is here is left out and
    reported. Raises ImportLineError; the commits before that line stay.
    """
    return await _transfer(session).import_from(reader, dry_run=dry_run, progress=progress)


def _transfer(session: Session) -> Transfer:
    check_session(session)
    if not session.owner:
        raise InvalidArgumentError(
            "session", "is an agent's; exports and imports are for the owner of the file"
        )
    if not isinstance(session.adapter, Transfer):
        raise InvalidArgumentError(
            "session", "is on an adapter that cannot be exported; open a SqliteAdapter"
        )
    return session.adapter
