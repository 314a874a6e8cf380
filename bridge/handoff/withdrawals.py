"""What was stored and is no more."""

from amfs_sqlite.models import Withdrawal
from bridge.session import Session


async def withdrawn(session: Session, scope: str, key: str) -> Withdrawal | None:
    """Why nothing is there now: the newest version that this agent may see was erased or archived.

    None where something is there, expired or not, and where nothing ever was.
    """
    adapter, viewer = session.adapter, session.viewer
    if await adapter.read(scope, key, include_expired=True, viewer=viewer) is not None:
        return None
    versions = await adapter.history(scope, key, viewer=viewer)
    return versions[-1].withdrawn if versions else None
