"""Verify finds an edit of each kind of thing in the state, and calls it by its code."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from amfs_sqlite import AMFS_0_3, HANDOFF, OutcomePolicy, ReferenceAdapter
from amfs_sqlite.models import Commit, CommitEntry, Provenance
from amfs_sqlite.reference.store import State, StoredVersion
from parity_tests.drafts import at, draft, outcome

A, B = ("svc/a", "k"), ("svc/b", "k")
Edit = Callable[[State], object]


async def filled(policy: OutcomePolicy) -> ReferenceAdapter:
    """A key with three versions and one with one, an outcome, a saved and a described commit."""
    adapter = ReferenceAdapter(outcomes=policy)
    await adapter.open()
    for value in ({"n": 1}, "two", 3.5):
        await adapter.write(draft(*A, value, confidence=0.5, tags=("t",), custom=[1]))
    await adapter.write_batch([draft(*B, value=1, confidence=0.5)])
    await adapter.commit_outcome(outcome("success", at(*A), at(*B), note="fine"))
    newest = (await adapter.list_commits(limit=1))[0]
    listed = (CommitEntry(entity_path="x", key="y", version=1),)
    await adapter.save_commit(newest.model_copy(update={"id": "saved", "entries": listed}))
    await adapter.save_commit(newest.model_copy(update={"message": "why"}))
    return adapter


def version(state: State, version_number: int, /, **changes: Any) -> None:
    """Edit what is stored with a version of the first key."""
    key = state.keys[A]
    versions = [
        replace(each, **changes) if each.written.version == version_number else each for each in key.versions
    ]
    state.keys[A] = replace(key, versions=tuple(versions))


def written(number: int, /, **changes: Any) -> Edit:
    """Edit a field of a version of the first key."""

    def edit(state: State) -> None:
        found = state.keys[A].version(number)
        assert found is not None
        version(state, number, written=found.written.model_copy(update=changes))

    return edit


def opinion(number: int, /, **changes: Any) -> Edit:
    """Edit the opinion of a version of the first key."""

    def edit(state: State) -> None:
        found = state.keys[A].version(number)
        assert found is not None
        version(state, number, opinion=replace(found.opinion, **changes))

    return edit


def stored(number: int, /, **changes: Any) -> Edit:
    """Edit how a version of the first key is stored."""
    return lambda state: version(state, number, **changes)


def commit(sequence: int, /, **changes: Any) -> Edit:
    """Edit a field of a commit."""

    def edit(state: State) -> None:
        found = state.commits[sequence]
        state.commits[sequence] = replace(found, commit=found.commit.model_copy(update=changes))

    return edit


def effect(**changes: Any) -> Edit:
    """Edit the first effect of the outcome."""

    def edit(state: State) -> None:
        first, *others = state.outcomes[0].effects
        edited = (first.model_copy(update=changes), *others)
        state.outcomes[0] = replace(state.outcomes[0], effects=edited)

    return edit


def reorder(state: State) -> None:
    first, second, *others = state.keys[A].versions
    state.keys[A] = replace(state.keys[A], versions=(second, first, *others))


def drop(number: int) -> Edit:
    def edit(state: State) -> None:
        kept: list[StoredVersion] = [
            each for each in state.keys[A].versions if each.written.version != number
        ]
        state.keys[A] = replace(state.keys[A], versions=tuple(kept))

    return edit


def rename(state: State) -> None:
    state.keys["svc/other", "k"] = state.keys.pop(A)


def reword(state: State) -> None:
    wire = state.outcomes[0].wire.replace("fine", "poor")
    assert wire != state.outcomes[0].wire
    state.outcomes[0] = replace(state.outcomes[0], wire=wire)


def garble(state: State) -> None:
    state.outcomes[0] = replace(state.outcomes[0], wire="{")


def moved_outcome(state: State) -> None:
    state.outcomes[0] = replace(state.outcomes[0], sequence=99)


def swap_commits(state: State) -> None:
    state.commits[1], state.commits[2] = state.commits[2], state.commits[1]


def redescribe(state: State) -> None:
    state.commits[7] = replace(state.commits[7], describes="saved")


def digest(sequence: int, text: str) -> Edit:
    def edit(state: State) -> None:
        state.commits[sequence] = replace(state.commits[sequence], digest=text)

    return edit


def head(state: State) -> None:
    state.head = (state.head[0], "0" * 64)


LATER = draft(written_at="2030-01-01T00:00:00Z").provenance.written_at
OTHERS = Provenance(agent_id="mallory", written_at=LATER)
EDITS: dict[str, tuple[Edit, set[str]]] = {
    "value": (stored(1, value='{"n":2}'), {"content"}),
    "value of another type": (stored(3, value="3"), {"content"}),
    "value that is no JSON": (stored(1, value="{"), {"content"}),
    "author and time": (written(1, provenance=OTHERS), {"record"}),
    "ttl": (written(1, ttl_at=LATER), {"record"}),
    "privacy": (written(1, shared=False), {"record"}),
    "unknown field": (stored(1, extra='{"custom":[2]}'), {"record"}),
    "unknown fields that are no JSON": (stored(1, extra="["), {"record"}),
    "kind": (stored(1, kind="outcome"), {"record", "outcome"}),
    "confidence as written": (written(1, confidence=0.9), {"record", "outcome"}),
    "contentHash": (written(1, content_hash="0" * 64), {"content", "link", "record"}),
    "contentHash missing": (written(1, content_hash=None), {"algorithm", "link", "record"}),
    "integrityChain": (written(2, integrity_chain="0" * 64), {"link"}),
    "integrityChain of another form": (written(2, integrity_chain="md5:0"), {"algorithm", "link"}),
    "record digest": (stored(1, digest="0" * 64), {"record", "commit"}),
    "record digest missing": (stored(1, digest=""), {"algorithm", "commit"}),
    "commit of a version": (stored(2, sequence=3), {"commit"}),
    "missing commit of a version": (stored(2, sequence=99), {"commit", "order"}),
    "order of storing": (stored(2, number=1), {"order"}),
    "order of versions": (reorder, {"order", "gap"}),
    "missing version": (drop(2), {"gap", "commit"}),
    "missing first version": (drop(1), {"gap", "commit"}),
    "address": (rename, {"record", "outcome"}),
    "missing key": (lambda state: state.keys.pop(B), {"commit", "outcome"}),
    "confidence": (opinion(3, confidence=0.9), {"outcome"}),
    "count": (opinion(3, outcome_count=7), {"outcome"}),
    "confidence of a superseded version": (opinion(1, success_count=1), {"outcome"}),
    "note of an outcome": (reword, {"commit"}),
    "outcome that is no JSON": (garble, {"commit", "outcome"}),
    "commit of an outcome": (moved_outcome, {"commit", "outcome"}),
    "missing outcome": (lambda state: state.outcomes.clear(), {"commit", "outcome"}),
    "confidence before": (effect(confidence_before=0.4), {"commit", "outcome"}),
    "confidence after": (effect(confidence_after=0.4), {"commit", "outcome"}),
    "effect on another version": (effect(version=9), {"commit", "outcome"}),
    "effect taken back": (effect(applied=False), {"commit", "outcome"}),
    "message": (commit(2, message="never said"), {"commit"}),
    "author of a commit": (commit(2, author_agent_id="mallory"), {"commit"}),
    "parents": (commit(2, parent_ids=()), {"commit"}),
    "treeHash": (commit(2, tree_hash="0" * 64), {"commit"}),
    "listed entries": (commit(6, entries=()), {"commit"}),
    "described commit": (redescribe, {"commit"}),
    "commit digest": (digest(2, "0" * 64), {"commit"}),
    "commit digest missing": (digest(2, ""), {"algorithm", "commit"}),
    "number of a commit": (commit(2, sequence=9), {"order", "commit"}),
    "order of commits": (swap_commits, {"order", "commit"}),
    "missing commit": (lambda state: state.commits.pop(2), {"order", "commit"}),
    "missing newest commit": (lambda state: state.commits.pop(7), {"head"}),
    "head": (head, {"head"}),
}


@pytest.mark.parametrize("name", EDITS)
async def test_an_edit_of_the_state_is_found(name: str) -> None:
    edit, codes = EDITS[name]
    adapter = await filled(HANDOFF)
    assert (await adapter.verify()).findings == ()
    edit(adapter._store.state)
    assert {finding.code for finding in (await adapter.verify()).findings} == codes


@pytest.mark.parametrize(
    ("edit", "codes"),
    [
        (written(4, confidence=0.9), {"record", "outcome"}),
        (opinion(3, confidence=0.9), {"outcome"}),
        (stored(4, kind="write"), {"record", "outcome"}),
        (effect(resulting_version=3), {"commit", "outcome"}),
        (drop(4), {"gap", "commit", "outcome"}),
    ],
    ids=["confidence as written", "confidence before", "kind", "resulting version", "version"],
)
async def test_an_edit_around_a_version_that_an_outcome_made_is_found(edit: Edit, codes: set[str]) -> None:
    adapter = await filled(AMFS_0_3)
    assert (await adapter.verify()).findings == ()
    edit(adapter._store.state)
    assert {finding.code for finding in (await adapter.verify()).findings} == codes


async def test_a_finding_says_where_it_is() -> None:
    adapter = await filled(HANDOFF)
    state = adapter._store.state
    stored(2, value="0")(state)
    commit(4, message="never said")(state)
    first, second = (await adapter.verify()).findings
    assert (first.code, first.entity_path, first.key, first.version) == ("content", *A, 2)
    saved: Commit = state.commits[4].commit
    assert (second.code, second.commit_id) == ("commit", saved.id)


async def test_verify_counts_all_that_it_checked() -> None:
    report = await (await filled(AMFS_0_3)).verify()
    counts = (report.key_count, report.version_count, report.commit_count, report.outcome_count)
    assert counts == (2, 6, 7, 1)
    assert report.ok
