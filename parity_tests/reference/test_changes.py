"""The state changes as a whole or not at all, and exists only while the adapter is open."""

import pytest

from amfs_sqlite import (
    AdapterClosedError,
    Change,
    CountedIds,
    EntryNotFoundError,
    Outcome,
    OutcomeConflictError,
    ReferenceAdapter,
    VersionConflictError,
    Write,
)
from amfs_sqlite.rules.confidence import HANDOFF
from parity_tests.drafts import at, draft, outcome


class ExhaustedIds(CountedIds):
    """Gives as many identifiers as it is told to, then fails."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left

    def hex(self, digits: int) -> str:
        if not self.left:
            raise OSError("no randomness left")
        self.left -= 1
        return super().hex(digits)


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (Write(draft(), expected_version=7), VersionConflictError),
        (Outcome(outcome("success", "svc/a/k", at("svc/a", "missing"))), EntryNotFoundError),
        (Outcome(outcome("failure", "svc/a/k", outcome_ref="known")), OutcomeConflictError),
    ],
    ids=["write", "reference", "outcome"],
)
async def test_a_commit_that_fails_at_its_last_change_leaves_the_very_state_there_was(
    last: Change, error: type[Exception]
) -> None:
    ids = CountedIds()
    async with ReferenceAdapter(outcomes=HANDOFF, ids=ids) as adapter:
        await adapter.write(draft())
        await adapter.commit_outcome(outcome("success", "svc/a/k", outcome_ref="known"))
        before, copy, drawn = adapter._store.state, adapter._store.state.copy(), ids.count
        moving: list[Change] = [
            Write(draft(key="new")),
            Write(draft()),
            Outcome(outcome("success", "svc/a/k")),
        ]
        with pytest.raises(error):
            await adapter.commit([*moving, last], author="alice", idempotency_key="once")
        assert adapter._store.state is before
        assert before == copy
        assert ids.count == drawn


async def test_a_commit_without_an_id_leaves_the_very_state_there_was() -> None:
    async with ReferenceAdapter(ids=ExhaustedIds(2)) as adapter:
        await adapter.write(draft())
        before, copy = adapter._store.state, adapter._store.state.copy()
        with pytest.raises(OSError, match="no randomness left"):
            await adapter.write_batch([draft(), draft(key="new")])
        assert adapter._store.state is before
        assert before == copy


async def test_a_closed_adapter_does_not_open_again() -> None:
    adapter = ReferenceAdapter()
    await adapter.close()
    await adapter.open()
    await adapter.write(draft())
    await adapter.close()
    with pytest.raises(AdapterClosedError, match="make a new one"):
        await adapter.open()
    with pytest.raises(AdapterClosedError, match="make a new one"):
        await adapter.list()
