"""Watches: what of a change is heard, and by whom."""

import asyncio

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError, MemoryEntry, VersionConflictError, Write
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.listeners import Listener


@proves("watch.in-place")
async def test_an_outcome_in_place_is_heard_with_the_entry_right_after_it(
    handoff_adapter: AmfsAdapter,
) -> None:
    listener = Listener()
    await handoff_adapter.write(draft(confidence=0.5))
    await handoff_adapter.watch(None, listener)
    kinds = ["success", "failure", "success"]
    reports = [outcome(kind, at(), outcome_ref=f"run-{number}") for number, kind in enumerate(kinds)]
    moved = await asyncio.gather(*map(handoff_adapter.commit_outcome, reports))
    returned = [entry for entries in moved for entry in entries]
    assert listener.entries == sorted(returned, key=lambda entry: entry.outcome_count)
    assert [entry.outcome_count for entry in listener.entries] == [1, 2, 3]


@proves("privacy.changes")
async def test_a_private_version_is_not_heard_by_another_viewer(adapter: AmfsAdapter) -> None:
    others, own, owner = Listener(), Listener(), Listener()
    await adapter.watch(None, others, viewer="bob")
    await adapter.watch(None, own, viewer="alice")
    await adapter.watch(None, owner)
    await adapter.write(private())
    await adapter.write(draft(value=2))
    assert others.heard == ["k@2"]
    assert own.heard == owner.heard == ["k@1", "k@2"]


@proves("privacy.changes")
async def test_an_outcome_of_a_private_version_is_not_heard_by_another_viewer(
    handoff_adapter: AmfsAdapter,
) -> None:
    others, own, owner = Listener(), Listener(), Listener()
    await handoff_adapter.watch(None, others, viewer="bob")
    await handoff_adapter.watch(None, own, viewer="alice")
    await handoff_adapter.watch(None, owner)
    await handoff_adapter.write(private(confidence=0.5))
    await handoff_adapter.commit_outcome(outcome("success", at()))
    await handoff_adapter.write(draft(value=2))
    assert others.heard == ["k@2"]
    assert own.heard == owner.heard == ["k@1", "k@1", "k@2"]


@proves("watch.only-what-is-stored")
async def test_what_was_not_stored_is_not_heard(adapter: AmfsAdapter) -> None:
    listener = Listener()
    await adapter.watch(None, listener)
    with pytest.raises(InvalidArgumentError):
        await adapter.write_batch([draft(key="lost"), draft("")])
    for _ in range(2):
        await adapter.write(draft(), idempotency_key="once")
    assert listener.heard == ["k@1"]


@proves("watch.only-what-is-stored")
async def test_a_commit_that_fails_is_not_heard(adapter: AmfsAdapter) -> None:
    listener = Listener()
    await adapter.watch(None, listener)
    with pytest.raises(VersionConflictError):
        await adapter.commit([Write(draft(key="lost")), Write(draft(), expected_version=3)], author="alice")
    await adapter.write(draft())
    assert listener.heard == ["k@1"]


@proves("watch.copies")
async def test_what_a_callback_does_to_a_value_changes_nothing(adapter: AmfsAdapter) -> None:
    listener = Listener()

    def changes(entry: MemoryEntry) -> None:
        entry.value["list"].append("changed")

    await adapter.watch(None, changes)
    await adapter.watch(None, listener)
    written = await adapter.write(draft(value={"list": [1]}))
    stored = await adapter.read("svc/a", "k")
    assert stored is not None
    assert written.value == stored.value == listener.entries[0].value == {"list": [1]}
