"""Batches: several writes as one commit, all or nothing."""

import pytest

from amfs_sqlite import AmfsAdapter, AmfsError, InvalidArgumentError, MemoryEntry
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.state import refused, state, text


@proves("batches.one-commit")
async def test_a_batch_is_written_in_the_order_given_under_one_commit_id(adapter: AmfsAdapter) -> None:
    written = await adapter.write_batch([draft("b"), draft("a")])
    assert [each.entity_path for each in written] == ["b", "a"]
    assert text(await adapter.list()) == text(written)
    (commit_id,) = {each.commit_id for each in written}
    assert commit_id


@proves("batches.one-commit")
async def test_a_batch_is_one_commit_by_the_author_of_its_first_entry(adapter: AmfsAdapter) -> None:
    batch = [draft("b", agent="bob", session="s"), draft("a", agent="alice", session="t")]
    written = await adapter.write_batch(batch)
    (commit,) = await adapter.list_commits()
    assert {each.commit_id for each in written} == {commit.id}
    assert [(each.entity_path, each.key, each.version) for each in commit.entries] == [
        ("b", "k", 1),
        ("a", "k", 1),
    ]
    assert (commit.author_agent_id, commit.session_id, commit.message) == ("bob", "s", "")


@proves("batches.repeated-key")
async def test_the_same_key_twice_makes_two_chained_versions(adapter: AmfsAdapter) -> None:
    first, other, second = await adapter.write_batch([draft(value="a"), draft(key="other"), draft(value="b")])
    assert (first.version, other.version, second.version) == (1, 1, 2)
    assert first.integrity_chain != second.integrity_chain
    assert first.superseded_at is None
    assert [each.value for each in await adapter.history("svc/a", "k")] == ["a", "b"]
    assert await is_sound(adapter)


@proves("batches.empty")
async def test_an_empty_batch_changes_nothing(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    before = await state(adapter)
    assert list(await adapter.write_batch([])) == []
    assert await state(adapter) == before


@proves("batches.empty")
async def test_an_empty_batch_makes_no_commit(adapter: AmfsAdapter) -> None:
    assert list(await adapter.write_batch([])) == []
    assert list(await adapter.list_commits()) == []


@proves("batches.all-or-nothing")
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "bad",
    [
        draft(value={1, 2}),
        draft(value=float("nan")),
        draft(value="\ud83d"),
        draft("", "k"),
        draft(confidence=float("nan")),
        draft(extra=object()),
    ],
    ids=["set", "nan", "surrogate", "path", "confidence", "extra"],
)
async def test_a_batch_with_a_bad_entry_stores_none(
    adapter: AmfsAdapter, bad: MemoryEntry, place: int
) -> None:
    await adapter.write(draft(value="before"))
    batch = [draft(), draft(key="other")]
    batch.insert(place, bad)
    await refused(adapter, adapter.write_batch(batch), AmfsError)
    written = await adapter.write_batch([draft(key="next"), draft()])
    assert [each.version for each in written] == [1, 2]
    assert [each.key for each in await adapter.list()] == ["k", "next"]
    assert await is_sound(adapter)


@proves("batches.too-many")
async def test_a_batch_of_too_many_changes_is_refused(adapter: AmfsAdapter) -> None:
    await refused(adapter, adapter.write_batch([draft()] * 10_001), InvalidArgumentError)


@proves("batches.adopted-id")
async def test_a_commit_id_that_all_entries_name_is_adopted_once(adapter: AmfsAdapter) -> None:
    batch = [draft(key=key, commit_id="mine") for key in "ab"]
    assert {each.commit_id for each in await adapter.write_batch(batch)} == {"mine"}
    again = await adapter.write_batch(batch)
    (other,) = {each.commit_id for each in again}
    assert other not in ("mine", None)


@proves("batches.adopted-id")
async def test_an_adopted_commit_id_stands_in_the_log(adapter: AmfsAdapter) -> None:
    batch = [draft(key=key, commit_id="mine") for key in "ab"]
    await adapter.write_batch(batch)
    again = await adapter.write_batch(batch)
    newest, first = await adapter.list_commits()
    assert (newest.id, first.id) == (again[0].commit_id, "mine")
    assert newest.parent_ids == ("mine",)


@proves("batches.adopted-id")
@pytest.mark.parametrize("ids", [("x", "y"), ("x", None), (None, "x"), (None, None)])
async def test_a_commit_id_that_not_all_entries_name_is_ignored(
    adapter: AmfsAdapter, ids: tuple[str | None, ...]
) -> None:
    batch = [draft(key=str(n), commit_id=each) for n, each in enumerate(ids)]
    (commit_id,) = {each.commit_id for each in await adapter.write_batch(batch)}
    assert commit_id not in ("x", "y", None)


@proves("batches.adopted-id")
async def test_a_commit_id_that_was_ignored_is_no_commits(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key="a", commit_id="x"), draft(key="b", commit_id="y")])
    assert await adapter.get_commit("x") is None
    assert await adapter.get_commit("y") is None


@proves("batches.adopted-id")
async def test_a_commit_id_on_a_single_write_is_ignored(adapter: AmfsAdapter) -> None:
    assert (await adapter.write(draft(commit_id="mine"))).commit_id != "mine"
