"""The same store behind the adapter interface of the AMFS Python SDK: blocking, and for any thread.

``AgentMemory("agent", adapter=SyncSqliteAdapter("memory.db"))``. Needs the extra ``amfs``. Where an
``amfs.yaml`` says ``adapter: sqlite``: ``import amfs_sqlite.sync; amfs_sqlite.sync.register()``.
"""

try:
    import amfs_core as _amfs_core  # noqa: F401 - only whether it is there
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "amfs_sqlite.sync needs the AMFS Python SDK: pip install 'amfs-sqlite[amfs]'", name=missing.name
    ) from missing

from amfs_sqlite.sync.adapter import SyncSqliteAdapter
from amfs_sqlite.sync.registration import register

__all__ = ["SyncSqliteAdapter", "register"]
