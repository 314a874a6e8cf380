"""Verification: every hash computed again, every link followed."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from amfs_sqlite.models import Finding, FindingCode, OutcomeEffect, VerifyReport
from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.reference.commits import digest_of
from amfs_sqlite.reference.store import (
    Opinion,
    State,
    Store,
    StoredCommit,
    StoredKey,
    StoredOutcome,
    StoredVersion,
    record_digest,
)
from amfs_sqlite.rules.anchors import Anchor, Standing, check_anchor, problems
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import GENESIS, content_hash, integrity_chain
from amfs_sqlite.rules.progress import Meter, check_progress
from amfs_sqlite.rules.values import decode

HASH_FORM = re.compile(r"[0-9a-f]{64}")
UNREADABLE = (ValueError, TypeError, RecursionError)
"""What stored text raises that was never written by us. It verifies as little as a wrong hash."""

Address = tuple[str, str]
Problem = tuple[FindingCode, str]


def verify(
    store: Store, anchor: Anchor | None, since: Anchor | None, progress: Progress | None
) -> VerifyReport:
    """What does not hold, key by key, then commit by commit."""
    check_anchor(anchor, "anchor")
    check_anchor(since, "since")
    check_progress(progress)
    state = store.state
    unheld = _anchor_findings(state, since)
    held = [each for each in _anchor_findings(state, anchor) if each not in unheld]
    first = 1 if since is None or unheld else since.sequence + 1
    keys = {at: key for at, key in state.keys.items() if first == 1 or _is_touched(state, at, key, first)}
    on_branches = [each for each in _on_branches(state) if first == 1 or _is_written(state, each.own, first)]
    versions = [each for each in state.versions if _is_behind(each.sequence, first)]
    commits = [sequence for sequence in state.commits if _is_behind(sequence, first)]
    outcomes = [each for each in state.outcomes if _is_behind(each.sequence, first)]
    meter = Meter(progress, len(versions) + len(commits) + len(outcomes))
    of_keys = [found for at, key in keys.items() for found in _key_findings(state, at, key, first, meter)]
    for each in on_branches:
        of_keys += _written_findings(state, each.address, each.own, first, meter, previous=each.base)
    of_erasures = _erasure_findings(state, first)
    of_commits = _commit_findings(state, first, meter)
    found = (*held, *unheld, *of_keys, *of_erasures, *of_commits, *_outcome_findings(state, first, meter))
    meter.end()
    return VerifyReport(
        key_count=len(keys) + len(on_branches),
        version_count=len(versions),
        commit_count=len(commits),
        outcome_count=len(outcomes),
        findings=found,
        checked_from=first,
    )


def anchor(store: Store) -> Anchor:
    """What the state comes to now."""
    return _standing(store.state, max(store.state.commits, default=0)).anchor(store.clock.now())


def _standing(state: State, through: int) -> Standing:
    stored = state.commits.get(through)
    return Standing(
        store_id=state.store_id,
        newest=max(state.commits, default=0),
        digest=stored.digest if stored else None,
        key_count=sum(_first_sequence(key) <= through for key in state.keys.values())
        + sum(each.own.versions[0].sequence <= through for each in _on_branches(state)),
        version_count=sum(each.sequence <= through for each in state.versions),
        outcome_count=sum(each.sequence <= through for each in state.outcomes),
    )


def _first_sequence(key: StoredKey) -> int:
    return min((each.sequence for each in key.versions if each.written.version == 1), default=0)


def _anchor_findings(state: State, anchor: Anchor | None) -> list[Finding]:
    if anchor is None:
        return []
    told = problems(anchor, _standing(state, anchor.sequence))
    return [Finding(code="anchor", message=message) for message in told]


def _is_behind(sequence: int, first: int) -> bool:
    """Whether what belongs to this commit is checked; from the first, whatever number it was given."""
    return first == 1 or sequence >= first


def _is_touched(state: State, address: Address, key: StoredKey, first: int) -> bool:
    """Whether anything was written, erased or moved under a key since."""
    if _is_written(state, key, first):
        return True
    since = [each for each in state.outcomes if each.sequence >= first]
    return any((effect.entity_path, effect.key) == address for outcome in since for effect in outcome.effects)


def _is_written(state: State, key: StoredKey, first: int) -> bool:
    return any(each.sequence >= first or state.erasures.get(each.number, 0) >= first for each in key.versions)


class _OnBranch(NamedTuple):
    """A key as a branch wrote it itself, and the version below from which that goes on."""

    address: Address
    own: StoredKey
    base: StoredVersion | None


def _on_branches(state: State) -> Iterator[_OnBranch]:
    for name, stored in state.branches.items():
        shown = state.on(name).keys
        for address, own in stored.keys.items():
            below = [version for version in shown[address].versions if version.branch != name]
            yield _OnBranch(address, own, below[-1] if below else None)


def _key_findings(
    state: State, address: Address, key: StoredKey, first: int, meter: Meter
) -> Iterator[Finding]:
    yield from _written_findings(state, address, key, first, meter, previous=None)
    for number, message in _opinion_problems(state, address, key):
        yield _at(address, number, "outcome", message)


def _written_findings(
    state: State,
    address: Address,
    key: StoredKey,
    first: int,
    meter: Meter,
    *,
    previous: StoredVersion | None,
) -> Iterator[Finding]:
    for version in key.versions:
        is_new = _is_behind(version.sequence, first)
        erased_since = state.erasures.get(version.number, 0) >= first
        found: list[Problem] = []
        if is_new:
            found += _version_problems(state, address, previous, version)
            meter.count()
        elif erased_since:
            found += _record_problems(state, address, version)
        if version.number in state.erasures and (is_new or erased_since):
            found += _erasure_problems(state, version)
        for code, message in found:
            yield _at(address, version.written.version, code, message)
        previous = version
    newest = previous.written.version if previous else 0
    if newest < key.version_count:
        yield _at(address, key.version_count, "gap", f"versions after {newest} are missing")


def _version_problems(
    state: State, address: Address, previous: StoredVersion | None, version: StoredVersion
) -> Iterator[Problem]:
    yield from _place_problems(state, previous, version)
    written = version.written
    if not _is_hash(written.content_hash):
        yield "algorithm", "the contentHash is missing or of an unknown form"
    elif not _has_its_content(state, version):
        yield "content", "the value does not hash to its contentHash, or is gone and no commit erased it"
    if not _is_hash(written.integrity_chain):
        yield "algorithm", "the integrityChain is missing or of an unknown form"
    elif _follows(previous, version) and written.integrity_chain != integrity_chain(
        written.content_hash or "", previous.written.integrity_chain if previous else None
    ):
        yield "link", "the integrityChain does not follow from the version before"
    yield from _record_problems(state, address, version)


def _record_problems(state: State, address: Address, version: StoredVersion) -> Iterator[Problem]:
    if not _is_hash(version.digest):
        yield "algorithm", "the record digest is missing or of an unknown form"
    elif not _has_its_extra(state, version) or _record_digest_of(state, address, version) != version.digest:
        yield "record", "what was written with the version does not hash to its record digest"


def _has_its_content(state: State, version: StoredVersion) -> bool:
    if version.value is not None:
        return version.kind != "tombstone" and _hash_of(version.value) == version.written.content_hash
    if version.kind == "tombstone":
        return version.written.content_hash == content_hash(None)
    return version.number in state.erasures


def _has_its_extra(state: State, version: StoredVersion) -> bool:
    """Unknown fields go with an erased value, and their hash stays."""
    is_erased = version.value is None and version.number in state.erasures
    return is_erased or _hash_of(version.extra) == version.extra_hash


def _erasure_problems(state: State, version: StoredVersion) -> Iterator[Problem]:
    stored = state.commits.get(state.erasures[version.number])
    is_listed = stored is not None and version.listed in stored.commit.entries
    if version.value is not None or decode(version.extra) or version.kind == "tombstone":
        yield "erasure", "a commit erased the version, and its value, or more, is there"
    elif stored is None or stored.commit.kind != "erase" or not is_listed:
        yield "content", "the value is gone, and no commit erased it"
        yield "erasure", "the commit that is to have erased the version does not list it"


def _erasure_findings(state: State, first: int) -> Iterator[Finding]:
    """Erasures of nothing, and what commits erased that is recorded otherwise."""
    by_number = {each.number: each for each in state.versions}
    for number, sequence in state.erasures.items():
        if number not in by_number and _is_behind(sequence, first):
            yield Finding(code="erasure", message=f"commit {sequence} erased a version that is missing")
    for sequence, stored in state.commits.items():
        if stored.commit.kind != "erase" or not _is_behind(sequence, first):
            continue
        erased = [by_number[number].listed for number in by_number if state.erasures.get(number) == sequence]
        for entry in stored.commit.entries:
            if entry not in erased:
                message = f"commit {sequence} erased the version, and that is not recorded with it"
                yield _at((entry.entity_path, entry.key), entry.version, "erasure", message)


def _place_problems(
    state: State, previous: StoredVersion | None, version: StoredVersion
) -> Iterator[Problem]:
    expected = previous.written.version + 1 if previous else 1
    if version.written.version > expected:
        yield "gap", f"version {expected} is missing"
    if version.written.version < expected:
        yield "order", "the version stands behind one of a higher or equal number"
    if previous and (version.number <= previous.number or version.sequence < previous.sequence):
        yield "order", "the version was stored earlier than the one before it"
    if version.sequence not in state.commits:
        yield "commit", f"the version belongs to commit {version.sequence}, which is missing"


def _follows(previous: StoredVersion | None, version: StoredVersion) -> bool:
    """Whether the version before is there to be followed from."""
    return version.written.version == (previous.written.version + 1 if previous else 1)


def _is_hash(text: str | None) -> bool:
    return text is not None and HASH_FORM.fullmatch(text) is not None


def _hash_of(value: str) -> str | None:
    try:
        return content_hash(decode(value))
    except UNREADABLE:
        return None


def _record_digest_of(state: State, address: Address, version: StoredVersion) -> str | None:
    """The digest of a version at the address it is filed under, whatever its value."""
    filed = version.written.model_copy(update={"entity_path": address[0], "key": address[1]})
    try:
        # Whatever became of the value: the digest goes by its hash.
        return record_digest(state.namespace, replace(version, written=filed, value=None, extra="{}"))
    except UNREADABLE:
        return None


def _opinion_problems(state: State, address: Address, key: StoredKey) -> Iterator[tuple[int, str]]:
    """Follow each opinion from how it was written, effect by effect, to how it stands."""
    standing = {version.written.version: Opinion.of(version.written) for version in key.versions}
    made = set()
    for outcome in state.outcomes:
        for effect in outcome.effects:
            if effect.applied and (effect.entity_path, effect.key) == address:
                made.add(effect.resulting_version)
                problem = _follow(key, standing, outcome, effect)
                if problem:
                    yield effect.version, problem
    for version in key.versions:
        number = version.written.version
        if standing[number] != version.opinion:
            yield number, "the confidence or a count does not follow from the outcomes recorded"
        if version.kind == "outcome" and number not in made:
            yield number, "no outcome recorded made the version"


def _follow(
    key: StoredKey, standing: dict[int, Opinion], outcome: StoredOutcome, effect: OutcomeEffect
) -> str | None:
    """Let an effect move the opinion that stands; tell what does not fit."""
    before = standing.get(effect.version)
    if before is None:
        return "an outcome moved the version, which is missing"
    success = _succeeded(outcome)
    after = Opinion(
        effect.confidence_after,
        before.outcome_count + 1,
        before.success_count + int(success),
        before.failure_count + int(not success),
    )
    if effect.resulting_version == effect.version:
        standing[effect.version] = after
    else:
        made = key.version(effect.resulting_version or 0)
        if made is None or made.kind != "outcome" or Opinion.of(made.written) != after:
            return "an outcome made another version than the one that is stored"
    if before.confidence != effect.confidence_before:
        return "an outcome started from another confidence than the one that stood"
    return None


def _succeeded(outcome: StoredOutcome) -> bool:
    try:
        return is_success(outcome_type(outcome.record.outcome_type))
    except UNREADABLE:
        # The digest of its commit says so.
        return False


def _commit_findings(state: State, first: int, meter: Meter) -> Iterator[Finding]:
    before = state.commits.get(first - 1)
    last, previous = first - 1, before.digest if before else GENESIS
    for sequence, stored in state.commits.items():
        if not _is_behind(sequence, first):
            continue
        meter.count()
        if not sequence == stored.commit.sequence == last + 1:
            yield _of(stored, "order", f"the commit is number {sequence} and stands behind {last}")
        if not _is_hash(stored.digest):
            yield _of(stored, "algorithm", "the digest is missing or of an unknown form")
        elif _commit_digest_of(state, stored, previous) != stored.digest:
            yield _of(stored, "commit", "the commit and what it holds do not hash to its digest")
        last, previous = sequence, stored.digest
    if state.head != (last, previous):
        yield Finding(code="head", message=f"the head names commit {state.head[0]}, not {last}")


def _commit_digest_of(state: State, stored: StoredCommit, previous: str) -> str | None:
    try:
        return digest_of(state, stored.commit, stored.describes, previous)
    except UNREADABLE:
        return None


def _outcome_findings(state: State, first: int, meter: Meter) -> Iterator[Finding]:
    for outcome in state.outcomes:
        if not _is_behind(outcome.sequence, first):
            continue
        meter.count()
        if outcome.sequence not in state.commits:
            message = f"an outcome belongs to commit {outcome.sequence}, which is missing"
            yield Finding(code="outcome", message=message)
        for effect in outcome.effects:
            address = (effect.entity_path, effect.key)
            if address not in state.keys:
                yield _at(address, effect.version, "outcome", "an outcome names a missing key")


def _at(address: Address, version: int, code: FindingCode, message: str) -> Finding:
    return Finding(code=code, message=message, entity_path=address[0], key=address[1], version=version)


def _of(stored: StoredCommit, code: FindingCode, message: str) -> Finding:
    return Finding(code=code, message=message, commit_id=stored.commit.id)
