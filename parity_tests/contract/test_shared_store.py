"""Several adapters on one store: one log, one sequence, and namespaces that never meet."""

import asyncio

import pytest

from amfs_sqlite import (
    HANDOFF,
    EntryNotFoundError,
    MemoryEntry,
    OutcomeConflictError,
    RandomIds,
    SearchQuery,
    VersionConflictError,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import answers, text


@proves("shared.one-store")
async def test_what_one_adapter_acknowledged_the_others_see(open_shared: AdapterOpener) -> None:
    one, other = [await open_shared(store="one") for _ in range(2)]
    for n in range(5):
        written = await one.write(draft(value=f"word{n}"))
        assert await other.read("svc/a", "k") == written
        found = await other.search(SearchQuery(text=f"word{n}"))
        assert found.entries == (written,)
        one, other = other, one
    assert text(await answers(one)) == text(await answers(other))


@proves("shared.one-store", "entries.compare-and-set")
async def test_of_many_adapters_expecting_the_same_version_one_wins(
    open_shared: AdapterOpener,
) -> None:
    adapters = [await open_shared(store="one") for _ in range(4)]
    for expected in range(5):
        attempts = [each.write(draft(), expected_version=expected) for each in adapters * 2]
        results = await asyncio.gather(*attempts, return_exceptions=True)
        assert sum(isinstance(each, MemoryEntry) for each in results) == 1
        assert sum(isinstance(each, VersionConflictError) for each in results) == 7
    assert (await adapters[0].verify()).ok


@proves("shared.one-store", "outcomes.handoff-once")
async def test_an_outcome_reported_through_two_adapters_counts_once(
    open_shared: AdapterOpener,
) -> None:
    one, other = [await open_shared(store="one", outcomes=HANDOFF) for _ in range(2)]
    await one.write(draft(confidence=0.8))
    records = [outcome("success", at(), agent=agent) for agent in ("alice", "bob")]
    await asyncio.gather(one.commit_outcome(records[0]), other.commit_outcome(records[1]))
    read = await one.read("svc/a", "k")
    assert read is not None
    assert (read.confidence, read.outcome_count) == (0.84, 1)
    with pytest.raises(OutcomeConflictError):
        await other.commit_outcome(outcome("failure", at()))


@proves("shared.one-store", "search.cursors")
async def test_a_cursor_goes_on_in_another_adapter(open_shared: AdapterOpener) -> None:
    one, other = [await open_shared(store="one", ids=RandomIds()) for _ in range(2)]
    await one.write_batch([draft(key=key) for key in "abc"])
    page = await one.search(SearchQuery(limit=2))
    rest = await other.search(SearchQuery(limit=2, cursor=page.next_cursor))
    assert [each.key for each in rest.entries] == ["a"]


@proves("shared.namespaces")
async def test_namespaces_never_meet(open_shared: AdapterOpener) -> None:
    names = ["default", "Default", "default ", "a", "a/b", "", "%"]
    for name in names:
        adapter = await open_shared(store="one", namespace=name)
        written = await adapter.write(draft("a/b", "c", name), expected_version=0, idempotency_key="same")
        await adapter.commit_outcome(outcome("success", "a/b/c"))
        assert written.version == 1
    for name in names:
        adapter = await open_shared(store="one", namespace=name)
        assert [each.value for each in await adapter.list(include_superseded=True)] == [name] * 2
        assert [each.value for each in await adapter.history("a/b", "c")] == [name] * 2
        assert len((await adapter.search(SearchQuery())).entries) == 1
        assert len(await adapter.list_outcomes()) == 1
        assert (await adapter.stats()).total_entries == 1
        assert [each.path for each in await adapter.scopes()] == ["a/b"]
        result = await adapter.recorded_result("same", author="alice")
        assert result is not None
        assert result.entries[0].value == name
        newest, first = await adapter.list_commits()
        assert (newest.parent_ids, first.parent_ids) == ((first.id,), ())
        assert newest.namespace == name


@proves("shared.namespaces")
async def test_an_entry_of_another_namespace_cannot_be_named(open_shared: AdapterOpener) -> None:
    one = await open_shared(store="one", namespace="one")
    other = await open_shared(store="one", namespace="other")
    written = await one.write(draft())
    with pytest.raises(EntryNotFoundError):
        await other.commit_outcome(outcome("success", at()))
    assert await other.get_commit(written.commit_id or "") is None
    await other.commit_outcome(outcome("success", "svc/a/k"))
    (recorded,) = await other.list_outcomes()
    assert recorded.effects == ()


@proves("shared.one-sequence", "integrity.verify-counts")
async def test_commits_of_all_namespaces_share_one_sequence_and_one_chain(
    open_shared: AdapterOpener,
) -> None:
    one = await open_shared(store="one", namespace="one")
    other = await open_shared(store="one", namespace="other")
    for adapter in (one, other, one):
        await adapter.write(draft())
    assert [each.sequence for each in await one.list_commits()] == [3, 1]
    assert [each.sequence for each in await other.list_commits()] == [2]
    for adapter in (one, other):
        report = await adapter.verify()
        assert (report.key_count, report.version_count, report.commit_count) == (2, 3, 3)
        assert report.ok


@proves("shared.one-sequence", "batches.adopted-id")
async def test_a_commit_id_is_taken_per_namespace(open_shared: AdapterOpener) -> None:
    adapters = [await open_shared(store="one", namespace=name) for name in ("one", "other")]
    for adapter in adapters:
        (written,) = await adapter.write_batch([draft(commit_id="mine")])
        assert written.commit_id == "mine"
    assert (await adapters[0].verify()).ok


@proves("shared.reopened")
async def test_a_store_that_is_opened_again_is_as_it_was(open_shared: AdapterOpener) -> None:
    async with open_shared.closed(store="one", outcomes=HANDOFF) as adapter:
        await adapter.write_batch([draft("p", "k", n, confidence=0.5) for n in range(3)])
        await adapter.commit_outcome(outcome("success", at("p", "k"), "none/such"))
        before = text(await answers(adapter))
    async with open_shared.closed(store="one") as adapter:
        assert text(await answers(adapter)) == before
