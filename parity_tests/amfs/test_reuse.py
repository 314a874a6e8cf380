"""Reuse, as the SDK's server asks for it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.exceptions import AdapterError

from amfs_sqlite import FixedClock
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN
from parity_tests.ledger import proves

NOTHING = {
    "reuses": 0,
    "memories_reused": 0,
    "est_tokens_saved": 0,
    "cross_surface": 0,
    "top": [],
    "by_agent": [],
    "recent_cross_surface": [],
}


@pytest.fixture
def filled(tmp_path: Path) -> SyncSqliteAdapter:
    """Five reads: two of them between agents, one by nobody known."""
    clock = FixedClock(BEGAN)
    adapter = SyncSqliteAdapter(tmp_path / "memory.db", clock=clock)
    for minute, (key, author, reader, tokens) in enumerate(
        [
            ("a", "smith", "scout", 5),
            ("b", "smith", "smith", 9),
            ("a", "smith", "", 1),
            ("c", None, "scout", 0),
        ]
    ):
        clock.set(BEGAN + timedelta(minutes=minute))
        adapter.record_reuse_event(
            "svc", key, written_by=author, reused_by=reader, est_tokens_saved=tokens, surface="read"
        )
    adapter.record_reuse_event("svc", "b", written_by="scout", reused_by="smith", entry_version=2, branch="x")
    return adapter


@proves("servers.reuse")
def test_reads_are_summed_up(filled: SyncSqliteAdapter) -> None:
    told = filled.reuse_summary(since=BEGAN)
    assert {
        name: told[name] for name in ("reuses", "memories_reused", "est_tokens_saved", "cross_surface")
    } == {
        "reuses": 5,
        "memories_reused": 3,
        "est_tokens_saved": 15,
        "cross_surface": 2,
    }
    assert [(each["key"], each["reuses"], each["est_tokens_saved"]) for each in told["top"]] == [
        ("b", 2, 9),
        ("a", 2, 6),
        ("c", 1, 0),
    ]
    assert told["by_agent"] == [{"agent_id": "scout", "reuses": 2}, {"agent_id": "smith", "reuses": 2}]
    assert [(each["written_by"], each["reused_by"]) for each in told["recent_cross_surface"]] == [
        ("scout", "smith"),
        ("smith", "scout"),
    ]
    assert told["recent_cross_surface"][1]["at"] == BEGAN.isoformat()


@proves("servers.reuse")
@pytest.mark.parametrize(
    ("asked", "reuses"),
    [
        ({"agent": "scout"}, 2),
        ({"writer": "smith"}, 3),
        ({"agent": "smith", "writer": "smith"}, 1),
        ({"visible_agents": {"smith"}}, 2),
        ({"visible_agents": ["smith"], "agent": "scout"}, 0),
        ({"visible_agents": ["smith"], "writer": "scout"}, 0),
        ({"visible_agents": []}, 0),
        ({"since": BEGAN + timedelta(minutes=3)}, 2),
    ],
    ids=str,
)
def test_the_window_is_narrowed(filled: SyncSqliteAdapter, asked: dict[str, Any], reuses: int) -> None:
    told = filled.reuse_summary(**{"since": BEGAN} | asked)
    assert told["reuses"] == reuses
    if not reuses:
        assert told == NOTHING


@proves("servers.reuse")
def test_lists_are_cut_and_nothing_is_lost_among_threads(filled: SyncSqliteAdapter) -> None:
    with ThreadPoolExecutor(8) as threads:
        threads.map(lambda n: filled.record_reuse_event("svc", f"k{n}", reused_by="scout"), range(40))
    told = filled.reuse_summary(since=BEGAN, limit=2)
    assert told["reuses"] == 45
    assert (len(told["top"]), len(told["by_agent"])) == (2, 2)


@proves("servers.reuse")
def test_what_cannot_be_recorded_is_refused(sdk_adapter: SyncSqliteAdapter) -> None:
    with pytest.raises(AdapterError, match="est_tokens_saved"):
        sdk_adapter.record_reuse_event("svc", "a", est_tokens_saved=-1)
    with pytest.raises(AdapterError, match="entity_path"):
        sdk_adapter.record_reuse_event("", "a")
    assert sdk_adapter.reuse_summary(since=BEGAN) == NOTHING
