"""Both adapters with branches: the same story, the same answers, to the last digest."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock
from amfs_sqlite.protocol import Branches
from parity_tests.adapters import KINDS, AdapterOpener
from parity_tests.contract.test_branches import Branched, make, put
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import answers, text

STORY: Sequence[tuple[str, Callable[[Any], Awaitable[object]]]] = (
    ("2026-01-01T00:00:00Z", lambda adapter: put(adapter, "a", {"x": [1, 2]}, tags=("t",), custom=1)),
    ("2026-01-01T00:01:00Z", lambda adapter: adapter.write(private(key="b", agent="bob"))),
    ("2026-01-01T00:02:00Z", lambda adapter: make(adapter, "outer", description="first")),
    ("2026-01-01T00:03:00Z", lambda adapter: put(adapter, "a", {"x": [1], "y": None}, "outer", agent="bob")),
    ("2026-01-01T00:04:00Z", lambda adapter: put(adapter, "a", 2)),
    ("2026-01-01T00:05:00Z", lambda adapter: make(adapter, "inner", "outer")),
    ("2026-01-01T00:06:00Z", lambda adapter: adapter.commit_outcome(outcome("failure", at(key="a")))),
    ("2026-01-01T00:07:00Z", lambda adapter: adapter.on_branch("inner").write(private(key="b", value="i"))),
    (
        "2026-01-01T00:08:00Z",
        lambda adapter: adapter.on_branch("inner").write_batch(
            [draft(key="c"), draft(key="c", value=2, confidence=0.3), draft(key="a", ttl_at="2026-01-01")],
            idempotency_key="k",
        ),
    ),
    ("2026-01-01T00:09:00Z", lambda adapter: adapter.merge_branch("outer")),
    (
        "2026-01-01T00:10:00Z",
        lambda adapter: adapter.rollback_to_timestamp("bob", "inner", "2026-01-01T00:07:30"),
    ),
    ("2026-01-01T00:11:00Z", lambda adapter: adapter.recorded_result("k", author="alice")),
    ("2026-01-01T00:12:00Z", lambda adapter: adapter.prune(keep_last=1, author="owner")),
    ("2026-01-01T00:13:00Z", lambda adapter: adapter.merge_branch("outer", strategy="branch_wins")),
    ("2026-01-01T00:14:00Z", lambda adapter: adapter.fork_agent("alice", "copy", branch="inner")),
    ("2026-01-01T00:15:00Z", lambda adapter: make(adapter, "third")),
    ("2026-01-01T00:16:00Z", lambda adapter: put(adapter, "a", "third", "third")),
    (
        "2026-01-01T00:17:00Z",
        lambda adapter: adapter.rollback_to_timestamp("bob", "main", "2026-01-01T00:01:30"),
    ),
    (
        "2026-01-01T00:18:00Z",
        lambda adapter: adapter.merge_branch("third", resolve_conflicts={"svc/a/a": "main"}),
    ),
    ("2026-01-01T00:19:00Z", lambda adapter: adapter.erase([at(key="a")], author="owner")),
    ("2026-01-01T00:20:00Z", lambda adapter: adapter.erase(written_by="alice", author="owner")),
)


@pytest.fixture
async def ours(tmp_path: Path, clock: FixedClock) -> AsyncIterator[list[Branched]]:
    async with AsyncExitStack() as opened:
        adapters: list[Any] = [await AdapterOpener(kind, tmp_path, clock, opened)() for kind in KINDS]
        yield adapters


async def everything(adapter: AmfsAdapter) -> str:
    """All answers, to the owner and to others, and what the log comes to."""
    seen = [await answers(adapter, viewer) for viewer in (None, "alice", "bob", "nobody")]
    return text([*seen, await adapter.anchor()])


@proves("branches.alike")
async def test_our_adapters_answer_alike_after_every_step(ours: list[Branched], clock: FixedClock) -> None:
    beginnings = []
    for moment, step in STORY:
        clock.set(moment)
        results = [text(await step(adapter)) for adapter in ours]
        assert set(results) == {results[0]}
        told = [await everything(adapter) for adapter in ours]
        assert set(told) == {told[0]}
        assert (await ours[0].verify()).ok
        beginnings.append([await adapter.anchor() for adapter in ours])
    for anchors in beginnings:
        reports = [
            text(await adapter.verify(since=anchor)) for adapter, anchor in zip(ours, anchors, strict=True)
        ]
        assert set(reports) == {reports[0]}
    assert isinstance(ours[0], Branches)
