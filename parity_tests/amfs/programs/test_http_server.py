"""The SDK's HTTP server on a file of ours, asked by the SDK's own client of it."""

import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from amfs_core.models import MemoryEntry, OutcomeRecord, OutcomeType, Provenance, SearchQuery

from parity_tests.amfs.programs.processes import PATIENCE_S, RUN, TEST_PATIENCE_S, Place, Server, needs
from parity_tests.ledger import proves

SERVER = (*RUN, "amfs-http", "--host", "127.0.0.1", "--port", "0")
WRITTEN = Provenance(agent_id="scout", session_id="s1", written_at=datetime(2026, 1, 1, tzinfo=UTC))

pytestmark = [
    pytest.mark.timeout(TEST_PATIENCE_S),
    needs("amfs_http", "amfs-http-server"),
    needs("amfs_adapter_http", "amfs-adapter-http"),
]


@contextmanager
def served(place: Place, *more: str) -> Iterator[tuple[Server, str]]:
    """A server on a port of its own, and its address."""
    with place.serving(*SERVER, *more) as server:
        told = server.line_with("Uvicorn running on ")
        server.line_with("Application startup complete")
        yield server, next(word for word in told.split() if word.startswith("http://"))


@contextmanager
def client(url: str) -> Iterator[Any]:
    """The SDK's adapter for a server. Its method named ``list`` spoils its own annotations."""
    from amfs_adapter_http import HttpAdapter  # noqa: PLC0415 - where it is installed

    adapter = HttpAdapter(url, "")
    try:
        yield adapter
    finally:
        adapter._client.close()


def entry(key: str, value: Any) -> MemoryEntry:
    """One to be written under svc/api."""
    return MemoryEntry(entity_path="svc/api", key=key, value=value, provenance=WRITTEN)


def got(url: str, path: str, **params: str) -> Any:
    """What the server answers to a GET."""
    return answered("GET", url, path, params=params)


def answered(method: str, url: str, path: str, **more: Any) -> Any:
    """What the server answers, which must be no error."""
    import httpx  # noqa: PLC0415 - comes with the server

    answer = httpx.request(method, f"{url}/api/v1/{path}", timeout=PATIENCE_S, **more)
    return answer.raise_for_status().json()


@proves("programs.http-server")
def test_the_client_of_the_server_reads_finds_and_credits_what_it_wrote(place: Place) -> None:
    with served(place) as (_, url), client(url) as memory:
        assert memory.read("svc/api", "retry") is None
        assert [memory.write(entry("retry", f"{count} retries")).version for count in (3, 5)] == [1, 2]
        memory.write(entry("limits/burst", {"most": 10}))
        read = memory.read("svc/api", "retry")
        assert read is not None
        assert (read.version, read.value, read.provenance.agent_id) == (2, "5 retries", "scout")
        # Only the route that takes the key apart from the path can mean this one.
        slashed = memory.read("svc/api", "limits/burst")
        assert slashed is not None
        assert slashed.value == {"most": 10}
        assert memory.read("svc/api/limits", "burst") is None
        assert [each.key for each in memory.list("svc/api")] == ["limits/burst", "retry"]
        assert [each.key for each in memory.search(SearchQuery(query="retries"))] == ["retry"]
        assert "retry" in [found.key for found, _, _ in memory.retrieve("retries")]
        outcome = OutcomeRecord(
            outcome_ref="run-1",
            outcome_type=OutcomeType.FAILURE,
            causal_entry_keys=["svc/api/retry"],
            agent_id="scout",
            committed_at=WRITTEN.written_at,
        )
        (moved,) = memory.commit_outcome(outcome)
        assert (moved.key, moved.version, moved.outcome_count) == ("retry", 3, 1)
        assert moved.confidence < read.confidence
        assert memory.stats().total_entries == 2


@proves("programs.http-server")
def test_a_list_is_paged_and_leaves_out_what_is_private_to_others(place: Place) -> None:
    private = Provenance(agent_id="executor", session_id="s2", written_at=WRITTEN.written_at)
    with served(place) as (_, url), client(url) as memory:
        for key in ("a/1", "b", "c"):
            memory.write(entry(key, key))
        memory.write(entry("b/private", 1).model_copy(update={"provenance": private, "shared": False}))
        first = got(url, "entries", entity_path="svc/api", limit="2")
        last = got(url, "entries", entity_path="svc/api", limit="2", offset="2")
    assert [each["key"] for page in (first, last) for each in page["entries"]] == ["a/1", "b", "c"]
    assert (first["total"], last["total"]) == (3, 3)


@proves("programs.http-server")
def test_histories_commits_checks_and_briefings_are_served(place: Place) -> None:
    with served(place) as (_, url), client(url) as memory:
        for count in (3, 5):
            memory.write(entry("limits/retry", count))
        history = got(url, "history", entity_path="svc/api", key="limits/retry")
        assert [each["value"] for each in history["versions"]] == [3, 5]
        writes = [{"entity_path": "svc/api", "key": key, "value": key} for key in ("a", "b")]
        commit = memory.commit_batch(writes, message="two at once", agent_id="scout", session_id="s1")
        assert commit is not None
        assert [each.key for each in commit.entries] == ["a", "b"]
        assert commit in memory.list_commits(namespace="team")
        assert memory.get_commit(commit.id) == commit
        report = answered("POST", url, "verify", json={})
        assert (report["corrupted"], report["chain_breaks"]) == ([], [])
        assert got(url, "health")["status"] == "ok"
        assert "digests" in got(url, "briefing", entity_path="svc/api")


@proves("programs.one-file")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that asks a server to end")
def test_servers_with_workers_share_the_file_with_the_next_one_and_end_when_asked(place: Place) -> None:
    keys = [f"k{number}" for number in range(8)]
    with served(place, "--workers", "2") as (server, url), client(url) as memory:
        with ThreadPoolExecutor(len(keys)) as threads:
            written = list(threads.map(lambda key: memory.write(entry(key, key)), keys))
        assert [each.version for each in written] == [1] * len(keys)
        server.process.send_signal(signal.SIGINT)
        assert server.ended() == 0
    with served(place) as (server, url), client(url) as memory:
        assert [each.value for each in memory.list("svc/api")] == keys
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == -signal.SIGTERM
