"""Adapters that break one promise each, to see that the suite notices.

Each is the reference with one operation changed, and is tried for the promise it breaks alone:
`python -m parity_tests.conformance.broken`.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from amfs_sqlite import (
    AmfsAdapter,
    Clock,
    Commit,
    CommitResult,
    EntryRef,
    IdSource,
    MemoryEntry,
    MemoryStats,
    OutcomePolicy,
    OutcomeRecord,
    RecordedOutcome,
    ReferenceAdapter,
    RetentionReport,
    ScopeInfo,
    SearchPage,
    SearchQuery,
    VerifyReport,
)
from amfs_sqlite.models import MAIN_BRANCH, Change, ChangeEvent
from amfs_sqlite.protocol.changes import Callback, WatchHandle
from amfs_sqlite.records.access import Permission
from amfs_sqlite.records.agents import Agent
from amfs_sqlite.records.branches import MergeResult
from amfs_sqlite.records.events import Event
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery
from amfs_sqlite.records.pulls import PullRequest
from amfs_sqlite.records.tags import Tag
from amfs_sqlite.records.traces import DecisionTrace
from parity_tests import ledger
from parity_tests.adapters import AdapterFactory
from parity_tests.conformance.candidates import Candidate
from parity_tests.conformance.concerns import noun_of_promise
from parity_tests.conformance.plugin import Suite
from parity_tests.conformance.run import claims, lacks, run
from parity_tests.nouns import NOUNS


class LendsWhatItKeepsAdapter(ReferenceAdapter):
    """Hands out the same object to everybody who reads."""

    async def read(self, entity_path: str, key: str, **options: Any) -> MemoryEntry | None:
        entry = await super().read(entity_path, key, **options)
        lent: dict[str, MemoryEntry] = vars(self).setdefault("lent", {})
        return entry and lent.setdefault(f"{entry.commit_id}", entry)


class ShowsTheHiddenAdapter(ReferenceAdapter):
    """Reads for anybody what is private."""

    async def read(self, entity_path: str, key: str, **options: Any) -> MemoryEntry | None:
        return await super().read(entity_path, key, **options | {"viewer": None})


class SkipsAVersionAdapter(ReferenceAdapter):
    """Stores two versions for one write."""

    async def write(self, entry: MemoryEntry, **options: Any) -> MemoryEntry:
        await super().write(entry, **options)
        return await super().write(entry)


class LosesRacesAdapter(ReferenceAdapter):
    """Lets every writer win, whatever version it expects."""

    async def write(self, entry: MemoryEntry, **options: Any) -> MemoryEntry:
        return await super().write(entry, **options | {"expected_version": None})


class ForgetsRequestsAdapter(ReferenceAdapter):
    """Does again what it was asked twice."""

    async def write(self, entry: MemoryEntry, **options: Any) -> MemoryEntry:
        return await super().write(entry, **options | {"idempotency_key": None})


class SortsListsAdapter(ReferenceAdapter):
    """Lists by name instead of by first writing."""

    async def list(self, entity_path: str | None = None, **options: Any) -> Sequence[MemoryEntry]:
        listed = await super().list(entity_path, **options)
        return sorted(listed, key=lambda entry: (entry.entity_path, entry.key, entry.version))


class CutsHistoriesFirstAdapter(ReferenceAdapter):
    """Cuts a history to its limit before it looks at what is asked for."""

    async def history(
        self, entity_path: str, key: str, *, limit: int | None = None, **options: Any
    ) -> Sequence[MemoryEntry]:
        first = [entry.version for entry in (await super().history(entity_path, key))[:limit]]
        found = await super().history(entity_path, key, limit=limit, **options)
        return [entry for entry in found if entry.version in first]


class StopsBatchesHalfwayAdapter(ReferenceAdapter):
    """Writes a batch one by one, and keeps what came before the one that fails."""

    async def write_batch(self, entries: Sequence[MemoryEntry], **options: Any) -> Sequence[MemoryEntry]:
        return [await self.write(entry, **options) for entry in entries]


class LosesChangesAdapter(ReferenceAdapter):
    """Does not tell a watch of what is written again."""

    async def watch(
        self, entity_path: str | None, callback: Callback, *, viewer: str | None = None
    ) -> WatchHandle:
        def heard(entry: MemoryEntry) -> Any:
            return None if entry.version > 1 else callback(entry)

        return await super().watch(entity_path, heard, viewer=viewer)


class RepeatsChangesAdapter(ReferenceAdapter):
    """Tells of a change twice."""

    async def changes(self, **options: Any) -> AsyncIterator[ChangeEvent]:
        async for event in super().changes(**options):
            yield event
            yield event


class AppliesOutcomesTwiceAdapter(ReferenceAdapter):
    """Moves an entry twice for one outcome."""

    async def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        await super().commit_outcome(record)
        return await super().commit_outcome(record)


class LeavesOutOutcomesAdapter(ReferenceAdapter):
    """Lists only outcomes that moved something."""

    async def list_outcomes(self, **options: Any) -> Sequence[RecordedOutcome]:
        return [each for each in await super().list_outcomes(**options) if each.effects]


class StopsCommitsHalfwayAdapter(ReferenceAdapter):
    """Makes the first change of a commit on its own, and keeps it where another fails."""

    async def commit(self, changes: Sequence[Change], *, author: str, **options: Any) -> CommitResult:
        if len(changes) > 1:
            await super().commit(changes[:1], author=author)
        return await super().commit(changes[1:] or changes, author=author, **options)


class TurnsTheLogRoundAdapter(ReferenceAdapter):
    """Tells the log from its beginning."""

    async def list_commits(self, **options: Any) -> Sequence[Commit]:
        return (await super().list_commits(**options))[::-1]


class ForgetsAFilterAdapter(ReferenceAdapter):
    """Finds entries whatever their tags."""

    async def search(self, query: SearchQuery, *, viewer: str | None = None) -> SearchPage:
        return await super().search(query.model_copy(update={"tag": None}), viewer=viewer)


class MiscountsAdapter(ReferenceAdapter):
    """Counts the versions of entries instead of the entries."""

    async def stats(self, **options: Any) -> MemoryStats:
        stats = await super().stats(**options)
        return stats.model_copy(update={"total_entries": stats.version_count})


class TellsOfHiddenScopesAdapter(ReferenceAdapter):
    """Sums up for anybody what is private."""

    async def scopes(self, entity_path: str | None = None, **options: Any) -> Sequence[ScopeInfo]:
        return await super().scopes(entity_path, **options | {"viewer": None})


class LooksAtNothingAdapter(ReferenceAdapter):
    """Verifies without looking."""

    async def verify(self, **_options: Any) -> VerifyReport:
        return VerifyReport(key_count=0, version_count=0, commit_count=0, outcome_count=0)


class OnlySaysItErasedAdapter(ReferenceAdapter):
    """Reports an erasure that it did not make."""

    async def erase(self, refs: Sequence[EntryRef] = (), **options: Any) -> RetentionReport:
        report = await super().erase(refs, **options | {"dry_run": True})
        return report.model_copy(update={"dry_run": False})


class PrunesWhatIsKeptAdapter(ReferenceAdapter):
    """Does not look at what is to be kept by name."""

    async def prune(self, **options: Any) -> RetentionReport:
        return await super().prune(**options | {"keep": ()})


class StaysOpenAdapter(ReferenceAdapter):
    """Goes on after it was closed."""

    async def close(self) -> None:
        return None


class NamesAnotherPolicyAdapter(ReferenceAdapter):
    """Tells of a policy that it does not follow."""

    @property
    def policy_name(self) -> str:
        return "amfs-0.3"


class ForgetsWhatWasAskedAdapter(ReferenceAdapter):
    """Saves a trace without the task that it was about."""

    async def save_trace(self, trace: DecisionTrace) -> DecisionTrace:
        return await super().save_trace(trace.model_copy(update={"task_input": None}))


class PagesFromTheBeginningAdapter(ReferenceAdapter):
    """Lists events from the newest on, wherever a cursor stands."""

    async def list_events(self, agent_id: str, **options: Any) -> Sequence[Event]:
        given = options.pop("cursor", None)
        await super().list_events(agent_id, cursor=given)
        return [] if given else await super().list_events(agent_id, **options)


class ListsAgentsByNameAdapter(ReferenceAdapter):
    """Lists agents by name, whenever they were active."""

    async def list_agents(self) -> Sequence[Agent]:
        return sorted(await super().list_agents(), key=lambda agent: agent.agent_id)


class DeletesWhatIsNotThereAdapter(ReferenceAdapter):
    """Says of every group that it was there to be deleted."""

    async def delete_agent_group(self, group_id: str) -> bool:
        await super().delete_agent_group(group_id)
        return True


class FollowsEveryRelationAdapter(ReferenceAdapter):
    """Goes from edge to edge whatever their relation."""

    async def graph_neighbors(
        self, query: GraphNeighborQuery, *, branch: str = MAIN_BRANCH
    ) -> Sequence[GraphEdge]:
        return await super().graph_neighbors(query.model_copy(update={"relation": None}), branch=branch)


class MergesByHalfAdapter(ReferenceAdapter):
    """Lets main win where nobody chose a side, instead of merging nothing."""

    async def merge_branch(self, name: str, **options: Any) -> MergeResult:
        result = await super().merge_branch(name, **options)
        return result if result.status == "merged" else await super().merge_branch(name, strategy="main_wins")


class LetsAnybodyInAdapter(ReferenceAdapter):
    """Takes anybody's grant for that of an API key."""

    async def check_branch_access(self, branch_name: str, api_key_id: str) -> Permission | None:
        grants = await self.list_branch_access(branch_name)
        return next((each.permission for each in grants if each.grantee_id == api_key_id), None)


class MovesTagsAdapter(ReferenceAdapter):
    """Gives a name again that is given already."""

    async def create_tag(self, tag: Tag) -> Tag:
        if await self.get_tag(tag.name):
            await self.delete_tag(tag.name)
        return await super().create_tag(tag)


class ForgetsWhoMergedAdapter(ReferenceAdapter):
    """Notes of a request that it was merged or closed, and nobody who did it."""

    async def update_pull_request_status(self, pr_id: str, status: str, **options: Any) -> PullRequest:
        return await super().update_pull_request_status(pr_id, status, **options | {"by": ""})


SOUND = ReferenceAdapter.__name__
BASIC = ("Lifecycle", "Entries")
"""Without these nothing can be tried."""

BROKEN: Sequence[tuple[type[ReferenceAdapter], str]] = (
    (LendsWhatItKeepsAdapter, "entries.copies"),
    (ShowsTheHiddenAdapter, "privacy.reads"),
    (SkipsAVersionAdapter, "entries.versions-count-up"),
    (LosesRacesAdapter, "entries.compare-and-set"),
    (ForgetsRequestsAdapter, "idempotency.first-result"),
    (SortsListsAdapter, "entries.list-order"),
    (CutsHistoriesFirstAdapter, "entries.history-pages"),
    (StopsBatchesHalfwayAdapter, "batches.all-or-nothing"),
    (LosesChangesAdapter, "watch.from-now-on"),
    (RepeatsChangesAdapter, "changes.all-in-order"),
    (AppliesOutcomesTwiceAdapter, "outcomes.one-commit"),
    (LeavesOutOutcomesAdapter, "outcomes.empty"),
    (StopsCommitsHalfwayAdapter, "commits.all-or-nothing"),
    (TurnsTheLogRoundAdapter, "commits.log"),
    (ForgetsAFilterAdapter, "search.filters"),
    (MiscountsAdapter, "statistics.counts"),
    (TellsOfHiddenScopesAdapter, "statistics.scopes"),
    (LooksAtNothingAdapter, "integrity.verify-counts"),
    (OnlySaysItErasedAdapter, "retention.erased"),
    (PrunesWhatIsKeptAdapter, "retention.pruned"),
    (StaysOpenAdapter, "lifecycle.closed"),
    (NamesAnotherPolicyAdapter, "lifecycle.names"),
    (ForgetsWhatWasAskedAdapter, "traces.saved"),
    (PagesFromTheBeginningAdapter, "events.pages"),
    (ListsAgentsByNameAdapter, "agents.order"),
    (DeletesWhatIsNotThereAdapter, "groups.left"),
    (FollowsEveryRelationAdapter, "graph.hops"),
    (LetsAnybodyInAdapter, "access.checked"),
    (MovesTagsAdapter, "tags.once"),
    (ForgetsWhoMergedAdapter, "pulls.status"),
    (MergesByHalfAdapter, "branches.conflict"),
)
"""Every adapter that breaks a promise, and the promise."""


def factory_of(kind: type[ReferenceAdapter]) -> AdapterFactory:
    """What makes adapters of this kind."""

    def factory(
        path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
    ) -> AmfsAdapter:
        return kind(namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)

    return factory


def alone(noun: str | None) -> frozenset[str]:
    """The nouns that are left out to claim this one alone: all but it and the basic ones."""
    return frozenset(NOUNS) - {*BASIC, noun}


def candidates() -> Iterator[Candidate]:
    """Who breaks a promise; the reference; and the reference once for each noun, claiming it alone."""
    behaviours = ledger.behaviours()
    noun_of = {promise: noun_of_promise(behaviour) for promise, behaviour in behaviours.items()}
    sound = factory_of(ReferenceAdapter)
    for kind, promise in BROKEN:
        left = alone(noun_of[promise])
        yield Candidate(kind.__name__, factory_of(kind), promises=frozenset({promise}), without=left)
    yield Candidate(SOUND, sound, promises=frozenset(promise for _, promise in BROKEN))
    for noun in NOUNS:
        own = frozenset(promise for promise in behaviours if noun_of[promise] == noun)
        yield Candidate(f"{noun} alone", sound, promises=own, without=alone(noun))


def main() -> int:
    """Print as JSON what came of the tests: the candidate, the noun, the promises, and whether they hold."""
    tried = [*candidates()]
    suite = Suite(tried, {each.name: claims(each, lacks(each)) for each in tried})
    run(suite)
    results = [[each.candidate, each.noun, each.promises, each.state] for each in suite.results]
    sys.stdout.write(json.dumps({"broken": suite.broken, "results": results}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
