"""Access to branches: one grant for a grantee, replaced, revoked, and asked for."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import FixedClock, InvalidArgumentError
from amfs_sqlite.protocol import Access
from amfs_sqlite.records.access import BranchAccess
from parity_tests.ledger import proves
from parity_tests.state import plain


def grant(grantee_id: str = "k", grantee_type: str = "api_key", **fields: Any) -> BranchAccess:
    said = {"branch_name": "trial", "grantee_type": grantee_type, "grantee_id": grantee_id}
    return BranchAccess.model_validate(said | {"granted_by": "alice"} | fields)


async def grantees(adapter: Access, branch_name: str = "trial") -> list[tuple[str, str]]:
    listed = await adapter.list_branch_access(branch_name)
    return [(each.grantee_type, each.grantee_id) for each in listed]


@proves("access.granted")
async def test_a_grant_comes_back_whole_and_the_next_takes_its_place(
    adapter: Access, clock: FixedClock
) -> None:
    given = grant("é\0", id="mine", namespace="elsewhere", granted_at="2020-01-01", mood=[1.0])
    first = await adapter.grant_branch_access(given)
    own = {"id": first.id, "namespace": "default", "granted_at": clock.now().isoformat()}
    assert plain(first) == plain(given) | own
    assert first.id not in ("", "mine")
    assert plain(await adapter.list_branch_access("trial")) == [plain(first)]
    clock.set("2026-02-01")
    second = await adapter.grant_branch_access(grant("é\0", permission="read_write", granted_by="bob"))
    assert (second.id, second.permission, second.granted_by) == (first.id, "read_write", "bob")
    assert second.granted_at == clock.now()
    assert plain(await adapter.list_branch_access("trial")) == [plain(second)]


@proves("access.revoked")
async def test_what_is_revoked_is_gone_alone(adapter: Access) -> None:
    for each in (grant("a"), grant("b"), grant("a", "user"), grant("a", branch_name="other")):
        await adapter.grant_branch_access(each)
    await adapter.revoke_branch_access("trial", "api_key", "a")
    for never in (("trial", "api_key", "a"), ("trial", "team", "b"), ("none", "api_key", "b")):
        await adapter.revoke_branch_access(*never)
    assert await grantees(adapter) == [("api_key", "b"), ("user", "a")]
    assert await grantees(adapter, "other") == [("api_key", "a")]
    assert await adapter.check_branch_access("trial", "a") is None
    assert await adapter.check_branch_access("other", "a") == "read"


@proves("access.order")
async def test_grants_are_listed_newest_first_then_by_grantee(adapter: Access, clock: FixedClock) -> None:
    for each in (grant("b"), grant("a", "user"), grant("a")):
        await adapter.grant_branch_access(each)
    clock.set("2026-02-01")
    await adapter.grant_branch_access(grant("z"))
    assert await grantees(adapter) == [("api_key", "z"), ("api_key", "a"), ("api_key", "b"), ("user", "a")]
    clock.set("2026-02-02")
    await adapter.grant_branch_access(grant("b"))
    assert await grantees(adapter) == [("api_key", "b"), ("api_key", "z"), ("api_key", "a"), ("user", "a")]


@proves("access.checked")
async def test_an_api_key_may_do_what_it_was_granted(adapter: Access) -> None:
    await adapter.grant_branch_access(grant("reader"))
    await adapter.grant_branch_access(grant("writer", permission="read_write"))
    await adapter.grant_branch_access(grant("alice", "user", permission="read_write"))
    asked = ("reader", "writer", "alice", "nobody")
    said = [await adapter.check_branch_access("trial", each) for each in asked]
    assert said == ["read", "read_write", None, None]
    assert await adapter.check_branch_access("main", "reader") is None
    await adapter.grant_branch_access(grant("writer", permission="read"))
    assert await adapter.check_branch_access("trial", "writer") == "read"


WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "access is a dict; make a BranchAccess": lambda adapter: adapter.grant_branch_access({}),
    "branch_name has 4097": lambda adapter: adapter.grant_branch_access(grant(branch_name="a" * 4097)),
    "grantee_id has 4097": lambda adapter: adapter.grant_branch_access(grant("a" * 4097)),
    "access.mood is inf": lambda adapter: adapter.grant_branch_access(grant(mood=float("inf"))),
    "access.permission is not": lambda adapter: adapter.grant_branch_access(
        grant().model_copy(update={"permission": "admin"})
    ),
    "grantee_type is 5": lambda adapter: adapter.revoke_branch_access("trial", 5, "k"),
    "api_key_id is None": lambda adapter: adapter.check_branch_access("trial", None),
}


@proves("access.refused")
@pytest.mark.parametrize("message", WRONG)
async def test_what_cannot_be_a_grant_is_refused_and_nothing_is_stored(adapter: Access, message: str) -> None:
    made = await adapter.grant_branch_access(grant())
    with pytest.raises(InvalidArgumentError) as refused:
        await WRONG[message](adapter)
    assert message.startswith(refused.value.argument)
    assert plain(await adapter.list_branch_access("trial")) == [plain(made)]
