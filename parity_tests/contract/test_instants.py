"""Instants: whatever their spelling, one moment is one moment; order never comes from the clock."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError, SearchQuery
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves

NEW_YORK = timezone(timedelta(hours=-5))
NOON = "2026-01-02T12:00:00Z"


@proves("instants.spellings")
@pytest.mark.parametrize(
    "spelling",
    [
        NOON,
        "2026-01-02T12:00:00.000Z",
        "2026-01-02T12:00:00+00:00",
        "2026-01-02T21:00:00+09:00",
        "2026-01-02T07:00:00.000000-05:00",
        "2026-01-02 12:00",
        "20260102T120000",
        "2026-W01-5T12:00:00Z",
        datetime(2026, 1, 2, 12),  # noqa: DTZ001 - a naive one is UTC
        datetime(2026, 1, 2, 12, tzinfo=UTC),
        datetime(2026, 1, 2, 7, tzinfo=NEW_YORK),
    ],
    ids=str,
)
async def test_bounds_are_inclusive_instants_in_any_spelling(adapter: AmfsAdapter, spelling: Any) -> None:
    for written_at in ("2026-01-02T11:59:59.999999Z", NOON, "2026-01-02T12:00:00.000001Z"):
        await adapter.write(draft(written_at=written_at))

    async def versions(**bounds: Any) -> list[int]:
        return [each.version for each in await adapter.history("svc/a", "k", **bounds)]

    assert await versions(since=spelling) == [2, 3]
    assert await versions(until=spelling) == [1, 2]
    assert await versions(since=spelling, until=spelling) == [2]
    assert await versions(since=spelling, after_version=2) == [3]
    assert await versions(until=spelling, limit=1) == [1]


@proves("instants.spellings")
@pytest.mark.parametrize("bound", ["2026-01-02", "20260102"])
async def test_a_bare_date_is_its_midnight(adapter: AmfsAdapter, bound: Any) -> None:
    for written_at in ("2026-01-01T23:59:59Z", "2026-01-02", "2026-01-02T00:00:01Z"):
        await adapter.write(draft(written_at=written_at))
    since = await adapter.history("svc/a", "k", since=bound)
    until = await adapter.history("svc/a", "k", until=bound)
    assert [each.version for each in since] == [2, 3]
    assert [each.version for each in until] == [1, 2]


@proves("instants.spellings")
@pytest.mark.parametrize("nothing", [None, ""])
async def test_no_bound_bounds_nothing(adapter: AmfsAdapter, nothing: str | None) -> None:
    await adapter.write(draft())
    assert len(await adapter.history("svc/a", "k", since=nothing, until=nothing)) == 1


@proves("instants.refused")
@pytest.mark.parametrize(
    "bound",
    [
        *["yesterday", "2026-02-30", "2026-13-01", "12:00", " ", "1767355200", 1767355200, True],
        *["2026-01-01T25:00", "\ud83d"],
    ],
    ids=ascii,
)
@pytest.mark.parametrize("argument", ["since", "until"])
async def test_a_bound_that_is_no_instant_is_refused_by_name(
    adapter: AmfsAdapter, argument: str, bound: Any
) -> None:
    await adapter.write(draft())
    bounds: dict[str, Any] = {argument: bound}
    with pytest.raises(InvalidArgumentError) as caught:
        await adapter.history("svc/a", "k", **bounds)
    assert caught.value.argument == argument


@proves("instants.exact")
@pytest.mark.parametrize(
    "moment",
    ["2026-01-01T09:00:00+09:00", "2026-06-30T23:59:59.999999-11:30", "1969-12-31T23:59:59.5Z"],
)
async def test_an_instant_survives_any_number_of_round_trips(adapter: AmfsAdapter, moment: str) -> None:
    entry = draft(written_at=moment, ttl_at=moment)
    for _ in range(5):
        entry = await adapter.write(entry)
        entry = type(entry).from_wire(entry.to_wire())
    stored = await adapter.read_at_version("svc/a", "k", 5)
    assert stored is not None
    assert stored.written_at == stored.ttl_at == datetime.fromisoformat(moment)
    assert stored.written_at.utcoffset() == timedelta(0)


@proves("instants.order-by-sequence")
async def test_writes_within_one_instant_keep_their_order(adapter: AmfsAdapter) -> None:
    for value in range(50):
        await adapter.write(draft(key=f"{value:02}", value=value))
        await adapter.write(draft(key="k", value=value))
    upwards = list(range(50))
    assert [each.value for each in await adapter.history("svc/a", "k")] == upwards
    assert [each.value for each in await adapter.list() if each.key != "k"] == upwards


@proves("search.order", "instants.order-by-sequence")
async def test_a_search_keeps_the_order_of_writes_within_one_instant(adapter: AmfsAdapter) -> None:
    for value in range(50):
        await adapter.write(draft(key=f"{value:02}", value=value))
    newest = await adapter.search(SearchQuery(limit=None))
    assert [each.value for each in newest.entries] == list(range(50))[::-1]


@proves("commits.log", "instants.order-by-sequence")
async def test_the_log_keeps_the_order_of_commits_within_one_instant(adapter: AmfsAdapter) -> None:
    written = [await adapter.write(draft(key=f"{value % 7}")) for value in range(50)]
    log = await adapter.list_commits()
    assert [each.id for each in log] == [each.commit_id for each in written[::-1]]
    assert [each.sequence for each in log] == list(range(50, 0, -1))


@proves("outcomes.log", "instants.order-by-sequence")
async def test_the_outcome_log_keeps_the_order_of_outcomes_within_one_instant(adapter: AmfsAdapter) -> None:
    for value in range(50):
        await adapter.commit_outcome(outcome("success", outcome_ref=str(value)))
    outcomes = await adapter.list_outcomes()
    assert [int(each.record.outcome_ref) for each in outcomes] == list(range(50))[::-1]


async def written_backwards(adapter: AmfsAdapter, clock: FixedClock) -> None:
    """Three times two entries, each time an hour earlier."""
    for hour in range(3):
        clock.set(datetime(2026, 1, 1, 12 - hour, tzinfo=UTC))
        await adapter.write(draft(value=hour))
        await adapter.write(draft(key=f"other-{hour}"))


@proves("instants.clock-back")
async def test_a_clock_set_back_changes_no_order(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await written_backwards(adapter, clock)
    read = await adapter.read("svc/a", "k")
    assert read is not None
    assert (read.version, read.value) == (3, 2)
    assert [each.version for each in await adapter.history("svc/a", "k")] == [1, 2, 3]
    assert await is_sound(adapter)


@proves("search.order", "instants.clock-back")
async def test_a_clock_set_back_changes_no_order_of_a_search(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await written_backwards(adapter, clock)
    page = await adapter.search(SearchQuery(limit=2))
    assert [each.key for each in page.entries] == ["other-2", "k"]


@proves("commits.log", "instants.clock-back")
async def test_a_clock_set_back_changes_no_order_of_the_log(adapter: AmfsAdapter, clock: FixedClock) -> None:
    await written_backwards(adapter, clock)
    assert [each.sequence for each in await adapter.list_commits()] == [6, 5, 4, 3, 2, 1]


@proves("outcomes.handoff-arithmetic", "instants.clock-back")
async def test_an_outcome_older_than_its_entry_counts_like_any_other(
    handoff_adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await handoff_adapter.write(draft(confidence=0.8))
    clock.set("1999-01-01")
    (moved,) = await handoff_adapter.commit_outcome(outcome("success", at()))
    assert moved.confidence == 0.84
