"""Traces: they come back whole, in order, counted, and without what was erased."""

from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError, InvalidCursorError
from amfs_sqlite.protocol import Traces
from amfs_sqlite.records.traces import DecisionTrace
from amfs_sqlite.rules.keysets import keyset_cursor
from parity_tests.drafts import at, draft
from parity_tests.ledger import proves
from parity_tests.state import plain

THEN = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Both(AmfsAdapter, Traces, Protocol):
    """What has traces beside the nouns of every adapter."""


def read_entry(path: str = "svc/a", key: str = "k", version: int = 1, **fields: Any) -> dict[str, Any]:
    return {"entity_path": path, "key": key, "version": version, "confidence": 0.5, "value": 1} | fields


def trace(*entries: dict[str, Any], agent: str = "alice", minute: int = 0, **fields: Any) -> DecisionTrace:
    created_at = THEN + timedelta(minutes=minute)
    named = {"agent_id": agent, "session_id": "s", "created_at": created_at, "causal_entries": entries}
    return DecisionTrace.model_validate(named | fields)


WHOLE: dict[str, Any] = {
    "outcome_ref": "run-1",
    "outcome_type": "success",
    "decision_summary": "retry",
    "task_input": "the disk is full\0",
    "response_text": "é",
    "tool_calls": [
        {"tool_name": "deploy", "arguments": {"n": 1.0, "deep": [None]}, "started_at": THEN, "mine": 1}
    ],
    "external_contexts": [{"label": "ticket", "summary": "t", "recorded_at": THEN}],
    "query_events": [{"operation": "search", "parameters": {"q": "x"}, "occurred_at": THEN}],
    "error_events": [{"operation": "read", "error_type": "E", "message": "m", "occurred_at": THEN}],
    "state_diff": {
        "entries_created": 1,
        "confidence_changes": [
            {"entity_path": "p", "key": "k", "before": 0.5, "after": 1.0, "outcome_ref": "run-1"}
        ],
    },
    "session_metadata": {"model": "m", "agent_version": "1", "agentVersion": "2", "attributes": {"a": [1]}},
    "session_started_at": THEN,
    "session_duration_ms": 12.5,
    "somethingNew": {"b": [1, 2]},
}


@proves("traces.saved")
async def test_a_trace_comes_back_whole(adapter: Traces) -> None:
    values: list[Any] = [None, {"b": 1, "a": [1.0, "é"]}, "text", 0, False]
    given = trace(*(read_entry(key=f"k{place}", value=value) for place, value in enumerate(values)), **WHOLE)
    saved = await adapter.save_trace(given)
    found = await adapter.get_trace(saved.id)
    assert plain(found) == plain(saved) == plain(given) | {"id": saved.id}
    assert saved.namespace == "default"


@proves("traces.saved")
async def test_each_saving_is_a_trace_of_its_own_and_has_a_time(adapter: Traces, clock: FixedClock) -> None:
    given = trace(id="mine", created_at=None, namespace="elsewhere")
    saved = [await adapter.save_trace(given) for _ in range(2)]
    assert len({each.id for each in saved} | {"mine"}) == 3
    assert {each.created_at for each in saved} == {clock.now()}
    assert {each.namespace for each in saved} == {"default"}
    assert await adapter.get_trace("mine") is None
    assert await adapter.count_traces() == 2


@proves("traces.refused")
@pytest.mark.parametrize(
    ("given", "argument"),
    [
        (trace(agent="x" * 4097), "agent_id"),
        (trace(session_id="\ud800"), "session_id"),
        (trace(outcome_type="x" * 4097), "outcome_type"),
        (trace(read_entry(path="")), "entity_path"),
        (trace(read_entry(version=2**63)), "version"),
        (trace(read_entry(version=-1)), "version"),
        (trace(read_entry(value=float("nan"))), "value"),
        (trace(read_entry(written_by="\ud800")), "written_by"),
        (trace(session_metadata={"a": object()}), "session_metadata.a"),
        (trace(tool_calls=[{"tool_name": "t", "arguments": {"a": THEN}, "started_at": THEN}]), "arguments"),
        (trace(unknown={1, 2}), "trace"),
        (trace(session_duration_ms=float("inf")), "trace.sessionDurationMs"),
    ],
)
async def test_what_cannot_be_stored_is_refused_by_name(
    adapter: Traces, given: DecisionTrace, argument: str
) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        await adapter.save_trace(given)
    assert refused.value.argument.startswith(argument)
    assert await adapter.count_traces() == 0


async def some(adapter: Traces) -> list[DecisionTrace]:
    """Four traces, in the order that they are listed in."""
    saved = [
        await adapter.save_trace(trace(read_entry("p"), minute=1, outcome_type="failure")),
        await adapter.save_trace(trace(read_entry("p/q"), read_entry("p"), minute=3)),
        await adapter.save_trace(trace(minute=2, agent="bob")),
        await adapter.save_trace(trace(minute=2, agent="alice", outcome_type="success")),
    ]
    return [saved[1], *sorted(saved[2:], key=lambda each: each.id, reverse=True), saved[0]]


@proves("traces.order", "traces.counted")
@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ({}, [0, 1, 2, 3]),
        ({"entity_path": "p"}, [0, 3]),
        ({"entity_path": "p/q"}, [0]),
        ({"entity_path": ""}, []),
        ({"agent_id": "bob"}, ["bob"]),
        ({"outcome_type": "failure"}, [3]),
        ({"since": THEN + timedelta(minutes=2)}, [0, 1, 2]),
        ({"until": THEN + timedelta(minutes=2)}, [3]),
        ({"since": "2026-01-01T12:02:00Z", "until": "2026-01-01T12:03:00Z"}, [1, 2]),
        ({"limit": 2}, [0, 1]),
        ({"limit": None, "offset": 3}, [3]),
        ({"limit": 0}, []),
        ({"offset": 9}, []),
    ],
    ids=str,
)
async def test_traces_are_listed_newest_first_and_narrowed(
    adapter: Traces, asked: dict[str, Any], places: list[Any]
) -> None:
    listed = await some(adapter)
    by_agent = {"bob": next(place for place, each in enumerate(listed) if each.agent_id == "bob")}
    expected = [listed[by_agent.get(place, place)] for place in places]
    assert [each.id for each in await adapter.list_traces(**asked)] == [each.id for each in expected]
    if not {"limit", "offset"} & asked.keys():
        assert await adapter.count_traces(**asked) == len(expected)


@proves("traces.pages")
async def test_a_cursor_continues_behind_a_trace_whatever_was_saved_meanwhile(adapter: Traces) -> None:
    listed = await some(adapter)
    seen: list[DecisionTrace] = []
    cursor = None
    while page := await adapter.list_traces(limit=1, cursor=cursor, offset=7 if cursor else 0):
        seen += page
        assert page[-1].created_at is not None
        cursor = keyset_cursor(page[-1].created_at, page[-1].id)
        await adapter.save_trace(trace(minute=4 + len(seen)))
    assert [each.id for each in seen] == [each.id for each in listed]


@proves("traces.pages")
@pytest.mark.parametrize("cursor", ["x", "eyJ0IjoxfQ", keyset_cursor(THEN, ["p", "k", 1]), "\ud800"])
async def test_what_is_no_cursor_of_traces_is_refused(adapter: Traces, cursor: str) -> None:
    with pytest.raises(InvalidCursorError):
        await adapter.list_traces(cursor=cursor)


@proves("traces.read-counts")
async def test_what_an_agent_read_is_counted_by_path_and_key(adapter: Traces) -> None:
    await adapter.save_trace(trace(read_entry("q"), read_entry("p", "b"), read_entry("p", "a")))
    await adapter.save_trace(trace(read_entry("p", "b", 2)))
    await adapter.save_trace(trace(read_entry("p", "b"), agent="bob"))
    counts = await adapter.trace_read_counts("alice")
    assert counts == {"p": {"a": 1, "b": 2}, "q": {"k": 1}}
    assert [*counts, *counts["p"]] == ["p", "q", "a", "b"]
    assert await adapter.trace_read_counts("nobody") == {}


@proves("traces.for-entry")
async def test_the_trace_committed_soonest_after_a_write_comes_first(adapter: Traces) -> None:
    await adapter.save_trace(trace(minute=5, session_id="other"))
    await adapter.save_trace(trace(minute=5, agent="bob"))
    for minute in (1, 9, 4, 6, 7):
        await adapter.save_trace(trace(minute=minute, decision_summary=str(minute)))

    async def minutes(**asked: Any) -> list[str | None]:
        found = await adapter.list_traces_for_entry(agent_id="alice", **asked)
        return [each.decision_summary for each in found]

    written_at = THEN + timedelta(minutes=6)
    assert await minutes(session_id="s", written_at=written_at) == ["6", "7", "9", "4", "1"]
    assert await minutes(session_id="s", written_at=written_at, limit=1) == ["6"]
    assert await minutes(session_id="s") == ["9", "7", "6", "4", "1"]
    assert await minutes(session_id=None) == []
    assert await minutes(session_id="") == []


@proves("traces.shares")
async def test_a_share_is_a_read_of_what_another_agent_wrote(adapter: Traces) -> None:
    by = {name: read_entry(written_by=name) for name in ("alice", "bob", "carol", "")}
    await adapter.save_trace(trace(by["alice"], by["bob"], by[""], read_entry(), by["carol"]))
    await adapter.save_trace(trace(by["bob"], minute=5))
    await adapter.save_trace(trace(by["alice"], agent="bob"))
    stats = await adapter.share_stats()
    pairs = [(pair.reader, pair.author, pair.count) for pair in stats.pairs]
    assert (stats.total, pairs) == (4, [("alice", "bob", 2), ("alice", "carol", 1), ("bob", "alice", 1)])
    cut = await adapter.share_stats(pair_limit=1)
    assert (cut.total, len(cut.pairs)) == (4, 1)
    among = await adapter.share_stats(agent_ids=["alice", "bob"])
    assert [pair.count for pair in among.pairs] == [2, 1]
    assert (await adapter.share_stats(agent_ids=[])).total == 0
    assert (await adapter.share_stats(since=THEN + timedelta(minutes=1))).total == 1


@proves("traces.erased")
async def test_a_value_goes_from_traces_that_took_its_path_and_key_apart_otherwise(adapter: Both) -> None:
    await adapter.write(draft("svc", "a/b", "secret"))
    read = [read_entry("svc/a", "b", value="secret"), read_entry("svc", "a", value="other")]
    before = await adapter.save_trace(trace(*read))
    await adapter.erase([at("svc", "a/b")], author="alice")
    after = await adapter.save_trace(trace(*read))
    for saved in (await adapter.get_trace(before.id), after):
        assert saved is not None
        assert [entry.value for entry in saved.causal_entries] == [None, "other"]


@proves("traces.erased")
async def test_erasing_a_version_takes_its_value_out_of_traces_and_keeps_it_out(adapter: Both) -> None:
    for value in ("secret", "kept"):
        await adapter.write(draft("p", "k", value))
    entries = [
        read_entry("p", "k", 1, value="secret"),
        read_entry("p", "k", 2, value="kept"),
        read_entry("q", "k", 1, value="other"),
    ]
    before = await adapter.save_trace(trace(*entries))
    await adapter.erase([at("p", "k", 1)], author="alice")
    after = await adapter.save_trace(trace(*entries))
    for saved in (await adapter.get_trace(before.id), await adapter.get_trace(after.id), after):
        assert saved is not None
        assert [entry.value for entry in saved.causal_entries] == [None, "kept", "other"]
        assert saved.causal_entries[0].confidence == 0.5
