"""Traces through the SDK's door: what its agent memory commits is kept, and counted as it counts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core import pagination
from amfs_core.aggregates import share_stats_from_traces
from amfs_core.exceptions import AdapterError
from amfs_core.models import DecisionTrace, OutcomeType, TraceEntry
from amfs_core.pagination import encode_cursor, page_from_overfetch

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN
from parity_tests.ledger import proves

WRITERS = 8
EACH = 10


def trace(agent: str = "scout", minute: int = 0, *read: TraceEntry, **fields: Any) -> DecisionTrace:
    created_at = BEGAN + timedelta(minutes=minute)
    named: dict[str, Any] = {
        "agent_id": agent,
        "session_id": "s",
        "created_at": created_at,
        "causal_entries": [*read],
    }
    return DecisionTrace(**named | fields)


def read(path: str, key: str = "k", by: str | None = "smith") -> TraceEntry:
    return TraceEntry(entity_path=path, key=key, version=1, confidence=1.0, value="v", written_by=by)


def worked(adapter: SyncSqliteAdapter) -> str:
    """Let an agent work and commit what came of it; the id of its session."""
    AgentMemory("smith", adapter=adapter).write("service", "a/b", {"retries": [3, None]}, confidence=0.5)
    memory = AgentMemory("scout", adapter=adapter)
    memory.set_session_attributes({"plan": "pro", "seats": 2})
    memory.record_llm_call(model="m", input_tokens=7, output_tokens=2)
    assert memory.read("service", "a/b") is not None
    memory.search(query="retries")
    memory.record_context("ticket", "it failed", source="tracker")
    call = {"tool_name": "deploy", "arguments": {"to": ["eu"], "n": 1.5}, "result_summary": "done"}
    memory.commit_outcome(
        "run-1",
        OutcomeType.SUCCESS,
        task_input="deploy it",
        response_text="done",
        decision_summary="deployed",
        tool_calls=[call],
    )
    return memory.session_id


@proves("traces.sdk")
def test_what_an_agent_commits_comes_back_whole_from_the_reopened_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path) as adapter:
        session_id = worked(adapter)
        (before,) = list[DecisionTrace](adapter.list_traces())
    with SyncSqliteAdapter(path) as adapter:
        after = adapter.get_trace(before.id)
        assert after is not None
        assert after == before
        assert adapter.list_traces_for_entry(agent_id="scout", session_id=session_id) == [before]
    assert (after.task_input, after.response_text) == ("deploy it", "done")
    assert (after.outcome_ref, after.outcome_type) == ("run-1", "success")
    assert (after.session_id, after.namespace) == (session_id, "default")
    (call,) = after.tool_calls
    assert (call.tool_name, call.arguments) == ("deploy", {"to": ["eu"], "n": 1.5})
    (entry,) = after.causal_entries
    assert (entry.entity_path, entry.key, entry.written_by) == ("service", "a/b", "smith")
    assert (entry.version, entry.value) == (1, {"retries": [3, None]})
    assert [each.label for each in after.external_contexts] == ["ticket"]
    assert "search" in {each.operation for each in after.query_events}
    assert after.session_metadata is not None
    kept = after.session_metadata.model_dump()
    assert kept["attributes"]["plan"] == "pro"
    assert kept["attributes"]["seats"] == 2
    assert kept["llm_calls"][0]["input_tokens"] == 7


@proves("traces.sdk")
def test_every_field_of_a_trace_is_kept(sdk_adapter: SyncSqliteAdapter) -> None:
    worked(sdk_adapter)
    (whole,) = list[DecisionTrace](sdk_adapter.list_traces())
    again = sdk_adapter.save_trace(whole)
    assert again.id not in ("", whole.id)
    assert again == whole.model_copy(update={"id": again.id})
    assert sdk_adapter.get_trace(again.id) == again
    assert sdk_adapter.get_trace("none") is None


@proves("traces.sdk", "traces.pages")
def test_pages_are_those_that_the_sdk_makes_of_one_row_more(sdk_adapter: SyncSqliteAdapter) -> None:
    for minute in (0, 1, 1, 1, 2):
        sdk_adapter.save_trace(trace(minute=minute))
    everything = list[DecisionTrace](sdk_adapter.list_traces())
    made = pagination.paginate_desc(everything, timestamp=time_of, tiebreak=id_of, limit=99).items
    assert [each.id for each in everything] == [each.id for each in made]
    seen: list[DecisionTrace] = []
    for page in pages(sdk_adapter):
        seen += page
    assert seen == everything
    with pytest.raises(pagination.InvalidCursorError):
        sdk_adapter.list_traces(cursor="none")
    with pytest.raises(pagination.InvalidCursorError):
        sdk_adapter.list_traces(cursor=encode_cursor(BEGAN, ["p", "k", 1]))


def time_of(found: DecisionTrace) -> datetime:
    return found.created_at


def id_of(found: DecisionTrace) -> str:
    return found.id


def pages(adapter: SyncSqliteAdapter) -> Iterator[list[DecisionTrace]]:
    cursor = None
    while True:
        rows = list[DecisionTrace](adapter.list_traces(limit=3, cursor=cursor))
        page = page_from_overfetch(rows, limit=2, timestamp=time_of, tiebreak=id_of)
        yield page.items
        if not page.has_more:
            return
        cursor = page.next_cursor


@proves("traces.sdk", "traces.shares", "traces.read-counts")
def test_counts_are_those_that_the_sdk_makes_of_the_traces(sdk_adapter: SyncSqliteAdapter) -> None:
    by_scout = (read("p"), read("p", "a/b", "jones"), read("q", by=None), read("q", by=""), read("p"))
    sdk_adapter.save_trace(trace("scout", 0, *by_scout, outcome_type="failure"))
    sdk_adapter.save_trace(trace("smith", 1, read("p"), read("p", by="scout")))
    everything = list[DecisionTrace](sdk_adapter.list_traces())
    for asked in ({}, {"agent_ids": ["scout", "smith"]}, {"since": BEGAN + timedelta(minutes=1)}):
        told, made = sdk_adapter.share_stats(**asked), share_stats_from_traces(everything, **asked)
        assert (told["total"], by_name(told)) == (made["total"], by_name(made))
    assert sdk_adapter.share_stats(pair_limit=0) == {"total": 4, "pairs": []}
    assert sdk_adapter.trace_read_counts("scout") == {"p": {"a/b": 1, "k": 2}, "q": {"k": 2}}
    assert sdk_adapter.count_traces() == 2
    assert sdk_adapter.count_traces(entity_path="q", outcome_type="failure") == 1


def by_name(stats: dict[str, Any]) -> list[tuple[str, str, int]]:
    return sorted((pair["reader"], pair["author"], pair["count"]) for pair in stats["pairs"])


@proves("traces.sdk")
def test_many_threads_save_traces_and_none_is_lost(sdk_adapter: SyncSqliteAdapter) -> None:
    def save(writer: int) -> list[str]:
        return [sdk_adapter.save_trace(trace(f"agent-{writer}", n)).id for n in range(EACH)]

    with ThreadPoolExecutor(WRITERS) as threads:
        saved = [each for ids in threads.map(save, range(WRITERS)) for each in ids]
    assert len({*saved}) == WRITERS * EACH
    assert sdk_adapter.count_traces() == WRITERS * EACH
    assert {each.id for each in list[DecisionTrace](sdk_adapter.list_traces(limit=1_000))} == {*saved}


@proves("traces.sdk", "traces.refused")
def test_what_is_no_trace_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    given: Any = {"agent_id": "scout"}
    with pytest.raises(AdapterError, match="trace is"):
        sdk_adapter.save_trace(given)
    with pytest.raises(AdapterError, match="limit"):
        sdk_adapter.list_traces(limit=-1)
    assert sdk_adapter.count_traces() == 0
