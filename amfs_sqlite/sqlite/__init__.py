"""The SQLite adapter; the only place with SQL."""

from amfs_sqlite.sqlite.adapter import SqliteAdapter
from amfs_sqlite.sqlite.connection import StoreDescription

__all__ = ["SqliteAdapter", "StoreDescription"]
