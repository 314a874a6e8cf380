"""Digests, as the SDK's servers and its briefing ask for them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.exceptions import AdapterError
from amfs_core.models import Branch, Digest, DigestType

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN, entry
from parity_tests.ledger import proves

ENTITY, BRIEF, SOURCE = DigestType.ENTITY, DigestType.AGENT_BRIEF, DigestType.SOURCE


def digest(scope: str, kind: DigestType = ENTITY, minute: int = 0, **fields: Any) -> Digest:
    compiled_at = BEGAN + timedelta(minutes=minute)
    named: dict[str, Any] = {
        "digest_type": kind,
        "scope": scope,
        "compiled_at": compiled_at,
        "summary": {"about": scope},
    }
    return Digest(**named | fields)


@proves("servers.digests")
def test_a_digest_is_stored_whole_and_takes_the_place_of_the_one_before(
    sdk_adapter: SyncSqliteAdapter,
) -> None:
    whole = digest(
        "svc",
        summary={"é": [1.5, None]},
        entry_count=3,
        source_agents=["scout"],
        staleness_ms=7,
        anticipation_score=0.5,
    )
    sdk_adapter.upsert_digest(digest("svc"))
    sdk_adapter.upsert_digest(whole)
    sdk_adapter.upsert_digest(digest("svc", BRIEF))
    sdk_adapter.upsert_digest(digest("svc", branch="x"))
    sdk_adapter.upsert_digest(digest("svc", namespace="team"))
    assert sdk_adapter.get_digest(ENTITY, "svc") == whole
    assert sdk_adapter.get_digest(SOURCE, "svc") is None
    assert sdk_adapter.get_digest(ENTITY, "svc", "team") == digest("svc", namespace="team")
    assert len(sdk_adapter.list_digests()) == 2
    assert sdk_adapter.list_digests(namespace="default", branch="x") == [digest("svc", branch="x")]


@proves("servers.digests")
@pytest.mark.parametrize(
    ("asked", "scopes"),
    [
        ({}, ["scout", "svc/b", "svc/a", "team"]),
        ({"digest_type": ENTITY}, ["svc/b", "svc/a"]),
        ({"scope": "svc/a"}, ["svc/a"]),
        ({"limit": 1}, ["scout"]),
        ({"written_by": "scout"}, ["svc/a"]),
        ({"written_by": "nobody"}, []),
        ({"relevant_to": ["team", "", "B-"]}, ["svc/b", "team"]),
        ({"relevant_to": [""]}, ["scout", "svc/b", "svc/a", "team"]),
        ({"relevant_to": ["svc/a"], "digest_type": BRIEF}, ["scout"]),
    ],
    ids=str,
)
def test_digests_are_found(sdk_adapter: SyncSqliteAdapter, asked: dict[str, Any], scopes: list[str]) -> None:
    for key, path in enumerate(["svc/a", "svc/a", "_system/x"]):
        sdk_adapter.write(entry(path, f"k{key}"))
    sdk_adapter.upsert_digest(digest("svc/a", minute=1))
    sdk_adapter.upsert_digest(digest("svc/b", minute=1, summary={"deep": [{"B-1": 1}]}, entry_count=1))
    sdk_adapter.upsert_digest(digest("scout", BRIEF, minute=3, summary={"paths": ["svc/a"]}))
    sdk_adapter.upsert_digest(digest("team", SOURCE, minute=0, summary={}))
    sdk_adapter.upsert_digest(digest("svc/b", minute=2, summary={"deep": [{"B-1": 1}]}))
    assert [each.scope for each in list[Digest](sdk_adapter.list_digests(**asked))] == scopes


@proves("servers.digests")
def test_who_wrote_is_asked_of_a_branch_as_it_shows(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.write(entry("svc/a"))
    sdk_adapter.write(entry("svc/b"))
    sdk_adapter.create_branch(Branch(name="trial", created_by="scout", branched_at=BEGAN))
    sdk_adapter.write(entry("svc/b", agent_id="other", branch="trial"))
    sdk_adapter.write(entry("svc/c", branch="trial"))
    for minute, scope in enumerate(("svc/c", "svc/b", "svc/a")):
        sdk_adapter.upsert_digest(digest(scope, minute=minute, branch="trial"))
    found = list[Digest](sdk_adapter.list_digests(branch="trial", written_by="scout"))
    assert [each.scope for each in found] == ["svc/a", "svc/c"]


@proves("servers.digests")
def test_the_sdk_briefs_from_them(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.upsert_digest(digest("svc"))
    sdk_adapter.upsert_digest(digest("other"))
    memory = AgentMemory("scout", adapter=sdk_adapter)
    briefed = list[Digest](memory.briefing(entity_path="svc", credit_reuse=False))
    assert [each.scope for each in briefed] == ["svc"]


@proves("servers.digests")
def test_threads_that_compile_the_same_leave_one_digest(sdk_adapter: SyncSqliteAdapter) -> None:
    with ThreadPoolExecutor(8) as threads:
        [*threads.map(lambda n: sdk_adapter.upsert_digest(digest("svc", minute=n)), range(40))]
    assert len(sdk_adapter.list_digests()) == 1


@proves("servers.digests")
def test_what_is_no_digest_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    given: Any = {"scope": "svc"}
    with pytest.raises(AdapterError, match="digest is"):
        sdk_adapter.upsert_digest(given)
    with pytest.raises(AdapterError, match="summary"):
        sdk_adapter.upsert_digest(digest("svc", summary={"a": float("nan")}))
    wrong: Any = "entity"
    with pytest.raises(AdapterError, match="digest_type"):
        sdk_adapter.get_digest(wrong, "svc")
    assert sdk_adapter.list_digests() == []
