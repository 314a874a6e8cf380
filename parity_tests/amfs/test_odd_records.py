"""Records that our own interface takes and the SDK's models do not: one of them makes no list unreadable."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amfs_core.models import (
    AttemptRecord,
    DecisionTrace,
    Digest,
    DigestType,
    Event,
    EventType,
    GraphEdge,
    MemoryEntry,
    OutcomeRecord,
    OutcomeType,
    Provenance,
    SearchQuery,
    SemanticQuery,
    TraceEntry,
)

from amfs_sqlite import MemoryEntry as StoredEntry
from amfs_sqlite import OutcomeRecord as StoredRecord
from amfs_sqlite import SqliteAdapter
from amfs_sqlite.records.agents import AgentProfile as StoredProfile
from amfs_sqlite.records.events import Event as StoredEvent
from amfs_sqlite.records.traces import DecisionTrace as StoredTrace
from amfs_sqlite.sync import SyncSqliteAdapter
from amfs_sqlite.sync.errors import InvalidArgument
from parity_tests.amfs.corpus import BEGAN
from parity_tests.ledger import proves

Call = Callable[[Any], object]


def entry(**fields: Any) -> MemoryEntry:
    signed = Provenance(agent_id="scout", session_id="s", written_at=BEGAN)
    return MemoryEntry(entity_path="svc", key="k", value=1, provenance=signed).model_copy(update=fields)


def outcome(**fields: Any) -> OutcomeRecord:
    named: dict[str, Any] = {
        "outcome_ref": "r",
        "outcome_type": OutcomeType.SUCCESS,
        "committed_at": BEGAN,
        "agent_id": "scout",
        "causal_entry_keys": ["svc/k"],
        "attempts": [AttemptRecord(attempt=1)],
    }
    return OutcomeRecord(**named).model_copy(update=fields)


def event(**fields: Any) -> Event:
    return Event(agent_id="scout", event_type=EventType.WRITE).model_copy(update=fields)


def trace(**fields: Any) -> DecisionTrace:
    return DecisionTrace(agent_id="scout", session_id="s").model_copy(update=fields)


async def odd(path: Path) -> None:
    """Of each kind one that the SDK takes, but for some of its fields, and events of a type of ours."""
    fields: dict[str, Any] = {
        "importance_score": "high",
        "validators": "x",
        "memory_type": "idea",
        "evidence_success": None,
        "last_outcome": "kept",
    }
    provenance = {"agent_id": "scout"}
    given = {"entity_path": "svc", "key": "k", "value": 1, "version": 1, "provenance": provenance}
    reported = {"outcome_ref": "r", "outcome_type": "success", "agent_id": "scout", "situation": 5}
    attempts = [{"attempt": "x"}, {"attempt": 2}, {"attempt": 3, "outcome_type": 5}, {"none": 1}]
    async with SqliteAdapter(path) as native:
        await native.write(StoredEntry.model_validate(given | fields))
        for kind in ("write", "my_own", "my_own", "my_own", "read"):
            await native.log_event(StoredEvent(agent_id="scout", event_type=kind))
        cited = {"causal_entry_keys": ("svc/k",), "attempts": attempts, "covariates": 5, "task_input": "kept"}
        await native.commit_outcome(StoredRecord.model_validate(reported | cited))
        bag = {"agent_id": "scout", "session_id": "s", "session_metadata": {"model": 5, "kept": "x"}}
        await native.save_trace(StoredTrace.model_validate(bag))
        profile = StoredProfile.model_validate({"session_metadata": {"model": 5}, "display_name": 5})
        await native.ensure_agent("scout")
        await native.update_agent_profile("scout", profile)


@proves("amfs.odd-records")
def test_a_field_that_the_sdk_does_not_take_is_as_by_default_and_the_rest_is_read(tmp_path: Path) -> None:
    asyncio.run(odd(tmp_path / "memory.db"))
    with SyncSqliteAdapter(tmp_path / "memory.db") as opened:
        adapter: Any = opened
        read = adapter.read("svc", "k")
        assert read is not None
        assert (read.importance_score, read.validators, read.evidence_success) == (None, [], 0.0)
        assert (read.memory_type.value, read.last_outcome) == ("fact", "kept")
        assert [each.key for each in adapter.list("svc")] == ["k"]
        assert [each.key for each in adapter.search(SearchQuery(entity_path="svc"))] == ["k"]
        (told,) = adapter.list_outcomes()
        assert (told.situation, told.covariates, told.task_input) == (None, {}, "kept")
        assert [(each.attempt, each.outcome_type.value) for each in told.attempts] == [
            (2, "minor_failure"),
            (3, "minor_failure"),
        ]
        (saved,) = adapter.list_traces()
        assert saved.agent_id == "scout"
        agent = adapter.get_agent("scout")
        assert agent is not None
        assert agent.agent_id == "scout"
        (written,) = adapter.commit_outcome(outcome())
        assert written.version == read.version + 1
        assert adapter.write(entry(version=written.version + 1)).version == written.version + 1


@proves("amfs.odd-records")
def test_an_event_of_a_type_that_the_sdk_does_not_have_is_left_out_of_full_pages(tmp_path: Path) -> None:
    asyncio.run(odd(tmp_path / "memory.db"))
    with SyncSqliteAdapter(tmp_path / "memory.db") as opened:
        adapter: Any = opened
        kinds = [each.event_type for each in adapter.list_events("scout")]
        assert sorted(kinds) == ["read", "write"]
        assert [each.event_type for each in adapter.list_events("scout", limit=2)] == kinds
        assert [each.event_type for each in adapter.list_events("scout", limit=1)] == kinds[:1]
        assert adapter.list_events("scout", event_type="my_own", limit=2) == []


def stored(adapter: Any) -> list[Any]:
    """What stands in the lists, which are typed by the name of another method."""
    return [*adapter.list_outcomes(), *adapter.list_events("scout"), *adapter.list_traces()]


def _changed(made: Any, name: str, value: object) -> Any:
    setattr(made, name, value)
    return made


def _with_odd_attempt() -> OutcomeRecord:
    made = outcome()
    made.attempts[0].attempt = "x"  # type: ignore[assignment]  # wrong on purpose
    return made


WRONG: dict[str, tuple[str, Call]] = {
    "no time of an outcome": (
        "committed_at",
        lambda adapter: adapter.commit_outcome(_changed(outcome(), "committed_at", None)),
    ),
    "a type that is none": (
        "event_type",
        lambda adapter: adapter.log_event(_changed(event(), "event_type", "mine")),
    ),
    "the number of an attempt": (
        "attempts.0.attempt",
        lambda adapter: adapter.commit_outcome(_with_odd_attempt()),
    ),
    "attempts that are none": ("attempts", lambda adapter: adapter.commit_outcome(outcome(attempts=5))),
    "no causal entries": ("causal_entries", lambda adapter: adapter.save_trace(trace(causal_entries=None))),
    "an edge's confidence": (
        "confidence",
        lambda adapter: adapter.upsert_graph_edge(
            _changed(
                GraphEdge(
                    source_entity="a", source_type="t", relation="r", target_entity="b", target_type="t"
                ),
                "confidence",
                "high",
            )
        ),
    ),
}


@proves("amfs.set-later")
@pytest.mark.parametrize("wrong", WRONG)
def test_a_field_that_was_set_to_what_the_model_would_not_take_is_refused_by_name(
    sdk_adapter: SyncSqliteAdapter, wrong: str
) -> None:
    sdk_adapter.write(entry())
    named, call = WRONG[wrong]
    with pytest.raises(InvalidArgument, match=rf"^{named} "):
        call(sdk_adapter)
    assert stored(sdk_adapter) == []
    assert [each.version for each in list[MemoryEntry](sdk_adapter.list(include_superseded=True))] == [1]


NO_JSON: dict[str, tuple[str, Call]] = {
    "covariates": (
        "covariates.latency",
        lambda adapter: adapter.commit_outcome(outcome(covariates={"latency": math.nan})),
    ),
    "actions": (
        r"actions_taken\[0\].b",
        lambda adapter: adapter.commit_outcome(outcome(actions_taken=[{"b": math.inf}])),
    ),
    "details": ("details.a", lambda adapter: adapter.log_event(event(details={"a": math.inf}))),
    "a value that was read": (
        r"causal_entries\[0\].value",
        lambda adapter: adapter.save_trace(
            trace(
                causal_entries=[
                    TraceEntry(entity_path="svc", key="k", version=1, confidence=1, value=math.nan)
                ]
            )
        ),
    ),
    "session metadata": (
        "session_metadata.a",
        lambda adapter: adapter.commit_outcome(outcome(session_metadata={"a": -math.inf})),
    ),
}


@proves("amfs.no-json")
@pytest.mark.parametrize("what", NO_JSON)
def test_a_number_that_json_does_not_have_is_refused_with_its_place(
    sdk_adapter: SyncSqliteAdapter, what: str
) -> None:
    named, call = NO_JSON[what]
    with pytest.raises(InvalidArgument, match=rf"^{named} is -?(nan|inf)"):
        call(sdk_adapter)
    assert stored(sdk_adapter) == []


@proves("amfs.no-json")
def test_sets_and_times_are_stored_as_json_has_them(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.commit_outcome(outcome(covariates={"seen": {1, 2}, "at": BEGAN}))
    (told,) = stored(sdk_adapter)
    assert told.covariates == {"seen": [1, 2], "at": BEGAN.isoformat().replace("+00:00", "Z")}


def _signed(**fields: Any) -> MemoryEntry:
    made = entry()
    for name, value in fields.items():
        setattr(made.provenance, name, value)
    return made


class _Answers:
    """An embedder that answers text."""

    def embed(self, text: str) -> Any:
        return text


def digest() -> Digest:
    return Digest(digest_type=DigestType.ENTITY, scope="svc", summary={})


CALLS: dict[str, tuple[str, Call]] = {
    "list on no branch": ("branch", lambda adapter: adapter.list(branch=None)),
    "read on no branch": ("branch", lambda adapter: adapter.read("a", "b", branch=[])),
    "a strategy": ("strategy", lambda adapter: adapter.merge_branch("b", strategy="theirs")),
    "resolutions": ("resolve_conflicts", lambda adapter: adapter.merge_branch("b", resolve_conflicts="x")),
    "closing main": ("branch 'main' is", lambda adapter: adapter.close_branch("main")),
    "merging main": ("branch 'main' is", lambda adapter: adapter.merge_branch("main")),
    "no tiers": ("tier_assignments", lambda adapter: adapter.update_tiers(None, {})),
    "no scores": ("scores", lambda adapter: adapter.update_tiers({}, None)),
    "since": ("since", lambda adapter: adapter.search(_changed(SearchQuery(), "since", "soon"))),
    "depth": ("depth", lambda adapter: adapter.search(_changed(SearchQuery(), "depth", "x"))),
    "paths": ("entity_paths", lambda adapter: adapter.search(_changed(SearchQuery(), "entity_paths", 5))),
    "a digest": (
        "digest_type",
        lambda adapter: adapter.upsert_digest(_changed(digest(), "digest_type", "x")),
    ),
    "version": ("version", lambda adapter: adapter.write(entry(version="x"))),
    "recall count as text": ("recall_count", lambda adapter: adapter.write(entry(recall_count="x"))),
    "recall count below 0": ("recall_count", lambda adapter: adapter.write(entry(recall_count=-5))),
    "recall count": ("recall_count", lambda adapter: adapter.write(entry(recall_count=2**63))),
    "tier": ("tier", lambda adapter: adapter.write(entry(tier=99))),
    "far tier": ("tier", lambda adapter: adapter.write(entry(tier=2**63))),
    "embedding": ("embedding.0", lambda adapter: adapter.write(entry(embedding=["x"]))),
    "branch": ("branch", lambda adapter: adapter.write(entry(branch=[]))),
    "tags": ("provenance.pattern_refs", lambda adapter: adapter.write(_signed(pattern_refs=None))),
    "written at": ("provenance.written_at", lambda adapter: adapter.write(_signed(written_at=None))),
    "priority": ("priority_score", lambda adapter: adapter.write(entry(priority_score=math.nan))),
    "an embedder": ("embedder", lambda adapter: adapter.semantic_search(SemanticQuery(text="x"), 5)),
    "an answer": ("embedder", lambda adapter: adapter.semantic_search(SemanticQuery(text="x"), _Answers())),
}


@proves("amfs.wrong-calls")
@pytest.mark.parametrize("wrong", CALLS)
def test_a_wrong_call_is_refused_by_its_argument(sdk_adapter: SyncSqliteAdapter, wrong: str) -> None:
    named, call = CALLS[wrong]
    with pytest.raises(InvalidArgument, match=f"^{named} "):
        call(sdk_adapter)
    assert list[MemoryEntry](sdk_adapter.list()) == []


@proves("amfs.no-json")
def test_a_member_of_an_entry_that_json_does_not_have_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    with pytest.raises(InvalidArgument, match="importance_dimensions"):
        sdk_adapter.write(entry(importance_dimensions={"a": math.nan}))
    assert list[MemoryEntry](sdk_adapter.list()) == []


@proves("amfs.wrong-calls")
def test_an_embedder_that_cannot_embed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"^embedder is 5"):
        SyncSqliteAdapter(tmp_path / "memory.db", embedder=5)  # type: ignore[arg-type]  # wrong on purpose
    with SyncSqliteAdapter(tmp_path / "memory.db", embedder=_Answers()) as adapter:
        with pytest.raises(InvalidArgument, match=r"^embedder answers 'x'"):
            adapter.commit_outcome(outcome(task_input="x"))
        assert stored(adapter) == []
