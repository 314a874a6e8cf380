"""Whatever two stores went through: each takes from the other what fits, and stays sound."""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    Commit,
    EntryNotFoundError,
    EntryRef,
    InvalidArgumentError,
    MemoryEntry,
    Outcome,
    OutcomeConflictError,
    OutcomeRecord,
    SqliteAdapter,
    Write,
)
from amfs_sqlite.clock import instant
from amfs_sqlite.sqlite.transfer import importing
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.sqlite import transfers

SEEDS = range(12)
NOON = instant("2026-01-01T12:00:00Z")
REFUSED = (EntryNotFoundError, OutcomeConflictError, InvalidArgumentError)
MORE: tuple[dict[str, Any], ...] = ({}, {"odd": [1]}, {"ttl_at": "2020-01-01"}, {"shared": False})


class Agent:
    """Does one thing after another to a store, by chance."""

    def __init__(self, adapter: SqliteAdapter, chance: random.Random, name: str) -> None:
        self._adapter = adapter
        self._chance = chance
        self._name = name
        self._doings: list[Callable[[], Awaitable[object]]] = [
            lambda: adapter.write(self._entry()),
            lambda: adapter.write_batch([self._entry(), self._entry(), self._entry()]),
            lambda: adapter.commit_outcome(self._outcome()),
            lambda: adapter.commit([self._write(), self._report(), self._write()], author=name),
            lambda: adapter.erase([self._ref(1)], author=name),
            lambda: adapter.prune(keep_last=1, author=name),
            lambda: adapter.archive_expired(author=name),
            lambda: adapter.save_commit(self._commit()),
        ]

    async def act(self) -> None:
        """One thing; what is refused was none."""
        try:
            await self._chance.choice(self._doings)()
        except REFUSED:
            return

    def _ref(self, *versions: int) -> EntryRef:
        return at(
            self._chance.choice("ab"), self._chance.choice("xy"), self._chance.choice([None, *versions])
        )

    def _entry(self) -> MemoryEntry:
        ref, value = self._ref(), self._chance.randrange(3)
        more = {"confidence": self._chance.random(), **self._chance.choice(MORE)}
        return draft(ref.entity_path, ref.key, value, agent=self._name, tags=("t", f"{value}"), **more)

    def _outcome(self) -> OutcomeRecord:
        named: list[EntryRef | str] = [self._ref(), self._ref(1, 2), f"{self._ref()}"]
        what = self._chance.choice(["success", "failure"])
        return outcome(what, *named, outcome_ref=self._chance.choice("rst"), agent=self._name)

    def _write(self) -> Write:
        return Write(self._entry())

    def _report(self) -> Outcome:
        return Outcome(self._outcome())

    def _commit(self) -> Commit:
        message = self._chance.choice(["", "said"])
        return Commit(id=self._chance.choice("mn"), message=message, author_agent_id="z", created_at=NOON)


async def live(path: Path, chance: random.Random, name: str) -> None:
    """Some of everything, under each policy in turn."""
    for outcomes in (HANDOFF, AMFS_0_3, HANDOFF):
        namespace = chance.choice(["default", transfers.OTHER])
        async with SqliteAdapter(path, outcomes=outcomes, namespace=namespace) as adapter:
            agent = Agent(adapter, chance, name)
            for _ in range(chance.randrange(5)):
                await agent.act()


async def is_sound(path: Path) -> bool:
    async with SqliteAdapter(path) as adapter:
        return (await adapter.verify()).ok


@proves("transfer.equal", "transfer.behind", "transfer.conflicts", "transfer.dry-run")
@pytest.mark.parametrize("seed", SEEDS)
async def test_whatever_two_stores_went_through_each_takes_what_fits_and_stays_sound(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", chance.choice([1, 5, 500]))
    one, other = tmp_path / "one.db", tmp_path / "other.db"
    await live(one, chance, "both")
    await transfers.imported(other, await transfers.exported(one))
    assert await transfers.exported(other) == await transfers.exported(one)
    await live(one, chance, "one")
    await live(other, chance, "other")
    for source, target in ((one, other), (other, one), (one, other)):
        export = await transfers.exported(source)
        looked = await transfers.imported(target, export, dry_run=True)
        report = await transfers.imported(target, export)
        assert looked.model_copy(update={"dry_run": False, "remains": report.remains}) == report
        assert await is_sound(target)
        after = await transfers.exported(target)
        again = await transfers.imported(target, export)
        assert (again.commit_count, again.outcome_count, again.erased_count) == (0, 0, 0)
        assert await transfers.exported(target) == after
    copy, export = tmp_path / "copy.db", await transfers.exported(other)
    assert (await transfers.imported(copy, export)).conflict_count == 0
    assert await transfers.exported(copy) == export
