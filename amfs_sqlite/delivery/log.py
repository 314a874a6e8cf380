"""The log of changes, as delivery reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from amfs_sqlite.models import ChangeEvent
from amfs_sqlite.rules.cursors import ChangePosition

BATCH_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """Which changes are asked for."""

    entity_path: str | None = None
    include_system: bool = True
    viewer: str | None = None


class Placed(NamedTuple):
    """A change, and where it stands."""

    position: ChangePosition
    event: ChangeEvent


class Batch(NamedTuple):
    """The next changes. All up to ``through`` were looked at; ``is_last`` where nothing was behind that."""

    changes: Sequence[Placed]
    through: ChangePosition
    is_last: bool


class Log(Protocol):
    """What an adapter tells of its changes. Every call sees whole commits alone, and holds nothing after."""

    async def position(self, cursor: str) -> ChangePosition:
        """Where a cursor stands. Raises InvalidCursorError where no change of this store stands there."""
        ...

    async def end(self) -> ChangePosition:
        """Behind the newest change."""
        ...

    async def read(self, after: ChangePosition, asked: Asked, until: int | None) -> Batch:
        """The next BATCH_LIMIT changes that are asked for, up to the commit ``until``, where given."""
        ...
