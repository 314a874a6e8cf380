"""The SQLite adapter; the only place with SQL."""

from amfs_sqlite.sqlite.adapter import SqliteAdapter
from amfs_sqlite.sqlite.backup import BackupReport
from amfs_sqlite.sqlite.connection import StoreDescription
from amfs_sqlite.sqlite.exporting import export_to_file
from amfs_sqlite.sqlite.health import HealthReport, Visit, visit
from amfs_sqlite.sqlite.opening import Mode, refusal
from amfs_sqlite.sqlite.restore import RestoreReport, restore
from amfs_sqlite.sqlite.symptoms import HealthFinding

__all__ = [
    "BackupReport",
    "HealthFinding",
    "HealthReport",
    "Mode",
    "RestoreReport",
    "SqliteAdapter",
    "StoreDescription",
    "Visit",
    "export_to_file",
    "refusal",
    "restore",
    "visit",
]
