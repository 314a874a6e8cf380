"""The flat surface: every operation of the protocol, one line each."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from amfs_sqlite.clock import Clock, IdSource, RandomIds, SystemClock
from amfs_sqlite.delivery import Asked
from amfs_sqlite.models import (
    DEFAULT_NAMESPACE,
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
from amfs_sqlite.protocol.transfer import Transfer
from amfs_sqlite.rules.anchors import Anchor
from amfs_sqlite.rules.confidence import AMFS_0_3, OutcomePolicy
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.retention import Signature, Under
from amfs_sqlite.rules.transfer import ExportReport, ImportReport
from amfs_sqlite.signatures import named
from amfs_sqlite.sqlite import (
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
from amfs_sqlite.sqlite.branch_entries import SqliteBranch
from amfs_sqlite.sqlite.copying.backup import BackupReport
from amfs_sqlite.sqlite.database.connection import Database, StoreDescription
from amfs_sqlite.sqlite.database.opening import Durability, Mode
from amfs_sqlite.sqlite.surface import reading, writing
from amfs_sqlite.sqlite.transfer import exporting
from amfs_sqlite.sqlite.transfer.importing import Import


@named
class SqliteAdapter(
    AmfsAdapter, Transfer, Traces, Events, Agents, Groups, Graph, Branches, Access, Tags, Pulls
):
    """The AMFS adapter protocol on one SQLite file; ``":memory:"`` keeps it in memory.

    ``outcomes`` is the outcome policy. The default, ``AMFS_0_3``, is AMFS's contract, under which a
    success *lowers* confidence; ``HANDOFF`` raises it. ``durability="full"`` survives a power cut
    with everything acknowledged; ``"normal"`` is faster and may lose the last commits to a power
    cut (never to a killed process). ``mode="ro"`` only reads: it makes, changes and migrates no file,
    and every operation that writes raises StoreReadOnlyError. ``busy_timeout_s`` is how long a write
    waits for another process. ``clock`` and ``ids`` are where time and identifiers come from.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        namespace: str = DEFAULT_NAMESPACE,
        durability: Durability = "full",
        mode: Mode = "rw",
        inline_reads: bool = True,
        outcomes: OutcomePolicy = AMFS_0_3,
        busy_timeout_s: float = 15.0,
        clock: Clock | None = None,
        ids: IdSource | None = None,
    ) -> None:
        self._database = Database(
            path,
            namespace=namespace,
            policy=outcomes,
            durability=durability,
            mode=mode,
            inline_reads=inline_reads,
            busy_timeout_s=busy_timeout_s,
            clock=SystemClock() if clock is None else clock,
            ids=RandomIds() if ids is None else ids,
        )

    @property
    def namespace(self) -> str:
        return self._database.namespace

    @property
    def policy_name(self) -> str:
        return self._database.policy.name

    @property
    def path(self) -> str:
        """The resolved path of the file, or ``:memory:``."""
        return self._database.path

    async def open(self) -> None:
        await self._database.open()

    async def close(self) -> None:
        await self._database.close()

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

    async def describe(self) -> StoreDescription:
        """The file and the SQLite behind this adapter."""
        return await self._database.describe()

    async def backup(self, dest: str | os.PathLike[str]) -> BackupReport:
        """Copy the whole store, all namespaces, to a new file, and verify the copy.

        It is one state of the store, however many processes write meanwhile, and none of them waits. The
        file has its name only when it is complete and on the disk. Raises InvalidArgumentError where
        something stands under that name, StoreCorruptError where the store does not verify, StoreFullError
        where there is no room, and the other errors of a file; then there is no new file. Cancelled, it ends
        first: a file may stand there then, and is whole.
        """
        return await self._database.backup(dest)

    async def read(
        self,
        entity_path: str,
        key: str,
        *,
        min_confidence: float | None = None,
        include_expired: bool = False,
        viewer: str | None = None,
    ) -> MemoryEntry | None:
        return await self._database.glance(
            entries.read,
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
        return await self._database.write(
            commits.commit_entry,
            commits.write_request(self._database.policy, entry, expected_version, idempotency_key),
        )

    async def write_batch(
        self, entries: Sequence[MemoryEntry], *, idempotency_key: str | None = None
    ) -> Sequence[MemoryEntry]:
        return await self._database.write(
            commits.commit_entries,
            commits.batch_request(self._database.policy, entries, idempotency_key),
        )

    async def list(
        self,
        entity_path: str | None = None,
        *,
        include_superseded: bool = False,
        descendants: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return await self._database.read(
            entries.list_entries,
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
        return await self._database.read(
            entries.history,
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
        return await self._database.glance(entries.read_at_version, entity_path, key, version, viewer=viewer)

    async def watch(
        self, entity_path: str | None, callback: Callback, *, viewer: str | None = None
    ) -> WatchHandle:
        return await self._database.feed.watch(entity_path, callback, viewer)

    def changes(
        self,
        *,
        after: str | None = None,
        entity_path: str | None = None,
        follow: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> AsyncIterator[ChangeEvent]:
        return self._database.feed.changes(Asked(entity_path, include_system, viewer), after, follow=follow)

    async def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        return await self._database.write(
            commits.commit_entries, commits.outcome_request(self._database.policy, record)
        )

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
        return await self._database.read(
            outcomes.list_outcomes,
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
        return await self._database.write(
            commits.commit,
            commits.request(
                self._database.policy,
                changes,
                author=author,
                message=message,
                session_id=session_id,
                idempotency_key=idempotency_key,
            ),
        )

    async def recorded_result(self, idempotency_key: str, *, author: str) -> CommitResult | None:
        return await self._database.read(commits.recorded_result, idempotency_key, author=author)

    async def list_commits(
        self,
        *,
        limit: int | None = None,
        before: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[Commit]:
        return await self._database.read(commits.list_commits, limit=limit, before=before, viewer=viewer)

    async def get_commit(self, commit_id: str, *, viewer: str | None = None) -> Commit | None:
        return await self._database.read(commits.get_commit, commit_id, viewer=viewer)

    async def save_commit(self, commit: Commit) -> Commit:
        return await self._database.write(commits.save_commit, commit)

    async def common_ancestor(self, commit_a: str, commit_b: str) -> str | None:
        return await self._database.read(commits.common_ancestor, commit_a, commit_b)

    async def search(self, query: SearchQuery, *, viewer: str | None = None) -> SearchPage:
        return await self._database.search(
            search.search, query, store_id=self._database.store_id, viewer=viewer
        )

    async def stats(self, *, include_system: bool = True, viewer: str | None = None) -> MemoryStats:
        return await self._database.read(statistics.stats, include_system=include_system, viewer=viewer)

    async def scopes(
        self,
        entity_path: str | None = None,
        *,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[ScopeInfo]:
        return await self._database.read(
            statistics.scopes, entity_path, include_system=include_system, viewer=viewer
        )

    async def verify(
        self,
        *,
        anchor: Anchor | None = None,
        since: Anchor | None = None,
        progress: Progress | None = None,
    ) -> VerifyReport:
        return await self._database.scan(integrity.verify, anchor=anchor, since=since, progress=progress)

    async def anchor(self) -> Anchor:
        return await self._database.read(integrity.anchor)

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
        return await self._database.remove(
            retention.erase, refs, written_by, Signature(author, message, session_id, dry_run)
        )

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
        return await self._database.remove(
            retention.prune,
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
        return await self._database.write(
            retention.archive_expired,
            Under(entity_path, include_system),
            Signature(author, message, session_id, dry_run),
        )

    async def export_to(
        self, write: Callable[[bytes], object], *, progress: Progress | None = None
    ) -> ExportReport:
        return await exporting.run(self._database, write, progress)

    async def import_from(
        self, reader: ExportReader, *, dry_run: bool = False, progress: Callable[[int], None] | None = None
    ) -> ImportReport:
        return await Import(self._database, reader, dry_run=dry_run, progress=progress).run()

    save_trace = writing(traces.save_trace)
    get_trace = reading(traces.get_trace)
    list_traces = reading(traces.list_traces)
    count_traces = reading(traces.count_traces)
    trace_read_counts = reading(traces.trace_read_counts)
    list_traces_for_entry = reading(traces.list_traces_for_entry)
    share_stats = reading(traces.share_stats)

    log_event = writing(events.log_event)
    list_events = reading(events.list_events)
    get_event = reading(events.get_event)

    ensure_agent = writing(agents.ensure_agent)
    get_agent = reading(agents.get_agent)
    list_agents = reading(agents.list_agents)
    update_agent_profile = writing(agents.update_agent_profile)
    update_agent_capabilities = writing(agents.update_agent_capabilities)
    update_agent_contracts = writing(agents.update_agent_contracts)
    discover_agents = reading(agents.discover_agents)
    list_agents_enriched = reading(agents.list_agents_enriched)
    get_agent_activity_histogram = reading(agents.get_agent_activity_histogram)

    create_agent_group = writing(groups.create_agent_group)
    list_agent_groups = reading(groups.list_agent_groups)
    get_agent_group = reading(groups.get_agent_group)
    update_agent_group = writing(groups.update_agent_group)
    delete_agent_group = writing(groups.delete_agent_group)
    add_agents_to_group = writing(groups.add_agents_to_group)
    remove_agents_from_group = writing(groups.remove_agents_from_group)
    reorder_agent_groups = writing(groups.reorder_agent_groups)
    dismiss_cluster_suggestion = writing(groups.dismiss_cluster_suggestion)
    list_dismissed_cluster_ids = reading(groups.list_dismissed_cluster_ids)

    upsert_graph_edge = writing(graph.upsert_graph_edge)
    graph_neighbors = reading(graph.graph_neighbors)
    list_graph_edges = reading(graph.list_graph_edges)
    graph_stats = reading(graph.graph_stats)

    create_branch = writing(branches.create_branch)
    get_branch = reading(branches.get_branch)
    list_branches = reading(branches.list_branches)
    close_branch = writing(branches.close_branch)
    diff_branch = reading(branches.diff_branch)
    merge_branch = writing(branches.merge_branch)
    rollback_to_timestamp = writing(branches.rollback_to_timestamp)
    fork_agent = writing(branches.fork_agent)

    grant_branch_access = writing(access.grant_branch_access)
    revoke_branch_access = writing(access.revoke_branch_access)
    list_branch_access = reading(access.list_branch_access)
    check_branch_access = reading(access.check_branch_access)

    create_tag = writing(tags.create_tag)
    get_tag = reading(tags.get_tag)
    list_tags = reading(tags.list_tags)
    delete_tag = writing(tags.delete_tag)

    create_pull_request = writing(pulls.create_pull_request)
    get_pull_request = reading(pulls.get_pull_request)
    list_pull_requests = reading(pulls.list_pull_requests)
    update_pull_request_status = writing(pulls.update_pull_request_status)
    add_pr_review = writing(pulls.add_pr_review)
    list_pr_reviews = reading(pulls.list_pr_reviews)

    def on_branch(self, name: str) -> Entries:
        return SqliteBranch(self._database, name)
