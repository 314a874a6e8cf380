"""Entries through the SDK's door."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.exceptions import AdapterError, VersionConflictError
from amfs_core.hashing import content_hash, integrity_chain_hash
from amfs_core.lifecycle import LifecycleManager
from amfs_core.models import ArtifactRef, MemoryType
from amfs_core.pagination import InvalidCursorError, encode_cursor, entry_tiebreak

from amfs_sqlite import EntryRef, SqliteAdapter
from amfs_sqlite.clock import FixedClock
from parity_tests.amfs.corpus import BEGAN, entry, opened
from parity_tests.ledger import proves

OURS = {"version", "content_hash", "integrity_chain", "commit_id"}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@proves("amfs.round-trip")
def test_an_entry_comes_back_with_every_field_after_the_file_was_opened_anew(tmp_path: Path) -> None:
    written = entry(
        "service/api",
        "a/b",
        {"text": "123", "number": 0.1, "none": None, "list": [1, "ü\x00"]},
        pattern_refs=["p", "q"],
        confidence=0.123456789,
        outcome_count=3,
        success_count=2,
        failure_count=1,
        evidence_success=1.25,
        evidence_failure=0.5,
        prior_confidence=0.7,
        last_outcome="success",
        last_outcome_at=BEGAN,
        discredited_at=BEGAN,
        validators=["one", "two"],
        uplift=-0.25,
        uplift_sessions=7,
        recall_count=4,
        priority_score=12.5,
        tier=1,
        importance_score=0.4,
        importance_dimensions={"impact": 0.5},
        ttl_at=datetime(2999, 1, 1, tzinfo=UTC),
        embedding=[0.5, -1.0],
        artifact_refs=[ArtifactRef(uri="file:///x", label="x")],
        memory_type=MemoryType.BELIEF,
        is_artifact=True,
        shared=False,
    )
    with opened(tmp_path / "m.db") as adapter:
        stored = adapter.write(written)
        assert adapter.read("service/api", "a/b") == stored
    with opened(tmp_path / "m.db") as adapter:
        read = adapter.read("service/api", "a/b")
        assert read == stored
        assert adapter.list() == adapter.list(include_superseded=True) == [stored]
        assert adapter.read_at_version("service/api", "a/b", 1) == stored
    assert stored.model_dump(exclude=OURS) == written.model_dump(exclude=OURS)
    assert list(stored.model_dump()) == list(written.model_dump())
    assert stored.content_hash == content_hash(written.value)
    assert stored.integrity_chain == integrity_chain_hash(content_hash(written.value), None)
    assert stored.commit_id is not None


@proves("amfs.round-trip")
def test_the_plainest_entry_has_every_default_of_its_own(sdk_adapter: Any) -> None:
    first, second = (sdk_adapter.write(entry(key=key)) for key in "ab")
    read = sdk_adapter.read("service", "a")
    assert read is not None
    assert read == first
    assert read.model_dump(exclude=OURS) == entry(key="a").model_dump(exclude=OURS)
    read.validators.append("x")
    read.artifact_refs.append(ArtifactRef(uri="x"))
    assert sdk_adapter.read("service", "b") == second
    assert second.validators == second.artifact_refs == []


@proves("amfs.copies")
def test_what_is_changed_outside_stays_as_it_was_stored(sdk_adapter: Any) -> None:
    given = entry(value={"list": [1]})
    stored = sdk_adapter.write(given)
    given.value["list"].append(2)
    stored.value["list"].append(3)
    read = sdk_adapter.read("service", "a")
    assert read is not None
    read.value["list"].append(4)
    read.provenance.pattern_refs.append("x")
    again = sdk_adapter.read("service", "a")
    assert again is not None
    assert again.value == {"list": [1]}
    assert again.provenance.pattern_refs == []


@proves("amfs.versions")
def test_only_version_one_and_the_next_are_written(sdk_adapter: Any) -> None:
    assert [sdk_adapter.write(entry(value=value)).version for value in (1, 2)] == [1, 2]
    for version in (2, 4, 99):
        with pytest.raises(VersionConflictError) as refused:
            sdk_adapter.write(entry(value=3, version=version))
        assert (refused.value.expected, refused.value.actual) == (version, 2)
    assert sdk_adapter.write(entry(value=3, version=3)).version == 3
    assert sdk_adapter.write(entry(value=4, version=1)).version == 4
    with pytest.raises(VersionConflictError):
        sdk_adapter.write(entry(key="new", version=2))
    assert [each.value for each in sdk_adapter.list(include_superseded=True)] == [1, 2, 3, 4]


@proves("amfs.batch")
def test_a_repeated_key_gets_consecutive_versions_and_a_chain(sdk_adapter: Any) -> None:
    sdk_adapter.write(entry(value=0))
    given = [entry(value=value, version=2, commit_id="c0ffee") for value in (1, 2, 3)]
    written = sdk_adapter.write_batch([*given, entry(key="b", value=9, commit_id="c0ffee")])
    assert [(each.key, each.version, each.value) for each in written] == [
        ("a", 2, 1),
        ("a", 3, 2),
        ("a", 4, 3),
        ("b", 1, 9),
    ]
    assert {each.commit_id for each in written} == {"c0ffee"}
    versions = sdk_adapter.list("service", include_superseded=True)
    chain = None
    for each in versions[:4]:
        chain = integrity_chain_hash(content_hash(each.value), chain)
        assert each.integrity_chain == chain
    assert sdk_adapter.verify_integrity()["chain_breaks"] == []


@proves("amfs.batch")
def test_a_batch_with_a_conflict_or_a_bad_value_stores_nothing(sdk_adapter: Any) -> None:
    with pytest.raises(VersionConflictError):
        sdk_adapter.write_batch([entry(value=1), entry(key="b", version=7)])
    with pytest.raises(AdapterError, match="value"):
        sdk_adapter.write_batch([entry(value=1), entry(key="b", value=float("nan"))])
    with pytest.raises(AdapterError, match="branches"):
        sdk_adapter.write_batch([entry(value=1), entry(key="b", branch="other")])
    assert sdk_adapter.list() == []
    assert sdk_adapter.write_batch([]) == []


@proves("amfs.refused")
@pytest.mark.parametrize(
    "wrong",
    [
        entry(value=float("inf")),
        entry(value="\ud800"),
        entry(value=object()),
        entry(path=""),
        entry(key=""),
        entry(confidence=float("nan")),
        entry(importance_score=float("nan")),
        entry(embedding=[float("nan")]),
        entry(agent_id="\ud800"),
        "no entry",
    ],
    ids=lambda wrong: repr(wrong)[:40] if isinstance(wrong, str) else None,
)
def test_what_cannot_be_stored_is_refused(sdk_adapter: Any, wrong: object) -> None:
    with pytest.raises(AdapterError):
        sdk_adapter.write(wrong)
    assert sdk_adapter.list() == []


@proves("amfs.same-claim")
def test_an_unchanged_claim_keeps_its_record_and_a_changed_one_begins_anew(
    sdk_adapter: Any,
) -> None:
    tested = entry(
        value="retry",
        confidence=0.9,
        outcome_count=2,
        success_count=2,
        evidence_success=1.5,
        validators=["x"],
    )
    sdk_adapter.write(tested)
    same = sdk_adapter.write(entry(value="retry", confidence=0.4))
    assert (same.confidence, same.outcome_count, same.success_count, same.evidence_success) == (
        0.9,
        2,
        2,
        1.5,
    )
    assert same.validators == ["x"]
    assert sdk_adapter.read("service", "a") == same
    changed = sdk_adapter.write(entry(value="back off", confidence=0.4))
    assert (changed.confidence, changed.outcome_count, changed.evidence_success) == (0.4, 0, 0.0)
    assert sdk_adapter.verify_integrity()["corrupted"] == []


@proves("amfs.expired")
def test_expired_entries_are_listed_and_not_read(tmp_path: Path) -> None:
    clock = FixedClock("2026-01-01T00:00:00Z")
    with opened(tmp_path / "m.db", clock=clock) as adapter:
        now = clock.now()
        adapter.write(entry(key="now", ttl_at=now))
        adapter.write(entry(key="past", ttl_at=now - timedelta(days=1)))
        adapter.write(entry(key="next", ttl_at=now + timedelta(microseconds=1)))
        adapter.write(entry(key="never"))
        found = {key: adapter.read("service", key) for key in ("now", "past", "next", "never")}
        assert [key for key, one in found.items() if one is not None] == ["next", "never"]
        assert [each.key for each in adapter.list("service")] == ["never", "next", "now", "past"]
        assert [each.key for each in adapter.list_expired()] == ["past", "now"]
        assert [each.key for each in adapter.list_expired(now=now + timedelta(days=1))] == [
            "past",
            "now",
            "next",
        ]
        assert [each.key for each in adapter.list_expired(limit=1)] == ["past"]
        assert [each.value for each in adapter.list_expired(now=LONG_AGO)] == []


@proves("amfs.sweep")
def test_the_sweep_archives_entries_of_any_version_and_conflicts_stay_conflicts(
    sdk_adapter: Any,
) -> None:
    for value in (1, 2, 3):
        sdk_adapter.write(entry(value=value, ttl_at=LONG_AGO))
    sdk_adapter.write(entry(key="first", ttl_at=LONG_AGO))
    tested = entry(key="tested", ttl_at=LONG_AGO, outcome_count=2, success_count=2, embedding=[1.0])
    sdk_adapter.write(tested)
    sdk_adapter.write(entry(key="kept"))
    archived = LifecycleManager(sdk_adapter).sweep()
    assert {(each.key, each.version) for each in archived} == {("a", 4), ("first", 2), ("tested", 2)}
    for key in ("a", "first", "tested"):
        read = sdk_adapter.read("service", key)
        assert read is not None
        assert (read.confidence, read.ttl_at) == (0.0, None)
    assert LifecycleManager(sdk_adapter).sweep() == []
    report = sdk_adapter.verify_integrity()
    assert (report["total_checked"], report["corrupted"], report["chain_breaks"]) == (9, [], [])
    stands = sdk_adapter.read("service", "a")
    assert stands is not None
    with pytest.raises(VersionConflictError):
        sdk_adapter.write(stands.model_copy(update={"confidence": 0.0, "value": "other"}))
    with pytest.raises(VersionConflictError):
        sdk_adapter.write(stands)


@proves("amfs.listing")
def test_a_list_is_of_one_path_by_author_in_order_and_page_by_page(sdk_adapter: Any) -> None:
    for minute, (path, key) in enumerate([("b", "k"), ("a", "z"), ("a/x", "k"), ("a", "b"), ("ab", "k")]):
        sdk_adapter.write(entry(path, key, minute=minute, agent_id="odd" if minute % 2 else "even"))
    sdk_adapter.write(entry("a", "b", 2, minute=9, agent_id="even"))
    for _ in range(2):
        sdk_adapter.increment_recall_count("ab", "k")

    def listed(*path: str, **asked: object) -> list[tuple[str, str, int]]:
        found = sdk_adapter.list(*path, **asked)
        return [(each.entity_path, each.key, each.version) for each in found]

    assert listed() == [("a", "b", 2), ("a", "z", 1), ("a/x", "k", 1), ("ab", "k", 1), ("b", "k", 1)]
    assert listed("a") == [("a", "b", 2), ("a", "z", 1)]
    assert listed("a", include_superseded=True) == [("a", "b", 1), ("a", "b", 2), ("a", "z", 1)]
    assert listed("a/") == listed("nowhere") == []
    assert listed(agent_id="odd", include_superseded=True) == [("a", "b", 1), ("a", "z", 1)]
    assert listed(order_by="written_at", limit=2) == [("a", "b", 2), ("ab", "k", 1)]
    assert listed(order_by="written_at", limit=2, offset=2) == [("a/x", "k", 1), ("a", "z", 1)]
    assert listed(order_by="recall_count", limit=1) == [("ab", "k", 1)]
    assert listed(limit=0) == []
    for wrong in ({"order_by": "x"}, {"limit": -1}, {"offset": -1}):
        with pytest.raises(AdapterError, match=next(iter(wrong))):
            listed(**wrong)


@proves("amfs.many-versions")
def test_a_thousand_versions_come_in_order(sdk_adapter: Any) -> None:
    for start in range(0, 1010, 101):
        sdk_adapter.write_batch([entry(value=value) for value in range(start, start + 101)])
    versions = sdk_adapter.list("service", include_superseded=True)
    assert [each.version for each in versions] == list(range(1, 1011))
    assert [each.value for each in versions] == list(range(1010))


@proves("amfs.agent-pages")
def test_an_agents_entries_are_paged_newest_first(sdk_adapter: Any) -> None:
    for number in range(9):
        sdk_adapter.write(entry("p", f"k{number}", minute=number // 3))
    sdk_adapter.write(entry("_system/x", "k"))
    sdk_adapter.write(entry("p", "other", agent_id="other"))
    keys: list[str] = []
    cursor = None
    while page := sdk_adapter.list_entries_for_agent("scout", limit=2, cursor=cursor):
        keys += [each.key for each in page]
        cursor = encode_cursor(page[-1].provenance.written_at, entry_tiebreak(page[-1]))
    assert keys == [f"k{number}" for number in range(8, -1, -1)]
    found = sdk_adapter.list_entries_for_agent(
        "scout", since=BEGAN + timedelta(minutes=1), until=BEGAN + timedelta(minutes=2), limit=5
    )
    assert [each.key for each in found] == ["k5", "k4", "k3"]
    everything = sdk_adapter.list_entries_for_agent("scout", exclude_prefixes=())
    assert len(everything) == 10
    for wrong in ("x", encode_cursor(BEGAN, "one"), encode_cursor(BEGAN, ["two", "parts"])):
        with pytest.raises(InvalidCursorError):
            sdk_adapter.list_entries_for_agent("scout", cursor=wrong)


@proves("amfs.withdrawn")
async def test_archived_and_erased_versions_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as sdk:
        for value in (1, 2, 3):
            sdk.write(entry(value=value))
        sdk.write(entry(key="gone", ttl_at=LONG_AGO))
        async with SqliteAdapter(path) as ours:
            await ours.erase([EntryRef(entity_path="service", key="a", version=2)], author="scout")
            await ours.archive_expired(author="scout")
        assert [each.version for each in sdk.list("service", include_superseded=True) if each.key == "a"] == [
            1,
            3,
        ]
        assert sdk.read_at_version("service", "a", 2) is None
        assert sdk.read("service", "gone") is None
        assert [each.key for each in sdk.list()] == ["a"]
        assert sdk.verify_integrity()["corrupted"] == []
        assert sdk.write(entry(value=4, version=4)).version == 4
        again = sdk.write(entry(key="gone", value="back"))
        assert again.version == 3
        assert sdk.read("service", "gone") == again


@proves("amfs.addresses")
@pytest.mark.parametrize("part", ["..", ".", "../../x", "/etc/x", "a/b", "a\x00b", "%", "ü", " "])
def test_any_path_and_key_are_an_address(sdk_adapter: Any, tmp_path: Path, part: str) -> None:
    before = {each.name for each in tmp_path.iterdir()}
    sdk_adapter.write(entry(part, "k", 1))
    sdk_adapter.write(entry("p", part, 2))
    sdk_adapter.write(entry("p", f"{part}/x", 3))
    found = [sdk_adapter.read(*address) for address in ((part, "k"), ("p", part), ("p", f"{part}/x"))]
    assert [each.value for each in found if each is not None] == [1, 2, 3]
    assert sdk_adapter.read(f"p/{part}", "x") is None
    assert {each.name for each in tmp_path.iterdir()} == before


@proves("amfs.recalls")
def test_readings_are_seen_at_once_and_by_all_once_closed(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as first, opened(tmp_path / "m.db") as second:
        first.write(entry())
        for expected in range(1, 6):
            first.increment_recall_count("service", "a")
            read = first.read("service", "a")
            assert read is not None
            assert read.recall_count == expected
        first.increment_recall_count("service", "nothing there")
        assert [each.recall_count for each in first.list()] == [5]
        second.increment_recall_count("service", "a")
        first.write(entry(key="b"))
        first.increment_recall_count("service", "a")
        first.close()
        second.close()
    with opened(tmp_path / "m.db", mode="ro") as reader:
        assert [each.recall_count for each in reader.list("service")] == [7, 0]
        reader.increment_recall_count("service", "a")
        read = reader.read("service", "a")
        assert read is not None
        assert read.recall_count == 8
    with opened(tmp_path / "m.db") as again:
        assert [each.recall_count for each in again.list("service")] == [7, 0]


@proves("amfs.recalls-put-off")
def test_readings_that_could_not_be_written_are_written_later(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as adapter, opened(path) as other:
        adapter.write(entry())

        def while_writing(_: object) -> None:
            adapter.increment_recall_count("service", "a")
            assert [each.recall_count for each in adapter.list()] == [0]
            assert adapter.read("service", "a").recall_count == 1

        other._database.write(while_writing)
        adapter.increment_recall_count("service", "a")
        assert [each.recall_count for each in adapter.list()] == [2]
    with opened(path) as again:
        assert [each.recall_count for each in again.list()] == [2]


@proves("amfs.recalls-put-off")
def test_readings_of_what_is_nowhere_keep_no_others_back(
    sdk_adapter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    sdk_adapter.write(entry())
    sdk_adapter.increment_recall_count("service", "lost", branch="never made")
    sdk_adapter.increment_recall_count("service", "a")
    assert [each.recall_count for each in sdk_adapter.list()] == [1]
    assert "never made" in caplog.text


@proves("amfs.as-json")
def test_a_value_is_kept_as_the_sdks_models_put_it_in_json(sdk_adapter: Any) -> None:
    value = {"at": datetime(2026, 1, 1, tzinfo=UTC), "in": Path("a/b"), "of": {7}, 5: (1, None)}
    written = sdk_adapter.write(entry(value=value))
    assert written.value == {"at": "2026-01-01T00:00:00Z", "in": "a/b", "of": [7], "5": [1, None]}
    assert sdk_adapter.read(written.entity_path, written.key).value == written.value
    with pytest.raises(AdapterError, match="cannot be stored"):
        sdk_adapter.write(entry(key="other", value=object()))


@proves("amfs.everywhere")
def test_an_empty_path_is_everywhere_in_a_list(sdk_adapter: Any) -> None:
    sdk_adapter.write(entry())
    assert sdk_adapter.list("") == sdk_adapter.list() != []
    assert sdk_adapter.count_entries() == 1
