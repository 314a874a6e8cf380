"""Anchors: what a store came to, held against what it comes to later, and where checking goes on."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    AmfsAdapter,
    Anchor,
    CommitEntry,
    Finding,
    FixedClock,
    OutcomePolicy,
    RandomIds,
    VerifyReport,
)
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves

Deed = Callable[[AmfsAdapter], Awaitable[object]]


async def _erased_and_written(adapter: AmfsAdapter) -> None:
    await adapter.erase([at()], author="o")
    await adapter.write(draft(value="again"), expected_version=0)


DEEDS: dict[str, tuple[Deed, tuple[int, int, int, int]]] = {
    "nothing": (lambda adapter: adapter.read("svc/a", "k"), (0, 0, 0, 0)),
    "a write": (lambda adapter: adapter.write(draft(value="next")), (1, 1, 1, 0)),
    "the first of a key": (lambda adapter: adapter.write(draft(key="new")), (1, 1, 1, 0)),
    "a batch": (
        lambda adapter: adapter.write_batch([draft(key=key, value="b") for key in "kkn"]),
        (2, 3, 1, 0),
    ),
    "what is private and expired": (
        lambda adapter: adapter.write(private(key="p", agent="bob", ttl_at="2020-01-01")),
        (1, 1, 1, 0),
    ),
    "an outcome": (
        lambda adapter: adapter.commit_outcome(outcome("success", at(), at(key="l"))),
        (2, 0, 1, 1),
    ),
    "an outcome of a version before": (
        lambda adapter: adapter.commit_outcome(outcome("failure", at(version=1), outcome_ref="run-2")),
        (1, 0, 1, 1),
    ),
    "an erasure": (lambda adapter: adapter.erase([at(version=1), at(key="l")], author="o"), (2, 0, 1, 0)),
    "an archiving": (lambda adapter: adapter.archive_expired(author="o"), (1, 1, 1, 0)),
    "an erasure of all, and a write over it": (
        _erased_and_written,
        (1, 1, 2, 0),
    ),
}


class EnoughError(Exception):
    pass


async def filled(open_adapter: AdapterOpener, policy: OutcomePolicy = HANDOFF) -> AmfsAdapter:
    """Three keys, four versions, three commits, an outcome."""
    adapter = await open_adapter(outcomes=policy)
    await adapter.write(draft(value="first", custom=1))
    await adapter.write_batch([draft(value="second"), draft(key="l"), draft(key="x", ttl_at="2020-01-01")])
    await adapter.commit_outcome(outcome("success", at(), outcome_ref="run-0"))
    return adapter


def codes(report: VerifyReport) -> list[str]:
    return [each.code for each in report.findings]


@proves("integrity.anchor")
async def test_an_anchor_names_the_newest_commit_and_counts_the_store(
    open_adapter: AdapterOpener, clock: FixedClock
) -> None:
    adapter = await filled(open_adapter)
    anchor = await adapter.anchor()
    newest = (await adapter.list_commits(limit=1))[0]
    assert anchor.sequence == newest.sequence == 3
    assert (anchor.key_count, anchor.version_count, anchor.outcome_count) == (3, 4, 1)
    assert (anchor.format_version, anchor.taken_at, anchor.signature) == (1, clock.now(), None)
    assert await adapter.anchor() == anchor
    assert Anchor.from_wire(anchor.to_wire()) == anchor


@proves("integrity.anchor", "integrity.anchor-holds")
async def test_an_empty_store_has_an_anchor_that_every_later_state_goes_on_from(adapter: AmfsAdapter) -> None:
    anchor = await adapter.anchor()
    assert (anchor.sequence, anchor.digest, anchor.version_count) == (0, "", 0)
    assert (await adapter.verify(anchor=anchor, since=anchor)).ok
    await adapter.write(draft())
    report = await adapter.verify(anchor=anchor, since=anchor)
    assert (report.ok, report.checked_from, report.version_count) == (True, 1, 1)


@proves("integrity.anchor-holds", "integrity.since")
@pytest.mark.parametrize("deed", DEEDS)
async def test_a_store_that_went_on_holds_and_what_came_since_is_checked_and_counted(
    open_adapter: AdapterOpener, deed: str
) -> None:
    done, counts = DEEDS[deed]
    adapter = await filled(open_adapter)
    anchor = await adapter.anchor()
    await done(adapter)
    assert await adapter.verify(anchor=anchor) == await adapter.verify()
    report = await adapter.verify(since=anchor)
    assert report.findings == ()
    assert report.checked_from == 4
    keys, versions, commits, outcomes = counts
    assert report == VerifyReport(
        key_count=keys,
        version_count=versions,
        commit_count=commits,
        outcome_count=outcomes,
        checked_from=4,
    )


@proves("integrity.since")
async def test_of_many_writes_only_those_since_an_anchor_are_counted(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key=key) for key in "abc"])
    anchor = await adapter.anchor()
    await adapter.write_batch([draft(key=key, value=2) for key in "bd"])
    assert await adapter.verify(since=anchor) == VerifyReport(
        key_count=2, version_count=2, commit_count=1, outcome_count=0, checked_from=2
    )


@proves("integrity.since")
async def test_versions_that_outcomes_made_are_checked_since_an_anchor(open_adapter: AdapterOpener) -> None:
    adapter = await filled(open_adapter, AMFS_0_3)
    anchor = await adapter.anchor()
    await adapter.commit_outcome(outcome("failure", at(), at(key="l"), outcome_ref="run-3"))
    report = await adapter.verify(since=anchor)
    assert (report.ok, report.key_count, report.version_count, report.outcome_count) == (True, 2, 2, 1)


@proves("integrity.anchor-fails")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"store_id": "f" * 32}, "is of the store"),
        ({"sequence": 4}, "what came between is gone"),
        ({"sequence": 2}, "another digest"),
        ({"digest": "0" * 64}, "another digest"),
        ({"sequence": 0, "digest": ""}, "up to commit 0"),
        ({"key_count": 2}, "3 keys"),
        ({"version_count": 5}, "4 versions"),
        ({"outcome_count": 2}, "1 outcomes"),
    ],
    ids=str,
)
async def test_an_anchor_of_anything_else_is_found_and_everything_is_checked(
    open_adapter: AdapterOpener, changed: dict[str, Any], said: str
) -> None:
    adapter = await filled(open_adapter)
    anchor = (await adapter.anchor()).model_copy(update=changed)
    await adapter.write(draft(value="later")) if "sequence" not in changed else None
    for report in (await adapter.verify(anchor=anchor), await adapter.verify(since=anchor)):
        assert {*codes(report)} == {"anchor"}
        assert said in report.findings[0].message
        assert (report.ok, report.checked_from) == (False, 1)
        assert report.version_count == (await adapter.verify()).version_count


@proves("integrity.anchor-fails")
async def test_what_two_anchors_say_alike_is_said_once(open_adapter: AdapterOpener) -> None:
    adapter = await filled(open_adapter)
    foreign = (await adapter.anchor()).model_copy(update={"store_id": "f" * 32})
    assert codes(await adapter.verify(anchor=foreign, since=foreign)) == ["anchor"]


@proves("integrity.anchor-fails")
async def test_anchors_of_two_stores_are_not_taken_for_each_other(open_adapter: AdapterOpener) -> None:
    one, other = await open_adapter(ids=RandomIds()), await open_adapter(ids=RandomIds())
    anchor = await one.anchor()
    assert (await other.anchor()).store_id != anchor.store_id
    assert codes(await other.verify(anchor=anchor)) == ["anchor"]


@proves("integrity.progress")
async def test_progress_is_told_up_to_the_end(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([draft(key=f"k{number % 700}", value=number) for number in range(1300)])
    told: list[tuple[int, int]] = []
    assert (await adapter.verify(progress=lambda done, total: told.append((done, total)))).ok
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1] == (1301, 1301)
    assert {total for _, total in told} == {1301}


@proves("integrity.progress")
async def test_what_progress_raises_ends_the_check(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())

    def enough(done: int, total: int) -> None:
        raise EnoughError(f"{done} of {total}")

    with pytest.raises(EnoughError, match="2 of 2"):
        await adapter.verify(progress=enough)
    assert (await adapter.verify()).ok


@proves("integrity.verify-clean")
async def test_a_saved_commit_that_lists_what_was_never_here_is_no_erasure(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    (newest,) = await adapter.list_commits()
    listed = (CommitEntry(entity_path="x", key="y", version=1),)
    await adapter.save_commit(newest.model_copy(update={"id": "saved", "entries": listed}))
    assert (await adapter.verify()).findings == tuple[Finding, ...]()
