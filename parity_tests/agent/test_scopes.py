"""Scopes, and what is told of them."""

import pytest

from amfs_sqlite import AgentMemory, InvalidArgumentError, MemoryEntry, ReadOnlyScopeError
from parity_tests.ledger import proves


@proves("agent.scopes")
async def test_a_scope_fills_in_its_path(alice: AgentMemory) -> None:
    scope = alice.scope("svc")
    await scope.write("k", 1)
    await scope.write("k", 2, confidence=0.5, pattern_refs=["t"])
    await alice.write("svc/sub", "k", 3)
    read = await scope.read("k", min_confidence=0.4)
    assert read is not None
    assert (read.entity_path, read.value, read.tags) == ("svc", 2, ("t",))
    assert [each.value for each in await scope.list(include_superseded=True)] == [1, 2, 3]
    assert [each.value for each in await scope.history("k")] == [1, 2]
    info = await scope.info()
    assert (info.path, info.entry_count, info.keys) == ("svc", 1, ("k",))
    assert alice.read_tracker.causal_keys == ["svc/k"]


@proves("agent.scopes")
async def test_a_readonly_scope_reads_and_does_not_write(alice: AgentMemory) -> None:
    await alice.write("svc", "k", 1)
    scope = alice.scope("svc", readonly=True)
    with pytest.raises(ReadOnlyScopeError) as caught:
        await scope.write("k", 2)
    assert (scope.is_readonly, caught.value.entity_path) == (True, "svc")
    assert [each.value for each in await scope.list()] == [1]


@proves("agent.scopes")
@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (None, ["own", "inner"]),
        ([], []),
        (["other"], []),
        (["svcs"], []),
        (["svc/sub", "other"], ["inner"]),
        ([""], ["own", "inner"]),
        (["a"], []),
    ],
)
async def test_a_scopes_search_never_answers_from_outside_it(
    alice: AgentMemory, asked: list[str] | None, keys: list[str]
) -> None:
    for path, key in (("svc", "own"), ("svc/sub", "inner"), ("svcs", "near"), ("other", "outer"), ("a", "k")):
        await alice.write(path, key, 1)
    found = await alice.scope("svc").search(entity_paths=asked)
    assert [each.key for each in found if isinstance(each, MemoryEntry)] == keys


@proves("agent.tells")
async def test_scopes_and_trees_sort_by_code_point_and_count_what_is_stored(alice: AgentMemory) -> None:
    for path in ("😀", "\uff5e", "a/b/c/d", "a", "a-b", "__proto__"):
        await alice.write(path, "k", 1)
    scopes = ["__proto__", "a", "a-b", "a/b/c/d", "\uff5e", "😀"]
    assert await alice.list_scopes() == scopes
    tree = ["__proto__ (1)", "a (2)", "  b (1)", "    c (1)", "a-b (1)", "\uff5e (1)", "😀 (1)"]
    assert (await alice.tree()).splitlines() == tree
    assert (await alice.tree(4)).splitlines()[4] == "      d (1)"
    assert await alice.tree(0) == ""
    with pytest.raises(InvalidArgumentError, match="max_depth"):
        await alice.tree(-1)


@proves("agent.tells")
async def test_info_is_about_exactly_one_path_keys_in_first_write_order(alice: AgentMemory) -> None:
    for key in ("b", "a"):
        await alice.write("svc", key, 1, confidence=0.5)
    info = await alice.info("svc")
    assert (info.keys, info.avg_confidence, info.entry_count) == (("b", "a"), 0.5, 2)
    for path in (None, "", "nothing"):
        nothing = await alice.info(path)
        assert (nothing.path, nothing.entry_count, nothing.oldest) == (path or "", 0, None)


@proves("agent.tells")
async def test_commits_have_common_ancestors(alice: AgentMemory) -> None:
    first = (await alice.write("svc", "k", 1)).commit_id
    second = (await alice.write("svc", "k", 2)).commit_id
    assert first is not None
    assert second is not None
    assert await alice.common_ancestor(first, second) == first
    assert await alice.common_ancestor("unknown", "unknown") == "unknown"
    assert await alice.common_ancestor("unknown", first) is None
    assert [each.id for each in await alice.commit_log(1)] == [second]


@proves("agent.verifies")
async def test_verification_counts_every_version(alice: AgentMemory) -> None:
    await alice.write("svc", "k", 1)
    await alice.commit_outcome("run", "success", ["svc/k"])
    told = await alice.verify()
    assert (told.total_checked, told.valid, told.corrupted, told.chain_breaks) == (2, 2, (), ())
