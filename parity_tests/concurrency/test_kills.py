"""Processes that are killed while they write: what was acknowledged is stored, and nothing is half there."""

import random
import signal
from itertools import count

import pytest

from amfs_sqlite import HANDOFF, SqliteAdapter
from parity_tests.concurrency import jobs
from parity_tests.concurrency.crew import left_in, received, started
from parity_tests.drafts import draft
from parity_tests.ledger import proves

KILL_ROUNDS = 25
MOST_ANSWERS_BEFORE_A_KILL = 80
STATEMENTS_AT_LEAST = 10

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


async def stored(path: str) -> set[tuple[str, object]]:
    """Everything that can have been acknowledged; asserts on the way that nothing is half."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        assert (await adapter.verify()).findings == ()
        entries = await adapter.list(include_superseded=True)
        outcomes = await adapter.list_outcomes()
    numbers: dict[str, list[int]] = {}
    for entry in entries:
        numbers.setdefault(entry.key, []).append(entry.version)
    for versions in numbers.values():
        assert versions == list(range(1, len(versions) + 1))
    assert len({len(numbers.get(f"batch-{each}", [])) for each in "abc"}) == 1
    return {(entry.key, entry.version) for entry in entries} | {
        ("outcome", each.record.outcome_ref) for each in outcomes
    }


@proves("kills.acknowledged-is-stored")
async def test_what_was_acknowledged_before_a_kill_is_stored(path: str) -> None:
    chance = random.Random(1)  # noqa: S311 - to be repeated, not to be secret
    acknowledged: set[tuple[str, object]] = set()
    for each in range(KILL_ROUNDS):
        with started(jobs.write_until_killed, path, f"round-{each}") as (process, journal):
            for _ in range(chance.randint(1, MOST_ANSWERS_BEFORE_A_KILL)):
                acknowledged.add(received(journal))
            process.kill()
            acknowledged |= set(left_in(journal))
        assert acknowledged <= await stored(path)


@proves("kills.all-or-nothing")
async def test_a_batch_killed_at_any_of_its_statements_is_all_there_or_not_at_all(path: str) -> None:
    async with SqliteAdapter(path) as adapter:
        await adapter.write_batch(jobs.pair("first"))
    for statement in count(1):
        with started(jobs.write_and_be_killed, path, statement) as (_, journal):
            survived = list(left_in(journal)) == ["survived"]
        async with SqliteAdapter(path) as adapter:
            value = "second" if survived else "first"
            assert [entry.value for entry in await adapter.list("pair")] == [value, value]
            assert (await adapter.write(draft(key="next"))).version == statement
            assert (await adapter.verify()).findings == ()
        if survived:
            break
    assert statement > STATEMENTS_AT_LEAST
