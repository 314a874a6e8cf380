"""Lifecycle: usable between open and close, and never half of it."""

import asyncio
import inspect
import pickle
from collections.abc import Awaitable, Callable

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    AdapterClosedError,
    AmfsAdapter,
    AmfsError,
    Commit,
    FixedClock,
    MemoryEntry,
    OutcomePolicy,
    SearchQuery,
    VersionConflictError,
    Write,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves

COMMIT = Commit(id="c", author_agent_id="a", created_at=FixedClock().now())
CALLS: dict[str, Callable[[AmfsAdapter], Awaitable[object]]] = {
    "read": lambda adapter: adapter.read("p", "k"),
    "write": lambda adapter: adapter.write(draft()),
    "write_batch": lambda adapter: adapter.write_batch([draft()]),
    "list": lambda adapter: adapter.list(),
    "history": lambda adapter: adapter.history("p", "k"),
    "read_at_version": lambda adapter: adapter.read_at_version("p", "k", 1),
    "commit_outcome": lambda adapter: adapter.commit_outcome(outcome()),
    "list_outcomes": lambda adapter: adapter.list_outcomes(),
    "commit": lambda adapter: adapter.commit([Write(draft())], author="a"),
    "recorded_result": lambda adapter: adapter.recorded_result("k", author="a"),
    "list_commits": lambda adapter: adapter.list_commits(),
    "get_commit": lambda adapter: adapter.get_commit("c"),
    "save_commit": lambda adapter: adapter.save_commit(COMMIT),
    "common_ancestor": lambda adapter: adapter.common_ancestor("a", "b"),
    "search": lambda adapter: adapter.search(SearchQuery()),
    "stats": lambda adapter: adapter.stats(),
    "scopes": lambda adapter: adapter.scopes(),
    "verify": lambda adapter: adapter.verify(),
    "anchor": lambda adapter: adapter.anchor(),
    "erase": lambda adapter: adapter.erase(written_by="a", author="a"),
    "prune": lambda adapter: adapter.prune(keep_last=1, author="a"),
    "archive_expired": lambda adapter: adapter.archive_expired(author="a"),
    "watch": lambda adapter: adapter.watch(None, print),
    "changes": lambda adapter: anext(adapter.changes(follow=False), None),
}


@proves("lifecycle.closed")
def test_every_operation_is_tried_on_a_closed_adapter() -> None:
    operations = {
        name
        for name, member in inspect.getmembers(AmfsAdapter, inspect.isfunction)
        if not name.startswith("_")
    }
    assert operations - {"open", "close"} == CALLS.keys()


@proves("lifecycle.closed")
@pytest.mark.parametrize("operation", CALLS)
async def test_nothing_works_before_opening_or_after_closing(
    open_adapter: AdapterOpener, operation: str
) -> None:
    adapter = open_adapter.closed()
    with pytest.raises(AdapterClosedError):
        await CALLS[operation](adapter)
    async with adapter:
        await CALLS[operation](adapter)
    with pytest.raises(AdapterClosedError):
        await CALLS[operation](adapter)


@proves("lifecycle.closed")
async def test_an_empty_batch_too_needs_an_open_adapter(
    open_adapter: AdapterOpener,
) -> None:
    adapter = open_adapter.closed()
    with pytest.raises(AdapterClosedError):
        await adapter.write_batch([])


@proves("lifecycle.open-twice")
async def test_opening_an_open_adapter_does_nothing(adapter: AmfsAdapter) -> None:
    written = await adapter.write(draft())
    await adapter.open()
    assert await adapter.read("svc/a", "k") == written


@proves("lifecycle.close-twice")
async def test_closing_twice_is_closing_once(open_adapter: AdapterOpener) -> None:
    await open_adapter.closed().close()
    adapter = open_adapter.closed()
    async with adapter:
        await adapter.write(draft())
        await adapter.close()
        await adapter.close()
    await asyncio.gather(adapter.close(), adapter.close())
    with pytest.raises(AdapterClosedError):
        await adapter.list()


@proves("lifecycle.context")
async def test_the_context_manager_opens_returns_itself_and_closes_after_an_error(
    open_adapter: AdapterOpener,
) -> None:
    adapter = open_adapter.closed()
    with pytest.raises(LookupError):
        await fails_within(adapter)
    with pytest.raises(AdapterClosedError):
        await adapter.list()


async def fails_within(adapter: AmfsAdapter) -> None:
    async with adapter as entered:
        assert entered is adapter
        await entered.write(draft())
        raise LookupError


@proves("lifecycle.finishes")
async def test_closing_finishes_what_was_asked_before(open_adapter: AdapterOpener) -> None:
    adapter = open_adapter.closed()
    await adapter.open()
    asked = [asyncio.ensure_future(adapter.write(draft(value=n))) for n in range(50)]
    # One turn of the loop, so that all of them have begun.
    await asyncio.sleep(0)
    await adapter.close()
    written = await asyncio.gather(*asked)
    assert sorted(each.version for each in written) == list(range(1, 51))


@proves("lifecycle.races")
async def test_calls_that_race_with_closing_are_whole_or_refused(
    open_adapter: AdapterOpener,
) -> None:
    for _ in range(10):
        adapter = open_adapter.closed()
        await adapter.open()
        calls: list[Awaitable[object]] = [adapter.write(draft(value=n)) for n in range(5)]
        calls += [adapter.close(), adapter.list(), adapter.write_batch([draft(), draft()])]
        calls += [adapter.close(), adapter.read("svc/a", "k")]
        results = await asyncio.gather(*calls, return_exceptions=True)
        errors = [each for each in results if isinstance(each, BaseException)]
        assert [each for each in errors if not isinstance(each, AdapterClosedError)] == []


@proves("integrity.verify-clean", "lifecycle.races")
async def test_a_verify_that_races_with_closing_is_whole_or_refused(open_adapter: AdapterOpener) -> None:
    adapter = open_adapter.closed()
    await adapter.open()
    await adapter.write(draft())
    calls: list[Awaitable[object]] = [adapter.verify(), adapter.close(), adapter.verify()]
    results = await asyncio.gather(*calls, return_exceptions=True)
    errors = [each for each in results if isinstance(each, BaseException)]
    assert [each for each in errors if not isinstance(each, AdapterClosedError)] == []


@proves("lifecycle.names")
@pytest.mark.parametrize("policy", [AMFS_0_3, HANDOFF], ids=lambda policy: policy.name)
async def test_an_adapter_tells_its_namespace_and_policy(
    open_adapter: AdapterOpener, policy: OutcomePolicy
) -> None:
    adapter = await open_adapter(namespace="team/é", outcomes=policy)
    assert (adapter.namespace, adapter.policy_name) == ("team/é", policy.name)


@proves("commits.log", "lifecycle.names")
async def test_a_commit_tells_its_namespace(open_adapter: AdapterOpener) -> None:
    adapter = await open_adapter(namespace="team/é")
    await adapter.write(draft())
    (commit,) = await adapter.list_commits()
    assert commit.namespace == "team/é"


@proves("lifecycle.many-calls")
async def test_a_thousand_calls_at_once_are_all_answered(adapter: AmfsAdapter) -> None:
    calls: list[Awaitable[object]] = []
    for n in range(250):
        calls += [
            adapter.write(draft("p", f"k{n % 7}", n)),
            adapter.read("p", f"k{n % 7}"),
            adapter.history("p", "contended", limit=1),
            adapter.write(draft("p", "contended", n), expected_version=n),
        ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    errors = [each for each in results if isinstance(each, BaseException)]
    assert [each for each in errors if not isinstance(each, VersionConflictError)] == []
    written = [each for each in results[::4] if isinstance(each, MemoryEntry)]
    assert len(written) == 250
    assert len(await adapter.list(include_superseded=True)) == 500 - len(errors)
    assert await is_sound(adapter)


@proves("search.fresh", "lifecycle.many-calls")
async def test_a_thousand_writes_and_searches_at_once_are_all_answered(adapter: AmfsAdapter) -> None:
    calls: list[Awaitable[object]] = []
    for n in range(500):
        calls += [adapter.write(draft("p", f"k{n}")), adapter.search(SearchQuery(key=f"k{n}", limit=1))]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [each for each in results if isinstance(each, BaseException)] == []
    assert len((await adapter.search(SearchQuery(limit=None))).entries) == 500


@proves("errors.travel")
async def test_an_error_crosses_to_another_process_with_its_facts(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    with pytest.raises(AmfsError) as caught:
        await adapter.write(draft(), expected_version=0)
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy), vars(copy)) == (
        type(caught.value),
        str(caught.value),
        vars(caught.value),
    )
