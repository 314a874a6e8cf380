"""Nothing that goes in or comes out is a part of the state."""

from typing import Any

from amfs_sqlite import Change, Outcome, ReferenceAdapter, SearchQuery, Write
from parity_tests.drafts import draft, outcome
from parity_tests.state import state


def spoil(tree: Any) -> None:
    """Change everything in it that can change."""
    if isinstance(tree, dict):
        for member in list(tree.values()):
            spoil(member)
        tree["spoiled"] = True
    elif isinstance(tree, list):
        for item in tree:
            spoil(item)
        tree.append("spoiled")


def fresh() -> Any:
    return {"list": [1, {"deep": []}]}


async def test_what_was_passed_in_can_change_without_the_store() -> None:
    async with ReferenceAdapter() as adapter:
        entry = draft(value=fresh(), custom=fresh())
        record = outcome("success", "svc/a/k", custom=fresh())
        await adapter.commit([Write(entry), Outcome(record)], author="alice", idempotency_key="once")
        before = await state(adapter)
        for passed in (entry.value, entry.model_extra, record.model_extra):
            spoil(passed)
        assert await state(adapter) == before
        assert "spoiled" not in before


async def test_what_was_returned_can_change_without_the_store() -> None:
    async with ReferenceAdapter() as adapter:
        entry = draft(value=fresh(), custom=fresh())
        changes: list[Change] = [Write(entry), Outcome(outcome("success", "svc/a/k"))]
        first = await adapter.commit(changes, author="alice", idempotency_key="once")
        recorded = await adapter.commit_outcome(outcome("success", "svc/a/k", custom=fresh()))
        before = await state(adapter)
        again = await adapter.commit(changes, author="alice", idempotency_key="once")
        assert again == first
        kept = await adapter.recorded_result("once", author="alice")
        assert kept == first
        read = await adapter.read("svc/a", "k")
        assert read is not None
        returned = [
            *first.entries,
            *recorded,
            *again.entries,
            *kept.entries,
            read,
            *await adapter.list(include_superseded=True),
            *await adapter.history("svc/a", "k"),
            *(await adapter.search(SearchQuery())).entries,
        ]
        for each in returned:
            spoil(each.value)
            spoil(each.model_extra)
        for logged in await adapter.list_outcomes():
            spoil(logged.record.model_extra)
        assert await state(adapter) == before
        last = await adapter.commit(changes, author="alice", idempotency_key="once")
        assert [entry.value for entry in last.entries] == [fresh(), fresh()]
        assert [entry.model_extra for entry in last.entries] == [{"custom": fresh()}] * 2
