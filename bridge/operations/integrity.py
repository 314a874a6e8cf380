"""Tamper evidence."""

from amfs_sqlite.models import VerifyReport
from bridge.operations.arguments import check_session
from bridge.session import Session


async def verify(session: Session) -> VerifyReport:
    """Check the whole store; what does not hold is reported, never raised."""
    check_session(session)
    return await session.adapter.verify()
