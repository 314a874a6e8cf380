"""Pull requests through the SDK's door: made, reviewed, and given another status."""

from pathlib import Path

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import PRReview, PRReviewStatus, PullRequest, PullRequestStatus

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.test_agents import THREADS, at_once
from parity_tests.ledger import proves


def pull(pr_id: str = "", namespace: str = "default") -> PullRequest:
    return PullRequest(id=pr_id, namespace=namespace, title="t", source_branch="trial", created_by="alice")


def review(pr_id: str, namespace: str = "default") -> PRReview:
    status = PRReviewStatus.APPROVED
    return PRReview(pr_id=pr_id, namespace=namespace, reviewer="bob", status=status, comment="good")


def ids(adapter: SyncSqliteAdapter, namespace: str) -> list[str]:
    return [each.id for each in list[PullRequest](adapter.list_pull_requests(namespace))]


@proves("pulls.sdk")
def test_a_request_is_made_reviewed_and_said_to_be_merged(sdk_adapter: SyncSqliteAdapter) -> None:
    made = sdk_adapter.create_pull_request(pull())
    times = {"created_at": made.created_at, "updated_at": made.updated_at}
    assert made == pull().model_copy(update={"id": made.id, **times})
    assert made.created_at is not None
    assert sdk_adapter.get_pull_request(made.id) == made
    first = sdk_adapter.add_pr_review(review(made.id))
    assert first == review(made.id).model_copy(update={"id": first.id, "created_at": first.created_at})
    assert sdk_adapter.list_pr_reviews(made.id) == [first]
    approved = sdk_adapter.update_pull_request_status(made.id, PullRequestStatus.APPROVED)
    assert approved.status is PullRequestStatus.APPROVED
    merged = sdk_adapter.update_pull_request_status(made.id, "merged", by="carol")
    assert (merged.status, merged.merged_by) == (PullRequestStatus.MERGED, "carol")
    assert merged.merged_at == merged.updated_at
    assert sdk_adapter.list_pull_requests() == [merged]
    assert sdk_adapter.list_pull_requests(status="merged") == [merged]
    assert sdk_adapter.list_pull_requests(status="open") == []


@proves("pulls.sdk")
def test_what_is_not_there_or_cannot_be_raises_the_sdks_error(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.create_pull_request(pull("1"))
    with pytest.raises(AdapterError, match="pr_id is 'none', which no pull request has"):
        sdk_adapter.update_pull_request_status("none", "merged")
    with pytest.raises(AdapterError, match="pr_id is 'none', which no pull request has"):
        sdk_adapter.add_pr_review(review("none"))
    with pytest.raises(AdapterError, match="status is 'half'; choose one of"):
        sdk_adapter.update_pull_request_status("1", "half")
    with pytest.raises(AdapterError, match="must be an amfs_core PullRequest"):
        sdk_adapter.create_pull_request({})  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(AdapterError, match="must be an amfs_core PRReview"):
        sdk_adapter.add_pr_review({})  # type: ignore[arg-type]  # wrong on purpose
    assert sdk_adapter.get_pull_request("none") is None


@proves("pulls.sdk")
def test_requests_and_reviews_are_kept_in_the_namespace_that_is_meant(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "memory.db", namespace="team") as adapter:
        assert adapter.create_pull_request(pull("1")).namespace == "team"
        assert adapter.create_pull_request(pull("2", "other")).namespace == "other"
        with pytest.raises(AdapterError, match="pr_id is '2', which no pull request has"):
            adapter.add_pr_review(review("2"))
        assert adapter.add_pr_review(review("2", "other")).namespace == "other"
        adapter.update_pull_request_status("2", "closed", namespace="other")
        asked = ("default", "team", "other")
        listed = [ids(adapter, namespace) for namespace in asked]
        assert listed == [["1"], ["1"], ["2"]]
        assert [len(adapter.list_pr_reviews("2", namespace)) for namespace in asked] == [0, 0, 1]
        assert adapter.get_pull_request("2", "team") is None


@proves("pulls.sdk")
def test_of_many_threads_that_give_one_id_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def attempt(adapter: SyncSqliteAdapter) -> PullRequest | str:
        try:
            return adapter.create_pull_request(pull("1"))
        except AdapterError as refused:
            return str(refused)

    with SyncSqliteAdapter(path) as one, SyncSqliteAdapter(path) as other:
        said = at_once(*(lambda each=each: attempt(each) for each in (one, other) * (THREADS // 2)))
        assert [each for each in said if isinstance(each, PullRequest)] == other.list_pull_requests()
        refusals = [each for each in said if isinstance(each, str)]
        assert ["is a pull request already" in each for each in refusals] == [True] * (THREADS - 1)
        reviews = at_once(*(lambda each=each: each.add_pr_review(review("1")) for each in (one, other) * 4))
        listed = list[PRReview](one.list_pr_reviews("1"))
    assert sorted(each.id for each in reviews) == sorted(each.id for each in listed)
