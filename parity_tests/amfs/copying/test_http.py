"""To the SDK's HTTP server through the SDK's own adapter, and back."""

from pathlib import Path

import pytest

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.copying.commands import copied, entry, filled, killed_copy, versions
from parity_tests.amfs.programs.processes import TEST_PATIENCE_S, Place, needs
from parity_tests.amfs.programs.test_http_server import served
from parity_tests.ledger import proves

pytestmark = [
    pytest.mark.timeout(TEST_PATIENCE_S),
    needs("amfs_http", "amfs-http-server"),
    needs("amfs_adapter_http", "amfs-adapter-http"),
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Where a server finds its configuration."""
    folder = tmp_path / "server"
    folder.mkdir()
    return Place(folder)


@proves("copying.http")
def test_a_memory_goes_to_a_server_and_comes_back_with_its_history(tmp_path: Path, place: Place) -> None:
    source, back = filled(tmp_path / "memory.db"), tmp_path / "back.db"
    with served(place) as (_, url):
        there = copied(source, url)
        assert there.counts("stored") == {"entries": 5, "outcomes": 1, "traces": 1, "events": 1}
        assert there.counts("missing") == {}
        # What a server makes itself, and what its client does not send.
        assert "provenance" in there.differences("changed")
        assert "success_count" in there.differences("absent")
        assert {"agents", "edges"} <= there.counts("leftOut").keys()
        again = copied(url, back)
    assert again.counts("missing") == {}
    for ours, theirs in zip(versions(source), versions(back), strict=True):
        for name in ("entity_path", "key", "version", "value", "confidence"):
            assert ours[name] == theirs[name]
        for name in ("agent_id", "session_id"):
            assert ours["provenance"][name] == theirs["provenance"][name]


@proves("copying.twice")
def test_a_server_that_holds_it_all_is_not_written_to_again(tmp_path: Path, place: Place) -> None:
    source = filled(tmp_path / "memory.db")
    with served(place) as (_, url):
        first, second = copied(source, url), copied(source, url)
    assert (second.counts("stored"), second.counts("missing")) == ({}, {})
    assert second.counts("held") == first.counts("stored")


@proves("copying.killed")
@pytest.mark.parametrize(("method", "let_pass"), [("commit_outcome", 0), ("write", 3), ("save_trace", 0)])
def test_a_copy_to_a_server_that_was_killed_is_complete_when_it_is_run_again(
    tmp_path: Path, place: Place, method: str, let_pass: int
) -> None:
    source = filled(tmp_path / "memory.db")
    with served(place) as (_, url):
        killed_copy(source, url, method, let_pass)
        assert copied(source, url).counts("missing") == {}
        held = {"entries": 5, "outcomes": 1, "traces": 1, "events": 1}
        assert (copied(source, url).counts("held"), copied(source, url).counts("stored")) == (held, {})


@proves("copying.told")
def test_what_a_server_would_not_show_again_is_left_out_and_told(tmp_path: Path, place: Place) -> None:
    source = tmp_path / "memory.db"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "shared", 1, 0))
        memory.write(entry("svc", "private", 1, 1, "executor", shared=False))
    with served(place) as (_, url):
        for stored in ({"entries": 1}, {}):
            done = copied(source, url)
            assert (done.code, done.counts("stored"), done.counts("missing")) == (1, stored, {})
            assert done.left_out().keys() == {"svc/private@1"}
    with SyncSqliteAdapter(place.db, namespace="team") as memory:
        assert [each.key for each in memory.list(include_superseded=True)] == ["shared"]
