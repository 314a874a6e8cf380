"""Integrity: the hashes are AMFS's formulas, and verify recomputes them all."""

import hashlib
import json
from typing import Any

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    AmfsAdapter,
    MemoryEntry,
    Outcome,
    OutcomePolicy,
    VerifyReport,
    Write,
)
from amfs_sqlite.models import Change
from parity_tests.adapters import AdapterOpener
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def formulas_hold(entry: MemoryEntry, chain_before: str) -> bool:
    content = sha256(json.dumps(entry.value, sort_keys=True, separators=(",", ":")))
    return (entry.content_hash, entry.integrity_chain) == (content, sha256(content + chain_before))


@proves("integrity.formulas")
async def test_every_version_carries_its_hash_and_links_to_the_one_before(
    adapter: AmfsAdapter,
) -> None:
    values: list[Any] = [{"b": 1.0, "a": "é"}, None, "same", "same", [1, [2]]]
    returned = [await adapter.write(draft(value=value)) for value in values[:3]]
    returned += await adapter.write_batch([draft(value=value) for value in values[3:]])
    returned += [await adapter.write(private(agent="bob"))]
    history = await adapter.history("svc/a", "k")
    chain = ""
    for returned_entry, entry in zip(returned, history, strict=True):
        assert formulas_hold(entry, chain)
        assert entry.content_hash == returned_entry.content_hash
        assert entry.integrity_chain == returned_entry.integrity_chain
        chain = entry.integrity_chain or ""
    for others in (await adapter.list(), [await adapter.read("svc/a", "k")]):
        assert [each and each.integrity_chain for each in others] == [chain]


@proves("integrity.formulas")
async def test_a_version_that_an_outcome_makes_links_to_the_one_before(adapter: AmfsAdapter) -> None:
    first = await adapter.write(draft())
    (moved,) = await adapter.commit_outcome(outcome("failure", "svc/a/k"))
    assert formulas_hold(moved, first.integrity_chain or "")


@proves("integrity.formulas")
async def test_the_hashes_are_the_ones_amfs_computes(adapter: AmfsAdapter) -> None:
    entry = await adapter.write(draft(value="hello"))
    assert entry.content_hash == sha256('"hello"')
    assert str(entry.content_hash).startswith("5aa762ae")
    assert entry.integrity_chain == sha256(str(entry.content_hash))
    chained = await adapter.write(draft(value=1))
    assert str(chained.content_hash).startswith("6b86b273")
    assert chained.integrity_chain == sha256(f"{chained.content_hash}{entry.integrity_chain}")


@proves("integrity.formulas", "addresses.pairs")
async def test_every_key_has_a_chain_of_its_own(adapter: AmfsAdapter) -> None:
    for path, key in (("a/b", "c"), ("a", "b/c"), ("a/b", "d")):
        assert formulas_hold(await adapter.write(draft(path, key)), "")


@proves("integrity.tree-hash")
async def test_the_tree_hash_covers_the_versions_of_a_commit(adapter: AmfsAdapter) -> None:
    written = await adapter.write_batch([draft(key=key, value=key) for key in "cab"])
    (commit,) = await adapter.list_commits()
    hashes = [str(each.content_hash) for each in written]
    assert commit.tree_hash == sha256("\n".join(sorted(hashes)))
    assert [each.content_hash for each in commit.entries] == hashes


@proves("integrity.tree-hash")
async def test_a_commit_without_versions_has_no_tree_hash(handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(draft())
    await handoff_adapter.commit_outcome(outcome("success", at()))
    newest, _ = await handoff_adapter.list_commits()
    assert (newest.tree_hash, newest.entries) == (None, ())


@proves("integrity.digest-chain")
@pytest.mark.parametrize(
    "change",
    [
        {"value": 2},
        {"agent": "bob"},
        {"session": "s"},
        {"tags": ("t",)},
        {"confidence": 0.5},
        {"written_at": "2026-01-01T00:00:00.000001Z"},
        {"ttl_at": "2027-01-01"},
        {"shared": False},
        {"outcome_count": 1},
        {"amfs_version": "0.1.1"},
        {"artifact_refs": []},
        {"custom": 1},
        {"path": "svc"},
        {"key": "K"},
    ],
    ids=",".join,
)
async def test_a_commits_digest_covers_all_that_was_written_before_it(
    open_adapter: AdapterOpener, change: dict[str, Any]
) -> None:
    digests = []
    for fields in ({}, change):
        adapter = await open_adapter()
        await adapter.write(draft(**fields))
        await adapter.write(draft("later", agent="carol"))
        digests.append([each.digest for each in await adapter.list_commits()])
    (one_newest, one_first), (other_newest, other_first) = digests
    assert len({one_newest, one_first, other_newest, other_first, None}) == 5


async def eventful(adapter: AmfsAdapter) -> None:
    """Every kind of commit there is."""
    await adapter.write(draft(value="a"))
    await adapter.write_batch([draft(value="b"), draft(value="c"), private(key="p", agent="bob")])
    await adapter.commit_outcome(outcome("success", "svc/a/k", at(key="k")))
    await adapter.commit_outcome(outcome("failure", "no/such", agent="bob", outcome_ref="run-2"))
    changes: list[Change] = [Write(draft(key="n")), Outcome(outcome("minor_failure", at(key="n"), note="!"))]
    result = await adapter.commit(changes, author="carol", message="both", session_id="s")
    again = result.commit.model_copy(update={"message": "said again"})
    await adapter.save_commit(again)
    await adapter.save_commit(again.model_copy(update={"id": "imported", "parent_ids": ()}))
    await adapter.write(draft(value="d", ttl_at="2020-01-01", custom={"a": 1}))


@proves("integrity.verify-clean", "integrity.verify-counts")
async def test_a_store_of_nothing_but_entries_verifies_and_is_counted(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(value="a"))
    await adapter.write_batch([draft(value="b"), private(key="p", agent="bob")])
    await adapter.write(draft(value="c", ttl_at="2020-01-01", custom={"a": 1}))
    report = await adapter.verify()
    assert (report.ok, report.findings) == (True, ())
    assert (report.key_count, report.version_count) == (2, 4)
    assert (report.commit_count, report.outcome_count) == (3, 0)


@proves("integrity.verify-clean")
@pytest.mark.parametrize("policy", [AMFS_0_3, HANDOFF], ids=lambda policy: policy.name)
async def test_an_untouched_store_verifies(open_adapter: AdapterOpener, policy: OutcomePolicy) -> None:
    adapter = await open_adapter(outcomes=policy)
    await eventful(adapter)
    report = await adapter.verify()
    assert report.findings == ()
    assert report.ok


@proves("integrity.verify-counts")
async def test_verify_counts_what_it_checked(handoff_adapter: AmfsAdapter) -> None:
    assert await handoff_adapter.verify() == VerifyReport(
        key_count=0, version_count=0, commit_count=0, outcome_count=0
    )
    await eventful(handoff_adapter)
    report = await handoff_adapter.verify()
    assert (report.key_count, report.version_count) == (3, 6)
    assert report.outcome_count == 3
    # How a description is kept is each adapter's own; what the log lists is checked.
    assert report.commit_count >= len(await handoff_adapter.list_commits()) == 7


@proves("integrity.verify-counts", "privacy.verify-sees-all")
async def test_verify_counts_what_is_private_too(adapter: AmfsAdapter) -> None:
    await adapter.write_batch([private(agent="a"), private(agent="b")])
    assert (await adapter.verify()).version_count == 2
