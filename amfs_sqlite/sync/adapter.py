"""The index of the front door: every method that the SDK and its servers call, one line each."""

import os
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from amfs_core.abc import AdapterABC, WatchHandle
from amfs_core.models import Event, MemoryEntry, OutcomeRecord

from amfs_sqlite.clock import Clock, IdSource, RandomIds, SystemClock
from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH
from amfs_sqlite.rules.confidence import AMFS_0_3
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.database.opening import Durability, Mode
from amfs_sqlite.sync import (
    access,
    activity,
    agents,
    branches,
    commits,
    digests,
    entries,
    events,
    graph,
    groups,
    integrity,
    learning,
    outcomes,
    priorities,
    priors,
    pulls,
    reuse,
    search,
    statistics,
    tags,
    traces,
    writes,
)
from amfs_sqlite.sync.arguments import Embedder, check_embedder
from amfs_sqlite.sync.errors import as_sdk_errors
from amfs_sqlite.sync.recalling import RecallCounts
from amfs_sqlite.sync.surface import peeking, reading, writing
from amfs_sqlite.sync.watching import Callback, Watches


class SyncSqliteAdapter(AdapterABC):
    """The whole adapter interface of the AMFS Python SDK on one SQLite file; ``":memory:"`` keeps it in
    memory.

    Any thread may call it, and several adapters and processes may share the file. It is open once made;
    ``close`` it when done. Entries, outcomes and traces are filed under ``namespace``. Outcomes follow the
    SDK's own model (``amfs_core.evidence``). ``durability="full"`` survives a power cut with everything
    acknowledged; ``"normal"`` is faster and may lose the last commits to a power cut (never to a killed
    process). ``busy_timeout_s`` is how long a write waits for another process. An ``embedder`` keeps with
    outcomes what their tasks were like, for ``similar_outcomes`` and ``evidence_near``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        namespace: str = DEFAULT_NAMESPACE,
        durability: Durability = "full",
        mode: Mode = "rw",
        busy_timeout_s: float = 15.0,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        with as_sdk_errors():
            check_embedder(embedder)
            self._database = BlockingDatabase(
                path,
                namespace=namespace,
                policy=AMFS_0_3,
                durability=durability,
                mode=mode,
                busy_timeout_s=busy_timeout_s,
                clock=SystemClock() if clock is None else clock,
                ids=RandomIds() if ids is None else ids,
            )
        self._watches = Watches(self._database)
        self._recalls = RecallCounts(self._database)
        self._embedder = embedder
        # One that nobody closed is closed with the program, or when nobody holds it any more.
        self._close_once = weakref.finalize(self, _close, self._watches, self._recalls, self._database)

    @property
    def namespace(self) -> str:
        """What entries, outcomes and traces are filed under."""
        return self._database.namespace

    @property
    def path(self) -> str:
        """The resolved path of the file, or ``:memory:``."""
        return self._database.path

    def close(self) -> None:
        """Bring the file in order and let go of it. Closing twice is closing once."""
        self._close_once()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # entries
    def read(
        self, entity_path: str, key: str, *, min_confidence: float = 0.0, branch: str = MAIN_BRANCH
    ) -> MemoryEntry | None:
        found = self._read(entity_path, key, min_confidence=min_confidence, branch=branch)
        return None if found is None else self._recalls.counted(found)

    _read = peeking(entries.read)
    write = writing(writes.write)
    write_batch = writing(writes.write_batch)
    keep_entries = writing(writes.keep_entries)
    list = reading(entries.list_entries)
    read_at_version = reading(entries.read_at_version)
    list_expired = reading(entries.list_expired)
    list_entries_for_agent = reading(entries.list_entries_for_agent)

    def increment_recall_count(self, entity_path: str, key: str, *, branch: str = MAIN_BRANCH) -> None:
        with as_sdk_errors():
            self._recalls.increment(entity_path, key, branch)

    # commits
    save_commit = writing(commits.save_commit)
    get_commit = reading(commits.get_commit)
    list_commits = reading(commits.list_commits)
    common_ancestor = reading(commits.common_ancestor)

    # search, statistics, tiers
    _nearest = reading(search.nearest)
    search = reading(search.search)
    stats = reading(statistics.stats)
    stats_extended = reading(statistics.stats_extended)
    entity_summaries = reading(statistics.entity_summaries)
    agent_entity_stats = reading(statistics.agent_entity_stats)
    consolidation_ready_entities = reading(statistics.consolidation_ready_entities)
    scope_counts = reading(statistics.scope_counts)
    count_entries = reading(statistics.count_entries)
    list_scopes = reading(statistics.list_scopes)
    entry_authors = reading(statistics.entry_authors)
    list_by_priority = reading(priorities.list_by_priority)
    priority_stats = reading(priorities.priority_stats)
    update_tiers = writing(priorities.update_tiers)

    def semantic_search(self, query: Any, embedder: Any) -> Any:
        # Embedded before anything is read: an embedder may take long, or use the adapter itself.
        with as_sdk_errors():
            return self._nearest(search.embedded(query, embedder))

    # traces, events, and what servers look up beside them
    save_trace = writing(traces.save_trace)
    get_trace = reading(traces.get_trace)
    list_traces = reading(traces.list_traces)
    count_traces = reading(traces.count_traces)
    trace_read_counts = reading(traces.trace_read_counts)
    list_traces_for_entry = reading(traces.list_traces_for_entry)
    share_stats = reading(traces.share_stats)

    def log_event(self, event: Event) -> Event:
        with as_sdk_errors():
            return events.log_event(self._database, event)

    list_events = reading(events.list_events)
    get_event = reading(events.get_event)
    record_reuse_event = writing(reuse.record_reuse_event)
    reuse_summary = reading(reuse.reuse_summary)
    upsert_digest = writing(digests.upsert_digest)
    get_digest = reading(digests.get_digest)
    list_digests = reading(digests.list_digests)
    recent_task_texts = reading(learning.recent_task_texts)
    learning_series = reading(learning.learning_series)
    agent_summaries = reading(activity.agent_summaries)

    # agents
    ensure_agent = writing(agents.ensure_agent)
    get_agent = reading(agents.get_agent)
    list_agents = reading(agents.list_agents)
    update_agent_profile = writing(agents.update_agent_profile)
    update_agent_capabilities = writing(agents.update_agent_capabilities)
    update_agent_contracts = writing(agents.update_agent_contracts)
    discover_agents = reading(agents.discover_agents)
    list_agents_enriched = reading(agents.list_agents_enriched)
    get_agent_activity_histogram = reading(agents.get_agent_activity_histogram)

    # groups of agents
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

    # the graph
    upsert_graph_edge = writing(graph.upsert_graph_edge)
    graph_neighbors = reading(graph.graph_neighbors)
    list_graph_edges = reading(graph.list_graph_edges)
    graph_stats = reading(graph.graph_stats)

    # branches
    create_branch = writing(branches.create_branch)
    get_branch = reading(branches.get_branch)
    list_branches = reading(branches.list_branches)
    close_branch = writing(branches.close_branch)
    diff_branch = reading(branches.diff_branch)
    merge_branch = writing(branches.merge_branch)
    rollback_to_timestamp = writing(branches.rollback_to_timestamp)
    fork_agent = writing(branches.fork_agent)

    # branch access
    grant_branch_access = writing(access.grant_branch_access)
    revoke_branch_access = writing(access.revoke_branch_access)
    list_branch_access = reading(access.list_branch_access)
    check_branch_access = reading(access.check_branch_access)

    # tags
    create_tag = writing(tags.create_tag)
    get_tag = reading(tags.get_tag)
    list_tags = reading(tags.list_tags)
    delete_tag = writing(tags.delete_tag)

    # pull requests
    create_pull_request = writing(pulls.create_pull_request)
    get_pull_request = reading(pulls.get_pull_request)
    list_pull_requests = reading(pulls.list_pull_requests)
    update_pull_request_status = writing(pulls.update_pull_request_status)
    add_pr_review = writing(pulls.add_pr_review)
    list_pr_reviews = reading(pulls.list_pr_reviews)

    # changes, outcomes
    def watch(self, entity_path: str, callback: Callback) -> WatchHandle:
        with as_sdk_errors():
            return self._watches.watch(entity_path, callback)

    def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        with as_sdk_errors():
            embedding = priors.task_embedding(record, self._embedder)
        return self._record(record, embedding)

    _record = writing(outcomes.commit_outcome)
    keep_outcome = writing(outcomes.keep_outcome)
    verify_integrity = reading(integrity.verify_integrity)
    list_outcomes = reading(outcomes.list_outcomes)
    count_outcomes = reading(outcomes.count_outcomes)
    similar_outcomes = reading(priors.similar_outcomes)
    action_stats = reading(priors.action_stats)
    evidence_near = reading(priors.evidence_near)


def _close(watches: Watches, recalls: RecallCounts, database: BlockingDatabase) -> None:
    if database.is_of_this_process and database.is_open:
        try:
            watches.close()
            recalls.flush()
        finally:
            database.close()
