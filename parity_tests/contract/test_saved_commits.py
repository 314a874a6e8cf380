"""Saved commits: descriptions, commits from elsewhere, and what descends from what."""

from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    Commit,
    InvalidArgumentError,
)
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.state import refused, state, text


def saved(commit_id: str, **fields: Any) -> Commit:
    named = {"id": commit_id, "author_agent_id": "saver", "created_at": "2026-02-02T00:00:00Z"}
    return Commit.model_validate(named | fields)


@proves("commits.save-describes")
async def test_saving_a_known_commit_describes_it_and_changes_nothing_else(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write(draft(key="before"))
    await adapter.write_batch([draft(key="a", commit_id="c1"), draft(key="b", commit_id="c1")])
    before = await adapter.get_commit("c1")
    assert before is not None
    entries = [{"entity_path": "x", "key": "y", "version": 1, "content_hash": "z"}]
    description = saved(
        "c1", message="why", session_id="s", parent_ids=("c1",), entries=entries, tree_hash="t"
    )
    described = await adapter.save_commit(description)
    named = {"message": "why", "author_agent_id": "saver", "session_id": "s"}
    assert text(described) == text(before.model_copy(update=named))
    assert text(await adapter.get_commit("c1")) == text(described)
    newest, _ = await adapter.list_commits()
    assert newest.id == "c1"
    assert await is_sound(adapter)


@proves("commits.save-describes")
async def test_the_latest_description_wins_and_a_repeated_one_adds_nothing(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write_batch([draft(commit_id="c1")])
    for message in ("one", "two", "one"):
        shown = await adapter.save_commit(saved("c1", message=message))
        assert shown.message == message
        once = await state(adapter)
        assert text(await adapter.save_commit(saved("c1", message=message))) == text(shown)
        assert await state(adapter) == once
    newest = await adapter.write(draft())
    commit, described = await adapter.list_commits()
    assert (commit.id, described.id, described.message) == (newest.commit_id, "c1", "one")
    assert commit.sequence > described.sequence
    assert commit.parent_ids == ("c1",)


@proves("commits.save-describes")
async def test_saving_a_commit_as_it_stands_adds_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(session="s"))
    (commit,) = await adapter.list_commits()
    assert text(await adapter.save_commit(commit)) == text(commit)
    assert len(await adapter.list_commits()) == 1
    assert await is_sound(adapter)


@proves("commits.save-adds")
async def test_saving_a_new_commit_adds_it_with_what_it_names(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    (first,) = await adapter.list_commits()
    entries = [
        {"entity_path": "x/y", "key": "z", "version": 7, "content_hash": "abc"},
        {"entity_path": "x", "key": "y/z", "version": 1},
    ]
    given = saved(
        "new",
        message="imported",
        session_id="s",
        entries=entries,
        tree_hash="t",
        parent_ids=("other", "new", "more"),
        branch="elsewhere",
        namespace="foreign",
    )
    shown = await adapter.save_commit(given)
    kept = {
        "parent_ids": ("other", "more"),
        "namespace": "default",
        "sequence": 2,
        "digest": shown.digest,
    }
    assert text(shown) == text(given.model_copy(update=kept))
    assert shown.digest not in (None, first.digest)
    assert text(await adapter.list_commits()) == text([shown, first])
    assert await adapter.read("x/y", "z") is None
    assert len(await adapter.list(include_superseded=True)) == 1
    assert text(await adapter.save_commit(given)) == text(shown)
    assert len(await adapter.list_commits()) == 2
    assert await is_sound(adapter)


@proves("commits.save-adds")
async def test_a_saved_commit_without_parents_follows_the_newest_of_its_branch(
    adapter: AmfsAdapter,
) -> None:
    assert (await adapter.save_commit(saved("a"))).parent_ids == ()
    assert (await adapter.save_commit(saved("b"))).parent_ids == ("a",)
    assert (await adapter.save_commit(saved("c", branch="side"))).parent_ids == ()
    assert (await adapter.save_commit(saved("d", parent_ids=("d",)))).parent_ids == ("b",)
    assert (await adapter.save_commit(saved("e", branch="side"))).parent_ids == ("c",)
    written = await adapter.write(draft())
    commit = await adapter.get_commit(written.commit_id or "")
    assert commit is not None
    assert commit.parent_ids == ("d",)


@proves("commits.save-adds")
async def test_a_commit_without_an_id_is_not_saved(adapter: AmfsAdapter) -> None:
    await refused(adapter, adapter.save_commit(saved("")), InvalidArgumentError)


@proves("commits.save-adds")
@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"id": "x" * 4097}, "id"),
        ({"id": "\ud83d"}, "id"),
        ({"message": "x" * 65_537}, "message"),
        ({"author_agent_id": "\ud83d"}, "author_agent_id"),
        ({"session_id": "\ud83d"}, "session_id"),
        ({"branch": "\ud83d"}, "branch"),
        ({"tree_hash": "\ud83d"}, "tree_hash"),
        ({"parent_ids": ("a", "\ud83d")}, "parent_ids"),
        ({"entries": [{"entity_path": "\ud83d", "key": "k", "version": 1}]}, "entity_path"),
        ({"entries": [{"entity_path": "p", "key": "\ud83d", "version": 1}]}, "key"),
        ({"entries": [{"entity_path": "p", "key": "k", "version": -1}]}, "version"),
        ({"entries": [{"entity_path": "p", "key": "k", "version": 2**64}]}, "version"),
    ],
)
async def test_a_commit_that_cannot_be_stored_is_refused_by_name(
    adapter: AmfsAdapter, fields: dict[str, Any], argument: str
) -> None:
    commit = saved(**{"commit_id": "c1", **fields}) if "id" not in fields else saved(fields["id"])
    error = await refused(adapter, adapter.save_commit(commit), InvalidArgumentError)
    assert error.argument == argument


@proves("commits.common-ancestor")
@pytest.mark.parametrize(
    ("one", "other", "nearest"),
    [
        ("e", "e", "e"),
        ("unknown", "unknown", "unknown"),
        ("a", "unknown", None),
        ("b", "c", "a"),
        ("d", "c", "a"),
        ("d", "b", "b"),
        ("b", "d", "b"),
        ("m", "d", "d"),
        ("m", "c", "c"),
        ("m", "n", "d"),
        ("island", "m", None),
        ("orphan", "m", None),
        ("x", "y", "late"),
        ("left", "right", "middle"),
        ("loop", "a", None),
    ],
)
async def test_the_nearest_common_ancestor_is_found(
    adapter: AmfsAdapter, one: str, other: str, nearest: str | None
) -> None:
    graph = {
        "a": (),
        "b": ("a",),
        "c": ("a",),
        "d": ("b",),
        "e": ("d",),
        "m": ("d", "c"),
        "n": ("e",),
        "island": ("nowhere",),
        "orphan": ("gone", "lost"),
        "early": ("nowhere",),
        "late": ("nowhere",),
        "x": ("early", "late"),
        "y": ("late", "early"),
        "top": (),
        "middle": ("nowhere",),
        "step": ("top",),
        "further": ("step",),
        "left": ("top", "between"),
        "between": ("middle",),
        "right": ("further", "middle"),
        "loop": ("pool",),
        "pool": ("loop",),
    }
    for commit_id, parents in graph.items():
        await adapter.save_commit(saved(commit_id, parent_ids=parents))
    assert await adapter.common_ancestor(one, other) == nearest


@proves("commits.common-ancestor")
async def test_ordinary_commits_descend_from_each_other(adapter: AmfsAdapter) -> None:
    for _ in range(60):
        await adapter.write(draft())
    newest, *_, third, second, first = [each.id for each in await adapter.list_commits()]
    assert await adapter.common_ancestor(newest, second) == second
    assert await adapter.common_ancestor(first, third) == first
