"""What of branches is told elsewhere: in the log, to watches, by requests and by erasures."""

from typing import Any

import pytest

from amfs_sqlite import EntryNotFoundError
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.protocol import Entries
from parity_tests.contract.soundness import is_sound
from parity_tests.contract.test_branches import Branched, make, put
from parity_tests.drafts import at, draft, private
from parity_tests.ledger import proves
from parity_tests.state import plain


@proves("branches.logged")
async def test_the_log_tells_what_was_done_on_which_branch(adapter: Branched) -> None:
    base = await put(adapter, "a", 1)
    await make(adapter)
    own = await put(adapter, "own", 1, "trial", agent="bob")
    await adapter.fork_agent("bob", "copy", branch="trial")
    await put(adapter, "a", 2, "trial")
    await adapter.merge_branch("trial")
    await make(adapter, "second")
    await adapter.rollback_to_timestamp("bob", "second", "2025-01-01")
    log = (await adapter.list_commits())[::-1]
    told = [(each.branch, each.kind, each.message, each.author_agent_id) for each in log]
    assert told == [
        ("main", "write", "", "alice"),
        ("trial", "write", "", "bob"),
        ("main", "write", "fork of bob", "copy"),
        ("trial", "write", "", "alice"),
        ("main", "write", "merge trial", "alice"),
        ("second", "write", "rollback", "bob"),
    ]
    parents = [each.parent_ids for each in log]
    ids = [(each.id,) for each in log]
    assert parents == [(), ids[0], ids[0], ids[1], ids[2], ids[4]]
    assert (base.commit_id, own.commit_id) == (log[0].id, log[1].id)
    listed = [[(entry.key, entry.version) for entry in each.entries] for each in log]
    assert listed[3:] == [[("a", 2)], [("a", 2)], [("a", 3), ("own", 2)]]
    assert await adapter.common_ancestor(log[3].id, log[2].id) == log[0].id


@proves("branches.logged")
async def test_what_is_private_on_a_branch_is_hidden_in_the_log_and_hides_nothing_else(
    adapter: Branched,
) -> None:
    await make(adapter)
    await adapter.on_branch("trial").write(private(key="own"))
    await adapter.write(draft(key="own", agent="bob"))
    seen = await adapter.list_commits(viewer="bob")
    assert [(each.branch, [entry.key for entry in each.entries]) for each in seen] == [("main", ["own"])]
    await adapter.erase([at(key="own")], author="owner")
    [erased] = await adapter.list_commits(limit=1, viewer="bob")
    assert (erased.branch, erased.kind, len(erased.entries)) == ("main", "erase", 1)


@proves("branches.recorded")
async def test_what_a_request_on_a_branch_returned_is_recorded(adapter: Branched) -> None:
    await put(adapter, "a", 1)
    await make(adapter)
    first = await adapter.on_branch("trial").write(draft(key="a", value=2), idempotency_key="k")
    await put(adapter, "a", 3)
    recorded = await adapter.recorded_result("k", author="alice")
    assert recorded is not None
    assert (recorded.commit.branch, plain(recorded.entries)) == ("trial", [plain(first)])


@proves("branches.heard")
async def test_watches_hear_of_main_and_of_what_is_merged_there(adapter: Branched) -> None:
    heard: list[tuple[str, int, Any]] = []
    await adapter.watch(None, lambda entry: heard.append((entry.key, entry.version, entry.value)))
    await make(adapter)
    await put(adapter, "a", "trial", "trial")
    assert heard == []
    await put(adapter, "b", "main", MAIN_BRANCH)
    assert heard == [("b", 1, "main")]
    await adapter.merge_branch("trial")
    assert heard == [("b", 1, "main"), ("a", 1, "trial")]
    changes = [event.entry async for event in adapter.changes(follow=False)]
    assert [(each.key, each.version, each.value) for each in changes] == heard


@proves("branches.erased")
async def test_an_erasure_reaches_every_branch_and_pruning_leaves_what_one_shows(adapter: Branched) -> None:
    await put(adapter, "stood on", "base")
    await make(adapter)
    for value in ("later", "latest"):
        await put(adapter, "stood on", value)
    await put(adapter, "stood on", "trial", "trial")
    await put(adapter, "own", 1, "trial")
    pruned = await adapter.prune(keep_last=1, author="owner")
    assert [each.version for each in pruned.versions] == [2]
    assert (await adapter.erase([at(key="own")], author="owner", dry_run=True)).commit_ids == ()
    with pytest.raises(EntryNotFoundError):
        await adapter.erase([at(key="own", version=2)], author="owner")
    report = await adapter.erase([at(key="own"), at(key="stood on")], author="owner")
    assert [(each.key, each.version) for each in report.versions] == [
        ("stood on", 1),
        ("stood on", 3),
        ("stood on", 2),
        ("own", 1),
    ]
    log = await adapter.list_commits(limit=2)
    assert [commit.branch for commit in log] == ["trial", "main"]
    for branch in ("trial", MAIN_BRANCH):
        there: Entries = adapter.on_branch(branch)
        assert {each.withdrawn for each in await there.list(include_superseded=True)} == {"erased"}
    assert await is_sound(adapter)
