"""The SQLite adapter; the only place with SQL."""

from amfs_sqlite.sqlite.adapter import SqliteAdapter
from amfs_sqlite.sqlite.backup import BackupReport
from amfs_sqlite.sqlite.connection import StoreDescription
from amfs_sqlite.sqlite.opening import Mode
from amfs_sqlite.sqlite.restore import RestoreReport, restore

__all__ = ["BackupReport", "Mode", "RestoreReport", "SqliteAdapter", "StoreDescription", "restore"]
