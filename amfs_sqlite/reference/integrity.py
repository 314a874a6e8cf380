"""Verification: every hash computed again, every link followed."""

import re
from collections.abc import Iterator
from dataclasses import replace

from amfs_sqlite.models import Finding, FindingCode, OutcomeEffect, VerifyReport
from amfs_sqlite.reference.commits import digest_of
from amfs_sqlite.reference.store import (
    Opinion,
    State,
    Store,
    StoredCommit,
    StoredKey,
    StoredOutcome,
    StoredVersion,
)
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.hashing import GENESIS, content_hash, integrity_chain
from amfs_sqlite.rules.values import decode

HASH_FORM = re.compile(r"[0-9a-f]{64}")
UNREADABLE = (ValueError, TypeError, RecursionError)
"""What stored text raises that was never written by us. It verifies as little as a wrong hash."""

Address = tuple[str, str]
Problem = tuple[FindingCode, str]


def verify(store: Store) -> VerifyReport:
    """What does not hold, key by key, then commit by commit."""
    state = store.state
    of_keys = [
        finding for address, key in state.keys.items() for finding in _key_findings(state, address, key)
    ]
    return VerifyReport(
        key_count=len(state.keys),
        version_count=sum(len(key.versions) for key in state.keys.values()),
        commit_count=len(state.commits),
        outcome_count=len(state.outcomes),
        findings=(*of_keys, *_commit_findings(state), *_outcome_findings(state)),
    )


def _key_findings(state: State, address: Address, key: StoredKey) -> Iterator[Finding]:
    previous = None
    for version in key.versions:
        for code, message in _version_problems(state, address, previous, version):
            yield _at(address, version.written.version, code, message)
        previous = version
    newest = previous.written.version if previous else 0
    if newest < key.version_count:
        yield _at(address, key.version_count, "gap", f"versions after {newest} are missing")
    for number, message in _opinion_problems(state, address, key):
        yield _at(address, number, "outcome", message)


def _version_problems(
    state: State, address: Address, previous: StoredVersion | None, version: StoredVersion
) -> Iterator[Problem]:
    yield from _place_problems(state, previous, version)
    written = version.written
    if not _is_hash(written.content_hash):
        yield "algorithm", "the contentHash is missing or of an unknown form"
    elif version.value is not None and _hash_of(version.value) != written.content_hash:
        yield "content", "the value does not hash to its contentHash"
    if not _is_hash(written.integrity_chain):
        yield "algorithm", "the integrityChain is missing or of an unknown form"
    elif _follows(previous, version) and written.integrity_chain != integrity_chain(
        written.content_hash or "", previous.written.integrity_chain if previous else None
    ):
        yield "link", "the integrityChain does not follow from the version before"
    if not _is_hash(version.digest):
        yield "algorithm", "the record digest is missing or of an unknown form"
    elif _record_digest_of(state, address, version) != version.digest:
        yield "record", "what was written with the version does not hash to its record digest"


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
        return state.record_digest(replace(version, written=filed))
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


def _commit_findings(state: State) -> Iterator[Finding]:
    last, previous = 0, GENESIS
    for sequence, stored in state.commits.items():
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


def _outcome_findings(state: State) -> Iterator[Finding]:
    for outcome in state.outcomes:
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
