"""Commits: making them, the short forms that make them, and their log."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from amfs_sqlite.errors import IdempotencyConflictError
from amfs_sqlite.models import (
    MAIN_BRANCH,
    Change,
    Commit,
    CommitEntry,
    CommitKind,
    CommitResult,
    MemoryEntry,
    Outcome,
    OutcomeRecord,
    Write,
)
from amfs_sqlite.reference import entries, outcomes
from amfs_sqlite.reference.store import State, Store, StoredCommit, StoredResult, hidden_from
from amfs_sqlite.rules import ancestry, hashing
from amfs_sqlite.rules.commits import (
    adopted_id,
    check_batch,
    check_free,
    check_may_describe,
    checked_commit,
    checked_entry,
    checked_model,
    described,
    payload_digest,
    prepare_commit,
    saved,
)
from amfs_sqlite.rules.hashing import outcome_digest, tree_hash
from amfs_sqlite.rules.limits import check_count, check_is_text, check_name, check_optional_text
from amfs_sqlite.rules.visibility import commit_for

COMMIT_ID_DIGITS = 16


def commit(
    store: Store,
    changes: Sequence[Change],
    *,
    author: str,
    message: str = "",
    session_id: str | None = None,
    idempotency_key: str | None = None,
    adopted: Callable[[], str | None] = lambda: None,
    branch: str = MAIN_BRANCH,
) -> CommitResult:
    """Apply the changes as one commit, or return what the first call with this key returned."""
    state = store.state
    prepared = prepare_commit(
        changes,
        store.policy,
        author=author,
        message=message,
        session_id=session_id,
        idempotency_key=idempotency_key,
    )
    checked = [_checked(change) for change in changes]
    state.on(branch)
    payload = payload_digest(prepared, branch)
    first = state.results.get((author, idempotency_key)) if idempotency_key else None
    if idempotency_key and first and first.payload != payload:
        raise IdempotencyConflictError(author, idempotency_key)
    if first:
        return _repeated(state, first.result)

    def work(draft: State) -> CommitResult:
        now = store.clock.now()
        moved = _apply(store, draft, checked, now, branch)
        made = make(
            draft,
            kind="write" if any(isinstance(change, Write) for change in changes) else "outcome",
            author=author,
            message=message,
            session_id=session_id,
            created_at=now,
            commit_id=adopted() or store.ids.hex(COMMIT_ID_DIGITS),
            branch=branch,
        )
        result = _result(draft, made, moved)
        if idempotency_key:
            kept = result.model_copy(deep=True)
            draft.results[author, idempotency_key] = StoredResult(payload, kept)
        return result

    return store.change(work)


def write(
    store: Store,
    entry: MemoryEntry,
    expected_version: int | None,
    idempotency_key: str | None,
    branch: str = MAIN_BRANCH,
) -> MemoryEntry:
    """The commit of one write, and what it wrote."""
    entry = checked_entry(entry, "entry")
    return commit(
        store,
        [Write(entry, expected_version)],
        author=entry.agent_id,
        session_id=entry.provenance.session_id or None,
        idempotency_key=idempotency_key,
        branch=branch,
    ).entries[0]


def write_batch(
    store: Store,
    batch: Sequence[MemoryEntry],
    idempotency_key: str | None,
    branch: str = MAIN_BRANCH,
) -> Sequence[MemoryEntry]:
    """The commit of several writes, and what they wrote."""
    taken = {stored.commit.id for stored in store.state.commits.values()}
    check_batch(batch, idempotency_key)
    store.state.on(branch)
    if not batch:
        return []
    batch = [checked_entry(entry, "entries") for entry in batch]
    return list(
        commit(
            store,
            [Write(entry) for entry in batch],
            author=batch[0].agent_id,
            session_id=batch[0].provenance.session_id or None,
            idempotency_key=idempotency_key,
            adopted=lambda: adopted_id(batch, taken.__contains__),
            branch=branch,
        ).entries
    )


def commit_outcome(store: Store, record: OutcomeRecord) -> Sequence[MemoryEntry]:
    """The commit of one outcome, and what it moved."""
    record = checked_model(record, OutcomeRecord, "record")
    return list(
        commit(store, [Outcome(record)], author=record.agent_id, session_id=record.session_id).entries
    )


def recorded_result(store: Store, idempotency_key: str, author: str) -> CommitResult | None:
    """What the first call with this key returned."""
    state = store.state
    check_name(idempotency_key, "idempotency_key")
    check_is_text(author, "author")
    stored = state.results.get((author, idempotency_key))
    return _repeated(state, stored.result) if stored else None


def list_commits(
    store: Store, *, limit: int | None, before: int | None, viewer: str | None
) -> Sequence[Commit]:
    """The log as the viewer may see it, newest first."""
    state = store.state
    check_count(limit, "limit")
    check_count(before, "before")
    check_optional_text(viewer, "viewer")
    seen = (
        commit_for(_shown(state, stored), viewer, _hidden_of(state, stored, viewer))
        for stored in _newest_first(state)
        if before is None or stored.commit.sequence < before
    )
    return list(islice((each for each in seen if each is not None), limit))


def get_commit(store: Store, commit_id: str, viewer: str | None) -> Commit | None:
    """One commit as the viewer may see it."""
    state = store.state
    check_is_text(commit_id, "commit_id")
    check_optional_text(viewer, "viewer")
    stored = _find(state, commit_id)
    if stored is None:
        return None
    return commit_for(_shown(state, stored), viewer, _hidden_of(state, stored, viewer))


def save_commit(store: Store, given: Commit) -> Commit:
    """Add a commit from outside, or let one that is known say what the given one says."""
    state = store.state
    given = checked_commit(given)
    known = _find(state, given.id)
    if known is None:
        check_free(given.id, any(stored.commit.id == given.id for stored in state.commits.values()))
        newest = newest_id(state, given.branch)
        new = saved(given, state.namespace, newest)
        return store.change(lambda draft: _shown(draft, _append(draft, new)))
    shown = _shown(state, known)
    seen = commit_for(shown, given.author_agent_id, _hidden_of(state, known, given.author_agent_id))
    check_may_describe(given, shown, seen)
    if described(shown, given) == shown:
        return shown
    store.change(
        lambda draft: make(
            draft,
            kind="description",
            author=given.author_agent_id,
            message=given.message,
            session_id=given.session_id,
            created_at=store.clock.now(),
            commit_id=store.ids.hex(COMMIT_ID_DIGITS),
            describes=given.id,
        )
    )
    return _shown(store.state, known)


def common_ancestor(store: Store, commit_a: str, commit_b: str) -> str | None:
    """The nearest commit that both descend from."""
    state = store.state
    check_is_text(commit_a, "commit_a")
    check_is_text(commit_b, "commit_b")

    def place_of(commit_id: str) -> ancestry.Place | None:
        stored = _find(state, commit_id)
        return (stored.commit.sequence, stored.commit.parent_ids) if stored else None

    return ancestry.common_ancestor(commit_a, commit_b, place_of)


def digest_of(state: State, commit: Commit, describes: str | None, previous: str) -> str:
    """The digest of a commit, given the digest of the commit before it."""
    return hashing.digest_of(
        commit,
        previous,
        describes=describes,
        record_digests=[version.digest for version in state.written_by(commit.sequence)],
        outcome_digests=[
            outcome_digest(outcome.record.to_wire(), outcome.effects)
            for outcome in state.reported_by(commit.sequence)
        ],
    )


def _checked(change: Change) -> Change:
    """A change whose models were checked anew."""
    if isinstance(change, Write):
        return replace(change, entry=checked_entry(change.entry, "entry"))
    return Outcome(checked_model(change.record, OutcomeRecord, "record"))


def _apply(
    store: Store, draft: State, changes: Sequence[Change], now: datetime, branch: str
) -> list[MemoryEntry]:
    """Apply the changes in order; return the entries they wrote or moved."""
    moved: list[MemoryEntry] = []
    for change in changes:
        if isinstance(change, Write):
            moved.append(entries.insert(draft, change, now, branch))
        else:
            moved += outcomes.apply(draft, change.record, store.policy, now)
    return moved


def _repeated(state: State, result: CommitResult) -> CommitResult:
    """A first result, as it was, less what was erased since."""
    entries = []
    state = state.on(result.commit.branch)
    for entry in result.entries:
        version = state.stored(entry.entity_path, entry.key, entry.version)
        kept = version.as_written()
        opinion = {name: getattr(entry, name) for name in ("confidence", "superseded_at", "commit_id")}
        counts = {name: getattr(entry, name) for name in ("outcome_count", "success_count", "failure_count")}
        entries.append(kept.model_copy(update=opinion | counts))
    return result.model_copy(update={"entries": tuple(entries)})


def make(
    draft: State,
    *,
    kind: CommitKind,
    author: str,
    message: str,
    session_id: str | None,
    created_at: datetime,
    commit_id: str,
    describes: str | None = None,
    listed: Sequence[CommitEntry] = (),
    branch: str = MAIN_BRANCH,
) -> StoredCommit:
    """Make the commit of what was applied to the draft, and add it to the log. ``listed`` are versions that
    it is about without writing them.
    """
    hashes = [each.written.content_hash or "" for each in draft.written_by(draft.next_sequence)]
    parent = newest_id(draft, branch) or _base_id(draft, branch)
    commit = Commit(
        id=commit_id,
        message=message,
        author_agent_id=author,
        session_id=session_id,
        entries=tuple(listed),
        tree_hash=tree_hash(hashes) if hashes else None,
        parent_ids=() if parent is None else (parent,),
        created_at=created_at,
        namespace=draft.namespace,
        branch=branch,
        kind=kind,
    )
    return _append(draft, commit, describes)


def _result(draft: State, made: StoredCommit, moved: Sequence[MemoryEntry]) -> CommitResult:
    """What the commit did. Only now that it is made do the entries it wrote have its id."""
    commit = _shown(draft, made)
    return CommitResult(
        commit=commit,
        entries=tuple(
            entry if entry.commit_id else entry.model_copy(update={"commit_id": commit.id}) for entry in moved
        ),
        effects=commit.effects,
    )


def _append(draft: State, commit: Commit, describes: str | None = None) -> StoredCommit:
    """Add a commit to the log: behind the newest one, with a digest that covers it."""
    placed = commit.model_copy(update={"sequence": draft.next_sequence})
    digest = digest_of(draft, placed, describes, previous=draft.head[1])
    stored = StoredCommit(placed, describes, digest)
    draft.commits[placed.sequence] = stored
    draft.head = (placed.sequence, digest)
    return stored


def _newest_first(state: State) -> Iterator[StoredCommit]:
    """The commits of the log; a description is no commit of its own."""
    return (each for each in reversed(state.commits.values()) if each.describes is None)


def newest_id(state: State, branch: str) -> str | None:
    """The newest commit of a branch itself."""
    return next((each.commit.id for each in _newest_first(state) if each.commit.branch == branch), None)


def _base_id(state: State, branch: str) -> str | None:
    """The commit that the first one of a branch follows."""
    return None if branch == MAIN_BRANCH else state.branches[branch].branch.base_commit_id


def _find(state: State, commit_id: str) -> StoredCommit | None:
    return next((each for each in _newest_first(state) if each.commit.id == commit_id), None)


def _hidden_of(state: State, stored: StoredCommit, viewer: str | None) -> Callable[[str, str, int], bool]:
    """Tells of any version that a commit is about whether it is hidden from the viewer: as the branch wrote
    it, or else as main did.
    """
    hidden = hidden_from(state, viewer)
    versions = [each for each in state.versions if each.branch == stored.commit.branch]
    own = {(each.written.entity_path, each.written.key, each.written.version): each for each in versions}

    def is_hidden(*named: Any) -> bool:
        return not own[named].is_visible(viewer) if named in own else hidden(*named)

    return is_hidden


def _shown(state: State, stored: StoredCommit) -> Commit:
    """A commit as the log shows it: with its entries, its effects, and its latest description."""
    own = stored.commit
    wrote = [version.listed for version in state.written_by(own.sequence)]
    effects = [effect for each in state.reported_by(own.sequence) for effect in each.effects]
    shown = own.model_copy(
        update={
            "entries": (*own.entries, *wrote),
            "effects": tuple(effects),
            "digest": stored.digest,
        }
    )
    for each in state.commits.values():
        if each.describes == own.id:
            shown = described(shown, each.commit)
    return shown
