"""Changes drawn by chance: most of them good, some that must be refused."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from amfs_sqlite import Commit, CommitEntry, EntryRef, MemoryEntry, Outcome, OutcomeRecord, OutcomeType, Write
from amfs_sqlite.models import Change
from parity_tests.drafts import draft, outcome
from parity_tests.properties.worlds import NAME, World
from parity_tests.scenarios.player import Step, call

CONFIDENCES = [0.0, 0.25, 0.5, 0.8, 1.0, 1.0, 0.1 + 0.2, 5e-324]
UNBOUNDED = [*CONFIDENCES, -1.0, -0.0, 1.5, 1e308, -1e308]
CAUSAL = [1.0, 1.0, 1.0, 0.5, 0.0, 1e-300]
NOT_FINITE = [float("nan"), float("inf"), -float("inf")]
BAD: list[dict[str, Any]] = [
    {"path": ""},
    {"key": ""},
    {"path": "\ud800"},
    {"key": "k" * 4097},
    {"agent": "\udfff"},
    {"tags": ("\ud800",)},
    {"value": float("nan")},
    {"value": {"a": ["\udc00"]}},
    {"value": {1: 2}},
    {"value": {1, 2}},
    {"session": "s" * 4097},
    *[{"confidence": each} for each in NOT_FINITE],
    {"confidence": 2.0},
    {"confidence": -0.5},
    {"outcome_count": -1},
    {"outcome_count": 2**63},
    {"more": float("nan")},
    {"amfs_version": "\ud800"},
    {"artifact_refs": [{"uri": "\ud800"}]},
]
BAD_RECORDS: list[dict[str, Any]] = [
    {"outcome_type": "great"},
    {"causal_confidence": float("nan")},
    {"causal_confidence": -1.0},
    {"note": "\ud800"},
    {"outcome_ref": "\ud800"},
    {"causal_entry_keys": ("\ud800/k",)},
    {"more": {1: 2}},
    {"agent_id": "a" * 4097},
    {"refs": (EntryRef(entity_path="none", key="such"),)},
    {"session_id": "\udc00"},
]
GIVEN: list[dict[str, Any]] = [
    {},
    {},
    {"version": 7, "content_hash": "h", "superseded_at": "2020-01-01", "success_count": 3},
    {"outcome_count": 12},
    {"outcome_count": 2**63 - 1},
    {"amfs_version": "9"},
    {"session": "s-1"},
    {"artifact_refs": []},
    {"artifact_refs": [{"uri": "s3://b/o", "size_bytes": 2**60}]},
    {"memoryType": {"z": [1.0, None], "a": "é"}},
]
MORE: list[dict[str, Any]] = [
    {},
    {},
    {"note": "a\0b é", "session_id": "s"},
    {"session_id": ""},
    {"more": [1.0]},
]
FOREIGN_IDS = ["c1", "c2", "c3"]
COMMIT_IDS = [*FOREIGN_IDS, *(f"{n:016x}" for n in range(2, 9))]


def seldom(draw: st.DrawFn) -> bool:
    """True once in a while; simpler is false."""
    return draw(st.integers(0, 15)) == 15


@st.composite
def entries(draw: st.DrawFn, world: World, commit_id: str | None = None) -> MemoryEntry:
    """An entry to be written."""
    bounded = world.policy.bounded
    fields: dict[str, Any] = {
        "path": draw(st.sampled_from(world.paths)),
        "key": draw(st.sampled_from(world.keys)),
        "value": draw(st.sampled_from(world.values)),
        "agent": draw(st.sampled_from(world.agents)),
        "confidence": draw(st.sampled_from(CONFIDENCES if bounded else UNBOUNDED)),
        "shared": draw(st.integers(0, 3)) != 3,
        "tags": tuple(draw(st.lists(st.sampled_from(world.tags), max_size=2))),
        "written_at": draw(st.none() | st.sampled_from(world.instants)),
        "ttl_at": draw(st.none() | st.none() | st.sampled_from(world.instants)),
        "commit_id": commit_id,
    }
    fields |= draw(st.sampled_from(GIVEN))
    return draft(**fields | (draw(st.sampled_from(BAD)) if seldom(draw) else {}))


@st.composite
def references(draw: st.DrawFn, world: World) -> EntryRef | str:
    """An entry as an outcome names it."""
    path, key = draw(st.sampled_from(world.paths)), draw(st.sampled_from(world.keys))
    if draw(st.booleans()):
        return f"{path}/{key}"
    version = draw(st.sampled_from([None, None, 1, 2, 3]))
    return EntryRef(entity_path=path, key=key, version=version)


@st.composite
def records(draw: st.DrawFn, world: World) -> OutcomeRecord:
    """An outcome to be recorded."""
    more: dict[str, Any] = draw(st.sampled_from(MORE))
    record = outcome(
        draw(st.sampled_from(["success", "failure", *OutcomeType])),
        *draw(st.lists(references(world), max_size=3)),
        outcome_ref=draw(st.sampled_from(["r1", "r1", "r2", "", "é\0"])),
        agent=draw(st.sampled_from(world.agents)),
        causal_confidence=draw(st.sampled_from(CAUSAL if world.policy.bounded else [*CAUSAL, -2.0, 1e300])),
        committed_at=draw(st.none() | st.sampled_from(world.instants)),
        **more,
    )
    return record.model_copy(update=draw(st.sampled_from(BAD_RECORDS))) if seldom(draw) else record


@st.composite
def writes(draw: st.DrawFn, world: World) -> Step:
    """One write."""
    return call(
        "write",
        draw(entries(world)),
        expected_version=draw(expected_versions()),
        idempotency_key=draw(idempotency_keys()),
    )


@st.composite
def batches(draw: st.DrawFn, world: World) -> Step:
    """Several writes at once."""
    commit_id = draw(st.sampled_from([None, None, "c1", "c2", "\0", "\ud800"]))
    drafts = draw(st.lists(entries(world, commit_id), max_size=4))
    return call("write_batch", drafts, idempotency_key=draw(idempotency_keys()))


@st.composite
def commits(draw: st.DrawFn, world: World) -> Step:
    """Writes and outcomes at once."""
    change: st.SearchStrategy[Change] = st.builds(Outcome, records(world)) | st.builds(
        Write, entries(world), expected_versions()
    )
    return call(
        "commit",
        draw(st.lists(change, max_size=4)),
        author=draw(st.sampled_from([*world.agents, "dave", "\ud800"])),
        message=draw(st.sampled_from(["", "why", "é\0\n", "\ud800"])),
        session_id=draw(st.sampled_from([None, "", "s"])),
        idempotency_key=draw(idempotency_keys()),
    )


@st.composite
def saves(draw: st.DrawFn, world: World, known: Sequence[str]) -> Step:
    """A commit as another engine made it, or a description of one of ours, which are the known ones."""
    ids = st.sampled_from([*FOREIGN_IDS, *known])
    listed = st.builds(
        CommitEntry,
        entity_path=st.sampled_from(world.paths),
        key=st.sampled_from(world.keys),
        version=st.sampled_from([1, 2, 9]),
        content_hash=st.sampled_from([None, "h"]),
    )
    return call(
        "save_commit",
        Commit(
            id=draw(ids | st.sampled_from(["", "\ud800", "\0"])) if seldom(draw) else draw(ids),
            message=draw(st.sampled_from(["", "why", "\ud800"])),
            author_agent_id=draw(st.sampled_from(world.agents)),
            session_id=draw(st.sampled_from([None, "s"])),
            entries=tuple(draw(st.lists(listed, max_size=2))),
            tree_hash=draw(st.sampled_from([None, "t"])),
            parent_ids=tuple(draw(st.lists(st.sampled_from(COMMIT_IDS) | NAME, max_size=2))),
            branch=draw(st.sampled_from(["main", "main", "side"])),
            created_at=draw(st.sampled_from(world.instants)),
        ),
    )


@st.composite
def removals(draw: st.DrawFn, world: World) -> Step:
    """An erasure, a pruning, or an archiving."""
    named = st.builds(
        EntryRef,
        entity_path=st.sampled_from(world.paths),
        key=st.sampled_from(world.keys),
        version=st.sampled_from([None, 1, 2, 3]),
    )
    signed = {
        "author": draw(st.sampled_from([*world.agents, "owner", "\ud800"])),
        "message": draw(st.sampled_from(["", "why"])),
        "dry_run": draw(st.integers(0, 3)) == 3,
    }
    under = {
        "entity_path": draw(st.none() | st.sampled_from(world.paths)),
        "include_system": draw(st.booleans()),
    }
    operation = draw(st.sampled_from(["erase", "prune", "archive_expired"]))
    if operation == "erase":
        agent = draw(st.none() | st.none() | st.sampled_from(world.agents))
        return call("erase", draw(st.lists(named, max_size=2)), written_by=agent, **signed)
    if operation == "archive_expired":
        return call("archive_expired", **under, **signed)
    return call(
        "prune",
        keep_last=draw(st.sampled_from([None, 0, 1, 2])),
        keep_days=draw(st.sampled_from([None, None, 0, 1, 30.5, -1])),
        keep=draw(st.lists(named, max_size=1)),
        **under,
        **signed,
    )


def expected_versions() -> st.SearchStrategy[int | None]:
    """What a writer expects to be current; most expect nothing."""
    return st.sampled_from([None, None, None, None, 0, 1, 2, -1, 2**70])


def idempotency_keys() -> st.SearchStrategy[str | None]:
    """Few, so that they come again; most calls have none."""
    return st.sampled_from([None, None, None, "i1", "i1", "", "é\0", "\ud800"])
