"""The flat surface of the reference adapter: one statement per operation."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from amfs_sqlite.clock import Clock, IdSource, RandomIds, SystemClock
from amfs_sqlite.delivery import Asked, Feed
from amfs_sqlite.models import (
    DEFAULT_NAMESPACE,
    MAIN_BRANCH,
    Change,
    ChangeEvent,
    Commit,
    CommitResult,
    EntryRef,
    MemoryEntry,
    MemoryStats,
    OutcomeRecord,
    RecordedOutcome,
    RetentionReport,
    ScopeInfo,
    SearchPage,
    SearchQuery,
    VerifyReport,
)
from amfs_sqlite.protocol import (
    Access,
    Agents,
    AmfsAdapter,
    Branches,
    Entries,
    Events,
    Graph,
    Groups,
    Pulls,
    Tags,
    Traces,
)
from amfs_sqlite.protocol.changes import Callback, WatchHandle
from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.records.branches import MergeResult
from amfs_sqlite.reference import (
    access,
    agents,
    branches,
    commits,
    entries,
    events,
    graph,
    groups,
    integrity,
    outcomes,
    pulls,
    retention,
    search,
    statistics,
    tags,
    traces,
)
from amfs_sqlite.reference.branch_entries import ReferenceBranch
from amfs_sqlite.reference.changes import StoreLog, close, follow_changes, told
from amfs_sqlite.reference.store import Store
from amfs_sqlite.reference.surface import operation
from amfs_sqlite.rules.anchors import Anchor
from amfs_sqlite.rules.confidence import AMFS_0_3, OutcomePolicy, check_policy
from amfs_sqlite.rules.limits import check_name, check_sources
from amfs_sqlite.rules.retention import Signature, Under
from amfs_sqlite.signatures import named


@named
class ReferenceAdapter(AmfsAdapter, Traces, Events, Agents, Groups, Graph, Branches, Access, Tags, Pulls):
    """Keeps everything in memory while it is open; after ``close`` it is gone for good.

    Each operation works on a copy of the state, which becomes the state when all of it is done:
    what fails leaves nothing, and what runs on one event loop never interleaves.
    """

    def __init__(
        self,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        outcomes: OutcomePolicy = AMFS_0_3,
        clock: Clock | None = None,
        ids: IdSource | None = None,
    ) -> None:
        check_name(namespace, "namespace")
        check_policy(outcomes)
        clock, ids = SystemClock() if clock is None else clock, RandomIds() if ids is None else ids
        check_sources(clock, ids)
        self._store = Store(namespace, outcomes, clock, ids)
        self._feed = Feed(StoreLog(self._store))

    @property
    def namespace(self) -> str:
        return self._store.namespace

    @property
    def policy_name(self) -> str:
        return self._store.policy.name

    async def open(self) -> None:
        self._store.open()

    async def close(self) -> None:
        await close(self._store, self._feed)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def read(
        self,
        entity_path: str,
        key: str,
        *,
        min_confidence: float | None = None,
        include_expired: bool = False,
        viewer: str | None = None,
    ) -> MemoryEntry | None:
        return entries.read(
            self._store,
            entity_path,
            key,
            min_confidence=min_confidence,
            include_expired=include_expired,
            viewer=viewer,
        )

    async def write(
        self,
        entry: MemoryEntry,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryEntry:
        return await told(
            self._store, self._feed, commits.write(self._store, entry, expected_version, idempotency_key)
        )

    async def write_batch(
        self,
        entries: Sequence[MemoryEntry],
        *,
        idempotency_key: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return await told(self._store, self._feed, commits.write_batch(self._store, entries, idempotency_key))

    async def list(
        self,
        entity_path: str | None = None,
        *,
        include_superseded: bool = False,
        descendants: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return entries.list_entries(
            self._store,
            entity_path,
            include_superseded=include_superseded,
            descendants=descendants,
            include_system=include_system,
            viewer=viewer,
        )

    async def history(
        self,
        entity_path: str,
        key: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        after_version: int = 0,
        limit: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return entries.history(
            self._store,
            entity_path,
            key,
            since=since,
            until=until,
            after_version=after_version,
            limit=limit,
            viewer=viewer,
        )

    async def read_at_version(
        self, entity_path: str, key: str, version: int, *, viewer: str | None = None
    ) -> MemoryEntry | None:
        return entries.read_at_version(self._store, entity_path, key, version, viewer)

    async def watch(
        self, entity_path: str | None, callback: Callback, *, viewer: str | None = None
    ) -> WatchHandle:
        return await self._feed.watch(entity_path, callback, viewer)

    def changes(
        self,
        *,
        after: str | None = None,
        entity_path: str | None = None,
        follow: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> AsyncIterator[ChangeEvent]:
        return follow_changes(
            self._store, self._feed, Asked(entity_path, include_system, viewer), after, follow=follow
        )

    async def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        return await told(self._store, self._feed, commits.commit_outcome(self._store, record))

    async def list_outcomes(
        self,
        *,
        outcome_ref: str | None = None,
        entity_path: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        before: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[RecordedOutcome]:
        return outcomes.list_outcomes(
            self._store,
            outcome_ref=outcome_ref,
            entity_path=entity_path,
            key=key,
            limit=limit,
            before=before,
            viewer=viewer,
        )

    async def commit(
        self,
        changes: Sequence[Change],
        *,
        author: str,
        message: str = "",
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> CommitResult:
        return await told(
            self._store,
            self._feed,
            commits.commit(
                self._store,
                changes,
                author=author,
                message=message,
                session_id=session_id,
                idempotency_key=idempotency_key,
            ),
        )

    async def recorded_result(self, idempotency_key: str, *, author: str) -> CommitResult | None:
        return commits.recorded_result(self._store, idempotency_key, author)

    async def list_commits(
        self,
        *,
        limit: int | None = None,
        before: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[Commit]:
        return commits.list_commits(self._store, limit=limit, before=before, viewer=viewer)

    async def get_commit(self, commit_id: str, *, viewer: str | None = None) -> Commit | None:
        return commits.get_commit(self._store, commit_id, viewer)

    async def save_commit(self, commit: Commit) -> Commit:
        return await told(self._store, self._feed, commits.save_commit(self._store, commit))

    async def common_ancestor(self, commit_a: str, commit_b: str) -> str | None:
        return commits.common_ancestor(self._store, commit_a, commit_b)

    async def search(self, query: SearchQuery, *, viewer: str | None = None) -> SearchPage:
        return search.search(self._store, query, viewer)

    async def stats(self, *, include_system: bool = True, viewer: str | None = None) -> MemoryStats:
        return statistics.stats(self._store, include_system=include_system, viewer=viewer)

    async def scopes(
        self,
        entity_path: str | None = None,
        *,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[ScopeInfo]:
        return statistics.scopes(self._store, entity_path, include_system=include_system, viewer=viewer)

    async def verify(
        self,
        *,
        anchor: Anchor | None = None,
        since: Anchor | None = None,
        progress: Progress | None = None,
    ) -> VerifyReport:
        return integrity.verify(self._store, anchor, since, progress)

    async def anchor(self) -> Anchor:
        return integrity.anchor(self._store)

    async def erase(
        self,
        refs: Sequence[EntryRef] = (),
        *,
        written_by: str | None = None,
        author: str,
        message: str = "",
        session_id: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        return retention.erase(self._store, refs, written_by, Signature(author, message, session_id, dry_run))

    async def prune(
        self,
        *,
        entity_path: str | None = None,
        keep_last: int | None = None,
        keep_days: float | None = None,
        keep: Sequence[EntryRef] = (),
        include_system: bool = True,
        author: str,
        message: str = "",
        session_id: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        return retention.prune(
            self._store,
            Under(entity_path, include_system),
            keep_last=keep_last,
            keep_days=keep_days,
            keep=keep,
            signature=Signature(author, message, session_id, dry_run),
        )

    async def archive_expired(
        self,
        *,
        entity_path: str | None = None,
        include_system: bool = True,
        author: str,
        message: str = "",
        session_id: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        return await told(
            self._store,
            self._feed,
            retention.archive_expired(
                self._store,
                Under(entity_path, include_system),
                Signature(author, message, session_id, dry_run),
            ),
        )

    save_trace = operation(traces.save_trace)
    get_trace = operation(traces.get_trace)
    list_traces = operation(traces.list_traces)
    count_traces = operation(traces.count_traces)
    trace_read_counts = operation(traces.trace_read_counts)
    list_traces_for_entry = operation(traces.list_traces_for_entry)
    share_stats = operation(traces.share_stats)

    log_event = operation(events.log_event)
    list_events = operation(events.list_events)
    get_event = operation(events.get_event)

    ensure_agent = operation(agents.ensure_agent)
    get_agent = operation(agents.get_agent)
    list_agents = operation(agents.list_agents)
    update_agent_profile = operation(agents.update_agent_profile)
    update_agent_capabilities = operation(agents.update_agent_capabilities)
    update_agent_contracts = operation(agents.update_agent_contracts)
    discover_agents = operation(agents.discover_agents)
    list_agents_enriched = operation(agents.list_agents_enriched)
    get_agent_activity_histogram = operation(agents.get_agent_activity_histogram)

    create_agent_group = operation(groups.create_agent_group)
    list_agent_groups = operation(groups.list_agent_groups)
    get_agent_group = operation(groups.get_agent_group)
    update_agent_group = operation(groups.update_agent_group)
    delete_agent_group = operation(groups.delete_agent_group)
    add_agents_to_group = operation(groups.add_agents_to_group)
    remove_agents_from_group = operation(groups.remove_agents_from_group)
    reorder_agent_groups = operation(groups.reorder_agent_groups)
    dismiss_cluster_suggestion = operation(groups.dismiss_cluster_suggestion)
    list_dismissed_cluster_ids = operation(groups.list_dismissed_cluster_ids)

    upsert_graph_edge = operation(graph.upsert_graph_edge)
    graph_neighbors = operation(graph.graph_neighbors)
    list_graph_edges = operation(graph.list_graph_edges)
    graph_stats = operation(graph.graph_stats)

    create_branch = operation(branches.create_branch)
    get_branch = operation(branches.get_branch)
    list_branches = operation(branches.list_branches)
    close_branch = operation(branches.close_branch)
    diff_branch = operation(branches.diff_branch)

    async def merge_branch(
        self,
        name: str,
        *,
        strategy: str = "fast_forward",
        resolve_conflicts: Mapping[str, str] | None = None,
    ) -> MergeResult:
        return await told(
            self._store,
            self._feed,
            branches.merge_branch(self._store, name, strategy=strategy, resolve_conflicts=resolve_conflicts),
        )

    async def rollback_to_timestamp(self, agent_id: str, branch: str, timestamp: datetime | str) -> int:
        return await told(
            self._store,
            self._feed,
            branches.rollback_to_timestamp(self._store, agent_id, branch, timestamp),
        )

    async def fork_agent(
        self, source_agent_id: str, target_agent_id: str, *, branch: str = MAIN_BRANCH
    ) -> int:
        return await told(
            self._store,
            self._feed,
            branches.fork_agent(self._store, source_agent_id, target_agent_id, branch=branch),
        )

    grant_branch_access = operation(access.grant_branch_access)
    revoke_branch_access = operation(access.revoke_branch_access)
    list_branch_access = operation(access.list_branch_access)
    check_branch_access = operation(access.check_branch_access)

    create_tag = operation(tags.create_tag)
    get_tag = operation(tags.get_tag)
    list_tags = operation(tags.list_tags)
    delete_tag = operation(tags.delete_tag)

    create_pull_request = operation(pulls.create_pull_request)
    get_pull_request = operation(pulls.get_pull_request)
    list_pull_requests = operation(pulls.list_pull_requests)
    update_pull_request_status = operation(pulls.update_pull_request_status)
    add_pr_review = operation(pulls.add_pr_review)
    list_pr_reviews = operation(pulls.list_pr_reviews)

    def on_branch(self, name: str) -> Entries:
        return ReferenceBranch(self._store, self._feed, name)
