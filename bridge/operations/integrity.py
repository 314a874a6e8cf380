"""Tamper evidence."""

from amfs_sqlite.models import VerifyReport
from bridge.session import Session


async def verify(session: Session) -> VerifyReport:
    """Check the whole store; what does not hold is reported, never raised."""
    return await session.adapter.verify()
