"""Tags: a name for what a branch was at an instant, given once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import FixedClock, InvalidArgumentError
from amfs_sqlite.protocol import Tags
from amfs_sqlite.records.tags import Tag
from parity_tests.ledger import proves
from parity_tests.state import plain


def tag(name: str = "v1", tagged_at: str = "2026-01-01", **fields: Any) -> Tag:
    return Tag.model_validate({"name": name, "tagged_at": tagged_at, "created_by": "alice"} | fields)


async def names(adapter: Tags, **asked: Any) -> list[str]:
    return [each.name for each in await adapter.list_tags(**asked)]


@proves("tags.made")
async def test_a_tag_comes_back_whole_under_its_own_id(adapter: Tags, clock: FixedClock) -> None:
    given = tag(
        "é/1\0",
        "2026-01-01T02:00:00+02:00",
        id="mine",
        namespace="elsewhere",
        branch="trial",
        description="d",
        created_at="2020-01-01",
        event_id="e",
        mood=[1.0],
    )
    made = await adapter.create_tag(given)
    own = {"id": made.id, "namespace": "default", "created_at": clock.now().isoformat()}
    assert plain(made) == plain(given) | own
    assert made.id not in ("", "mine")
    assert made.tagged_at.isoformat() == "2026-01-01T00:00:00+00:00"
    assert plain(await adapter.get_tag("é/1\0")) == plain(made)
    assert await adapter.get_tag("mine") is None


@proves("tags.once")
async def test_a_name_is_given_once_until_it_is_deleted(adapter: Tags) -> None:
    first = await adapter.create_tag(tag())
    with pytest.raises(InvalidArgumentError) as refused:
        await adapter.create_tag(tag(branch="trial"))
    assert refused.value.argument == "name"
    assert plain(await adapter.list_tags()) == [plain(first)]
    await adapter.delete_tag("v1")
    assert await adapter.get_tag("v1") is None
    second = await adapter.create_tag(tag(branch="trial"))
    assert second.id != first.id
    assert plain(await adapter.list_tags()) == [plain(second)]


@proves("tags.once")
async def test_of_several_that_make_one_name_at_once_one_succeeds(adapter: Tags) -> None:
    several = [adapter.create_tag(tag(description=f"{number}")) for number in range(8)]
    said = await asyncio.gather(*several, return_exceptions=True)
    made = [each for each in said if isinstance(each, Tag)]
    assert len(made) == 1
    assert [type(each) for each in said if not isinstance(each, Tag)] == [InvalidArgumentError] * 7
    assert plain(await adapter.list_tags()) == [plain(made[0])]


@proves("tags.order")
async def test_tags_are_listed_by_instant_and_name_and_by_branch(adapter: Tags) -> None:
    for name, day, branch in (
        ("b", "2026-01-02", "main"),
        ("old", "2026-01-01", "trial"),
        ("a", "2026-01-02", "trial"),
        ("new", "2026-01-03", "main"),
        ("B", "2026-01-02", "main"),
    ):
        await adapter.create_tag(tag(name, day, branch=branch))
    assert await names(adapter) == ["new", "B", "a", "b", "old"]
    assert await names(adapter, branch="trial") == ["a", "old"]
    assert await names(adapter, branch="none") == []
    await adapter.delete_tag("a")
    assert await names(adapter) == ["new", "B", "b", "old"]


WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "tag is a dict; make a Tag": lambda adapter: adapter.create_tag({"name": "t"}),
    "name is empty": lambda adapter: adapter.create_tag(tag("")),
    "name has 4097": lambda adapter: adapter.create_tag(tag("a" * 4097)),
    "branch has 4097": lambda adapter: adapter.create_tag(tag("t", branch="a" * 4097)),
    "description has 4097": lambda adapter: adapter.create_tag(tag("t", description="a" * 4097)),
    "tag.mood is nan": lambda adapter: adapter.create_tag(tag("t", mood=float("nan"))),
    "tag.tagged_at is not": lambda adapter: adapter.create_tag(tag("t").model_copy(update={"tagged_at": 5})),
    "name is 'none', which no tag has": lambda adapter: adapter.delete_tag("none"),
    "name is 5, not text": lambda adapter: adapter.get_tag(5),
    "branch is 5, not text": lambda adapter: adapter.list_tags(branch=5),
}


@proves("tags.refused")
@pytest.mark.parametrize("message", WRONG)
async def test_what_cannot_be_a_tag_is_refused_and_nothing_is_stored(adapter: Tags, message: str) -> None:
    made = await adapter.create_tag(tag())
    with pytest.raises(InvalidArgumentError) as refused:
        await WRONG[message](adapter)
    assert message.startswith(refused.value.argument)
    assert plain(await adapter.list_tags()) == [plain(made)]
