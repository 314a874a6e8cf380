"""A store that nobody touched verifies, whatever was done with it."""

from amfs_sqlite import AMFS_0_3, HANDOFF, Change, Outcome, OutcomePolicy, SqliteAdapter, Write
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves


async def everything_done(path: str, namespace: str, policy: OutcomePolicy, visit: int) -> None:
    """One visit: writes, batches, outcomes, commits and descriptions, each request made twice."""
    async with SqliteAdapter(path, namespace=namespace, outcomes=policy) as adapter:
        await adapter.write(draft(value=visit, tags=(f"t{visit}",), custom=visit))
        await adapter.write_batch([draft(key=key, value=visit) for key in "aab"])
        await adapter.write(private(key="own", agent="bob", ttl_at="2020-01-01"))
        for _ in range(2):
            await adapter.write(draft(key="once"), idempotency_key=f"write-{visit}")
            both: list[Change] = [
                Write(draft(key="a", value="c")),
                Outcome(outcome("failure", at(), outcome_ref=f"o{visit}")),
            ]
            done = await adapter.commit(both, author="eve", idempotency_key=f"commit-{visit}")
            await adapter.commit_outcome(outcome("success", at(), at(key="a", version=1), outcome_ref="same"))
            said = done.commit.model_copy(update={"message": f"visit {visit}"})
            await adapter.save_commit(said)
            await adapter.save_commit(said.model_copy(update={"id": f"imported-{visit}", "parent_ids": ()}))


@proves("tampering.untouched")
async def test_a_store_that_was_used_in_every_way_and_reopened_verifies(path: str) -> None:
    for visit in range(3):
        await everything_done(path, "default", HANDOFF, visit)
        await everything_done(path, "other", AMFS_0_3, visit)
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify()
    assert report.findings == ()
    assert (report.key_count, report.outcome_count) == (10, 18)
    assert report.version_count > 40
    assert report.commit_count == 9 * 3 * 2
