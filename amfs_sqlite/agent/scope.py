"""An agent's memory seen from one path."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Unpack, overload

from amfs_sqlite.agent import entries, search, statistics
from amfs_sqlite.agent.results import RecallConfig, ScopeFilters, ScoredEntry
from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.errors import AmfsError, quoted
from amfs_sqlite.models import ArtifactRef, MemoryEntry, ScopeInfo
from amfs_sqlite.rules.limits import check_flag, check_is_text, check_texts
from amfs_sqlite.rules.visibility import covers


class ReadOnlyScopeError(AmfsError):
    """A write through a scope that was opened to be read. Nothing was stored."""

    code = "read_only_scope"

    def __init__(self, entity_path: str) -> None:
        self.entity_path = entity_path
        super().__init__(f"scope {quoted(entity_path)} is read-only; open it without readonly to write")


class MemoryScope:
    """The operations of an agent's memory with the path filled in. Raises InvalidArgumentError."""

    def __init__(self, session: AgentSession, entity_path: str, *, readonly: bool = False) -> None:
        check_is_text(entity_path, "entity_path")
        check_flag(readonly, "readonly")
        self._session = session
        self.entity_path = entity_path
        self.is_readonly = readonly

    async def read(self, key: str, *, min_confidence: float | None = None) -> MemoryEntry | None:
        """As ``AgentMemory.read``."""
        return await entries.read(self._session, self.entity_path, key, min_confidence)

    async def write(
        self,
        key: str,
        value: Any,
        *,
        confidence: float | None = None,
        pattern_refs: Sequence[str] | None = None,
        ttl_at: datetime | str | None = None,
        shared: bool | None = None,
        artifact_refs: Sequence[ArtifactRef] | None = None,
    ) -> MemoryEntry:
        """As ``AgentMemory.write``. Raises ReadOnlyScopeError."""
        if self.is_readonly:
            raise ReadOnlyScopeError(self.entity_path)
        drafted = entries.draft(
            self._session,
            self.entity_path,
            key,
            value,
            confidence=confidence,
            pattern_refs=pattern_refs,
            ttl_at=ttl_at,
            shared=shared,
            artifact_refs=artifact_refs,
        )
        return await entries.write(self._session, drafted)

    async def list(self, *, include_superseded: bool = False) -> Sequence[MemoryEntry]:
        """As ``AgentMemory.list``: this path and everything below it."""
        return await entries.list_entries(
            self._session, self.entity_path, include_superseded=include_superseded
        )

    async def history(
        self,
        key: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Sequence[MemoryEntry]:
        """As ``AgentMemory.history``."""
        return await entries.history(self._session, self.entity_path, key, since, until)

    @overload
    async def search(
        self, *, recall_config: None = None, **filters: Unpack[ScopeFilters]
    ) -> Sequence[MemoryEntry]: ...

    @overload
    async def search(
        self, *, recall_config: RecallConfig, **filters: Unpack[ScopeFilters]
    ) -> Sequence[ScoredEntry]: ...

    async def search(
        self,
        *,
        query: str | None = None,
        entity_paths: Sequence[str] | None = None,
        min_confidence: float | None = None,
        max_confidence: float | None = None,
        agent_id: str | None = None,
        since: datetime | str | None = None,
        pattern_ref: str | None = None,
        sort_by: str | None = None,
        limit: int | None = None,
        recall_config: RecallConfig | None = None,
    ) -> Sequence[MemoryEntry] | Sequence[ScoredEntry]:
        """As ``AgentMemory.search``, never from outside this path.

        Of ``entity_paths`` those outside find nothing, and those above find what is inside.
        """
        return await search.search(
            self._session,
            query=query,
            entity_path=self.entity_path,
            entity_paths=None if entity_paths is None else self._inside(entity_paths),
            min_confidence=min_confidence,
            max_confidence=max_confidence,
            agent_id=agent_id,
            since=since,
            pattern_ref=pattern_ref,
            sort_by=sort_by,
            limit=limit,
            recall_config=recall_config,
        )

    async def info(self) -> ScopeInfo:
        """A summary of exactly this path."""
        return await statistics.info(self._session, self.entity_path)

    def _inside(self, entity_paths: Sequence[str]) -> Sequence[str]:
        check_texts(entity_paths, "entity_paths")
        inside = []
        for path in entity_paths:
            if covers(self.entity_path, path):
                inside.append(path)
            elif covers(path, self.entity_path):
                inside.append(self.entity_path)
        return inside
