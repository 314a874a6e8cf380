"""Retention: values taken away, and what has expired put away."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from amfs_sqlite.errors import EntryNotFoundError
from amfs_sqlite.models import CommitEntry, EntryRef, MemoryEntry, RetentionReport
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
        key = state.keys.get((ref.entity_path, ref.key))
        if key is None or (ref.version is not None and key.version(ref.version) is None):
            raise EntryNotFoundError(ref.entity_path, ref.key, ref.version)

    def is_named(version: StoredVersion) -> bool:
        written = version.written
        address = (written.entity_path, written.key)
        by_ref = any(
            address == (ref.entity_path, ref.key) and ref.version in (None, written.version) for ref in named
        )
        return by_ref or (written_by is not None and written.agent_id == written_by)

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
            versions += [_bury(draft, each, store) for each in together]
            commit_ids.append(_commit(store, draft, signature, "write", []))
        return _report(versions, commit_ids, signature)

    return store.change(work)


def _bury(draft: State, expired: StoredVersion, store: Store) -> StoredVersion:
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
    return draft.append(tombstone, "tombstone")


def _erased(store: Store, is_meant: Callable[[StoredVersion], bool], signature: Signature) -> RetentionReport:
    keys = store.state.keys.values()
    versions = [version for key in keys for version in key.versions if version.value is not None]
    meant = [version for version in versions if is_meant(version)]
    if signature.dry_run or not meant:
        return _report(meant, [], signature)

    def work(draft: State) -> RetentionReport:
        commit_ids = []
        for together in _slices(meant):
            for version in together:
                draft.erase(version, draft.next_sequence)
            listed = [version.listed for version in together]
            commit_ids.append(_commit(store, draft, signature, "erase", listed))
        return _report(meant, commit_ids, signature)

    return store.change(work)


def _commit(
    store: Store,
    draft: State,
    signature: Signature,
    kind: Literal["write", "erase"],
    listed: list[CommitEntry],
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
    )
    return made.commit.id


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
