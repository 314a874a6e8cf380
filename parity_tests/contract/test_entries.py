"""Entries: versions, what is stored with them, and compare-and-set."""

import asyncio
from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    AmfsError,
    FixedClock,
    InvalidArgumentError,
    MemoryEntry,
    VersionConflictError,
)
from amfs_sqlite.rules.limits import MAX_OUTCOME_COUNT
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import draft, private
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
async def test_everything_else_is_stored_as_given(adapter: AmfsAdapter, fields: dict[str, Any]) -> None:
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
    given = draft(value={"list": [1]}, note={"inner": [1]})
    returned = [
        await adapter.write(given, idempotency_key="once"),
        *await adapter.write_batch([given], idempotency_key="batch"),
        await adapter.write(given, idempotency_key="once"),
        *await adapter.write_batch([given], idempotency_key="batch"),
    ]
    before = await state(adapter)
    first = text(returned[0])
    returned += [*await adapter.list(), *await adapter.list(include_superseded=True)]
    returned += await adapter.history("svc/a", "k")
    for read in (
        await adapter.read("svc/a", "k"),
        await adapter.read_at_version("svc/a", "k", 1),
    ):
        assert read is not None
        returned.append(read)
    for entry in returned:
        entry.value["list"].append("changed")
        (entry.model_extra or {})["note"]["inner"].append("changed")
    assert (given.value, given.model_extra) == ({"list": [1]}, {"note": {"inner": [1]}})
    given.value["list"].append("changed")
    (given.model_extra or {})["note"]["inner"].append("changed")
    assert await state(adapter) == before
    again = draft(value={"list": [1]}, note={"inner": [1]})
    assert text(await adapter.write(again, idempotency_key="once")) == first


@proves("entries.compare-and-set")
@pytest.mark.parametrize(("versions", "expected"), [(0, 0), (1, 1), (3, 3)])
async def test_a_write_that_expects_the_current_version_succeeds(
    adapter: AmfsAdapter, versions: int, expected: int
) -> None:
    for _ in range(versions):
        await adapter.write(draft())
    assert (await adapter.write(draft(), expected_version=expected)).version == versions + 1


@proves("entries.compare-and-set", "errors.version-conflict")
@pytest.mark.parametrize(("versions", "expected"), [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2**63 - 1)])
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


@proves("entries.whole-numbers")
@pytest.mark.parametrize("expected", [-1, True, 1.0, "1"])
async def test_an_expected_version_is_a_whole_number_from_0(adapter: AmfsAdapter, expected: Any) -> None:
    await adapter.write(draft())
    attempt = adapter.write(draft(), expected_version=expected)
    error = await refused(adapter, attempt, InvalidArgumentError)
    assert error.argument == "expected_version"


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
    assert {each.version: each.value for each in history} == {each.version: each.value for each in written}
    assert await is_sound(adapter)


@proves("entries.copies")
async def test_what_was_asked_is_written_whatever_becomes_of_the_callers_objects(
    adapter: AmfsAdapter,
) -> None:
    value: dict[str, Any] = {"a": [1]}
    note: dict[str, Any] = {"n": [1]}
    asked = asyncio.ensure_future(adapter.write(draft(value=value, note=note)))
    # One turn of the loop, so that it has begun.
    await asyncio.sleep(0)
    value["a"].append(float("nan"))
    note["n"].append(2)
    written = await asked
    assert (written.value, written.model_extra) == ({"a": [1]}, {"note": {"n": [1]}})
    assert text(await adapter.read("svc/a", "k")) == text(written)
    assert await is_sound(adapter)


@proves("entries.checked-anew")
@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": "high"},
        {"confidence": None},
        {"entity_path": None},
        {"key": b"k"},
        {"shared": "no"},
        {"ttl_at": "tomorrow"},
        {"outcome_count": 1.5},
        {"provenance": None},
        {"artifact_refs": "u"},
    ],
    ids=str,
)
async def test_an_entry_that_was_bent_by_copying_is_refused(
    adapter: AmfsAdapter, wrong: dict[str, Any]
) -> None:
    bent = draft().model_copy(update=wrong)
    await refused(adapter, adapter.write(bent), InvalidArgumentError)
    await refused(adapter, adapter.write_batch([draft(), bent]), InvalidArgumentError)


@proves("entries.refused-writes-leave-nothing")
async def test_a_failed_write_does_not_poison_the_next_one(adapter: AmfsAdapter) -> None:
    first = await adapter.write(draft(key="first"))
    for bad in (draft(value=float("nan")), draft(""), draft(confidence=float("inf"))):
        await refused(adapter, adapter.write(bad), AmfsError)
    second = await adapter.write(draft(key="second"))
    assert (first.version, second.version) == (1, 1)
    assert [each.key for each in await adapter.list()] == ["first", "second"]


@proves("entries.refused-writes-leave-nothing")
async def test_a_failed_write_makes_no_commit(adapter: AmfsAdapter) -> None:
    first = await adapter.write(draft(key="first"))
    await refused(adapter, adapter.write(draft(value=float("nan"))), AmfsError)
    second = await adapter.write(draft(key="second"))
    assert [each.id for each in await adapter.list_commits()] == [second.commit_id, first.commit_id]
