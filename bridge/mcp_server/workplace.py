"""Whom a server serves, and on which store."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from amfs_sqlite.sqlite import StoreDescription
from bridge.session import Session
from bridge.settings import Settings


@dataclass(frozen=True, slots=True)
class Workplace:
    """One session on an open store. ``describe`` tells about the file behind it."""

    session: Session
    settings: Settings
    describe: Callable[[], Awaitable[StoreDescription]]
