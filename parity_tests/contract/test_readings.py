"""Readings: one entry, one version, lists and histories."""

from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    FixedClock,
    InvalidArgumentError,
    SearchQuery,
)
from parity_tests.drafts import draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import text

NOWHERE = pytest.mark.parametrize("path", ["nowhere", "\ud83d", "x" * 5000], ids=lambda name: ascii(name)[:9])


@proves("entries.read-confidence")
@pytest.mark.parametrize(
    ("confidence", "least", "found"),
    [
        (0.4, 0.4, True),
        (0.4, 0.41, False),
        (0.4, None, True),
        (-1.0, 0, True),
        (-1.0, 0.0, True),
        (-1.0, -1.0, True),
        (-1.0, -0.5, False),
        (0.0, 5e-324, False),
    ],
)
async def test_a_read_asks_for_a_confidence(
    adapter: AmfsAdapter, confidence: float, least: float | None, found: bool
) -> None:
    await adapter.write(draft(confidence=confidence))
    assert bool(await adapter.read("svc/a", "k", min_confidence=least)) is found


@proves("entries.read-nothing")
@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("svc/a", "other"),
        ("svc", "k"),
        ("", "k"),
        ("svc/a", ""),
        ("", ""),
        ("\ud83d", "k"),
        ("svc/a", "\udc00"),
        ("x" * 5000, "k"),
        ("svc/a", "x" * 5000),
        ("svc/a\0", "k"),
    ],
    ids=lambda name: ascii(name)[:20],
)
async def test_an_address_without_an_entry_reads_as_nothing(
    adapter: AmfsAdapter, path: str, key: str
) -> None:
    await adapter.write(draft())
    assert await adapter.read(path, key) is None
    assert await adapter.read_at_version(path, key, 1) is None
    assert list(await adapter.history(path, key)) == []


@proves("entries.read-nothing")
@NOWHERE
async def test_a_path_without_entries_lists_nothing(adapter: AmfsAdapter, path: str) -> None:
    await adapter.write(draft())
    assert list(await adapter.list(path)) == []
    assert list(await adapter.list(path, descendants=False, include_superseded=True)) == []


@proves("statistics.scopes", "entries.read-nothing")
@NOWHERE
async def test_a_path_without_entries_has_no_summary(adapter: AmfsAdapter, path: str) -> None:
    await adapter.write(draft())
    assert list(await adapter.scopes(path)) == []


@proves("outcomes.log", "entries.read-nothing")
@NOWHERE
async def test_an_address_without_an_entry_has_no_outcomes(adapter: AmfsAdapter, path: str) -> None:
    await adapter.write(draft())
    await adapter.commit_outcome(outcome("success", "svc/a/k"))
    assert list(await adapter.list_outcomes(entity_path=path, key=path)) == []


@proves("search.filters", "entries.read-nothing")
@NOWHERE
async def test_below_a_path_without_entries_nothing_is_found(adapter: AmfsAdapter, path: str) -> None:
    await adapter.write(draft())
    assert (await adapter.search(SearchQuery(entity_path=path))).entries == ()


@proves("entries.read-at-version")
async def test_a_version_is_read_by_its_number_alone(adapter: AmfsAdapter, clock: FixedClock) -> None:
    written = [await adapter.write(draft(value=n, ttl_at="2026-02-01")) for n in range(3)]
    clock.set("2026-03-01")
    for entry in written:
        read = await adapter.read_at_version("svc/a", "k", entry.version)
        assert read is not None
        assert read.value == entry.value
    for absent in (0, -1, 4, 2**63 - 1, 2**63, -(2**63) - 1, 2**200):
        assert await adapter.read_at_version("svc/a", "k", absent) is None


@proves("entries.expiry")
@pytest.mark.parametrize(
    ("now", "found"),
    [("2026-01-31T23:59:59.999999Z", True), ("2026-02-01", False), ("2026-02-02", False)],
)
async def test_an_entry_expires_at_its_instant(
    adapter: AmfsAdapter, clock: FixedClock, now: str, found: bool
) -> None:
    await adapter.write(draft(ttl_at="2026-02-01T09:00:00+09:00"))
    clock.set(now)
    assert bool(await adapter.read("svc/a", "k")) is found
    assert len(await adapter.list()) == len(await adapter.history("svc/a", "k")) == 1
    clock.set("2026-01-01")
    assert await adapter.read("svc/a", "k")


@proves("entries.expiry")
async def test_an_expired_entry_is_read_on_request(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(value="old"))
    stored = await adapter.write(private(ttl_at="2026-01-01", confidence=0.5, agent="bob"))
    assert text(await adapter.read("svc/a", "k", include_expired=True)) == text(stored)
    assert await adapter.read("svc/a", "k", include_expired=True, min_confidence=0.6) is None
    assert await adapter.read("svc/a", "k", include_expired=True, viewer="alice") is None
    assert await adapter.read("svc/a", "k", include_expired=False) is None


@proves("entries.expiry")
async def test_an_expired_version_does_not_bring_the_older_one_back(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    await adapter.write(draft(value="old"))
    await adapter.write(draft(value="new", ttl_at="2026-01-01"))
    assert await adapter.read("svc/a", "k") is None
    assert (await adapter.write(draft(value="next"))).version == 3


@proves("entries.prefix-rule")
@pytest.mark.parametrize(
    ("prefix", "below", "exactly"),
    [
        ("a", ["a", "a/b", "a/b/c", "a/"], ["a"]),
        ("a/b", ["a/b", "a/b/c"], ["a/b"]),
        ("ab", ["ab"], ["ab"]),
        ("a/", ["a/"], ["a/"]),
        ("A", ["A/b"], []),
        ("_", [], []),
        ("%", [], []),
        ("zz", [], []),
        ("", ["a", "ab", "a/b", "A/b", "a/b/c", "a/"], []),
        (None, ["a", "ab", "a/b", "A/b", "a/b/c", "a/"], ["a", "ab", "a/b", "A/b", "a/b/c", "a/"]),
    ],
)
async def test_a_path_covers_itself_and_everything_below(
    adapter: AmfsAdapter, prefix: str | None, below: list[str], exactly: list[str]
) -> None:
    for path in ("a", "ab", "a/b", "A/b", "a/b/c", "a/"):
        await adapter.write(draft(path, "b/c"))
    assert [each.entity_path for each in await adapter.list(prefix)] == below
    exact = [each.entity_path for each in await adapter.list(prefix, descendants=False)]
    assert exact == (exactly if prefix != "" else below)


@proves("statistics.scopes", "entries.prefix-rule")
@pytest.mark.parametrize(
    ("prefix", "below"),
    [
        ("a", ["a", "a/b", "a/b/c", "a/"]),
        ("a/b", ["a/b", "a/b/c"]),
        ("ab", ["ab"]),
        ("a/", ["a/"]),
        ("A", ["A/b"]),
        ("_", []),
        ("%", []),
        ("", ["a", "ab", "a/b", "A/b", "a/b/c", "a/"]),
        (None, ["a", "ab", "a/b", "A/b", "a/b/c", "a/"]),
    ],
)
async def test_summaries_follow_the_same_rule(
    adapter: AmfsAdapter, prefix: str | None, below: list[str]
) -> None:
    for path in ("a", "ab", "a/b", "A/b", "a/b/c", "a/"):
        await adapter.write(draft(path, "b/c"))
    assert [each.path for each in await adapter.scopes(prefix)] == below


@proves("entries.list-order")
async def test_a_list_keeps_the_order_of_first_writing(adapter: AmfsAdapter) -> None:
    for path, key, value in (("z", "1", 1), ("a", "9", 2), ("z", "0", 3), ("a", "9", 4)):
        await adapter.write(draft(path, key, value))
    assert [each.value for each in await adapter.list()] == [1, 4, 3]
    whole = await adapter.list(include_superseded=True)
    assert [(each.key, each.version) for each in whole] == [("1", 1), ("9", 1), ("9", 2), ("0", 1)]
    assert [each.value for each in await adapter.list("a", include_superseded=True)] == [2, 4]


@proves("entries.system-paths")
async def test_system_paths_can_be_left_out(adapter: AmfsAdapter) -> None:
    for path in ("_system", "_system/handoff", "_systems", "a/_system", "_System"):
        await adapter.write(draft(path))
        await adapter.write(draft(path))
    others = ["_systems", "a/_system", "_System"]
    listed = await adapter.list(include_system=False, include_superseded=True)
    assert [each.entity_path for each in listed] == [path for path in others for _ in (1, 2)]
    assert len(await adapter.list()) == 5
    assert list(await adapter.list("_system", include_system=False)) == []


@proves("statistics.system-paths", "entries.system-paths")
async def test_summaries_of_system_paths_can_be_left_out(adapter: AmfsAdapter) -> None:
    for path in ("_system", "_system/handoff", "_systems", "a/_system", "_System"):
        await adapter.write(draft(path))
    left = [each.path for each in await adapter.scopes(include_system=False)]
    assert left == ["_systems", "a/_system", "_System"]


@proves("entries.history")
async def test_a_history_is_every_version_of_exactly_one_key(adapter: AmfsAdapter) -> None:
    for value in range(5):
        await adapter.write(draft("a", "k", value, confidence=value / 10))
        await adapter.write(draft("a/b", "k", "below"))
        await adapter.write(draft("a", "k/b", "longer"))
    history = await adapter.history("a", "k")
    assert [(each.version, each.value) for each in history] == [(n + 1, n) for n in range(5)]
    assert [each.confidence for each in history] == [0.0, 0.1, 0.2, 0.3, 0.4]


@proves("entries.history-pages")
@pytest.mark.parametrize(
    ("after", "limit", "versions"),
    [
        (0, None, [1, 2, 3, 4]),
        (0, 2, [1, 2]),
        (2, 2, [3, 4]),
        (3, 9, [4]),
        (4, None, []),
        (99, 1, []),
        (2**63 - 1, 2**63 - 1, []),
        (0, 0, []),
    ],
)
async def test_a_history_comes_in_pages(
    adapter: AmfsAdapter, after: int, limit: int | None, versions: list[int]
) -> None:
    for value in range(4):
        await adapter.write(draft(value=value))
    page = await adapter.history("svc/a", "k", after_version=after, limit=limit)
    assert [each.version for each in page] == versions


@proves("entries.whole-numbers")
@pytest.mark.parametrize("number", [-1, True, 1.0, "3"])
@pytest.mark.parametrize(
    ("operation", "argument"),
    [
        ("history", "limit"),
        ("history", "after_version"),
        ("list_commits", "limit"),
        ("list_outcomes", "limit"),
        ("list_commits", "before"),
        ("list_outcomes", "before"),
    ],
)
async def test_a_limit_is_a_whole_number_from_0(
    adapter: AmfsAdapter, operation: str, argument: str, number: Any
) -> None:
    address = ("svc/a", "k") if operation == "history" else ()
    with pytest.raises(InvalidArgumentError) as caught:
        await getattr(adapter, operation)(*address, **{argument: number})
    assert caught.value.argument == argument
