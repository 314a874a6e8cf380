"""Branches: copied on write, merged whole or not at all, and no number given twice."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    FixedClock,
    IdempotencyConflictError,
    InvalidArgumentError,
    MemoryEntry,
    VersionConflictError,
)
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.protocol import Branches
from amfs_sqlite.records.branches import Branch
from amfs_sqlite.rules.hashing import integrity_chain
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import draft, private
from parity_tests.ledger import proves
from parity_tests.state import plain, refused

FIVE_PAST = "2026-01-01T00:05:00Z"


class Branched(Branches, AmfsAdapter):
    """What these tests need of an adapter."""


async def make(adapter: Branches, name: str = "trial", parent: str = MAIN_BRANCH, **fields: Any) -> Branch:
    given = {"name": name, "parent_branch": parent, "created_by": "alice"}
    return await adapter.create_branch(Branch.model_validate(given | fields))


async def put(
    adapter: Branches, key: str, value: Any, branch: str = MAIN_BRANCH, **fields: Any
) -> MemoryEntry:
    return await adapter.on_branch(branch).write(draft(key=key, value=value, **fields))


async def shown(adapter: Branches, branch: str = MAIN_BRANCH, **options: Any) -> list[tuple[str, int, Any]]:
    listed = await adapter.on_branch(branch).list(**options)
    return [(entry.key, entry.version, entry.value) for entry in listed]


@proves("branches.made")
async def test_a_branch_comes_back_whole_and_knows_what_it_was_made_over(
    adapter: Branched, clock: FixedClock
) -> None:
    written = await put(adapter, "a", 1)
    made = await make(
        adapter,
        id="mine",
        namespace="elsewhere",
        status="merged",
        description="é\0",
        mood=[1.0],
        merged_by="x",
    )
    assert plain(made) == {
        "id": made.id,
        "namespace": "default",
        "name": "trial",
        "parent_branch": "main",
        "branched_at": clock.now().isoformat(),
        "created_by": "alice",
        "description": "é\0",
        "status": "active",
        "merged_at": None,
        "merged_by": made.merged_by,
        "created_at": clock.now().isoformat(),
        "head_commit_id": None,
        "base_commit_id": written.commit_id,
        "mood": [1.0],
    }
    assert made.merged_by is None
    assert made.id != "mine"
    assert plain(await adapter.get_branch("trial")) == plain(made)
    own = await put(adapter, "a", 2, "trial")
    found = await adapter.get_branch("trial")
    assert found is not None
    assert found.head_commit_id == own.commit_id
    assert await adapter.get_branch("none") is None


@proves("branches.made")
async def test_branches_are_listed_made_last_first_and_by_status(
    adapter: Branched, clock: FixedClock
) -> None:
    for name in ("first", "second"):
        await make(adapter, name)
    clock.set("2026-02-01")
    await make(adapter, "third")
    closed = await adapter.close_branch("first")
    assert closed.status == "closed"
    listed = await adapter.list_branches()
    assert [branch.name for branch in listed] == ["third", "second", "first"]
    assert [branch.name for branch in await adapter.list_branches(status="closed")] == ["first"]
    assert list(await adapter.list_branches(status="unheard of")) == []


@proves("branches.once")
async def test_of_eight_that_make_one_branch_one_does(adapter: Branched) -> None:
    attempts = [make(adapter, mood=number) for number in range(8)]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    refusals = [each for each in results if isinstance(each, InvalidArgumentError)]
    assert [each.argument for each in refusals] == ["name"] * 7
    assert [plain(branch) for branch in await adapter.list_branches()] == [
        plain(each) for each in results if isinstance(each, Branch)
    ]


@proves("branches.overlay")
async def test_a_branch_shows_what_stood_there_and_what_it_wrote_itself(adapter: Branched) -> None:
    await put(adapter, "kept", 1)
    await put(adapter, "moved", 1)
    await put(adapter, "moved", 2)
    await make(adapter)
    await put(adapter, "own", 1, "trial")
    await put(adapter, "kept", "trial", "trial")
    await put(adapter, "moved", 3)
    await put(adapter, "new on main", 1)
    branch = adapter.on_branch("trial")
    assert await shown(adapter, "trial") == [("kept", 2, "trial"), ("moved", 2, 2), ("own", 1, 1)]
    assert await shown(adapter) == [("kept", 1, 1), ("moved", 3, 3), ("new on main", 1, 1)]
    assert await shown(adapter, "trial", include_superseded=True) == [
        ("kept", 1, 1),
        ("kept", 2, "trial"),
        ("moved", 1, 1),
        ("moved", 2, 2),
        ("own", 1, 1),
    ]
    assert await branch.read("svc/a", "new on main") is None
    moved = await branch.read("svc/a", "moved")
    assert moved is not None
    assert (moved.value, moved.superseded_at) == (2, None)
    assert await branch.read_at_version("svc/a", "moved", 3) is None
    history = await branch.history("svc/a", "kept")
    assert [(each.version, each.value) for each in history] == [(1, 1), (2, "trial")]
    assert [each.superseded_at is None for each in history] == [False, True]
    assert await shown(adapter, "trial", entity_path="svc/b") == []
    assert await is_sound(adapter)


@proves("branches.numbers")
async def test_numbers_and_chains_go_on_on_each_side_for_itself(adapter: Branched) -> None:
    base = await put(adapter, "a", 1)
    await make(adapter)
    for branch in ("trial", MAIN_BRANCH):
        for number in (2, 3):
            written = await put(adapter, "a", f"{branch} {number}", branch)
            assert written.version == number
    for branch in ("trial", MAIN_BRANCH):
        chain = None
        for each in await adapter.on_branch(branch).history("svc/a", "a"):
            chain = integrity_chain(each.content_hash or "", chain)
            assert each.integrity_chain == chain
        first = await adapter.on_branch(branch).read_at_version("svc/a", "a", 1)
        assert first is not None
        assert first.integrity_chain == base.integrity_chain
    with pytest.raises(VersionConflictError):
        await adapter.on_branch("trial").write(draft(key="a"), expected_version=2)
    claimed = await adapter.on_branch("trial").write(draft(key="a", value="claimed"), expected_version=3)
    assert claimed.version == 4
    assert (await adapter.merge_branch("trial", strategy="branch_wins")).merged_entries == 1
    merged = await adapter.read("svc/a", "a")
    assert merged is not None
    assert (merged.version, merged.value) == (4, "claimed")
    assert await is_sound(adapter)


@proves("branches.nested")
async def test_a_branch_of_a_branch_shows_what_that_showed(adapter: Branched) -> None:
    await put(adapter, "a", 1)
    await put(adapter, "b", 1)
    await make(adapter, "outer")
    await put(adapter, "a", "outer", "outer")
    await put(adapter, "b", "too late", MAIN_BRANCH)
    inner = await make(adapter, "inner", "outer")
    await put(adapter, "a", "later", "outer")
    await put(adapter, "b", "inner", "inner")
    await put(adapter, "c", "main")
    assert inner.base_commit_id is not None
    assert await shown(adapter, "inner") == [("a", 2, "outer"), ("b", 2, "inner")]
    assert (await adapter.merge_branch("inner")).merged_entries == 1
    assert await shown(adapter, "outer") == [("a", 3, "later"), ("b", 2, "inner")]
    assert await shown(adapter) == [("a", 1, 1), ("b", 2, "too late"), ("c", 1, "main")]
    assert await is_sound(adapter)


@proves("branches.private")
async def test_what_is_private_on_a_branch_is_its_authors(adapter: Branched) -> None:
    await make(adapter)
    branch = adapter.on_branch("trial")
    await branch.write(draft(key="open"))
    await branch.write(private(key="own"))
    await branch.write(private(key="open", value="mine"))
    assert [entry.key for entry in await branch.list(viewer="bob")] == []
    assert [entry.key for entry in await branch.list(viewer="alice")] == ["open", "own"]
    assert await branch.read("svc/a", "own", viewer="bob") is None
    assert [each.version for each in await branch.history("svc/a", "open", viewer="bob")] == [1]
    assert await adapter.fork_agent("bob", "copy", branch="trial") == 0
    await adapter.merge_branch("trial")
    assert await adapter.read("svc/a", "own", viewer="bob") is None
    assert await adapter.read("svc/a", "own", viewer="alice") is not None
    assert await is_sound(adapter)


@proves("branches.requests")
async def test_a_request_is_of_its_branch(adapter: Branched) -> None:
    await put(adapter, "a", 1)
    await make(adapter)
    branch = adapter.on_branch("trial")
    first = await branch.write(draft(key="a", value=2), idempotency_key="k")
    await put(adapter, "a", 3, "trial")
    again = await branch.write(draft(key="a", value=2), idempotency_key="k")
    assert plain(again) == plain(first)
    with pytest.raises(IdempotencyConflictError):
        await adapter.write(draft(key="a", value=2), idempotency_key="k")
    batch = [draft(key="b"), draft(key="b", value=2)]
    written = await branch.write_batch(batch, idempotency_key="batch")
    assert [each.version for each in written] == [1, 2]
    assert plain(await branch.write_batch(batch, idempotency_key="batch")) == plain(written)
    assert list(await branch.write_batch([])) == []
    assert await shown(adapter) == [("a", 1, 1)]
    assert await is_sound(adapter)


NO_BRANCH: dict[str, Callable[[Any], Awaitable[object]]] = {
    "read": lambda adapter: adapter.on_branch("none").read("svc/a", "k"),
    "write": lambda adapter: adapter.on_branch("none").write(draft()),
    "an empty batch": lambda adapter: adapter.on_branch("none").write_batch([]),
    "list": lambda adapter: adapter.on_branch("none").list(),
    "history": lambda adapter: adapter.on_branch("none").history("svc/a", "k"),
    "a version": lambda adapter: adapter.on_branch("none").read_at_version("svc/a", "k", 1),
    "as a parent": lambda adapter: make(adapter, "new", "none"),
    "close": lambda adapter: adapter.close_branch("none"),
    "diff": lambda adapter: adapter.diff_branch("none"),
    "merge": lambda adapter: adapter.merge_branch("none"),
    "rollback": lambda adapter: adapter.rollback_to_timestamp("alice", "none", FIVE_PAST),
    "fork": lambda adapter: adapter.fork_agent("alice", "copy", branch="none"),
}
WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "name: empty": lambda adapter: make(adapter, ""),
    "name: main": lambda adapter: make(adapter, "main"),
    "name: given before": make,
    "name: too long": lambda adapter: make(adapter, "a" * 4097),
    "branch.mood: no JSON": lambda adapter: make(adapter, "new", mood=float("inf")),
    "branch: a dict": lambda adapter: adapter.create_branch({"name": "new"}),
    "strategy: unknown": lambda adapter: adapter.merge_branch("trial", strategy="ours"),
    "resolve_conflicts: no side": lambda adapter: adapter.merge_branch(
        "trial", resolve_conflicts={"svc/a/k": "both"}
    ),
    "resolve_conflicts: a list": lambda adapter: adapter.merge_branch("trial", resolve_conflicts=["branch"]),
    "timestamp: empty": lambda adapter: adapter.rollback_to_timestamp("alice", "trial", ""),
    "timestamp: no instant": lambda adapter: adapter.rollback_to_timestamp("alice", "trial", "yesterday"),
}


@proves("branches.refused")
@pytest.mark.parametrize("doing", NO_BRANCH)
async def test_a_branch_that_was_never_made_is_refused(adapter: Branched, doing: str) -> None:
    error = await refused(adapter, NO_BRANCH[doing](adapter), InvalidArgumentError)
    assert error.argument == "branch"


@proves("branches.refused")
@pytest.mark.parametrize("wrong", WRONG)
async def test_what_cannot_be_is_refused_and_nothing_is_done(adapter: Branched, wrong: str) -> None:
    await make(adapter)
    await put(adapter, "k", 1, "trial")
    error = await refused(adapter, WRONG[wrong](adapter), InvalidArgumentError)
    assert error.argument == wrong.partition(":")[0]


@proves("branches.refused")
@pytest.mark.parametrize("ending", ["closed", "merged"])
async def test_a_branch_that_is_done_with_is_read_and_not_written(adapter: Branched, ending: str) -> None:
    await put(adapter, "a", 1)
    await make(adapter)
    await put(adapter, "a", 2, "trial")
    await (adapter.close_branch("trial") if ending == "closed" else adapter.merge_branch("trial"))
    doing: Sequence[Awaitable[object]] = (
        put(adapter, "a", 3, "trial"),
        adapter.on_branch("trial").write_batch([draft()]),
        adapter.close_branch("trial"),
        adapter.merge_branch("trial"),
        adapter.rollback_to_timestamp("alice", "trial", "2025-01-01"),
    )
    for attempt in doing:
        error = await refused(adapter, attempt, InvalidArgumentError)
        assert error.argument == "branch"
    assert await shown(adapter, "trial") == [("a", 2, 2)]
    await make(adapter, "over it", "trial")
    assert await shown(adapter, "over it") == [("a", 2, 2)]
