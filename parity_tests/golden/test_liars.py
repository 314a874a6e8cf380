"""What is stored, listed or answered otherwise than asked is a difference, whatever rows are at work."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import Any

import pytest

from amfs_sqlite import AgentMemory, AmfsAdapter, CountedIds, FixedClock, MemoryEntry, MemoryTransaction
from parity_tests.golden import liars, reading
from parity_tests.golden.conftest import RECORDED, named
from parity_tests.golden.liars import Deceiver, Liar, Lie
from parity_tests.golden.replay import MakeAdapter, replay
from parity_tests.golden.transcript import Transcript
from parity_tests.golden.view import Entry, View
from parity_tests.ledger import proves

TELLING = (
    "adapter-write-read-versions",
    "outcome-specs",
    "private-entries",
    "transaction-commit",
    "ttl-artifacts-patternrefs",
)
"""Transcripts in which every lie finds something to lie about."""


def recorded_as(name: str) -> Transcript:
    return next(each for each in RECORDED if named(each) == name)


async def reason(recorded: Transcript, make: MakeAdapter) -> str | None:
    """Why a replay is not met, if it is not."""
    difference = (await replay(recorded, make)).difference
    return None if difference is None else difference.fault.reason


async def reason_of_lie(recorded: Transcript, lie: Lie) -> tuple[str | None, bool]:
    """Why a replay on liars is not met, and whether they have lied in it."""
    opened: list[Liar] = []

    def make(clock: FixedClock, name: str, namespace: str) -> AbstractAsyncContextManager[AmfsAdapter]:
        opened.append(Liar(lie, namespace=namespace, clock=clock, ids=CountedIds()))
        return opened[-1]

    return await reason(recorded, make), any(each.has_lied for each in opened)


@proves("golden.stored")
@pytest.mark.parametrize("lie", liars.STORED.values(), ids=liars.STORED)
async def test_what_is_stored_otherwise_than_asked_is_noticed(lie: Lie) -> None:
    found = [await reason_of_lie(recorded_as(name), lie) for name in TELLING]
    assert any(has_lied for _, has_lied in found)
    assert [bool(why) for why, _ in found] == [has_lied for _, has_lied in found]
    assert all(why is None or why.startswith("this is ") for why, _ in found)


@proves("golden.stored")
@pytest.mark.parametrize("shown", liars.LISTED.values(), ids=liars.LISTED)
async def test_what_is_listed_otherwise_than_asked_is_noticed(
    shown: Callable[[Sequence[MemoryEntry]], Sequence[MemoryEntry]],
) -> None:
    def make(clock: FixedClock, name: str, namespace: str) -> AbstractAsyncContextManager[AmfsAdapter]:
        return Deceiver(entries=shown, namespace=namespace, clock=clock, ids=CountedIds())

    for name in TELLING:
        why = await reason(recorded_as(name), make)
        assert why is not None
        assert why.startswith(("this is ", "the hashes of "))


@proves("golden.stored")
@pytest.mark.parametrize("told", liars.LOGGED.values(), ids=liars.LOGGED)
async def test_a_log_that_tells_otherwise_than_asked_is_noticed(told: Callable[..., Any]) -> None:
    def make(clock: FixedClock, name: str, namespace: str) -> AbstractAsyncContextManager[AmfsAdapter]:
        return Deceiver(commits=told, namespace=namespace, clock=clock, ids=CountedIds())

    why = await reason(recorded_as("transaction-commit"), make)
    assert why is not None
    assert why.startswith("this is ")


@proves("golden.stored")
@pytest.mark.parametrize("forgotten", ["confidence", "pattern_refs", "ttl_at", "shared"])
async def test_a_transaction_that_forgets_an_option_is_noticed(
    forgotten: str, reference: MakeAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = MemoryTransaction.write
    has_forgotten = False

    @wraps(write)
    def forgetful(self: MemoryTransaction, *args: Any, **options: Any) -> None:
        nonlocal has_forgotten
        has_forgotten |= options.pop(forgotten, None) is not None
        write(self, *args, **options)

    monkeypatch.setattr(MemoryTransaction, "write", forgetful)
    why = await reason(recorded_as("transaction-commit"), reference)
    assert has_forgotten
    assert why is not None
    assert why.startswith("this is stored otherwise than asked")


@proves("golden.attributed")
async def test_a_wrong_answer_is_not_excused_by_what_does_not_concern_it(
    reference: MakeAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our read and what we foretell of it agree on finding nothing, where other entries are private."""
    read, foretold = AgentMemory.read, reading.READINGS["read"]

    @wraps(read)
    async def blind(self: AgentMemory, *args: Any, **options: Any) -> None:
        await read(self, *args, **options)

    def as_blind(view: View, **args: Any) -> Entry | None:
        found: Entry | None = foretold(view, **args)
        return found if view.manner else None

    monkeypatch.setattr(AgentMemory, "read", blind)
    monkeypatch.setitem(reading.READINGS, "read", as_blind)
    assert await reason(recorded_as("private-entries"), reference) == (
        "the rows about read that may apply here do not turn the recorded answer into ours"
    )
