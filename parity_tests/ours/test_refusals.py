"""Which fault our adapters name, and how they say it."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError, SearchQuery, VersionConflictError
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.state import refused

MESSAGE_CHARACTERS = 300
LARGE = 2**64


@proves("ours.order-of-checks")
async def test_of_several_faults_the_first_in_a_fixed_order_is_named(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    faults: dict[str, Any] = {
        "path": "",
        "confidence": float("nan"),
        "value": object(),
        "custom": object(),
    }
    named = []
    while faults:
        attempt = adapter.write(draft(**faults), expected_version=0)
        named.append((await refused(adapter, attempt, InvalidArgumentError)).argument)
        faults.pop(next(iter(faults)))
    assert [each.partition(".")[0] for each in named] == [
        "entity_path",
        "confidence",
        "value",
        "extra",
    ]
    await refused(adapter, adapter.write(draft(), expected_version=0), VersionConflictError)


@proves("ours.places")
@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"value": {"a": [0, float("-inf")]}}, "value.a[1]"),
        ({"value": ["fine", {"deep": {"er": {1}}}]}, "value[1].deep.er"),
        ({"value": {"text": "a\udc00b"}}, "value.text"),
        ({"value": {"\ud83d": 1}}, "value member name"),
        ({"value": [-(10**4300)]}, "value[0]"),
        ({"value": {1: "a"}}, "value"),
        ({"custom": {"deep": [float("nan")]}}, "extra.custom.deep[0]"),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
async def test_what_is_no_json_is_refused_by_its_place(
    adapter: AmfsAdapter, fields: dict[str, Any], place: str
) -> None:
    error = await refused(adapter, adapter.write(draft(**fields)), InvalidArgumentError)
    assert error.argument == place


@proves("ours.one-line")
@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"path": "p\n" * 4097}, "4096"),
        ({"key": "p\n\ud800"}, "surrogate"),
        ({"tags": ("x\n" * 4097,)}, "4096"),
        ({"value": {"a\n" * 9999: {1}}}, "value"),
        ({"value": {"a\n": "\ud800"}}, "surrogate"),
        ({"custom": {"\ud800": 1}}, "surrogate"),
        ({"session": "\udfff"}, "surrogate"),
    ],
    ids=ascii,
)
async def test_a_refusal_is_one_short_line_that_can_be_printed(
    adapter: AmfsAdapter, fields: dict[str, Any], word: str
) -> None:
    error = await refused(adapter, adapter.write(draft(**fields)), InvalidArgumentError)
    (line,) = str(error).splitlines()
    assert word in line
    assert len(line.encode()) < MESSAGE_CHARACTERS


@proves("ours.one-line")
async def test_too_many_changes_are_refused_with_the_limit(adapter: AmfsAdapter) -> None:
    error = await refused(adapter, adapter.write_batch([draft()] * 10_001), InvalidArgumentError)
    assert "10000" in str(error)


COUNTING: dict[str, Callable[[AmfsAdapter], Awaitable[object]]] = {
    "limit": lambda adapter: adapter.search(SearchQuery(limit=LARGE)),
    "after_version": lambda adapter: adapter.history("p", "k", after_version=LARGE),
    "before": lambda adapter: adapter.list_commits(before=LARGE),
    "expected_version": lambda adapter: adapter.write(draft(), expected_version=LARGE),
}


@proves("ours.largest-numbers")
@pytest.mark.parametrize("argument", COUNTING)
async def test_a_number_that_no_count_reaches_is_refused_by_name(adapter: AmfsAdapter, argument: str) -> None:
    error = await refused(adapter, COUNTING[argument](adapter), InvalidArgumentError)
    assert error.argument == argument


@proves("ours.instants")
@pytest.mark.parametrize("bound", [" 2026-01-02T12:00:00Z ", date(2026, 1, 2)], ids=repr)
async def test_a_bound_may_be_a_date_or_have_spaces_around_it(adapter: AmfsAdapter, bound: Any) -> None:
    await adapter.write(draft(written_at="2026-01-01"))
    await adapter.write(draft(written_at="2026-01-03"))
    assert [each.version for each in await adapter.history("svc/a", "k", since=bound)] == [2]


@proves("ours.instants")
@pytest.mark.parametrize("bound", ["0001-01-01T00:00:00+09:00", "9999-12-31T23:59:59-09:00"])
async def test_a_bound_beyond_the_years_there_are_is_refused_by_name(
    adapter: AmfsAdapter, bound: str
) -> None:
    error = await refused(adapter, adapter.history("p", "k", until=bound), InvalidArgumentError)
    assert error.argument == "until"


@proves("ours.shared-parts")
@pytest.mark.parametrize("kind", ["lists", "objects"])
async def test_a_value_that_holds_its_parts_over_and_over_is_refused_by_their_number(
    adapter: AmfsAdapter, kind: str
) -> None:
    value: Any = ["x"]
    for _ in range(40):
        value = [value, value] if kind == "lists" else {"a": value, "b": value}
    error = await refused(adapter, adapter.write(draft(value=value)), InvalidArgumentError)
    assert str(error) == "value has more than 1000000 members; store them apart"
    error = await refused(adapter, adapter.write(draft(custom=value)), InvalidArgumentError)
    assert str(error) == "extra has more than 1000000 members; store them apart"
