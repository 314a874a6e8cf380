"""Sessions about what entries are for: outcomes, transactions, traces, timelines and the graph."""

from collections.abc import Mapping
from types import MappingProxyType

from amfs_core.models import Branch, OutcomeType

from parity_tests.amfs.sessions.clock import after
from parity_tests.amfs.sessions.steps import Earlier, Session, critic, executor, scout

LEARNED = [
    ("INC-1", OutcomeType.SUCCESS),
    ("INC-2", OutcomeType.MINOR_FAILURE),
    ("INC-3", OutcomeType.FAILURE),
    ("INC-4", OutcomeType.CRITICAL_FAILURE),
    ("INC-5", OutcomeType.CLEAN_DEPLOY),
    ("INC-6", OutcomeType.REGRESSION),
    ("INC-7", OutcomeType.P2_INCIDENT),
    ("INC-8", OutcomeType.P1_INCIDENT),
]

WORK: Mapping[str, Session] = MappingProxyType(
    {
        "an outcome of each kind": [
            step
            for ref, kind in LEARNED
            for step in (
                scout.write(ref, "fact", kind.value, confidence=0.7),
                scout.commit_outcome(ref, kind, [f"{ref}/fact"]),
                scout.read(ref, "fact"),
            )
        ]
        + [scout.stats(), scout.verify()],
        "outcomes one after the other": [
            scout.write("svc", "fact", "it holds", confidence=0.7),
            *(scout.commit_outcome(f"r{number}", OutcomeType.SUCCESS, ["svc/fact"]) for number in range(4)),
            scout.commit_outcome("r4", OutcomeType.FAILURE, ["svc/fact"]),
            scout.commit_outcome("r5", OutcomeType.FAILURE, ["svc/fact"]),
            scout.read("svc", "fact"),
            scout.history("svc", "fact"),
            scout.commit_outcome("r6", OutcomeType.SUCCESS, ["svc/fact"]),
            scout.search(),
            scout.verify(),
        ],
        "an outcome of what was read": [
            scout.write("svc", "a", 1, confidence=0.5),
            scout.write("svc", "b", 2, confidence=0.5),
            executor.read("svc", "a"),
            executor.read("svc", "b"),
            executor.explain("r1"),
            executor.commit_outcome("r1", OutcomeType.SUCCESS),
            executor.explain("r1"),
            executor.read_log(),
            executor.commit_outcome("r2", OutcomeType.FAILURE),
            scout.list("svc"),
        ],
        "an outcome of what is not there": [
            scout.write("svc", "a", 1),
            scout.commit_outcome("r1", OutcomeType.SUCCESS, ["svc/none", "none", "", "svc/a"]),
            scout.commit_outcome("r2", OutcomeType.SUCCESS, []),
            scout.commit_outcome("r3", OutcomeType.SUCCESS, ["svc/a", "svc/a"]),
            scout.history("svc", "a"),
        ],
        "half an outcome, and none": [
            scout.write("svc", "a", 1, confidence=0.5),
            scout.commit_outcome("r1", OutcomeType.SUCCESS, ["svc/a"], causal_confidence=0.5),
            scout.commit_outcome("r2", OutcomeType.FAILURE, ["svc/a"], causal_confidence=0.0),
            scout.commit_outcome("r3", OutcomeType.FAILURE, ["svc/a"], verified_by="oracle"),
            scout.history("svc", "a"),
        ],
        "attempts before the outcome": [
            scout.write("svc", "wrong", "restart it", confidence=0.8),
            scout.write("svc", "right", "roll back", confidence=0.8),
            executor.read("svc", "wrong"),
            executor.record_action("restart", {"service": "svc"}, success=False),
            executor.record_attempt(summary="restarting did not help"),
            executor.read("svc", "right"),
            executor.record_action("rollback", {"service": "svc"}),
            executor.commit_outcome("INC-9", OutcomeType.SUCCESS, task_input="fix it"),
            executor.list("svc"),
            executor.history("svc", "wrong"),
            executor.record_attempt(outcome_type="success"),
        ],
        "an outcome of the version that was read": [
            scout.write("svc", "a", "first", confidence=0.5),
            executor.read("svc", "a"),
            scout.write("svc", "a", "second", confidence=0.5),
            executor.commit_outcome("r1", OutcomeType.FAILURE),
            scout.commit_outcome("r2", OutcomeType.SUCCESS, ["svc/a"], causal_entry_versions={"svc/a": 2}),
            scout.history("svc", "a"),
        ],
        "an unchanged claim keeps its record": [
            scout.write("svc", "a", "it holds", confidence=0.6),
            scout.commit_outcome("r1", OutcomeType.SUCCESS, ["svc/a"]),
            executor.write("svc", "a", "it holds", confidence=0.9),
            executor.write("svc", "a", "it does not", confidence=0.9),
            scout.history("svc", "a"),
        ],
        "an outcome of a key with a slash": [
            scout.write("svc", "a/b", 1, confidence=0.5),
            scout.commit_outcome("r1", OutcomeType.SUCCESS, ["svc/a/b"]),
            scout.read("svc", "a/b"),
        ],
        "a transaction": [
            scout.write("svc", "a", 1),
            scout.transaction([("svc", "a", 2), ("svc", "b", 1), ("db", "c", 1)], "three at once"),
            scout.list(),
            scout.commit_log(),
            scout.get_commit(Earlier(1, ["commit", "id"])),
            scout.get_commit("000000000000"),
            scout.transaction([("svc", "a", 3)], "one more"),
            scout.commit_log(),
            scout.commit_log(limit=1),
            scout.common_ancestor(Earlier(1, ["commit", "id"]), Earlier(6, ["commit", "id"])),
            scout.common_ancestor("000000000000", "000000000001"),
            scout.verify(),
        ],
        "a transaction that is given up": [
            scout.transaction([("svc", "a", 1)], "given up", fails=True),
            scout.list(),
            scout.commit_log(),
            scout.transaction([], "empty"),
            scout.commit_log(),
        ],
        "a transaction with one key twice": [
            scout.transaction([("svc", "a", 1), ("svc", "a", 2)], "twice"),
            scout.history("svc", "a"),
            scout.verify(),
        ],
        "a transaction of private and ranked entries": [
            scout.transaction(
                [
                    ("svc", "a", 1, {"shared": False, "confidence": 0.4}),
                    ("svc", "b", 2, {"pattern_refs": ["p"], "importance_score": 0.9}),
                ]
            ),
            executor.list(),
            executor.commit_log(),
            executor.search(sort_by="priority"),
        ],
        "traces": [
            scout.write("svc", "a", 1),
            executor.read("svc", "a"),
            executor.record_context("pager", "3 incidents", source="PagerDuty"),
            executor.commit_outcome("r1", OutcomeType.SUCCESS, decision_summary="it worked"),
            executor.list_traces(),
            executor.list_traces(entity_path="svc", agent_id="executor", outcome_type="success"),
            executor.list_traces(entity_path="db"),
            executor.cross_agent_reads(),
            executor.agents_i_read_from(),
        ],
        "a timeline": [
            scout.write("svc", "a", 1),
            executor.read("svc", "a"),
            executor.read_from("scout", "svc", "a"),
            executor.commit_outcome("r1", OutcomeType.SUCCESS),
            executor.timeline(),
            executor.timeline(event_type="read", limit=1),
            scout.timeline(),
        ],
        "the graph": [
            scout.write("svc", "a", 1, pattern_refs=["svc/b", "p"]),
            critic.read("svc", "a"),
            critic.read_from("scout", "svc", "a"),
            critic.commit_outcome("r1", OutcomeType.SUCCESS),
            critic.graph_neighbors("svc/a"),
            critic.graph_neighbors("critic", depth=2),
        ],
        "what agents say of themselves": [
            scout.set_profile("looks around", tags=["fast"]),
            scout.declare_capability("search", "finds offers", ["svc"]),
            scout.set_contracts([{"entity_path": "svc"}]),
            executor.discover_agents(capability="search"),
            executor.discover_agents(entity_path="svc"),
            executor.discover_agents(capability="none"),
        ],
        "outcomes that are counted": [
            scout.write("svc", "a", 1),
            scout.commit_outcome("r1", OutcomeType.SUCCESS, ["svc/a"]),
            scout.on_adapter("count_outcomes"),
            scout.on_adapter("count_traces"),
            scout.on_adapter("stats"),
            scout.on_adapter("entity_summaries"),
            scout.on_adapter("list_entries_for_agent", "scout"),
            scout.on_adapter("list_entries_for_agent", "scout", limit=1),
        ],
        "on a branch": [
            scout.write("svc", "k", "main"),
            scout.on_adapter("create_branch", Branch(name="fix", created_by="scout", branched_at=after(2))),
            scout.checkout("fix"),
            scout.read("svc", "k"),
            scout.write("svc", "k", "fix"),
            scout.list(),
            scout.search(),
            scout.history("svc", "k"),
            executor.read("svc", "k"),
            executor.write("svc", "other", "main"),
            scout.read("svc", "other"),
            scout.on_adapter("diff_branch", "fix"),
            scout.on_adapter("merge_branch", "fix"),
            executor.read("svc", "k"),
            executor.history("svc", "k"),
            executor.verify(),
        ],
        "a briefing": [
            scout.write("svc", "a", 1),
            scout.briefing("svc"),
            scout.clear_read_log(),
            scout.read_log(),
        ],
    }
)
