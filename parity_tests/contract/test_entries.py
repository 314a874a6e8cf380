"""Entries: versions, what is stored with them, reading, listing and histories."""

import asyncio
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    AmfsError,
    FixedClock,
    InvalidArgumentError,
    MemoryEntry,
    SearchQuery,
    VersionConflictError,
)
from amfs_sqlite.rules.limits import MAX_OUTCOME_COUNT
from parity_tests.drafts import draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import refused, state, text


@proves("entries.versions-count-up")
async def test_versions_count_up_per_key(adapter: AmfsAdapter) -> None:
    written = [await adapter.write(draft(key=key)) for key in ("k", "other", "k", "k")]
    assert [entry.version for entry in written] == [1, 1, 2, 3]


@proves("entries.versions-stay")
async def test_an_older_version_stays_as_it_was_written(adapter: AmfsAdapter) -> None:
    first = await adapter.write(draft(value={"b": [1.0, 1], "a": "é\0"}, tags=("x",)))
    second = await adapter.write(draft(value="new", agent="bob"))
    kept = await adapter.read_at_version("svc/a", "k", 1)
    assert kept is not None
    assert text(kept.model_copy(update={"superseded_at": None})) == text(first)
    assert text(await adapter.read("svc/a", "k")) == text(second)


@proves("entries.superseded-at")
async def test_a_version_is_superseded_when_the_next_one_is_written(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    first = await adapter.write(draft())
    clock.set("2026-01-02")
    second = await adapter.write(private(agent="bob"))
    clock.set("2025-12-31")
    third = await adapter.write(draft())
    assert (first.superseded_at, second.superseded_at, third.superseded_at) == (None, None, None)
    stamps = [each.superseded_at for each in await adapter.history("svc/a", "k")]
    assert stamps == [second.written_at, third.written_at, None]
    seen = await adapter.history("svc/a", "k", viewer="alice")
    assert [each.superseded_at for each in seen] == [second.written_at, None]


@proves("entries.own-fields-are-the-adapters")
async def test_version_hashes_and_counts_passed_in_are_ignored(adapter: AmfsAdapter) -> None:
    claimed: dict[str, Any] = {
        "version": 7,
        "content_hash": "c",
        "integrity_chain": "i",
        "commit_id": "x",
        "success_count": 3,
        "failure_count": 4,
        "superseded_at": "2020-01-01",
    }
    plainly = await adapter.write(draft(key="plain"))
    written = await adapter.write(draft(**claimed))
    assert (written.version, written.superseded_at) == (1, None)
    assert (written.success_count, written.failure_count) == (0, 0)
    assert written.content_hash == plainly.content_hash
    assert written.integrity_chain == plainly.integrity_chain
    assert written.commit_id not in ("x", plainly.commit_id)
    assert text(await adapter.read("svc/a", "k")) == text(written)


@proves("entries.stored-as-given")
@pytest.mark.parametrize(
    "fields",
    [
        {"outcome_count": 12},
        {"outcome_count": MAX_OUTCOME_COUNT},
        {"amfs_version": "9.9.9"},
        {"session": "s-1"},
        {"agent": ""},
        {"tags": ("b", "a", "b", "")},
        {"confidence": -2.5},
        {"confidence": 1e308},
        {"confidence": -0.0},
        {"ttl_at": "2027-01-01T00:00:00.000001Z"},
        {"shared": False},
        {"artifact_refs": ()},
        {"artifact_refs": [{"uri": "s3://b/o", "media_type": "text/plain", "label": "l"}]},
        {"artifact_refs": [{"uri": "a", "size_bytes": 2**60}, {"uri": "a"}]},
        {"customField": {"z": 1, "a": [True, None, 1.0]}, "snake_case": "é", "Ünï": 0},
        {"validators": [], "posterior": None},
        {"written_at": "1999-12-31T23:59:59.123456+09:00"},
        {"written_at": "0001-01-01T00:00:00Z"},
        {"written_at": "9999-12-31T23:59:59.999999Z"},
    ],
)
async def test_everything_else_is_stored_as_given(
    adapter: AmfsAdapter, fields: dict[str, Any]
) -> None:
    given = draft(**fields)
    written = await adapter.write(given)
    read = await adapter.read("svc/a", "k")
    assert text(read) == text(written)
    own = {"content_hash", "integrity_chain", "commit_id", "provenance"}
    assert text(written.model_dump(exclude=own)) == text(given.model_dump(exclude=own))
    assert written.model_extra == given.model_extra
    assert list(written.model_extra or {}) == list(given.model_extra or {})
    stamped = given.provenance.model_copy(update={"written_at": written.written_at})
    assert written.provenance == stamped
    assert given.provenance.written_at in (None, written.written_at)


@proves("entries.stamped")
async def test_a_missing_time_of_writing_is_stamped_with_the_clock(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    clock.set("2026-05-05T05:05:05.000005Z")
    assert (await adapter.write(draft())).written_at == clock.now()


@proves("entries.copies")
async def test_nothing_handed_in_or_out_is_the_stored_object(adapter: AmfsAdapter) -> None:
    value: dict[str, Any] = {"list": [1], "map": {"a": 1}}
    note: dict[str, Any] = {"inner": [1]}
    given = draft(value=value, note=note)
    returned = [
        await adapter.write(given, idempotency_key="once"),
        *await adapter.write_batch([given]),
        await adapter.write(given, idempotency_key="once"),
        *await adapter.commit_outcome(outcome("success", "svc/a/k")),
    ]
    before = await state(adapter)
    recorded = await adapter.recorded_result("once", author="alice")
    assert recorded is not None
    returned += [*recorded.entries, *await adapter.list(), *await adapter.history("svc/a", "k")]
    for read in (
        await adapter.read("svc/a", "k"),
        await adapter.read_at_version("svc/a", "k", 1),
    ):
        assert read is not None
        returned.append(read)
    for entry in returned:
        entry.value["list"].append("changed")
        entry.value["map"]["a"] = "changed"
        (entry.model_extra or {})["note"]["inner"].append("changed")
    assert (value, note) == ({"list": [1], "map": {"a": 1}}, {"inner": [1]})
    value["list"].append("changed")
    note["inner"].append("changed")
    assert await state(adapter) == before


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
@pytest.mark.parametrize("path", ["nowhere", "\ud83d", "x" * 5000], ids=lambda name: ascii(name)[:9])
async def test_a_path_without_entries_lists_nothing(adapter: AmfsAdapter, path: str) -> None:
    await adapter.write(draft())
    assert list(await adapter.list(path)) == []
    assert list(await adapter.list(path, descendants=False, include_superseded=True)) == []
    assert list(await adapter.scopes(path)) == []
    assert list(await adapter.list_outcomes(entity_path=path, key=path)) == []
    assert (await adapter.search(SearchQuery(entity_path=path))).entries == ()


@proves("entries.read-at-version")
async def test_a_version_is_read_by_its_number_alone(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
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
    assert [each.path for each in await adapter.scopes(include_system=False)] == others
    assert len(await adapter.list()) == 5
    assert list(await adapter.list("_system", include_system=False)) == []


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
@pytest.mark.parametrize("number", [-1, True, 1.0, "3", 2**64])
@pytest.mark.parametrize(
    ("operation", "argument"),
    [
        ("history", "limit"),
        ("history", "after_version"),
        ("list_commits", "limit"),
        ("list_outcomes", "limit"),
    ],
)
async def test_a_limit_is_a_whole_number_from_0(
    adapter: AmfsAdapter, operation: str, argument: str, number: Any
) -> None:
    address = ("svc/a", "k") if operation == "history" else ()
    with pytest.raises(InvalidArgumentError) as caught:
        await getattr(adapter, operation)(*address, **{argument: number})
    assert caught.value.argument == argument


@proves("entries.compare-and-set")
@pytest.mark.parametrize(("versions", "expected"), [(0, 0), (1, 1), (3, 3)])
async def test_a_write_that_expects_the_current_version_succeeds(
    adapter: AmfsAdapter, versions: int, expected: int
) -> None:
    for _ in range(versions):
        await adapter.write(draft())
    assert (await adapter.write(draft(), expected_version=expected)).version == versions + 1


@proves("entries.compare-and-set", "errors.version-conflict")
@pytest.mark.parametrize(
    ("versions", "expected"), [(0, 1), (1, 0), (1, 2), (2, 1), (2, -1), (2, 2**70)]
)
async def test_a_write_that_expects_another_version_changes_nothing(
    adapter: AmfsAdapter, versions: int, expected: int
) -> None:
    for _ in range(versions):
        await adapter.write(draft(agent="bob"))
    attempt = adapter.write(draft(), expected_version=expected)
    error = await refused(adapter, attempt, VersionConflictError)
    assert (error.entity_path, error.key) == ("svc/a", "k")
    assert (error.expected, error.actual) == (expected, versions)
    assert error.actual_agent_id == ("bob" if versions else None)


@proves("entries.compare-and-set")
async def test_exactly_one_of_many_writers_expecting_the_same_version_wins(
    adapter: AmfsAdapter,
) -> None:
    for expected in range(3):
        attempts = [adapter.write(draft(value=n), expected_version=expected) for n in range(16)]
        results = await asyncio.gather(*attempts, return_exceptions=True)
        assert sum(isinstance(each, MemoryEntry) for each in results) == 1
        assert sum(isinstance(each, VersionConflictError) for each in results) == 15
    assert len(await adapter.history("svc/a", "k")) == 3


@proves("entries.versions-count-up")
async def test_writers_at_once_leave_no_gap_and_lose_nothing(adapter: AmfsAdapter) -> None:
    written = await asyncio.gather(*[adapter.write(draft(value=n)) for n in range(64)])
    assert sorted(each.version for each in written) == list(range(1, 65))
    history = await adapter.history("svc/a", "k")
    assert {each.version: each.value for each in history} == {
        each.version: each.value for each in written
    }
    assert (await adapter.verify()).ok


@proves("entries.refused-writes-leave-nothing")
async def test_a_failed_write_does_not_poison_the_next_one(adapter: AmfsAdapter) -> None:
    first = await adapter.write(draft(key="first"))
    for bad in (draft(value=float("nan")), draft(""), draft(confidence=float("inf"))):
        await refused(adapter, adapter.write(bad), AmfsError)
    second = await adapter.write(draft(key="second"))
    assert [each.key for each in await adapter.list()] == ["first", "second"]
    assert int(second.commit_id or "", 16) == int(first.commit_id or "", 16) + 1
