"""The same store behind the adapter interface of the AMFS Python SDK: blocking, and for any thread.

``AgentMemory("agent", adapter=SyncSqliteAdapter("memory.db"))``. Needs the extra ``amfs``.
"""

try:
    import amfs_core as _amfs_core  # noqa: F401 - only whether it is there
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "amfs_sqlite.sync needs the AMFS Python SDK: pip install 'amfs-sqlite[amfs]'", name=missing.name
    ) from missing

from amfs_sqlite.sync.adapter import SyncSqliteAdapter

__all__ = ["SyncSqliteAdapter"]
