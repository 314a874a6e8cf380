"""What runs drawn by chance once told apart, each as the shortest story of it."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, Commit, CountedIds, FixedClock, ReferenceAdapter, SearchQuery, SqliteAdapter
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.properties.machine import equal, performed
from parity_tests.scenarios.player import Step, all_pages, call
from parity_tests.state import answers

LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
BEFORE_TIME = "0001-01-01T00:00:00+05:30"
DESCRIBED = Commit(id="c1", author_agent_id="alice", message="why", created_at=LAST)
FOUND: dict[str, list[Step]] = {
    "of two faults of a history the first is named": [
        call("history", "p", "k", since="yesterday", limit=-1),
        call("history", "p", "k", after_version=-1, limit=-1),
    ],
    "a viewer that cannot be written down gets a cursor too": [
        call("write_batch", [draft(key="a"), draft(key="b")]),
        all_pages("\ud800", limit=1),
        all_pages(entity_paths=("\ud800", "svc"), limit=1),
    ],
    "what is no instant is refused though nothing is stored": [
        call("search", SearchQuery(since=BEFORE_TIME)),
        call("search", SearchQuery(until="yesterday", text="x")),
    ],
    "the largest limit is a limit": [
        call("write", draft()),
        all_pages(limit=2**63 - 1),
    ],
    "in far years too a microsecond counts": [
        call("write", draft(key="a", written_at=LAST - timedelta(microseconds=1))),
        call("write", draft(key="b", written_at=LAST)),
        all_pages(sort_by="recency", limit=1),
    ],
    "no commit is added under the id of a description": [
        call("write_batch", [draft(commit_id="c1")]),
        call("save_commit", DESCRIBED),
        call("save_commit", DESCRIBED.model_copy(update={"id": f"{2:016x}"})),
    ],
    "of two faults around a batch the first is named": [
        call("write_batch", [draft(commit_id="\ud800")], idempotency_key="\ud800"),
    ],
    "a private entry named twice at once moves once and tells of it": [
        call("write", private("p", "k", confidence=0.3)),
        call("commit_outcome", outcome("critical_failure", "p/k", at("p", "k", 1))),
        call("list_outcomes"),
    ],
    "what was archived keeps the release that it was written by": [
        call("write", draft(ttl_at="2025-01-01", amfs_version="9")),
        call("archive_expired", author="owner"),
    ],
    "with what is erased goes a tag that holds a NUL": [
        call("write", draft(tags=("a\0b",))),
        call("erase", [at()], author="owner"),
        call("verify"),
    ],
}


@proves("properties.side-by-side")
@pytest.mark.parametrize("story", FOUND)
async def test_what_was_once_told_apart_is_answered_alike(story: str, tmp_path: Path) -> None:
    reference = ReferenceAdapter(outcomes=HANDOFF, clock=FixedClock(), ids=CountedIds())
    sqlite = SqliteAdapter(tmp_path / "memory.db", outcomes=HANDOFF, clock=FixedClock(), ids=CountedIds())
    async with reference, sqlite:
        for step in FOUND[story]:
            equal(await asyncio.gather(performed(reference, step), performed(sqlite, step)), step)
        equal(await asyncio.gather(answers(reference), answers(sqlite)), story)
