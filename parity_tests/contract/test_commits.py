"""Commits: several changes as one, all or nothing, and the log of everything that ever changed."""

from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    AmfsError,
    Commit,
    EntryNotFoundError,
    FixedClock,
    InvalidArgumentError,
    Outcome,
    VersionConflictError,
    Write,
)
from amfs_sqlite.models import Change
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import refused, text


@proves("commits.several-changes")
async def test_changes_of_all_kinds_are_applied_in_order(
    handoff_adapter: AmfsAdapter, clock: FixedClock
) -> None:
    changes = [
        Write(draft(key="a", confidence=0.8), 0),
        Outcome(outcome("success", at(key="a"))),
        Write(draft(key="b", agent="bob")),
        Write(draft(key="a", value=2, confidence=0.5), 1),
        Outcome(outcome("failure", "svc/a/a", at(key="b"), outcome_ref="run-2")),
    ]
    result = await handoff_adapter.commit(
        changes, author="carol", message="all of it", session_id="s"
    )
    commit = result.commit
    assert (commit.author_agent_id, commit.message, commit.session_id) == ("carol", "all of it", "s")
    assert (commit.kind, commit.namespace, commit.branch) == ("write", "default", "main")
    assert (commit.sequence, commit.parent_ids, commit.created_at) == (1, (), clock.now())
    assert [(each.key, each.version) for each in commit.entries] == [("a", 1), ("b", 1), ("a", 2)]
    moved = [(each.key, each.version, each.confidence) for each in result.entries]
    assert moved == [
        ("a", 1, 0.8),
        ("a", 1, 0.84),
        ("b", 1, 1.0),
        ("a", 2, 0.5),
        ("a", 2, 0.325),
        ("b", 1, 0.65),
    ]
    assert result.effects == commit.effects
    assert [(each.key, each.version) for each in result.effects] == [("a", 1), ("a", 2), ("b", 1)]
    assert {each.commit_id for each in await handoff_adapter.list()} == {commit.id}
    assert text(await handoff_adapter.list_commits()) == text([commit])
    assert (await handoff_adapter.verify()).ok


@proves("commits.several-changes")
@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ([Write(draft())], "write"),
        ([Outcome(outcome())], "outcome"),
        ([Outcome(outcome()), Write(draft())], "write"),
        ([Outcome(outcome()), Outcome(outcome(outcome_ref="2"))], "outcome"),
    ],
    ids=["write", "outcome", "both", "outcomes"],
)
async def test_a_commit_is_a_write_if_it_writes_anything(
    adapter: AmfsAdapter, changes: list[Change], kind: str
) -> None:
    assert (await adapter.commit(changes, author="a")).commit.kind == kind
    assert [each.kind for each in await adapter.list_commits()] == [kind]


BAD_CHANGES: dict[str, tuple[Change, type[AmfsError]]] = {
    "value": (Write(draft(value=object())), InvalidArgumentError),
    "address": (Write(draft("")), InvalidArgumentError),
    "conflict": (Write(draft(key="kept"), 5), VersionConflictError),
    "not new": (Write(draft(key="kept"), 0), VersionConflictError),
    "conflict within": (Write(draft(key="fresh"), 3), VersionConflictError),
    "outcome type": (Outcome(outcome("great")), InvalidArgumentError),
    "reference": (Outcome(outcome("success", at(key="none"))), EntryNotFoundError),
}


@proves("commits.all-or-nothing")
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("fault", BAD_CHANGES)
async def test_a_commit_with_a_bad_change_does_nothing(
    handoff_adapter: AmfsAdapter, fault: str, place: int
) -> None:
    await handoff_adapter.write(draft(key="kept", confidence=0.5))
    changes: list[Change] = [
        Write(draft(key="fresh")),
        Outcome(outcome("success", at(key="kept"))),
    ]
    bad, error = BAD_CHANGES[fault]
    changes.insert(place, bad)
    await refused(handoff_adapter, handoff_adapter.commit(changes, author="a"), error)
    good = [change for change in changes if change is not bad]
    assert (await handoff_adapter.commit(good, author="a")).commit.sequence == 2
    assert (await handoff_adapter.verify()).ok


@proves("commits.all-or-nothing")
@pytest.mark.parametrize("count", [0, 10_001])
async def test_a_commit_of_no_change_or_too_many_is_refused(
    adapter: AmfsAdapter, count: int
) -> None:
    attempt = adapter.commit([Write(draft())] * count, author="a")
    await refused(adapter, attempt, InvalidArgumentError)


@proves("commits.log")
async def test_every_write_batch_and_outcome_is_in_the_log_newest_first(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await adapter.write(draft(agent="a", session="s"))
    clock.set("2026-01-02")
    await adapter.write_batch([draft(key="b", agent="b"), draft(key="c", agent="c", session="t")])
    clock.set("2026-01-03")
    await adapter.commit_outcome(outcome("success", "svc/a/b", agent="d", session_id="u"))
    log = await adapter.list_commits()
    assert [each.author_agent_id for each in log] == ["d", "b", "a"]
    assert [each.session_id for each in log] == ["u", None, "s"]
    assert [each.kind for each in log] == ["outcome", "write", "write"]
    assert [each.sequence for each in log] == [3, 2, 1]
    assert [each.created_at.day for each in log] == [3, 2, 1]
    assert [len(each.entries) for each in log] == [1, 2, 1]
    assert [each.parent_ids for each in log] == [(log[1].id,), (log[2].id,), ()]
    assert len({each.id for each in log}) == 3


@proves("commits.log")
@pytest.mark.parametrize(
    ("asked", "sequences"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"limit": 2}, [5, 4]),
        ({"limit": 0}, []),
        ({"limit": 99}, [5, 4, 3, 2, 1]),
        ({"before": 4}, [3, 2, 1]),
        ({"before": 4, "limit": 2}, [3, 2]),
        ({"before": 1}, []),
        ({"before": 2**62}, [5, 4, 3, 2, 1]),
    ],
    ids=str,
)
async def test_the_log_comes_in_pages(
    adapter: AmfsAdapter, asked: dict[str, Any], sequences: list[int]
) -> None:
    for _ in range(5):
        await adapter.write(draft())
    assert [each.sequence for each in await adapter.list_commits(**asked)] == sequences


@proves("commits.get")
async def test_one_commit_is_found_by_its_id(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key="a"), draft(key="b")])
    await adapter.commit_outcome(outcome("success", "svc/a/a"))
    for listed in await adapter.list_commits():
        assert text(await adapter.get_commit(listed.id)) == text(listed)
    for unknown in ("", "0", "none", "\ud83d", "x" * 5000, "%"):
        assert await adapter.get_commit(unknown) is None


@proves("commits.result-recorded")
async def test_the_result_of_a_commit_can_be_asked_for_again(handoff_adapter: AmfsAdapter) -> None:
    changes = [Write(draft(confidence=0.8)), Outcome(outcome("success", at()))]
    result = await handoff_adapter.commit(changes, author="alice", idempotency_key="k1")
    await handoff_adapter.write(draft(value=2))
    recorded = await handoff_adapter.recorded_result("k1", author="alice")
    assert text(recorded) == text(result)
    assert await handoff_adapter.recorded_result("k1", author="bob") is None
    assert await handoff_adapter.recorded_result("K1", author="alice") is None


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
    assert [each.id for each in await adapter.list_commits()][0] == "c1"
    assert len(await adapter.list_commits()) == 2
    assert (await adapter.verify()).ok


@proves("commits.save-describes")
async def test_the_latest_description_wins_and_a_repeated_one_adds_nothing(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write_batch([draft(commit_id="c1")])
    for message in ("one", "two", "two", "one", "one"):
        shown = await adapter.save_commit(saved("c1", message=message))
        assert shown.message == message
    assert (await adapter.verify()).commit_count == 4
    newest = await adapter.write(draft())
    commit = await adapter.get_commit(newest.commit_id or "")
    assert commit is not None
    assert (commit.sequence, commit.parent_ids) == (5, ("c1",))


@proves("commits.save-describes")
async def test_saving_a_commit_as_it_stands_adds_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(session="s"))
    (commit,) = await adapter.list_commits()
    assert text(await adapter.save_commit(commit)) == text(commit)
    assert (await adapter.verify()).commit_count == 1


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
    )
    shown = await adapter.save_commit(given)
    kept = {"parent_ids": ("other", "more"), "sequence": 2, "digest": shown.digest}
    assert text(shown) == text(given.model_copy(update=kept))
    assert shown.digest not in (None, first.digest)
    assert text(await adapter.list_commits()) == text([shown, first])
    assert await adapter.read("x/y", "z") is None
    assert (await adapter.stats()).version_count == 1
    assert text(await adapter.save_commit(given)) == text(shown)
    assert (await adapter.verify()).commit_count == 2
    assert (await adapter.verify()).ok


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


@proves("commits.ids-drawn-last")
async def test_the_same_story_has_the_same_ids(open_adapter: AdapterOpener) -> None:
    adapter = await open_adapter()
    await refused(adapter, adapter.write(draft("")), InvalidArgumentError)
    await adapter.write(draft(), idempotency_key="k")
    await adapter.write(draft(), idempotency_key="k")
    await adapter.write_batch([draft(commit_id="named")])
    await refused(adapter, adapter.write(draft(), expected_version=9), VersionConflictError)
    await adapter.commit_outcome(outcome("success", "svc/a/k"))
    ids = [each.id for each in await adapter.list_commits()]
    # The first id of a store is its own; nothing that failed or was repeated took one.
    assert ids[::-1] in (
        [f"{2:016x}", "named", f"{3:016x}"],
        [f"{2:016x}", "named", f"{4:016x}"],
    )
