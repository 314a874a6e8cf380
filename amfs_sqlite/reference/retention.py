"""Retention: values taken away, and what has expired put away."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from typing import Literal

from amfs_sqlite.errors import EntryNotFoundError
from amfs_sqlite.models import MAIN_BRANCH, CommitEntry, EntryRef, MemoryEntry, RetentionReport
from amfs_sqlite.reference.commits import COMMIT_ID_DIGITS, make
from amfs_sqlite.reference.store import State, Store, StoredVersion
from amfs_sqlite.rules.hashing import content_hash, integrity_chain
from amfs_sqlite.rules.retention import ERASED_TOGETHER, Signature, Under, check_erased, kept
from amfs_sqlite.rules.versions import next_version
from amfs_sqlite.rules.visibility import covers, is_expired, is_system


def erase(
    store: Store, refs: Sequence[EntryRef], written_by: str | None, signature: Signature
) -> RetentionReport:
    """Erase what is named."""
    state = store.state
    named = check_erased(refs, written_by)
    for ref in named:
        if not any(_is_meant(ref, version) for version in state.versions):
            raise EntryNotFoundError(ref.entity_path, ref.key, ref.version)

    def is_named(version: StoredVersion) -> bool:
        by_ref = any(_is_meant(ref, version) for ref in named)
        return by_ref or (written_by is not None and version.written.agent_id == written_by)

    return _erased(store, is_named, signature)


def prune(
    store: Store,
    under: Under,
    *,
    keep_last: int | None,
    keep_days: float | None,
    keep: Sequence[EntryRef],
    signature: Signature,
) -> RetentionReport:
    """Erase what is old and is not kept."""
    state = store.state
    rule = kept(keep_last, keep_days, keep, store.clock.now())

    def is_old(version: StoredVersion) -> bool:
        if version.branch != MAIN_BRANCH or _is_stood_on(state, version):
            return False
        shown = state.shown(version)
        address = (shown.entity_path, shown.key)
        newest = state.keys[address].current.written.version
        if shown.superseded_at is None or not _is_under(under, shown.entity_path):
            return False
        return not rule.holds(address, shown.version, newest, shown.superseded_at)

    return _erased(store, is_old, signature)


def archive_expired(store: Store, under: Under, signature: Signature) -> RetentionReport:
    """Put a tombstone on what has expired."""
    now = store.clock.now()
    expired = [
        key.current
        for key in store.state.keys.values()
        if not key.current.withdrawn
        and is_expired(key.current.written.ttl_at, now)
        and _is_under(under, key.current.written.entity_path)
    ]
    if signature.dry_run or not expired:
        return _report(expired, [], signature)

    def work(draft: State) -> RetentionReport:
        versions: list[StoredVersion] = []
        commit_ids = []
        for together in _slices(expired):
            versions += [bury(draft, each, store) for each in together]
            commit_ids.append(_commit(store, draft, signature, "write", []))
        return _report(versions, commit_ids, signature)

    return store.change(work)


def bury(draft: State, expired: StoredVersion, store: Store, branch: str = MAIN_BRANCH) -> StoredVersion:
    """A tombstone behind what a branch shows."""
    written = expired.written
    content = content_hash(None)
    tombstone = MemoryEntry(
        amfs_version=written.amfs_version,
        entity_path=written.entity_path,
        key=written.key,
        version=next_version(written.version),
        provenance=written.provenance.model_copy(
            update={"written_at": store.clock.now(), "pattern_refs": ()}
        ),
        confidence=expired.opinion.confidence,
        shared=written.shared,
        content_hash=content,
        integrity_chain=integrity_chain(content, written.integrity_chain),
    )
    return draft.append(tombstone, "tombstone", branch)


def _erased(store: Store, is_meant: Callable[[StoredVersion], bool], signature: Signature) -> RetentionReport:
    versions = [version for version in store.state.versions if version.value is not None]
    meant = [version for version in versions if is_meant(version)]
    of_branches = [list(each) for _, each in groupby(meant, key=lambda version: version.branch)]
    if signature.dry_run or not meant:
        return _report(meant, [], signature)

    def work(draft: State) -> RetentionReport:
        commit_ids = []
        for together in chain.from_iterable(map(_slices, of_branches)):
            for version in together:
                draft.erase(version, draft.next_sequence)
            listed = [version.listed for version in together]
            branch = together[0].branch
            commit_ids.append(_commit(store, draft, signature, "erase", listed, branch=branch))
        return _report(meant, commit_ids, signature)

    return store.change(work)


def _commit(
    store: Store,
    draft: State,
    signature: Signature,
    kind: Literal["write", "erase"],
    listed: list[CommitEntry],
    *,
    branch: str = MAIN_BRANCH,
) -> str:
    made = make(
        draft,
        kind=kind,
        author=signature.author,
        message=signature.message,
        session_id=signature.session_id,
        created_at=store.clock.now(),
        commit_id=store.ids.hex(COMMIT_ID_DIGITS),
        listed=listed,
        branch=branch,
    )
    return made.commit.id


def _is_meant(ref: EntryRef, version: StoredVersion) -> bool:
    written = version.written
    is_there = (written.entity_path, written.key) == (ref.entity_path, ref.key)
    return is_there and ref.version in (None, written.version)


def _is_stood_on(state: State, version: StoredVersion) -> bool:
    """Whether a branch shows the version of main, as it stood when the branch was made."""
    address = (version.written.entity_path, version.written.key)
    until = [each.base for each in state.branches.values() if each.branch.parent_branch == MAIN_BRANCH]
    return any(
        [each for each in state.keys[address].versions if each.sequence <= base][-1:] == [version]
        for base in until
    )


def _report(
    versions: Sequence[StoredVersion], commit_ids: Sequence[str], signature: Signature
) -> RetentionReport:
    return RetentionReport(
        versions=tuple(version.listed for version in versions),
        commit_ids=tuple(commit_ids),
        dry_run=signature.dry_run,
    )


def _slices(versions: Sequence[StoredVersion]) -> Iterator[Sequence[StoredVersion]]:
    for start in range(0, len(versions), ERASED_TOGETHER):
        yield versions[start : start + ERASED_TOGETHER]


def _is_under(under: Under, entity_path: str) -> bool:
    return covers(under.entity_path, entity_path) and (under.include_system or not is_system(entity_path))
