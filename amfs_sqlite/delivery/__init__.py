"""Delivery: changes on their way to callbacks and iterators, the same for every adapter."""

from amfs_sqlite.delivery.feed import Feed
from amfs_sqlite.delivery.log import Asked, Batch, Log, Placed

__all__ = ["Asked", "Batch", "Feed", "Log", "Placed"]
