"""An agent's memory seen from one path."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from amfs_sqlite.errors import AmfsError, quoted
from amfs_sqlite.models import MemoryEntry, ScopeInfo
from amfs_sqlite.rules.visibility import covers

if TYPE_CHECKING:
    from amfs_sqlite.agent.memory import AgentMemory
    from amfs_sqlite.agent.results import ScoredEntry


class ReadOnlyScopeError(AmfsError):
    """A write through a scope that was opened to be read. Nothing was stored."""

    code = "read_only_scope"

    def __init__(self, entity_path: str) -> None:
        self.entity_path = entity_path
        super().__init__(f"Read-only scope {quoted(entity_path)}: open the scope without readonly to write")


class MemoryScope:
    """The operations of an agent's memory with the path filled in."""

    def __init__(self, memory: "AgentMemory", entity_path: str, *, readonly: bool = False) -> None:
        self._memory = memory
        self.entity_path = entity_path
        self.is_readonly = readonly

    async def read(self, key: str, *, min_confidence: float | None = None) -> MemoryEntry | None:
        """As ``AgentMemory.read``."""
        return await self._memory.read(self.entity_path, key, min_confidence=min_confidence)

    async def write(self, key: str, value: Any, **options: Any) -> MemoryEntry:
        """As ``AgentMemory.write``. Raises ReadOnlyScopeError."""
        if self.is_readonly:
            raise ReadOnlyScopeError(self.entity_path)
        return await self._memory.write(self.entity_path, key, value, **options)

    async def list(self, *, include_superseded: bool = False) -> Sequence[MemoryEntry]:
        """As ``AgentMemory.list``: this path and everything below it."""
        return await self._memory.list(self.entity_path, include_superseded=include_superseded)

    async def history(
        self,
        key: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Sequence[MemoryEntry]:
        """As ``AgentMemory.history``."""
        return await self._memory.history(self.entity_path, key, since=since, until=until)

    async def search(self, **options: Any) -> "Sequence[MemoryEntry] | Sequence[ScoredEntry]":
        """As ``AgentMemory.search``, never from outside this path.

        Of ``entity_paths`` those outside find nothing, and those above find what is inside.
        """
        asked = options.get("entity_paths")
        inside = None if asked is None else [path for each in asked for path in self._inside(each)]
        return await self._memory.search(
            **options | {"entity_path": self.entity_path, "entity_paths": inside}
        )

    async def info(self) -> ScopeInfo:
        """A summary of exactly this path."""
        return await self._memory.info(self.entity_path)

    def _inside(self, entity_path: str) -> Sequence[str]:
        if covers(self.entity_path, entity_path):
            return [entity_path]
        return [self.entity_path] if covers(entity_path, self.entity_path) else []
