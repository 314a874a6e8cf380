"""What an agent holds in its hand: AMFS's AgentMemory, async, over any adapter."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Unpack, overload

from amfs_sqlite.agent import commits, entries, integrity, outcomes, search, statistics
from amfs_sqlite.agent.results import (
    Explanation,
    RecallConfig,
    ScoredEntry,
    SearchFilters,
    VerificationResult,
)
from amfs_sqlite.agent.scope import MemoryScope
from amfs_sqlite.agent.session import AgentSession, ReadTracker
from amfs_sqlite.agent.transaction import MemoryTransaction
from amfs_sqlite.clock import Clock, IdSource, RandomIds, SystemClock
from amfs_sqlite.models import ArtifactRef, Commit, MemoryEntry, MemoryStats, ScopeInfo
from amfs_sqlite.protocol import AmfsAdapter
from amfs_sqlite.protocol.changes import Callback, WatchHandle
from amfs_sqlite.rules.limits import IDS, check_able

SESSION_ID_DIGITS = 8

_SYSTEM_CLOCK = SystemClock()
_RANDOM_IDS = RandomIds()


class AgentMemory:
    """One agent's memory: reads are logged, writes are signed, private versions of others do not exist.

    ``session_id`` None makes a fresh one. The adapter is opened and closed by whoever made it; outcomes
    follow the policy it was opened with. What is refused raises InvalidArgumentError, which names the
    argument, and nothing is stored; the adapter's own errors come as they are.

    No write here takes ``expected_version`` or ``idempotency_key``: the last one wins, and a repeated one is
    stored again. For either use the adapter's own ``write`` and ``commit``. No path is kept from being
    written, not even ``_system/handoff``, where ``bridge`` has its packets: leave that one to it.
    """

    def __init__(
        self,
        agent_id: str,
        *,
        adapter: AmfsAdapter,
        session_id: str | None = None,
        clock: Clock = _SYSTEM_CLOCK,
        ids: IdSource = _RANDOM_IDS,
    ) -> None:
        check_able(ids, "ids", ["hex"], IDS)
        fresh = f"sess-{ids.hex(SESSION_ID_DIGITS)}" if session_id is None else session_id
        self._session = AgentSession(adapter, agent_id, fresh, clock, ids)

    @property
    def agent_id(self) -> str:
        """Who signs what is written."""
        return self._session.agent_id

    @property
    def session_id(self) -> str:
        """This run of the agent."""
        return self._session.session_id

    @property
    def namespace(self) -> str:
        """The adapter's namespace."""
        return self._session.adapter.namespace

    @property
    def adapter(self) -> AmfsAdapter:
        """What the memory is kept in."""
        return self._session.adapter

    @property
    def read_tracker(self) -> ReadTracker:
        """The read log."""
        return self._session.tracker

    async def read(
        self, entity_path: str, key: str, *, min_confidence: float | None = None
    ) -> MemoryEntry | None:
        """The current version, or None; what is found is logged as read."""
        return await entries.read(self._session, entity_path, key, min_confidence)

    async def write(
        self,
        entity_path: str,
        key: str,
        value: Any,
        *,
        confidence: float | None = None,
        pattern_refs: Sequence[str] | None = None,
        ttl_at: datetime | str | None = None,
        shared: bool | None = None,
        artifact_refs: Sequence[ArtifactRef] | None = None,
    ) -> MemoryEntry:
        """Store the next version, confidence 1 and shared by default; its outcome count goes on."""
        return await entries.write(
            self._session,
            entries.draft(
                self._session,
                entity_path,
                key,
                value,
                confidence=confidence,
                pattern_refs=pattern_refs,
                ttl_at=ttl_at,
                shared=shared,
                artifact_refs=artifact_refs,
            ),
        )

    async def list(
        self, entity_path: str | None = None, *, include_superseded: bool = False
    ) -> Sequence[MemoryEntry]:
        """Entries at this path and below it, in first-write order; nothing is logged."""
        return await entries.list_entries(self._session, entity_path, include_superseded=include_superseded)

    async def history(
        self,
        entity_path: str,
        key: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Sequence[MemoryEntry]:
        """The versions of exactly this key, oldest first."""
        return await entries.history(self._session, entity_path, key, since, until)

    @overload
    async def search(
        self, *, recall_config: None = None, **filters: Unpack[SearchFilters]
    ) -> Sequence[MemoryEntry]: ...

    @overload
    async def search(
        self, *, recall_config: RecallConfig, **filters: Unpack[SearchFilters]
    ) -> Sequence[ScoredEntry]: ...

    async def search(
        self,
        *,
        query: str | None = None,
        entity_path: str | None = None,
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
        """Current entries that pass every filter; '', 0 and None are no filter, but for max_confidence 0.

        ``query`` is a substring of path, key or value text, whatever its case: "time pos" is not in "time
        entity position". Words wherever they stand are found by the ``text`` of the adapter's own ``search``.
        ``entity_paths`` takes the place of ``entity_path``; none of them finds nothing. ``sort_by`` is
        ``confidence`` (the default), ``recency`` or ``version``, highest or latest first; any other text is
        the order of first writes. ``limit`` (100) cuts last, and 0 finds nothing.

        **With a recall_config the query is not looked for at all**, as in AMFS: nothing is scored by how well
        it fits, and the semantic part counts whole for every entry. What passes the other filters comes
        scored, best first, whatever ``sort_by`` says but for ties.
        """
        return await search.search(
            self._session,
            query=query,
            entity_path=entity_path,
            entity_paths=entity_paths,
            min_confidence=min_confidence,
            max_confidence=max_confidence,
            agent_id=agent_id,
            since=since,
            pattern_ref=pattern_ref,
            sort_by=sort_by,
            limit=limit,
            recall_config=recall_config,
        )

    async def stats(self) -> MemoryStats:
        """Counts over what the agent can see."""
        return await self.adapter.stats(viewer=self.agent_id)

    async def verify(self) -> VerificationResult:
        """Verification of the whole store, in AMFS's shape."""
        return await integrity.verify(self._session)

    async def watch(self, entity_path: str | None, callback: Callback) -> WatchHandle:
        """Call back for every change at or below this path that the agent can see: see ``Changes.watch``."""
        return await self.adapter.watch(entity_path, callback, viewer=self.agent_id)

    def transaction(self, message: str = "") -> MemoryTransaction:
        """Writes that are committed together, all or nothing."""
        return MemoryTransaction(self._session, message)

    async def commit_log(self, limit: int | None = None) -> Sequence[Commit]:
        """The commits the agent can see, newest first."""
        return await self.adapter.list_commits(limit=limit, viewer=self.agent_id)

    async def common_ancestor(self, commit_a: str, commit_b: str) -> str | None:
        """The id of the nearest commit both descend from."""
        return await commits.common_ancestor(self._session, commit_a, commit_b)

    def record_context(self, label: str, summary: str, *, source: str | None = None) -> None:
        """Note something learned elsewhere that the session relies on."""
        outcomes.record_context(self._session, label, summary, source)

    async def explain(self, outcome_ref: str | None = None) -> Explanation:
        """What the session relied on, as it is now; ``outcome_ref`` is a label: nothing is looked up by it.

        Every entry read comes with the version it was read at, whatever outcome it went into, and every
        context with it.
        """
        return await outcomes.explain(self._session, outcome_ref)

    async def commit_outcome(
        self,
        outcome_ref: str,
        outcome_type: str,
        causal_entry_keys: Sequence[str] | None = None,
        *,
        causal_confidence: float | None = None,
    ) -> Sequence[MemoryEntry]:
        """Report an outcome of these ``path/key`` texts, or of all read, which stays logged; what it moved.

        What was read is part of the next outcome too, until ``clear_read_log``. An outcome has room for 1,000
        references: of more that were read the 1,000 read last are credited; more texts are refused.
        """
        return await outcomes.commit_outcome(
            self._session, outcome_ref, outcome_type, causal_entry_keys, causal_confidence
        )

    async def recall(
        self, entity_path: str, key: str, *, min_confidence: float | None = None
    ) -> MemoryEntry | None:
        """The agent's own latest version, superseded or not, if its confidence is at least that (None: 0)."""
        return await entries.recall(self._session, entity_path, key, min_confidence)

    async def my_entries(self, entity_path: str | None = None) -> Sequence[MemoryEntry]:
        """The current entries that this agent wrote last, most confident first, without a limit."""
        return await entries.my_entries(self._session, entity_path)

    async def read_from(self, agent_id: str, entity_path: str, key: str) -> MemoryEntry | None:
        """The current version if it is shared and that agent wrote it ('' is anyone), logged as read."""
        return await entries.read_from(self._session, agent_id, entity_path, key)

    def scope(self, entity_path: str, *, readonly: bool = False) -> MemoryScope:
        """This memory seen from one path."""
        return MemoryScope(self._session, entity_path, readonly=readonly)

    async def list_scopes(self) -> Sequence[str]:
        """Every path with current entries, by code point."""
        return await statistics.list_scopes(self._session)

    async def info(self, entity_path: str | None = None) -> ScopeInfo:
        """A summary of exactly this path."""
        return await statistics.info(self._session, entity_path)

    async def tree(self, max_depth: int | None = None) -> str:
        """The paths as an indented tree, down to a depth (3), each name with the entries at and below it."""
        return await statistics.tree(self._session, max_depth)

    def clear_read_log(self) -> None:
        """Forget what was read and learned."""
        self._session.tracker.clear()
