"""The reference adapter, in memory: slow, obvious, and what the others are compared with."""

from amfs_sqlite.reference.adapter import ReferenceAdapter

__all__ = ["ReferenceAdapter"]
