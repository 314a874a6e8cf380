"""Privacy: to other agents a private version does not exist, whatever they ask."""

from typing import Any

import pytest

from amfs_sqlite import (
    AmfsAdapter,
    Commit,
    FixedClock,
    InvalidArgumentError,
    Outcome,
    SearchQuery,
    VersionConflictError,
    Write,
)
from amfs_sqlite.models import Change
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.state import refused, state


async def secretive(adapter: AmfsAdapter) -> None:
    """What bob keeps to himself, beside what he shares."""
    await adapter.write(draft("open", "k", "public", agent="bob"))
    await adapter.write(private("hush/path", "hush-key", "hush value", agent="bob", tags=("hush",)))
    await adapter.write(private("open", "k", "hush value", agent="bob", session="hush-session"))


@proves("privacy.reads")
async def test_no_answer_holds_anything_of_what_is_private(adapter: AmfsAdapter) -> None:
    await secretive(adapter)
    await told_to_nobody(adapter)


@proves("privacy.outcomes", "privacy.reads")
async def test_no_answer_holds_anything_of_an_outcome_about_what_is_private(adapter: AmfsAdapter) -> None:
    await secretive(adapter)
    record = outcome("failure", "hush/path/hush-key", "open/k", agent="bob", note="hush note")
    await adapter.commit_outcome(record)
    await told_to_nobody(adapter)


@proves("privacy.commits", "privacy.reads")
async def test_no_answer_holds_anything_of_a_commit_of_what_is_private(adapter: AmfsAdapter) -> None:
    await secretive(adapter)
    changes: list[Change] = [Write(private("open", "hush-2", agent="bob")), Outcome(outcome(agent="bob"))]
    await adapter.commit(changes, author="bob", message="hush message")
    await told_to_nobody(adapter)


async def told_to_nobody(adapter: AmfsAdapter) -> None:
    """See that others are told nothing of bob's secrets, and that he and the owner are."""
    for viewer in ("alice", "", "Bob", "bob ", "b%"):
        assert "hush" not in await state(adapter, viewer)
    for insider in ("bob", None):
        assert (await state(adapter, insider)).count("hush value") > 5


@proves("privacy.reads")
@pytest.mark.parametrize(("viewer", "sees"), [(None, True), ("bob", True), ("alice", False)])
async def test_only_the_author_and_the_owner_see_a_private_version(
    adapter: AmfsAdapter, viewer: str | None, sees: bool
) -> None:
    await adapter.write(private("p", "k", agent="bob"))
    assert bool(await adapter.read("p", "k", viewer=viewer)) is sees
    assert bool(await adapter.read_at_version("p", "k", 1, viewer=viewer)) is sees
    for listed in (
        await adapter.history("p", "k", viewer=viewer),
        await adapter.list(viewer=viewer),
        await adapter.list("p", include_superseded=True, descendants=False, viewer=viewer),
    ):
        assert bool(listed) is sees


@proves("privacy.statistics")
@pytest.mark.parametrize(("viewer", "sees"), [(None, True), ("bob", True), ("alice", False)])
async def test_only_the_author_and_the_owner_see_a_summary_of_what_is_private(
    adapter: AmfsAdapter, viewer: str | None, sees: bool
) -> None:
    await adapter.write(private("p", "k", agent="bob"))
    assert bool(await adapter.scopes(viewer=viewer)) is sees


@proves("privacy.commits")
@pytest.mark.parametrize(("viewer", "sees"), [(None, True), ("bob", True), ("alice", False)])
async def test_only_the_author_and_the_owner_see_a_commit_of_what_is_private(
    adapter: AmfsAdapter, viewer: str | None, sees: bool
) -> None:
    await adapter.write(private("p", "k", agent="bob"))
    assert bool(await adapter.list_commits(viewer=viewer)) is sees


@proves("privacy.search")
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"entity_path": "p"},
        {"key": "k"},
        {"tag": "t"},
        {"text": "word"},
        {"min_confidence": 0.5},
        {"sort_by": "oldest"},
    ],
    ids=str,
)
async def test_no_search_finds_or_counts_what_is_private(adapter: AmfsAdapter, query: dict[str, Any]) -> None:
    hidden = {"agent": "bob", "tags": ("t",)}
    await adapter.write(private("p", "k", "word", **hidden))
    await adapter.write(private("p", "low", "word", confidence=0.1, **hidden))
    await adapter.write(private("p", "old", "word", ttl_at="2020-01-01", **hidden))
    asked = SearchQuery.model_validate(query)
    page = await adapter.search(asked, viewer="alice")
    assert (page.entries, page.next_cursor) == ((), None)
    assert (page.below_confidence_count, page.expired_count) == (0, 0)
    assert (await adapter.search(asked, viewer="bob")).entries


@proves("privacy.rows")
async def test_a_hidden_current_version_does_not_bring_the_older_one_back(
    adapter: AmfsAdapter,
) -> None:
    await adapter.write(draft("p", "k", "first word"))
    await adapter.write(private("p", "k", "second word", agent="bob"))
    assert await adapter.read("p", "k", viewer="alice") is None
    assert list(await adapter.list(viewer="alice")) == []
    older = await adapter.read_at_version("p", "k", 1, viewer="alice")
    assert older is not None
    assert older.value == "first word"
    for rows in (
        await adapter.history("p", "k", viewer="alice"),
        await adapter.list(include_superseded=True, viewer="alice"),
    ):
        assert [each.version for each in rows] == [1]


@proves("privacy.search", "privacy.rows")
async def test_a_search_does_not_find_the_version_before_a_hidden_one(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "k", "first word"))
    await adapter.write(private("p", "k", "second word", agent="bob"))
    assert (await adapter.search(SearchQuery(text="word"), viewer="alice")).entries == ()
    assert len((await adapter.search(SearchQuery(text="word"), viewer="bob")).entries) == 1


@proves("privacy.one-sequence")
async def test_versions_stay_one_sequence_whoever_may_see_them(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "k", 1, agent="alice"))
    await adapter.write(private("p", "k", 2, agent="bob"))
    third = await adapter.write(draft("p", "k", 3, agent="alice"))
    assert third.version == 3
    seen = await adapter.history("p", "k", viewer="alice")
    assert [each.version for each in seen] == [1, 3]
    assert await is_sound(adapter)
    paged = await adapter.history("p", "k", after_version=1, limit=1, viewer="alice")
    assert [each.version for each in paged] == [3]


@proves("privacy.conflicts", "errors.version-conflict")
@pytest.mark.parametrize(("writer", "named"), [("alice", None), ("bob", "bob")])
async def test_a_conflict_does_not_name_the_author_of_a_private_version(
    adapter: AmfsAdapter, writer: str, named: str | None
) -> None:
    await adapter.write(private("p", "k", agent="bob"))
    attempt = adapter.write(draft("p", "k", agent=writer), expected_version=0)
    error = await refused(adapter, attempt, VersionConflictError)
    assert (error.actual, error.actual_agent_id) == (1, named)
    if named is None:
        assert "bob" not in str(error)


@proves("privacy.commits")
async def test_a_batch_shows_a_viewer_its_visible_part(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", "open", agent="bob"), private("p", "hidden", agent="bob", value=2)])
    (whole,) = await adapter.list_commits()
    (seen,) = await adapter.list_commits(viewer="alice")
    assert [each.key for each in seen.entries] == ["open"]
    assert whole.tree_hash not in (None, seen.tree_hash)
    assert await adapter.get_commit(whole.id, viewer="alice") == seen
    assert await adapter.get_commit(whole.id, viewer="bob") == whole


@proves("privacy.commits")
async def test_a_commit_shows_a_viewer_its_visible_part(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", "open", agent="bob"), private("p", "hidden", agent="bob", value=2)])
    record = outcome("failure", "p/open", "p/hidden", agent="bob")
    await adapter.commit_outcome(record)
    whole = await adapter.list_commits()
    seen = await adapter.list_commits(viewer="alice")
    assert [[each.key for each in commit.entries] for commit in seen] == [["open"], ["open"]]
    assert [each.key for each in seen[0].effects] == ["open"]
    hashes = {each.tree_hash for each in whole}
    assert None not in hashes
    assert hashes.isdisjoint(each.tree_hash for each in seen)
    for hidden, shown in zip(whole, seen, strict=True):
        assert await adapter.get_commit(hidden.id, viewer="alice") == shown
        assert await adapter.get_commit(hidden.id, viewer="bob") == hidden
        assert (shown.id, shown.sequence) == (hidden.id, hidden.sequence)


@proves("privacy.commits")
async def test_a_commit_with_nothing_left_to_see_is_not_there(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "before"))
    hidden = await adapter.write(private("p", "k", agent="bob"))
    await adapter.save_commit(Commit(id="bare", author_agent_id="carol", created_at=hidden.written_at))
    result = await adapter.commit([Write(private("p", "k", agent="bob"))], author="alice")
    assert [each.sequence for each in await adapter.list_commits(viewer="carol")] == [3, 1]
    assert await adapter.get_commit(hidden.commit_id or "", viewer="carol") is None
    # Its own author still sees that it made a commit, and nothing of what is in it.
    own = await adapter.get_commit(result.commit.id, viewer="alice")
    assert own is not None
    assert (own.entries, own.tree_hash) == ((), None)
    pages = await adapter.list_commits(viewer="carol", limit=1)
    assert [each.id for each in pages] == ["bare"]
    following = await adapter.list_commits(viewer="carol", limit=1, before=3)
    assert [each.sequence for each in following] == [1]


@proves("privacy.descriptions")
@pytest.mark.parametrize("hidden", ["part", "all"])
async def test_a_commit_is_described_only_by_those_who_see_all_of_it(
    adapter: AmfsAdapter, hidden: str
) -> None:
    batch = [private("p", "hidden", agent="bob", commit_id="c1")]
    batch += [draft("p", "open", agent="bob", commit_id="c1")] if hidden == "part" else []
    await adapter.write_batch(batch)
    described = Commit(id="c1", message="mine", author_agent_id="alice", created_at=FixedClock().now())
    error = await refused(adapter, adapter.save_commit(described), InvalidArgumentError)
    assert error.argument == "id"
    own = described.model_copy(update={"author_agent_id": "bob"})
    assert (await adapter.save_commit(own)).message == "mine"


@proves("privacy.outcomes")
async def test_an_outcome_shows_others_its_visible_part(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "open", agent="bob"))
    await adapter.write(private("p", "hidden", agent="bob"))
    refs = [at("p", "open"), at("p", "hidden"), at("p", "open", 1)]
    texts = ["p/open", "p/hidden", "not/stored"]
    await adapter.commit_outcome(outcome("failure", *texts, *refs, agent="bob"))
    (whole,) = await adapter.list_outcomes(viewer="bob")
    assert whole == (await adapter.list_outcomes())[0]
    assert (len(whole.effects), len(whole.record.refs)) == (5, 3)
    (seen,) = await adapter.list_outcomes(viewer="alice")
    assert {each.key for each in seen.effects} == {"open"}
    assert "p/open" in seen.record.causal_entry_keys
    assert "p/hidden" not in seen.record.causal_entry_keys
    assert seen.record.refs == (at("p", "open"), at("p", "open", 1))


@proves("privacy.outcomes")
async def test_an_outcome_with_nothing_left_to_see_is_not_there(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(private("p", "hidden", agent="bob", confidence=0.5))
    await handoff_adapter.commit_outcome(outcome("failure", "p/hidden", agent="bob"))
    await handoff_adapter.commit_outcome(outcome("success", agent="bob", outcome_ref="bare"))
    await handoff_adapter.commit_outcome(outcome("success", agent="alice", outcome_ref="own"))
    seen = await handoff_adapter.list_outcomes(viewer="alice")
    assert [each.record.outcome_ref for each in seen] == ["own"]
    assert list(await handoff_adapter.list_outcomes(viewer="alice", key="hidden")) == []
    limited = await handoff_adapter.list_outcomes(viewer="bob", limit=2)
    assert [each.record.outcome_ref for each in limited] == ["bare", "run-1"]


@proves("privacy.outcomes")
async def test_an_effect_is_visible_with_the_version_it_is_about(
    handoff_adapter: AmfsAdapter,
) -> None:
    await handoff_adapter.write(draft("p", "k", "open", confidence=0.5))
    await handoff_adapter.write(private("p", "k", "hidden", agent="bob", confidence=0.25))
    await handoff_adapter.commit_outcome(outcome("failure", at("p", "k", 1), agent="alice"))
    (seen,) = await handoff_adapter.list_outcomes(viewer="carol")
    (effect,) = seen.effects
    assert (effect.version, effect.reason) == (1, "stale")
    assert 0.25 not in (effect.confidence_before, effect.confidence_after)


async def half_hidden(adapter: AmfsAdapter) -> None:
    """What alice sees, and between it what she does not."""
    for n in range(3):
        await adapter.write(draft("p", "k", n, agent="alice"))
        await adapter.write(private("p", "k", n, agent="bob"))
        await adapter.write(private("p", f"k{n}", n, agent="bob"))
        await adapter.write(draft("p", f"open{n}", n, agent="bob"))


@proves("privacy.limits-cut-last")
async def test_the_limit_of_a_history_counts_what_is_visible(adapter: AmfsAdapter) -> None:
    await half_hidden(adapter)
    history = await adapter.history("p", "k", limit=2, viewer="alice")
    assert [each.version for each in history] == [1, 3]


@proves("privacy.commits", "privacy.limits-cut-last")
async def test_the_limit_of_the_log_counts_what_is_visible(adapter: AmfsAdapter) -> None:
    await half_hidden(adapter)
    assert len(await adapter.list_commits(limit=5, viewer="alice")) == 5


@proves("privacy.search", "privacy.limits-cut-last")
async def test_the_limit_of_a_search_counts_what_is_visible(adapter: AmfsAdapter) -> None:
    await half_hidden(adapter)
    page = await adapter.search(SearchQuery(limit=3), viewer="alice")
    assert [each.key for each in page.entries] == ["open2", "open1", "open0"]
    if page.next_cursor:
        rest = await adapter.search(SearchQuery(limit=3, cursor=page.next_cursor), viewer="alice")
        assert rest.entries == ()


@proves("privacy.search")
async def test_whether_a_search_is_ranked_tells_nothing_of_what_is_hidden(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft("p", str(n), "the guess", agent="bob") for n in range(500)])
    await adapter.write_batch([private("p", f"mine{n}", "the guess", agent="alice") for n in range(3)])
    query = SearchQuery(text="guess", sort_by="relevance", limit=1)
    assert (await adapter.search(query, viewer="bob")).ranked
    assert not (await adapter.search(query, viewer="alice")).ranked
    assert not (await adapter.search(query)).ranked
