"""The wire: AMFS's names, both ways, and nothing lost on it."""

import json
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    ArtifactRef,
    Commit,
    CommitEntry,
    FixedClock,
    MemoryEntry,
    MemoryStats,
    Outcome,
    OutcomeRecord,
    Provenance,
    ScopeInfo,
    SearchQuery,
)
from amfs_sqlite.modelling import Model
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import text

AT = FixedClock().now()
INSTANT = "2026-01-01T00:00:00.000Z"
WIRE: list[tuple[Model, dict[str, Any]]] = [
    (
        MemoryEntry(
            entity_path="p",
            key="k",
            version=3,
            value={"snake_case": 1},
            provenance=Provenance(agent_id="a", session_id="s", written_at=AT, pattern_refs=("t",)),
            confidence=0.5,
            outcome_count=2,
            ttl_at=AT,
            artifact_refs=(
                ArtifactRef(uri="u"),
                ArtifactRef(uri="v", media_type="m", label="l", size_bytes=1),
            ),
            shared=False,
            content_hash="h",
            integrity_chain="i",
            commit_id="c",
        ),
        {
            "amfsVersion": "0.1.0",
            "entityPath": "p",
            "key": "k",
            "version": 3,
            "value": {"snake_case": 1},
            "provenance": {
                "agentId": "a",
                "sessionId": "s",
                "writtenAt": INSTANT,
                "patternRefs": ["t"],
            },
            "confidence": 0.5,
            "outcomeCount": 2,
            "ttlAt": INSTANT,
            "artifactRefs": [
                {"uri": "u"},
                {"uri": "v", "mediaType": "m", "label": "l", "sizeBytes": 1},
            ],
            "shared": False,
            "contentHash": "h",
            "integrityChain": "i",
            "commitId": "c",
        },
    ),
    (
        OutcomeRecord(
            outcome_ref="r",
            outcome_type="failure",
            agent_id="a",
            causal_confidence=0.5,
            committed_at=AT,
            causal_entry_keys=("p/k",),
        ),
        {
            "outcomeRef": "r",
            "outcomeType": "failure",
            "agentId": "a",
            "causalConfidence": 0.5,
            "committedAt": INSTANT,
            "causalEntryKeys": ["p/k"],
        },
    ),
    (
        Commit(
            id="c",
            message="m",
            author_agent_id="a",
            session_id="s",
            entries=(CommitEntry(entity_path="p", key="k", version=1, content_hash="h"),),
            tree_hash="t",
            parent_ids=("b",),
            branch="main",
            created_at=AT,
            namespace="n",
        ),
        {
            "id": "c",
            "message": "m",
            "authorAgentId": "a",
            "sessionId": "s",
            "entries": [{"entityPath": "p", "key": "k", "version": 1, "contentHash": "h"}],
            "treeHash": "t",
            "parentIds": ["b"],
            "branch": "main",
            "createdAt": INSTANT,
            "namespace": "n",
        },
    ),
    (
        ScopeInfo(path="p", entry_count=1, avg_confidence=0.5, keys=("k",), oldest=AT, newest=AT),
        {
            "path": "p",
            "entryCount": 1,
            "avgConfidence": 0.5,
            "keys": ["k"],
            "oldest": INSTANT,
            "newest": INSTANT,
        },
    ),
    (
        MemoryStats(
            total_entries=1,
            total_entities=1,
            total_agents=1,
            agents={"a": 1},
            entities={"p": 1},
            confidence_avg=0.5,
            outcome_linked_count=1,
        ),
        {
            "totalEntries": 1,
            "totalEntities": 1,
            "totalAgents": 1,
            "agents": {"a": 1},
            "entities": {"p": 1},
            "confidenceAvg": 0.5,
            "outcomeLinkedCount": 1,
        },
    ),
]
MODELS = [type(model) for model, _ in WIRE]


@proves("surface.wire-names")
@pytest.mark.parametrize(("model", "wire"), WIRE, ids=[each.__name__ for each in MODELS])
def test_the_wire_form_has_amfs_names_and_no_others(model: Model, wire: dict[str, Any]) -> None:
    assert model.to_wire() == wire
    assert list(model.to_wire()) == list(wire)


@proves("surface.wire-names")
@pytest.mark.parametrize(("model", "wire"), WIRE, ids=[each.__name__ for each in MODELS])
def test_the_wire_form_is_read_back(model: Model, wire: dict[str, Any]) -> None:
    assert text(type(model).from_wire(wire)) == text(model)
    snake = {name: getattr(model, name) for name in type(model).model_fields}
    assert text(type(model).from_wire(snake)) == text(model)


@proves("surface.wire-round-trip")
async def test_every_entry_crosses_the_wire_as_json(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(value={"a": [1.0]}, artifact_refs=[{"uri": "u"}], x=1), draft()])
    listed = await adapter.list(include_superseded=True)
    assert [crosses(each) for each in listed] == [True, True]


@proves("surface.wire-round-trip")
async def test_every_answer_crosses_the_wire_as_json(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(value={"a": [1.0]}, artifact_refs=[{"uri": "u"}], x=1), draft()])
    change = Outcome(outcome("failure", at(), "svc/a/k", note="n", session_id="s"))
    result = await adapter.commit([change], author="bob")
    answered: list[Model] = [result, await adapter.verify(), await adapter.stats(), at(version=1)]
    answered += [*await adapter.list(include_superseded=True), *await adapter.list_commits()]
    answered += [*await adapter.list_outcomes(), *await adapter.scopes()]
    answered += [await adapter.search(SearchQuery(limit=1)), SearchQuery(text="x")]
    faults = [type(each).__name__ for each in answered if not crosses(each)]
    assert sorted(set(faults)) == []


def crosses(model: Model) -> bool:
    wire = json.loads(json.dumps(model.to_wire()))
    try:
        return bool(type(model).from_wire(wire).to_wire() == wire)
    except ValueError:
        return False


@proves("surface.wire-names")
def test_artifact_refs_that_are_none_are_no_member() -> None:
    assert "artifactRefs" not in draft().to_wire()
    assert draft(artifact_refs=[]).to_wire()["artifactRefs"] == []


@proves("surface.frozen")
@pytest.mark.parametrize("model", [model for model, _ in WIRE], ids=[m.__name__ for m in MODELS])
def test_a_model_cannot_be_changed(model: Model) -> None:
    with pytest.raises(ValueError, match="frozen"):
        setattr(model, next(iter(type(model).model_fields)), "changed")


@proves("surface.strict-types")
@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": "0.5"},
        {"confidence": None},
        {"version": "1"},
        {"version": 1.0},
        {"outcomeCount": "1"},
        {"shared": "false"},
        {"shared": 1},
        {"entityPath": 1},
        {"key": b"k"},
        {"ttlAt": "tomorrow"},
        {"ttlAt": 0},
        {"provenance": {"agentId": None}},
        {"provenance": {"agentId": "a", "patternRefs": "tag"}},
        {"provenance": {"agentId": "a", "patternRefs": [1]}},
        {"artifactRefs": [{}]},
    ],
    ids=str,
)
def test_types_are_not_coerced(fields: dict[str, Any]) -> None:
    wire = draft().to_wire()
    with pytest.raises(ValueError, match=next(iter(fields))):
        MemoryEntry.from_wire(wire | fields)


@proves("surface.unknown-fields")
async def test_unknown_fields_survive_from_wire_to_wire(adapter: AmfsAdapter) -> None:
    unknown = {
        "memoryType": "fact",
        "snake_case_name": {"a_b": 1, "cD": [None, 1.0, "é"]},
        "evidenceStatus": None,
        "Größe": "m",
        "": "empty name",
        "with.dot/and slash": 2**70,
    }
    given = draft(value=1).to_wire() | unknown
    written_entry = await adapter.write(MemoryEntry.from_wire(given))
    entries = [written_entry, *await adapter.list(), *await adapter.history("svc/a", "k")]
    for entry in entries:
        assert text({name: entry.to_wire()[name] for name in unknown}) == text(unknown)
        assert list(entry.to_wire())[-len(unknown) :] == list(unknown)
    again = await adapter.write(MemoryEntry.from_wire(written_entry.to_wire()))
    assert again.model_extra == written_entry.model_extra


@proves("surface.one-name-each")
@pytest.mark.parametrize("twice", ["entity_path", "outcome_count", "content_hash"])
def test_a_field_under_both_of_its_names_is_refused(twice: str) -> None:
    wire = draft().to_wire()
    with pytest.raises(ValueError, match=twice):
        MemoryEntry.from_wire(wire | {twice: getattr(draft(), twice)})
