"""The kinds of record beside entries: how each is listed, stored, and known again."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from amfs_core.abc import AdapterABC
from amfs_core.models import Agent
from pydantic import BaseModel

from amfs_sqlite.models import MAIN_BRANCH
from bridge.copying.comparing import differences, spelled
from bridge.copying.endpoints import Endpoint, first_line, is_lacking
from bridge.copying.report import KindReport

PAGE = 500
KEEPS_OUTCOMES = "keep_outcome"
"""The method of an adapter that stores a report without moving what it cites."""
Agents = Sequence[str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record.

    ``reads`` and ``writes`` name the method that an adapter overrides to have it. A record is known again
    by the fields of ``identity``, and by those of ``times`` where an adapter keeps them. ``made`` are fields
    that no caller can set.
    """

    name: str
    reads: str
    writes: str
    listed: Callable[[Endpoint, Agents], list[Any]]
    put: Callable[[Endpoint, Any], object]
    identity: tuple[str, ...]
    times: tuple[str, ...] = ()
    made: frozenset[str] = frozenset({"id", "namespace"})

    def identified(self, record: BaseModel, *, by_time: bool) -> str:
        """What one record has alone, or shares with those that are its equals."""
        names = self.identity + (self.times if by_time else ())
        return spelled({name: getattr(record, name) for name in names})


def overrides(endpoint: Endpoint, method: str) -> bool:
    """Whether the adapter does more here than the interface itself, which does nothing."""
    return getattr(type(endpoint.adapter), method, None) is not getattr(AdapterABC, method, None)


def _outcomes(end: Endpoint, _agents: Agents) -> list[Any]:
    return list(reversed(end.adapter.list_outcomes(limit=end.most)))


def _put_outcome(end: Endpoint, record: Any) -> object:
    """Without effect where the adapter can: the versions that it made are copied."""
    put = getattr(end.adapter, KEEPS_OUTCOMES, end.adapter.commit_outcome)
    return put(record)


def _commits(end: Endpoint, _agents: Agents) -> list[Any]:
    found = end.adapter.list_commits(branch=MAIN_BRANCH, limit=end.most, namespace=end.namespace)
    return list(reversed(found))


def _put_commit(end: Endpoint, commit: Any) -> object:
    return end.adapter.save_commit(commit.model_copy(update={"namespace": end.namespace}))


def _traces(end: Endpoint, _agents: Agents) -> list[Any]:
    return _oldest_first(_paged(end.adapter.list_traces))


def _put_trace(end: Endpoint, trace: Any) -> object:
    return end.adapter.save_trace(trace.model_copy(update={"namespace": end.namespace}))


def _events(end: Endpoint, agents: Agents) -> list[Any]:
    found: list[Any] = []
    for agent in agents:
        found += _paged(lambda limit, offset, name=agent: _timeline(end, name, limit, offset))
    return _oldest_first(found)


def _timeline(end: Endpoint, agent: str, limit: int, offset: int) -> list[Any]:
    found: list[Any] = end.adapter.list_events(agent, end.namespace, limit=limit, offset=offset)
    return found


def _put_event(end: Endpoint, event: Any) -> object:
    return end.adapter.log_event(event.model_copy(update={"namespace": end.namespace}))


def _agents(end: Endpoint, _agents: Agents) -> list[Any]:
    # A database may have several rows of one agent, of which the one that was told most counts.
    found = sorted(end.adapter.list_agents(end.namespace), key=lambda agent: len(spelled(agent)))
    return sorted({agent.agent_id: agent for agent in found}.values(), key=lambda agent: agent.agent_id)


def _put_agent(end: Endpoint, agent: Agent) -> object:
    adapter, named = end.adapter, (agent.agent_id, end.namespace)
    adapter.ensure_agent(*named)
    for method, said in (
        (adapter.update_agent_profile, agent.profile),
        (adapter.update_agent_capabilities, agent.capabilities),
        (adapter.update_agent_contracts, agent.contracts),
    ):
        if said:
            method(agent.agent_id, said, end.namespace)
    return agent


def _edges(end: Endpoint, _agents: Agents) -> list[Any]:
    found = end.adapter.list_graph_edges(namespace=end.namespace, limit=end.most)
    return sorted(found, key=lambda edge: (edge.first_seen, edge.source_entity, edge.target_entity))


def _put_edge(end: Endpoint, edge: Any) -> object:
    return end.adapter.upsert_graph_edge(edge, namespace=end.namespace)


def _paged(page: Callable[..., list[Any]]) -> Iterator[Any]:
    """All of a list, each once: what is added in front meanwhile moves the pages."""
    offset, known = 0, set()
    while found := page(limit=PAGE, offset=offset):
        for record in found:
            if record.id not in known:
                known.add(record.id)
                yield record
        offset += len(found)
        if len(found) < PAGE:
            return


def _oldest_first(found: Any) -> list[Any]:
    return sorted(found, key=lambda record: (record.created_at, record.id))


OUTCOMES = Kind(
    "outcomes", "list_outcomes", "list_outcomes", _outcomes, _put_outcome,
    identity=("outcome_ref", "outcome_type", "agent_id", "causal_entry_keys"), times=("committed_at",),
    made=frozenset({"trace_follows"}),
)  # fmt: skip
COMMITS = Kind("commits", "list_commits", "save_commit", _commits, _put_commit, identity=("id",))
TRACES = Kind(
    "traces", "list_traces", "save_trace", _traces, _put_trace,
    identity=("agent_id", "session_id", "outcome_ref", "outcome_type", "decision_summary"),
    times=("created_at",),
)  # fmt: skip
EVENTS = Kind(
    "events", "list_events", "log_event", _events, _put_event,
    identity=("agent_id", "branch", "event_type", "summary", "details"), times=("created_at",),
)  # fmt: skip
AGENTS = Kind(
    "agents", "list_agents", "ensure_agent", _agents, _put_agent, identity=("agent_id",),
    made=frozenset({"id", "namespace", "created_at", "last_active_at", "entry_count"}),
)  # fmt: skip
EDGES = Kind(
    "edges", "list_graph_edges", "upsert_graph_edge", _edges, _put_edge,
    identity=("source_entity", "source_type", "relation", "target_entity", "target_type"),
)  # fmt: skip
ALL = (OUTCOMES, COMMITS, TRACES, EVENTS, AGENTS, EDGES)
"""In the order in which they are copied: outcomes come before entries, the others behind them."""

NOT_TAKEN = {
    "groups": "list_agent_groups",
    "tags": "list_tags",
    "pull requests": "list_pull_requests",
    "digests": "list_digests",
}
"""Kinds that a copy leaves behind, and the method that lists them."""


def not_taken(source: Endpoint) -> Iterator[KindReport]:
    """What the source lists of those kinds, all of it left out; or that it does not list them now."""
    for name, method in NOT_TAKEN.items():
        if not overrides(source, method):
            continue
        try:
            count = len(getattr(source.adapter, method)(namespace=source.namespace))
        except source.failures as failed:
            if not is_lacking(source, failed):
                yield KindReport(kind=name, reason=f"the source does not list them: {first_line(failed)}")
            continue
        if count:
            yield KindReport(kind=name, found=count, left_out=count, reason="a copy takes none")


@dataclass(slots=True)
class Work:
    """One kind of record in a copy: those of the source, and which of them are to be stored.

    Where ``is_impossible``, none can be.
    """

    kind: Kind
    records: Sequence[Any] = ()
    todo: list[Any] = field(default_factory=list)
    reason: str | None = None
    is_impossible: bool = False


class Identified:
    """The records of a target by what they are known again by."""

    def __init__(self, kind: Kind, records: Sequence[Any], *, by_time: bool) -> None:
        self._kind = kind
        self._by_time = by_time
        self._found: dict[str, deque[Any]] = defaultdict(deque)
        for record in records:
            self._found[kind.identified(record, by_time=by_time)].append(record)

    def take(self, record: BaseModel) -> Any:
        """What is held of this record, each only once; None where nothing is."""
        others = self._found.get(self._kind.identified(record, by_time=self._by_time))
        return others.popleft() if others else None


def identified(kind: Kind, end: Endpoint, agents: Agents) -> Identified:
    """What an endpoint holds of a kind."""
    return Identified(kind, kind.listed(end, agents), by_time=end.keeps_times)


def work(kind: Kind, source: Endpoint, target: Endpoint, agents: Agents) -> Work:
    """What is to be done about this kind."""
    found = Work(kind)
    if not overrides(source, kind.reads):
        if overrides(source, kind.writes):
            found.reason = "the source cannot list them"
        return found
    with source.told():
        try:
            found.records = kind.listed(source, agents)
        except source.failures as failed:
            if not is_lacking(source, failed):
                raise
    if len(found.records) == source.most:
        found.reason = f"the source answers with the newest {source.most} and no others"
    if not found.records:
        return found
    if not overrides(target, kind.writes):
        found.reason, found.is_impossible = "the target keeps none", True
    elif not overrides(target, kind.reads):
        found.reason = "the target cannot list them, so none is told from what it holds"
        found.is_impossible = True
    else:
        _compare(found, target, agents)
    return found


def _compare(found: Work, target: Endpoint, agents: Agents) -> None:
    with target.told():
        try:
            there = identified(found.kind, target, agents)
        except target.failures as failed:
            if not is_lacking(target, failed):
                raise
            found.reason, found.is_impossible = f"the target keeps none: {first_line(failed)}", True
        else:
            kind = found.kind
            found.todo = [record for record in found.records if _is_new(kind, record, there.take(record))]


def name_of(record: Any) -> str:
    """What people call a record by."""
    for name in ("id", "outcome_ref", "agent_id"):
        if named := getattr(record, name, None):
            return str(named)
    return f"{record.source_entity} {record.relation} {record.target_entity}"


def _is_new(kind: Kind, record: BaseModel, other: BaseModel | None) -> bool:
    if other is None or kind is not AGENTS:
        return other is None
    # A copy that was ended may have registered an agent, and no more.
    return any(
        how == "absent" and name not in kind.made for name, how in differences(record, other, kind.made)
    )
