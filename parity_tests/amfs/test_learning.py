"""What the SDK's server draws its curves and its page of agents from."""

from datetime import timedelta
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.exceptions import AdapterError
from amfs_core.learning import learning_curve
from amfs_core.models import OutcomeRecord, OutcomeType

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN, entry
from parity_tests.ledger import proves

SUCCESS, FAILURE = OutcomeType.SUCCESS, OutcomeType.FAILURE


def report(minute: int, kind: OutcomeType = SUCCESS, *keys: str, **fields: Any) -> OutcomeRecord:
    named: dict[str, Any] = {
        "outcome_ref": f"run-{minute}",
        "outcome_type": kind,
        "committed_at": BEGAN + timedelta(minutes=minute),
        "agent_id": "scout",
        "causal_entry_keys": [*keys],
    }
    return OutcomeRecord(**named | fields)


def minutes(series: dict[str, Any]) -> list[float]:
    return [(each["at"] - BEGAN) / timedelta(minutes=1) for each in series["sessions"]]


@proves("servers.learning")
def test_a_series_has_the_latest_outcomes_oldest_first_and_what_was_discredited(
    sdk_adapter: SyncSqliteAdapter,
) -> None:
    sdk_adapter.write(entry("svc", "a/b", confidence=0.5))
    sdk_adapter.write(entry("svc", "c", confidence=0.5))
    sdk_adapter.commit_outcome(report(3, FAILURE, "svc/a/b"))
    sdk_adapter.commit_outcome(report(1, session_metadata={"verified_by": "ci"}))
    sdk_adapter.commit_outcome(report(2, agent_id="smith"))
    discredited = sdk_adapter.read("svc", "a/b")
    assert discredited is not None
    assert discredited.discredited_at is not None
    series = sdk_adapter.learning_series(since=BEGAN)
    assert minutes(series) == [1, 2, 3]
    assert [each["verified_by"] for each in series["sessions"]] == ["ci", None, None]
    assert [each["outcome_type"] for each in series["sessions"]] == ["success", "success", "failure"]
    assert series["shifts"] == [{"entity_path": "svc", "key": "a/b", "at": discredited.discredited_at}]
    assert series["truncated"] is False
    assert learning_curve(series["sessions"], shifts=series["shifts"])["sessions"] == 3


@proves("servers.learning")
@pytest.mark.parametrize(
    ("asked", "expected", "is_truncated"),
    [
        ({"agent": "smith"}, [2], False),
        ({"visible_agents": ["scout"]}, [1, 3], False),
        ({"visible_agents": ["scout"], "agent": "smith"}, [], False),
        ({"visible_agents": []}, [], False),
        ({"entity_path": "svc"}, [3], False),
        ({"entity_path": "sv"}, [], False),
        ({"since": BEGAN + timedelta(minutes=2)}, [2, 3], False),
        ({"limit": 3}, [1, 2, 3], False),
        ({"limit": 2}, [2, 3], True),
        ({"limit": 0}, [3], True),
    ],
    ids=str,
)
def test_a_series_is_narrowed(
    sdk_adapter: SyncSqliteAdapter, asked: dict[str, Any], expected: list[int], is_truncated: bool
) -> None:
    sdk_adapter.commit_outcome(report(3, SUCCESS, "svc/a"))
    sdk_adapter.commit_outcome(report(1, entity_paths=["other"]))
    sdk_adapter.commit_outcome(report(2, agent_id="smith"))
    series = sdk_adapter.learning_series(**{"since": BEGAN} | asked)
    assert (minutes(series), series["truncated"]) == (expected, is_truncated)


@proves("servers.tasks")
def test_the_latest_tasks_of_a_path_come_first(sdk_adapter: SyncSqliteAdapter) -> None:
    memory = AgentMemory("scout", adapter=sdk_adapter)
    for task in ("one", "two", None, "long " * 1_000):
        memory.commit_outcome("run", SUCCESS, entity_path="svc", task_input=task)
    memory.commit_outcome("run", SUCCESS, entity_path="svc/below", task_input="below")
    assert sdk_adapter.recent_task_texts("svc") == ["long " * 400, "two", "one"]
    assert sdk_adapter.recent_task_texts("svc", limit=2) == ["long " * 400, "two"]
    assert sdk_adapter.recent_task_texts("sv") == []


@proves("servers.agents")
def test_of_each_agent_what_it_wrote_is_counted(sdk_adapter: SyncSqliteAdapter) -> None:
    for minute, (agent, path, key) in enumerate(
        [
            ("scout", "svc", "a"),
            ("scout", "svc", "b"),
            ("scout", "other", "a"),
            ("smith", "svc", "c"),
            ("smith", "svc", "b"),
            ("smith", "_system/x", "a"),
            ("jones", "@team/x", "a"),
        ]
    ):
        sdk_adapter.write(entry(path, key, agent_id=agent, minute=minute))
    told = sdk_adapter.agent_summaries()
    counts = [(each["agent_id"], each["entries_written"], each["entities_touched"]) for each in told]
    assert counts == [("scout", 2, 2), ("smith", 2, 1)]
    assert (told[1]["first_seen"], told[1]["last_active"]) == (
        BEGAN + timedelta(minutes=3),
        BEGAN + timedelta(minutes=4),
    )
    assert [each["agent_id"] for each in sdk_adapter.agent_summaries(agent_ids=["smith"])] == ["smith"]
    assert sdk_adapter.agent_summaries(agent_ids=[]) == []


@proves("servers.learning")
def test_what_cannot_be_asked_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    nothing: Any = None
    with pytest.raises(AdapterError, match="since"):
        sdk_adapter.learning_series(since=nothing)
    with pytest.raises(AdapterError, match="limit"):
        sdk_adapter.recent_task_texts("svc", limit=-1)
