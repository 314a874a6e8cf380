"""Outcomes through the SDK's door."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core import evidence
from amfs_core.exceptions import AdapterError
from amfs_core.models import AttemptRecord, OutcomeRecord, OutcomeType

from amfs_sqlite import HANDOFF, CountedIds, EntryRef, SqliteAdapter
from amfs_sqlite import OutcomeRecord as OurRecord
from amfs_sqlite.clock import FixedClock
from amfs_sqlite.sqlite.outcome_log import Asked, reports
from amfs_sqlite.sqlite.transaction import Transaction
from parity_tests.amfs.corpus import entry, opened
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.migrations.make_file import FOLDER as FILES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAILURE, SUCCESS = OutcomeType.FAILURE, OutcomeType.SUCCESS


def outcome(
    kind: OutcomeType = SUCCESS, keys: Sequence[str] = ("service/a",), **fields: object
) -> OutcomeRecord:
    """A report by scout; ``minute`` counts from NOW."""
    minute = fields.pop("minute", 0)
    assert isinstance(minute, int)
    return OutcomeRecord.model_validate(
        {
            "outcome_ref": "r",
            "outcome_type": kind,
            "agent_id": "scout",
            "committed_at": NOW + timedelta(minutes=minute),
            "causal_entry_keys": list(keys),
            **fields,
        }
    )


class Lengths:
    """Embeds a text by how many times it has an a and a b."""

    def embed(self, text: str) -> list[float]:
        return [float(text.count("a")), float(text.count("b"))]


@proves("amfs.evidence")
@pytest.mark.parametrize("kind", list(OutcomeType))
def test_confidence_moves_as_in_the_sdks_model(sdk_adapter: Any, kind: OutcomeType) -> None:
    written = sdk_adapter.write(entry(confidence=0.7, embedding=[1.0, 2.0], pattern_refs=["p"]))
    (moved,) = sdk_adapter.commit_outcome(outcome(kind))
    expected, _ = evidence.apply_record_to_entry(written, outcome(kind), now=moved.last_outcome_at)
    changed = {"version", "integrity_chain", "commit_id", "uplift", "uplift_sessions"}
    assert moved.model_dump(exclude=changed | {"embedding"}) == expected.model_dump(
        exclude=changed | {"embedding"}
    )
    assert (moved.version, moved.content_hash) == (2, written.content_hash)
    read = sdk_adapter.read("service", "a")
    assert read is not None
    assert read.model_dump(exclude={"embedding"}) == moved.model_dump(exclude={"embedding"})
    assert read.embedding == [1.0, 2.0]
    assert moved.commit_id is not None
    assert sdk_adapter.get_commit(moved.commit_id) is not None
    assert sdk_adapter.verify_integrity()["corrupted"] == []


@proves("amfs.evidence")
def test_attempts_count_before_the_end_and_are_one_version(sdk_adapter: Any) -> None:
    written = [sdk_adapter.write(entry(key=key, confidence=0.7)) for key in ("a", "b")]
    attempts = [
        AttemptRecord(attempt=2, outcome_type=FAILURE, causal_entry_keys=["service/a", "service/b"]),
        AttemptRecord(attempt=1, outcome_type=OutcomeType.CRITICAL_FAILURE, causal_entry_keys=["service/b"]),
    ]
    record = outcome(attempts=attempts, causal_confidence=0.5)
    moved = sdk_adapter.commit_outcome(record)
    assert {each.key: (each.version, each.outcome_count) for each in moved} == {"a": (2, 2), "b": (2, 2)}
    for before, after in zip(written, sorted(moved, key=lambda each: each.key), strict=True):
        expected, _ = evidence.apply_record_to_entry(before, record, now=after.last_outcome_at)
        assert after.confidence == expected.confidence
        assert after.evidence_failure == expected.evidence_failure
    assert len({each.commit_id for each in moved}) == 1


@proves("amfs.multiplicative")
async def test_the_environment_chooses_the_model(
    sdk_adapter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk_adapter.write(entry(confidence=0.7))
    sdk_adapter.commit_outcome(outcome())
    monkeypatch.setenv(evidence.OUTCOME_MODEL_ENV, "multiplicative")
    (moved,) = sdk_adapter.commit_outcome(outcome(FAILURE))
    assert moved.confidence == pytest.approx(0.8181818181818182 * 0.9)
    async with SqliteAdapter(tmp_path / "memory.db") as ours:
        policies = [effect.policy for each in await ours.list_outcomes() for effect in each.effects]
        assert policies == ["amfs-multiplicative", "amfs-evidence"]
        assert (await ours.verify()).ok


@proves("amfs.slash-credit")
def test_keys_with_a_slash_are_credited(sdk_adapter: Any) -> None:
    for path, key in [("p", "a/b/c"), ("q/x", "k"), ("q", "x/k")]:
        sdk_adapter.write(entry(path, key))
    moved = sdk_adapter.commit_outcome(outcome(keys=["p/a/b/c", "q/x/k", "p/a/b/c", "gone/k", "x", "/"]))
    assert [(each.entity_path, each.key, each.version) for each in moved] == [
        ("p", "a/b/c", 2),
        ("q/x", "k", 2),
    ]


@proves("amfs.stale-claim")
async def test_an_outcome_about_another_claim_moves_nothing(sdk_adapter: Any, tmp_path: Path) -> None:
    for value in ("old", "new"):
        sdk_adapter.write(entry(value=value))
    stale = outcome(causal_entry_versions={"service/a": 1})
    assert sdk_adapter.commit_outcome(stale) == []
    assert len(sdk_adapter.commit_outcome(outcome(causal_entry_versions={"service/a": 2}))) == 1
    assert len(sdk_adapter.commit_outcome(outcome(causal_entry_versions={"service/a": 2}))) == 1
    async with SqliteAdapter(tmp_path / "memory.db") as ours:
        effects = [effect for each in await ours.list_outcomes() for effect in each.effects]
        assert [(each.version, each.applied, each.reason) for each in effects] == [
            (3, True, None),
            (2, True, None),
            (2, False, "stale"),
        ]
        assert (await ours.verify()).ok


@proves("amfs.private-credit")
def test_what_the_reporter_cannot_see_is_not_moved(sdk_adapter: Any) -> None:
    sdk_adapter.write(entry(shared=False, agent_id="other"))
    sdk_adapter.write(entry(key="own", shared=False))
    moved = sdk_adapter.commit_outcome(outcome(keys=["service/a", "service/own"]))
    assert [each.key for each in moved] == ["own"]


@proves("amfs.uplift")
def test_credit_goes_by_how_sessions_fare_that_read_the_entry(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", clock=FixedClock(NOW)) as adapter:
        for key in ("helps", "misleads"):
            adapter.write(entry(key=key, confidence=0.7))
        records = []
        for minute in range(6):
            records.append(outcome(SUCCESS, ["service/helps"], minute=-minute, outcome_ref=f"s{minute}"))
            records.append(outcome(FAILURE, ["service/misleads"], minute=-minute, outcome_ref=f"f{minute}"))
            old = {"minute": -60 * 24 * 100, "outcome_ref": f"old{minute}"}
            records.append(outcome(FAILURE, ["service/helps"], **old))
        for record in records:
            adapter.commit_outcome(record)
        counts = evidence.uplift_counts(records, "service", ["helps", "misleads"], now=NOW)
        (helps,) = adapter.commit_outcome(outcome(SUCCESS, ["service/helps"], outcome_ref="last"))
        assert counts["helps"] == (1.0, 6)
        assert (helps.uplift, helps.uplift_sessions) == (1.0, 6)
        (blamed,) = adapter.commit_outcome(outcome(FAILURE, ["service/helps"], outcome_ref="blamed"))
        expected, _ = evidence.apply_record_to_entry(helps, outcome(FAILURE, ["service/helps"]), now=NOW)
        assert blamed.confidence == expected.confidence
        assert (
            blamed.confidence
            > evidence.apply_outcome(helps.model_copy(update={"uplift": None}), FAILURE).confidence
        )


@proves("amfs.outcome-log")
def test_outcomes_are_listed_as_reported(sdk_adapter: Any) -> None:
    records = [
        outcome(
            minute=2,
            keys=["a/b/k"],
            outcome_ref="whole",
            attempts=[
                AttemptRecord(attempt=1, outcome_type=FAILURE, causal_entry_keys=["x/y"], summary="no")
            ],
            final_action_index=3,
            causal_entry_versions={"a/b/k": 7},
            actions_taken=[{"action_key": "restart", "success": True}],
            entity_paths=["a/b"],
            situation="slow",
            covariates={"plan": "free"},
            task_input="do it",
            response_text="done",
            tool_calls=[{"name": "x"}],
            session_metadata={"attributes": {"verified_by": "ci"}},
            trace_follows=True,
        ),
        outcome(FAILURE, ["a/k"], minute=3, outcome_ref="second"),
        outcome(OutcomeType.P1_INCIDENT, [], minute=1, outcome_ref="empty", causal_confidence=0.25),
    ]
    for record in records:
        sdk_adapter.commit_outcome(record)
    newest_first = [records[1], records[0], records[2]]
    assert sdk_adapter.list_outcomes() == newest_first
    assert sdk_adapter.list_outcomes(limit=1) == newest_first[:1]
    assert sdk_adapter.list_outcomes(entity_path="a") == newest_first[:2]
    assert sdk_adapter.list_outcomes(entity_path="a/b") == [records[0]]
    assert sdk_adapter.list_outcomes(entity_path="x") == []
    assert sdk_adapter.list_outcomes(outcome_ref="empty") == [records[2]]
    assert sdk_adapter.list_outcomes(since=NOW + timedelta(minutes=2)) == newest_first[:2]
    assert sdk_adapter.list_outcomes(since=NOW + timedelta(minutes=2, microseconds=1)) == newest_first[:1]
    assert sdk_adapter.count_outcomes() == 3
    assert sdk_adapter.count_outcomes(entity_path="a", since=NOW + timedelta(minutes=3)) == 1
    with pytest.raises(AdapterError):
        sdk_adapter.commit_outcome("none")
    with pytest.raises(AdapterError):
        sdk_adapter.commit_outcome(outcome(causal_confidence=float("nan")))
    assert sdk_adapter.count_outcomes() == 3


@proves("amfs.outcome-log")
def test_more_outcomes_than_a_page_are_counted(sdk_adapter: Any) -> None:
    for number in range(30):
        sdk_adapter.commit_outcome(outcome(keys=[], minute=number, outcome_ref=f"r{number}"))
    assert sdk_adapter.count_outcomes() == 30
    assert [each.outcome_ref for each in sdk_adapter.list_outcomes(limit=2)] == ["r29", "r28"]


@proves("amfs.priors")
def test_priors_are_found_by_how_like_the_tasks_were(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", embedder=Lengths()) as adapter:
        adapter.write(entry())
        said: Any = {
            "actions_taken": [{"action_key": "restart", "success": True}],
            "covariates": {"plan": "free"},
        }
        adapter.commit_outcome(outcome(minute=1, outcome_ref="a", task_input="aaaa", **said))
        adapter.commit_outcome(
            outcome(FAILURE, minute=2, outcome_ref="ab", task_input="ab", situation="a", **said)
        )
        adapter.commit_outcome(outcome(FAILURE, minute=3, outcome_ref="b", task_input="bbb"))
        adapter.commit_outcome(outcome(minute=4, outcome_ref="none"))
        near = adapter.similar_outcomes("service", [1.0, 0.0])
        assert [each["outcome_ref"] for each in near] == ["a", "ab"]
        assert near[0]["similarity"] == 1.0
        assert near[0]["covariates"] == {"plan": "free"}
        assert set(near[0]) == {
            "outcome_ref", "outcome_type", "committed_at", "agent_id", "situation", "actions_taken",
            "environment", "covariates", "similarity",
        }  # fmt: skip
        assert [each["outcome_ref"] for each in adapter.similar_outcomes("service", [1.0, 0.0], k=1)] == ["a"]
        assert adapter.similar_outcomes("nowhere", [1.0, 0.0]) == []
        assert adapter.similar_outcomes("service", [1.0, 0.0, 0.0]) == []
        stats = adapter.action_stats("service")
        assert [(each["outcome_ref"], each["similarity"]) for each in stats] == [("ab", 1.0), ("a", 1.0)]
        assert adapter.action_stats("service", since=NOW + timedelta(minutes=2), limit=1) == stats[:1]
        record = adapter.evidence_near(["service/a", "service/none"], [1.0, 0.0], tau=1.0, min_weight=0.5)
        assert set(record) == {"service/a"}
        assert record["service/a"]["n"] == 2
        assert record["service/a"]["success"] == 1.0
        assert 0.5 < record["service/a"]["failure"] < 1.0
        assert [each["success"] for each in record["service/a"]["recent"]] == [False, True]
        assert record["service/a"]["best_similarity"] == 1.0
        assert adapter.evidence_near([], [1.0, 0.0]) == adapter.evidence_near(["service/a"], []) == {}


@proves("amfs.shared-file")
async def test_both_doors_read_what_the_other_wrote(sdk_adapter: Any, tmp_path: Path) -> None:
    sdk_adapter.write(entry(value={"n": 1}, confidence=0.7, importance_score=0.5, pattern_refs=["tag"]))
    sdk_adapter.commit_outcome(outcome(minute=1, situation="slow"))
    async with SqliteAdapter(tmp_path / "memory.db") as ours:
        read = await ours.read("service", "a")
        assert read is not None
        assert (read.version, read.value, read.confidence, read.success_count) == (
            2,
            {"n": 1},
            0.8181818181818182,
            1,
        )
        assert (read.tags, read.model_extra and read.model_extra["importance_score"]) == (("tag",), 0.5)
        assert [each.version for each in await ours.history("service", "a")] == [1, 2]
        (recorded,) = await ours.list_outcomes()
        assert recorded.record.model_extra is not None
        assert recorded.record.model_extra["situation"] == "slow"
        await ours.write(draft("service", "b", "ours", agent="other"))
        ref = EntryRef(entity_path="service", key="a")
        await ours.commit_outcome(
            OurRecord(
                outcome_ref="ours",
                outcome_type="failure",
                agent_id="other",
                refs=(ref,),
                committed_at=NOW,
                note="seen",
            )
        )
        assert (await ours.verify()).ok
        assert [change.entry.version async for change in ours.changes(follow=False)] == [1, 2, 1, 3]
    sdk_read = sdk_adapter.read("service", "b")
    assert sdk_read is not None
    assert (sdk_read.value, sdk_read.provenance.agent_id) == ("ours", "other")
    moved = sdk_adapter.read("service", "a")
    assert moved is not None
    assert (moved.version, moved.failure_count, moved.evidence_success) == (3, 1, 1.3)
    assert [(each.outcome_ref, each.causal_entry_keys) for each in sdk_adapter.list_outcomes()] == [
        ("r", ["service/a"]),
        ("ours", ["service/a"]),
    ]
    assert sdk_adapter.count_outcomes(entity_path="service") == 2
    assert len(sdk_adapter.commit_outcome(outcome(minute=5))) == 1
    assert sdk_adapter.verify_integrity()["corrupted"] == []


@proves("amfs.outcome-log-plan")
@pytest.mark.parametrize(
    ("asked", "plan"),
    [
        (Asked(), "SEARCH t USING COVERING INDEX outcome_times_by_time (namespace=?)"),
        (
            Asked(since=NOW, below="a"),
            "SEARCH t USING COVERING INDEX outcome_times_by_time (namespace=? AND committed_at>?)",
        ),
        (
            Asked(about="a", has_vector=True),
            "SEARCH t USING COVERING INDEX outcome_times_by_time (namespace=?)",
        ),
        (Asked(outcome_ref="r"), "SEARCH o USING INDEX outcomes_by_ref (namespace=? AND outcome_ref=?)"),
    ],
)
def test_outcomes_are_taken_in_the_order_of_an_index(tmp_path: Path, asked: Asked, plan: str) -> None:
    opened(tmp_path / "m.db").close()
    with closing(sqlite3.connect(tmp_path / "m.db")) as raw:
        asking: list[str] = []
        raw.set_trace_callback(asking.append)
        assert [*reports(Transaction(raw, "default", HANDOFF, CountedIds(), NOW), asked, limit=5)] == []
        raw.set_trace_callback(None)
        (said,) = asking
        steps = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {said}")]
    assert steps[0] == plan
    assert ("USE TEMP B-TREE FOR ORDER BY" in steps) == (asked.outcome_ref is not None)


@proves("amfs.outcome-log")
def test_outcomes_of_before_are_listed_by_when_they_were_reported(tmp_path: Path) -> None:
    shutil.copyfile(FILES / "schema_2.db", tmp_path / "m.db")
    with opened(tmp_path / "m.db") as adapter:
        adapter.commit_outcome(outcome(keys=[], minute=-1, outcome_ref="earlier"))
        adapter.commit_outcome(outcome(keys=[], minute=10_000, outcome_ref="later"))
        listed = adapter.list_outcomes()
        times = [each.committed_at for each in listed]
        assert (len(times), times) == (5, sorted(times, reverse=True))
        assert (listed[0].outcome_ref, listed[-1].outcome_ref) == ("later", "earlier")
        at = NOW + timedelta(days=1, microseconds=1)
        assert listed[1].committed_at == at
        assert adapter.count_outcomes(since=at) == 4
        assert adapter.count_outcomes(since=at + timedelta(microseconds=1)) == 1


@proves("amfs.outcome-log")
def test_microseconds_are_in_order(sdk_adapter: Any) -> None:
    for micro in (1, 1_000, 0, 999, 1_001, 500_000):
        report = outcome(keys=[], outcome_ref=str(micro), committed_at=NOW + timedelta(microseconds=micro))
        sdk_adapter.commit_outcome(report)
    assert [each.outcome_ref for each in sdk_adapter.list_outcomes()] == [
        "500000", "1001", "1000", "999", "1", "0"
    ]  # fmt: skip
