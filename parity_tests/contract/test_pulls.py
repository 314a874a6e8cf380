"""Pull requests: asked for, reviewed, and noted as merged or closed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError
from amfs_sqlite.protocol import Branches, Pulls
from amfs_sqlite.records.branches import Branch
from amfs_sqlite.records.pulls import PRReview, PullRequest
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.state import plain


class Whole(Pulls, Branches, AmfsAdapter, Protocol):
    """What is merged and what asks for it."""


def pull(pr_id: str = "", **fields: Any) -> PullRequest:
    said = {"id": pr_id, "title": "t", "source_branch": "trial", "created_by": "alice"}
    return PullRequest.model_validate(said | fields)


def review(pr_id: str = "1", **fields: Any) -> PRReview:
    said = {"pr_id": pr_id, "reviewer": "bob", "status": "commented"}
    return PRReview.model_validate(said | fields)


async def ids(adapter: Pulls, **asked: Any) -> list[str]:
    return [each.id for each in await adapter.list_pull_requests(**asked)]


@proves("pulls.made")
async def test_a_request_comes_back_whole_under_its_id_or_a_new_one(
    adapter: Pulls, clock: FixedClock
) -> None:
    given = pull(
        "é\0",
        namespace="elsewhere",
        description="d" * 65_536,
        target_branch="release",
        status="approved",
        created_at="2020-01-01",
        merged_at="2020-01-01",
        merged_by="nobody",
        closed_at="2020-01-01",
        closed_by="nobody",
        merge_strategy="branch_wins",
        mood=[1.0],
    )
    made = await adapter.create_pull_request(given)
    now = clock.now().isoformat()
    own = {"namespace": "default", "created_at": now, "updated_at": now}
    not_yet = {"merged_at": None, "merged_by": None, "closed_at": None, "closed_by": None}
    assert plain(made) == plain(given) | own | not_yet
    assert plain(await adapter.get_pull_request("é\0")) == plain(made)
    first, second = [await adapter.create_pull_request(pull()) for _ in range(2)]
    assert len({first.id, second.id, ""}) == 3
    assert plain(await adapter.get_pull_request(second.id)) == plain(second)
    assert await adapter.get_pull_request("") is None


@proves("pulls.order")
async def test_requests_are_listed_newest_first_and_by_status(adapter: Pulls, clock: FixedClock) -> None:
    for pr_id in ("b", "a"):
        await adapter.create_pull_request(pull(pr_id))
    clock.set("2026-02-01")
    await adapter.create_pull_request(pull("new", status="approved"))
    clock.set("2025-01-01")
    await adapter.create_pull_request(pull("old"))
    assert await ids(adapter) == ["new", "a", "b", "old"]
    await adapter.update_pull_request_status("a", "closed")
    assert await ids(adapter) == ["new", "a", "b", "old"]
    assert await ids(adapter, status="open") == ["b", "old"]
    assert await ids(adapter, status="closed") == ["a"]
    assert await ids(adapter, status="none") == []


@proves("pulls.status")
async def test_merged_and_closed_are_noted_and_stay_noted(adapter: Pulls, clock: FixedClock) -> None:
    expected = plain(await adapter.create_pull_request(pull("1", mood=1)))
    untouched = await adapter.create_pull_request(pull("2"))
    for month, status, by, noted in (
        ("02", "approved", "bob", ()),
        ("03", "merged", "carol", ("merged",)),
        ("04", "closed", "", ("closed",)),
        ("05", "open", "dave", ()),
        ("06", "merged", "erin", ("merged",)),
    ):
        clock.set(f"2026-{month}-01")
        now = clock.now().isoformat()
        expected |= {"status": status, "updated_at": now}
        for what in noted:
            expected |= {f"{what}_at": now, f"{what}_by": by}
        changed = await adapter.update_pull_request_status("1", status, by=by)
        assert plain(changed) == expected
        assert plain(await adapter.get_pull_request("1")) == expected
    assert plain(await adapter.get_pull_request("2")) == plain(untouched)


@proves("pulls.unmerged")
async def test_a_request_said_to_be_merged_merges_nothing(adapter: Whole) -> None:
    await adapter.create_branch(Branch(name="trial", created_by="alice"))
    await adapter.on_branch("trial").write(draft("p", "k"))
    await adapter.create_pull_request(pull("1"))
    await adapter.update_pull_request_status("1", "merged", by="alice")
    branch = await adapter.get_branch("trial")
    assert branch is not None
    assert branch.status == "active"
    assert await adapter.read("p", "k") is None


@proves("pulls.reviewed")
async def test_reviews_are_kept_in_order_and_leave_the_request_as_it_is(
    adapter: Pulls, clock: FixedClock
) -> None:
    made = await adapter.create_pull_request(pull("1"))
    await adapter.create_pull_request(pull("2"))
    given = review(
        id="b",
        namespace="elsewhere",
        status="changes_requested",
        comment="c" * 65_536,
        entry_path="p/k",
        created_at="2020-01-01",
        mood=[1.0],
    )
    second = await adapter.add_pr_review(given)
    assert plain(second) == plain(given) | {"namespace": "default", "created_at": clock.now().isoformat()}
    first = await adapter.add_pr_review(review(id="a", status="approved"))
    clock.set("2025-01-01")
    earliest = await adapter.add_pr_review(review())
    assert earliest.id not in ("", "a", "b")
    await adapter.add_pr_review(review("2", id="c"))
    assert plain(await adapter.list_pr_reviews("1")) == [plain(each) for each in (earliest, first, second)]
    assert [each.id for each in await adapter.list_pr_reviews("2")] == ["c"]
    assert list(await adapter.list_pr_reviews("none")) == []
    assert plain(await adapter.get_pull_request("1")) == plain(made)


@proves("pulls.once")
async def test_of_several_that_give_one_id_at_once_one_succeeds(adapter: Pulls) -> None:
    several = [adapter.create_pull_request(pull("1", title=f"{number}")) for number in range(8)]
    said = await asyncio.gather(*several, return_exceptions=True)
    made = [each for each in said if isinstance(each, PullRequest)]
    assert [type(each) for each in said if isinstance(each, Exception)] == [InvalidArgumentError] * 7
    assert plain(await adapter.list_pull_requests()) == [plain(each) for each in made]
    await adapter.add_pr_review(review(id="r", comment="first"))
    with pytest.raises(InvalidArgumentError) as refused:
        await adapter.add_pr_review(review(id="r", comment="second"))
    assert refused.value.argument == "id"
    assert [each.comment for each in await adapter.list_pr_reviews("1")] == ["first"]


WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "pr is a dict; make a PullRequest": lambda adapter: adapter.create_pull_request({}),
    "id '1' is a pull request already": lambda adapter: adapter.create_pull_request(pull("1")),
    "id has 4097": lambda adapter: adapter.create_pull_request(pull("a" * 4097)),
    "title has 4097": lambda adapter: adapter.create_pull_request(pull(title="a" * 4097)),
    "description has 65537": lambda adapter: adapter.create_pull_request(pull(description="a" * 65_537)),
    "pr.mood is inf": lambda adapter: adapter.create_pull_request(pull(mood=float("inf"))),
    "pr.status is not": lambda adapter: adapter.create_pull_request(
        pull().model_copy(update={"status": "half"})
    ),
    "pr_id is 'none', which": lambda adapter: adapter.update_pull_request_status("none", "merged"),
    "status is 'half'; choose one of open, approved, merged, closed": lambda adapter: (
        adapter.update_pull_request_status("1", "half")
    ),
    "status is ''; choose": lambda adapter: adapter.update_pull_request_status("1", ""),
    "by has 4097": lambda adapter: adapter.update_pull_request_status("1", "closed", by="a" * 4097),
    "by is None": lambda adapter: adapter.update_pull_request_status("1", "closed", by=None),
    "review is a dict; make a PRReview": lambda adapter: adapter.add_pr_review({}),
    "pr_id is 'gone', which": lambda adapter: adapter.add_pr_review(review("gone")),
    "comment has 65537": lambda adapter: adapter.add_pr_review(review(comment="a" * 65_537)),
    "review.mood is inf": lambda adapter: adapter.add_pr_review(review(mood=float("inf"))),
    "status is 5": lambda adapter: adapter.list_pull_requests(status=5),
}


@proves("pulls.refused")
@pytest.mark.parametrize("message", WRONG)
async def test_what_cannot_be_is_refused_and_nothing_is_stored(adapter: Pulls, message: str) -> None:
    made = await adapter.create_pull_request(pull("1"))
    with pytest.raises(InvalidArgumentError) as refused:
        await WRONG[message](adapter)
    assert message.startswith(refused.value.argument)
    assert plain(await adapter.list_pull_requests()) == [plain(made)]
    for pr_id in ("1", "gone"):
        assert list(await adapter.list_pr_reviews(pr_id)) == []
