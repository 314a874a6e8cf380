"""The logs are read page by page, and nobody can tell where a page ends."""

from collections.abc import Sequence

import pytest

from amfs_sqlite import HANDOFF, Commit, CommitEntry, SqliteAdapter
from amfs_sqlite.sqlite import changes, transaction
from parity_tests.contract.test_changes import everything
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves

VIEWERS = (None, "alice", "bob")
LIMITS = (None, 0, 1, 2, 3, 5)


async def filled(adapter: SqliteAdapter) -> None:
    """A store whose log holds, one after the other, what is hidden from one viewer or another."""
    for agent in ("alice", "bob") * 3:
        await adapter.write_batch([private("a", agent, agent=agent), private("b", agent, agent=agent)])
        await adapter.commit_outcome(outcome("success", at("a", agent), at("b", agent), agent=agent))
    await adapter.write(draft("a", "k"))
    await adapter.commit_outcome(outcome("success", at("a", "k"), at("a", "bob"), agent="bob"))
    listed = [CommitEntry(entity_path="a", key=key, version=1) for key in ("alice", "bob")]
    await adapter.save_commit(
        Commit.from_wire(
            {
                "id": "from outside",
                "authorAgentId": "carol",
                "entries": [each.to_wire() for each in listed],
                "createdAt": "2026-01-01",
            }
        )
    )


async def logs(adapter: SqliteAdapter) -> Sequence[object]:
    """Both logs as every viewer sees them, cut at every limit."""
    found: list[object] = []
    for viewer in VIEWERS:
        for limit in LIMITS:
            found.append(await adapter.list_commits(limit=limit, viewer=viewer))
            found.append(await adapter.list_outcomes(limit=limit, viewer=viewer))
            found.append(await adapter.list_outcomes(entity_path="a", limit=limit, viewer=viewer))
    return found


@proves("ours.pages")
@pytest.mark.parametrize("page_rows", [1, 2, 3])
async def test_the_logs_are_the_same_however_many_rows_a_page_has(
    path: str, monkeypatch: pytest.MonkeyPatch, page_rows: int
) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await filled(adapter)
        whole = await logs(adapter)
        assert len(await adapter.list_commits()) == 15
        assert len(await adapter.list_commits(viewer="bob")) == 9
        monkeypatch.setattr(transaction, "PAGE_ROWS", page_rows)
        assert await logs(adapter) == whole


@proves("ours.pages")
async def test_long_values_end_a_batch_of_changes_and_lose_none(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await filled(adapter)
        whole = await everything(adapter)
        monkeypatch.setattr(changes, "BATCH_CHARACTERS", 0)
        assert await everything(adapter) == whole
        assert len(whole) == 13 + 5
