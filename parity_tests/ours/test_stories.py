"""The same story is the same everywhere among us: its ids, its instants, its digests, its averages."""

import math
from datetime import datetime, timedelta

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError, VersionConflictError
from parity_tests.adapters import AdapterOpener
from parity_tests.contract.test_integrity import eventful
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import refused


class TickingClock(FixedClock):
    """Moves on by a second whenever it is asked."""

    def now(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@proves("ours.one-instant")
async def test_an_operation_happens_at_one_instant(open_adapter: AdapterOpener) -> None:
    adapter = await open_adapter(clock=TickingClock())
    written = await adapter.write_batch([draft(key=str(n)) for n in range(5)])
    (commit,) = await adapter.list_commits()
    assert {each.written_at for each in written} == {commit.created_at}


@proves("ours.ids-drawn-last")
async def test_the_same_story_has_the_same_ids(adapter: AmfsAdapter) -> None:
    await refused(adapter, adapter.write(draft("")), InvalidArgumentError)
    await adapter.write(draft(), idempotency_key="k")
    await adapter.write(draft(), idempotency_key="k")
    await adapter.write_batch([draft(commit_id="named")])
    await refused(adapter, adapter.write(draft(), expected_version=9), VersionConflictError)
    await adapter.commit_outcome(outcome("success", "svc/a/k"))
    log = await adapter.list_commits()
    # The first id is the store's own; what failed, was repeated or was named took none.
    assert [each.id for each in log][::-1] == [f"{2:016x}", "named", f"{3:016x}"]
    assert [each.sequence for each in log] == [3, 2, 1]


@proves("ours.same-digests")
async def test_the_same_story_has_the_same_digests(open_adapter: AdapterOpener) -> None:
    digests = []
    for _ in range(2):
        adapter = await open_adapter()
        await eventful(adapter)
        digests.append([each.digest for each in await adapter.list_commits()])
    assert digests[0] == digests[1]


@proves("ours.exact-average")
@pytest.mark.parametrize(
    "confidences", [[0.1] * 10, [0.1, 0.2, 0.3], [1e308, 1.0, -1e308], [1e16, 1.0, -1e16, 1.0]]
)
async def test_an_average_is_exact_whatever_the_order(adapter: AmfsAdapter, confidences: list[float]) -> None:
    drafts = [draft("p", str(n), confidence=each) for n, each in enumerate(confidences)]
    await adapter.write_batch(drafts)
    average = math.fsum(confidences) / len(confidences)
    assert (await adapter.stats()).confidence_avg == average
    assert [each.avg_confidence for each in await adapter.scopes()] == [average]
