"""Commits: the one way anything is changed, and the log of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from amfs_sqlite.models import (
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
from amfs_sqlite.rules import ancestry
from amfs_sqlite.rules.commits import (
    PreparedChange,
    PreparedWrite,
    adopted_id,
    check_free,
    check_may_describe,
    check_saved,
    checked_model,
    payload_digest,
    prepare_commit,
    saved,
)
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.hashing import commit_digest, tree_hash
from amfs_sqlite.rules.limits import check_count, check_name
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.visibility import commit_for
from amfs_sqlite.sqlite import entries, idempotency, outcomes
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.rows import commit_of, microseconds
from amfs_sqlite.sqlite.transaction import Transaction

HEAD = "SELECT sequence, digest FROM head"
MOVE_HEAD = "UPDATE head SET sequence = ?, digest = ?"
NEWEST_ID = """
SELECT id FROM commits WHERE namespace = ? AND branch = ? AND kind <> 'description'
ORDER BY sequence DESC LIMIT 1"""
INSERT_COMMIT = """
INSERT INTO commits (sequence, namespace, branch, id, kind, message, author, session_id, parent_ids,
                     tree_hash, listed, describes, created_at, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# A commit as the log shows it: described by its latest description, where there is one.
COMMIT = """
SELECT m.sequence, m.namespace, m.branch, m.id, m.kind, coalesce(d.message, m.message),
       coalesce(d.author, m.author), iif(d.sequence IS NULL, m.session_id, d.session_id),
       m.parent_ids, m.tree_hash, m.listed, m.created_at, m.digest
FROM commits AS m LEFT JOIN commits AS d ON d.sequence = (
    SELECT max(x.sequence) FROM commits AS x WHERE x.namespace = m.namespace AND x.describes = m.id)
"""
COMMITS = f"""{COMMIT} WHERE m.namespace = :namespace
AND m.kind <> 'description' AND m.sequence < coalesce(:before, 9223372036854775807)
ORDER BY m.sequence DESC"""
COMMIT_BY_ID = f"{COMMIT} WHERE m.namespace = ? AND m.id = ? AND m.kind <> 'description'"
COMMIT_AS_MADE = """
SELECT sequence, namespace, branch, id, kind, message, author, session_id, parent_ids, tree_hash,
       listed, created_at, digest
FROM commits WHERE sequence = ?"""
VERSIONS_OF_COMMIT = """
SELECT c.entity_path, c.key, v.version, v.content_hash
FROM versions AS v JOIN current AS c ON c.id = v.key_id WHERE v.sequence = ? ORDER BY v.id"""
PLACE = """
SELECT sequence, parent_ids FROM commits
WHERE namespace = ? AND id = ? AND kind <> 'description'"""
COMMIT_COUNT = "SELECT count(*) FROM commits WHERE namespace = ? AND kind <> 'description'"
IS_KNOWN = "SELECT count(*) FROM commits WHERE namespace = ? AND id = ?"

COMMIT_ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A commit as it was asked for, checked and copied."""

    changes: tuple[PreparedChange, ...]
    author: str
    message: str = ""
    session_id: str | None = None
    idempotency_key: str | None = None
    batch: Sequence[MemoryEntry] = ()


def request(
    policy: OutcomePolicy,
    changes: Sequence[Change],
    *,
    author: str,
    message: str = "",
    session_id: str | None = None,
    idempotency_key: str | None = None,
) -> CommitRequest:
    """A request for these changes."""
    prepared = prepare_commit(
        changes,
        policy,
        author=author,
        message=message,
        session_id=session_id,
        idempotency_key=idempotency_key,
    )
    return CommitRequest(prepared, author, message, session_id, idempotency_key)


def write_request(
    policy: OutcomePolicy, entry: MemoryEntry, expected_version: int | None, idempotency_key: str | None
) -> CommitRequest:
    """A request for one write."""
    entry = checked_model(entry, MemoryEntry, "entry")
    return request(
        policy,
        [Write(entry, expected_version)],
        author=entry.agent_id,
        session_id=entry.provenance.session_id or None,
        idempotency_key=idempotency_key,
    )


def batch_request(
    policy: OutcomePolicy, batch: Sequence[MemoryEntry], idempotency_key: str | None
) -> CommitRequest:
    """A request for several writes; an empty batch asks for nothing."""
    if not batch:
        return CommitRequest((), "")
    batch = [checked_model(entry, MemoryEntry, "entries") for entry in batch]
    asked = request(
        policy,
        [Write(entry) for entry in batch],
        author=batch[0].agent_id,
        session_id=batch[0].provenance.session_id or None,
        idempotency_key=idempotency_key,
    )
    return replace(asked, batch=batch)


def outcome_request(policy: OutcomePolicy, record: OutcomeRecord) -> CommitRequest:
    """A request for one outcome."""
    record = checked_model(record, OutcomeRecord, "record")
    return request(policy, [Outcome(record)], author=record.agent_id, session_id=record.session_id)


def commit_entries(tx: Transaction, asked: CommitRequest) -> Sequence[MemoryEntry]:
    """As ``commit``, for those who want the entries alone."""
    return list(commit(tx, asked).entries) if asked.changes else []


def commit(tx: Transaction, asked: CommitRequest) -> CommitResult:
    """Apply the changes in order and append the commit that holds them."""
    author, key = asked.author, asked.idempotency_key
    payload = payload_digest(asked.changes) if key else ""
    stored = idempotency.find(tx, author, key, payload) if key else None
    if stored is not None:
        return _repeated(tx, stored)
    draft = begin(tx)
    written: list[MemoryEntry] = []
    for change in asked.changes:
        if isinstance(change, PreparedWrite):
            written.append(entries.write(tx, draft, change))
        else:
            written += outcomes.record(tx, draft, change.record)
    writes = any(isinstance(change, PreparedWrite) for change in asked.changes)
    done = append(
        tx,
        draft,
        commit_id=_adopted(tx, asked.batch) or tx.ids.hex(COMMIT_ID_DIGITS),
        kind="write" if writes else "outcome",
        message=asked.message,
        author=author,
        session_id=asked.session_id,
    )
    own = {(entry.entity_path, entry.key, entry.version) for entry in draft.entries}
    result = CommitResult(
        commit=done,
        entries=tuple(
            entry.model_copy(update={"commit_id": done.id})
            if (entry.entity_path, entry.key, entry.version) in own
            else entry
            for entry in written
        ),
        effects=tuple(draft.effects),
    )
    if key:
        idempotency.store(tx, author, key, payload, result)
    return result


def _adopted(tx: Transaction, batch: Sequence[MemoryEntry]) -> str | None:
    return adopted_id(batch, lambda named: bool(tx.value(IS_KNOWN, (tx.namespace, named))))


def begin(tx: Transaction) -> CommitDraft:
    """A draft behind the head of the log."""
    sequence, digest = tx.row(HEAD)
    return CommitDraft(sequence=sequence + 1, previous_digest=digest)


def append(
    tx: Transaction,
    draft: CommitDraft,
    *,
    commit_id: str,
    kind: CommitKind,
    message: str,
    author: str,
    session_id: str | None,
    given: Commit | None = None,
    describes: str | None = None,
) -> Commit:
    """Append the drafted commit to the log and move the head. ``given`` is a commit from outside."""
    newest = _newest_id(tx, tx.branch)
    branch = tx.branch if given is None else given.branch
    parents = given.parent_ids if given else () if newest is None else (newest,)
    tree = tree_hash(str(e.content_hash) for e in draft.entries) if draft.entries else None
    tree = tree if given is None else given.tree_hash
    listed = () if given is None else given.entries
    created_at = tx.now if given is None else given.created_at
    digest = commit_digest(
        draft.previous_digest,
        sequence=draft.sequence,
        commit_id=commit_id,
        namespace=tx.namespace,
        branch=branch,
        kind=kind,
        message=message,
        author=author,
        session_id=session_id,
        parent_ids=parents,
        created_at=created_at,
        tree=tree,
        listed=listed,
        describes=describes,
        record_digests=draft.record_digests,
        outcome_digests=draft.outcome_digests,
    )
    row = (
        draft.sequence,
        tx.namespace,
        branch,
        commit_id,
        kind,
        message,
        author,
        session_id,
        encode(list(parents)),
        tree,
        encode([entry.to_wire() for entry in listed]),
        describes,
        microseconds(created_at),
        digest,
    )
    tx.run(INSERT_COMMIT, row)
    tx.run(MOVE_HEAD, (draft.sequence, digest))
    tx.sequence = draft.sequence
    without_describes = (*row[:11], row[12], digest)
    return commit_of(without_describes, draft.entries, draft.effects)


def recorded_result(tx: Transaction, idempotency_key: str, *, author: str) -> CommitResult | None:
    check_name(idempotency_key, "idempotency_key")
    stored = idempotency.find(tx, author, idempotency_key, None)
    return None if stored is None else _repeated(tx, stored)


def list_commits(
    tx: Transaction,
    *,
    limit: int | None = None,
    before: int | None = None,
    viewer: str | None = None,
) -> Sequence[Commit]:
    check_count(limit, "limit")
    check_count(before, "before")
    parameters = {"namespace": tx.namespace, "before": before}
    found: list[Commit] = []
    for row in tx.each(COMMITS, parameters):
        if limit is not None and len(found) >= limit:
            break
        shown = commit_for(_whole(tx, row), viewer, outcomes.hidden_versions(tx, viewer))
        found += [] if shown is None else [shown]
    return found


def count(tx: Transaction, viewer: str | None) -> int:
    """How many commits the viewer can see anything of."""
    if viewer is not None:
        return len(list_commits(tx, viewer=viewer))
    number: int = tx.value(COMMIT_COUNT, (tx.namespace,))
    return number


def get_commit(tx: Transaction, commit_id: str, *, viewer: str | None = None) -> Commit | None:
    row = tx.one(COMMIT_BY_ID, (tx.namespace, commit_id))
    if row is None:
        return None
    return commit_for(_whole(tx, row), viewer, outcomes.hidden_versions(tx, viewer))


def save_commit(tx: Transaction, given: Commit) -> Commit:
    check_saved(given)
    known = get_commit(tx, given.id)
    check_may_describe(given, known, get_commit(tx, given.id, viewer=given.author_agent_id))
    said = (given.message, given.author_agent_id, given.session_id)
    if known is None:
        check_free(given.id, bool(tx.value(IS_KNOWN, (tx.namespace, given.id))))
        return append(
            tx,
            begin(tx),
            commit_id=given.id,
            kind="write",
            message=given.message,
            author=given.author_agent_id,
            session_id=given.session_id,
            given=saved(given, tx.namespace, _newest_id(tx, given.branch)),
        )
    if said != (known.message, known.author_agent_id, known.session_id):
        append(
            tx,
            begin(tx),
            commit_id=tx.ids.hex(COMMIT_ID_DIGITS),
            kind="description",
            message=given.message,
            author=given.author_agent_id,
            session_id=given.session_id,
            describes=given.id,
        )
    return _whole(tx, tx.row(COMMIT_BY_ID, (tx.namespace, given.id)))


def common_ancestor(tx: Transaction, commit_a: str, commit_b: str) -> str | None:
    def place_of(commit_id: str) -> ancestry.Place | None:
        row = tx.one(PLACE, (tx.namespace, commit_id))
        return None if row is None else (row[0], json.loads(row[1]))

    return ancestry.common_ancestor(commit_a, commit_b, place_of)


def _newest_id(tx: Transaction, branch: str) -> str | None:
    row = tx.one(NEWEST_ID, (tx.namespace, branch))
    return None if row is None else str(row[0])


def _whole(tx: Transaction, row: tuple[Any, ...]) -> Commit:
    sequence = row[0]
    written = [
        CommitEntry(entity_path=path, key=key, version=version, content_hash=content)
        for path, key, version, content in tx.each(VERSIONS_OF_COMMIT, (sequence,))
    ]
    return commit_of(row, written, outcomes.effects_of_commit(tx, sequence))


def _repeated(tx: Transaction, stored: idempotency.Stored) -> CommitResult:
    """The first result, as it was: versions do not change, and the opinions were stored with it."""
    tx.sequence = stored.sequence
    return CommitResult(
        commit=_whole(tx, tx.row(COMMIT_AS_MADE, (stored.sequence,))),
        entries=idempotency.entries_of(tx, stored),
        effects=tuple(outcomes.effects_of_commit(tx, stored.sequence)),
    )
