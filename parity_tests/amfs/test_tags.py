"""Tags through the SDK's door: a name is one tag in a namespace, whoever makes it."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import Tag

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.test_agents import THREADS, at_once
from parity_tests.ledger import proves

DAY = datetime(2026, 1, 2, tzinfo=UTC)


def tag(name: str, days: int = 0, branch: str = "main", namespace: str = "default") -> Tag:
    at = DAY + timedelta(days=days)
    return Tag(name=name, branch=branch, namespace=namespace, tagged_at=at, created_by="alice")


def names(adapter: SyncSqliteAdapter, namespace: str = "default", branch: str | None = None) -> list[str]:
    return [each.name for each in list[Tag](adapter.list_tags(namespace, branch=branch))]


@proves("tags.sdk")
def test_tags_are_made_listed_and_deleted(sdk_adapter: SyncSqliteAdapter) -> None:
    at = datetime(2026, 1, 2, 5, tzinfo=timezone(timedelta(hours=5)))
    given = Tag(name="v1", tagged_at=at, description="d", created_by="alice", event_id="e")
    made = sdk_adapter.create_tag(given)
    assert made == given.model_copy(update={"id": made.id, "created_at": made.created_at})
    assert (len(made.id), made.tagged_at) == (32, DAY)
    assert made.created_at is not None
    for each in (tag("later", 1), tag("b", -1, "trial"), tag("a", -1)):
        sdk_adapter.create_tag(each)
    assert names(sdk_adapter) == ["later", "v1", "a", "b"]
    assert names(sdk_adapter, branch="trial") == ["b"]
    assert sdk_adapter.get_tag("v1") == made
    answered: object = sdk_adapter.delete_tag("v1")
    assert answered is None
    assert sdk_adapter.get_tag("v1") is None
    with pytest.raises(AdapterError, match="name is 'v1', which no tag has"):
        sdk_adapter.delete_tag("v1")


@proves("tags.sdk")
def test_a_name_is_one_tag_in_the_namespace_that_is_meant(tmp_path: Path) -> None:
    with SyncSqliteAdapter(tmp_path / "memory.db", namespace="team") as adapter:
        assert adapter.create_tag(tag("v1")).namespace == "team"
        assert adapter.create_tag(tag("v1", namespace="other")).namespace == "other"
        with pytest.raises(AdapterError, match="name 'v1' is a tag already"):
            adapter.create_tag(tag("v1", namespace="team"))
        adapter.delete_tag("v1", "other")
        assert (names(adapter), names(adapter, "team"), names(adapter, "other")) == (["v1"], ["v1"], [])
        assert adapter.get_tag("v1", namespace="other") is None
        with pytest.raises(AdapterError, match="must be an amfs_core Tag"):
            adapter.create_tag({"name": "v2"})  # type: ignore[arg-type]  # wrong on purpose


@proves("tags.sdk")
def test_of_many_threads_that_make_one_tag_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def attempt(adapter: SyncSqliteAdapter) -> Tag | str:
        try:
            return adapter.create_tag(tag("v1"))
        except AdapterError as refused:
            return str(refused)

    with SyncSqliteAdapter(path) as one, SyncSqliteAdapter(path) as other:
        said = at_once(*(lambda each=each: attempt(each) for each in (one, other) * (THREADS // 2)))
        assert [each for each in said if isinstance(each, Tag)] == [other.get_tag("v1")]
        refusals = [each for each in said if isinstance(each, str)]
        assert ["is a tag already" in each for each in refusals] == [True] * (THREADS - 1)
