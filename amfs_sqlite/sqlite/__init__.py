"""The SQLite adapter; the only place with SQL."""

from amfs_sqlite.sqlite.adapter import SqliteAdapter
from amfs_sqlite.sqlite.copying.backup import BackupReport
from amfs_sqlite.sqlite.copying.restore import RestoreReport, restore
from amfs_sqlite.sqlite.database.connection import StoreDescription
from amfs_sqlite.sqlite.database.opening import Mode, refusal
from amfs_sqlite.sqlite.doctor.health import HealthReport, Visit, visit
from amfs_sqlite.sqlite.doctor.symptoms import HealthFinding
from amfs_sqlite.sqlite.transfer.exporting import export_to_file

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
