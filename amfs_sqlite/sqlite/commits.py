"""Commits: the one way anything is changed, and the log of it."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from amfs_sqlite.models import (
    MAIN_BRANCH,
    Change,
    Commit,
    CommitEntry,
    CommitKind,
    CommitResult,
    MemoryEntry,
    OutcomeRecord,
)
from amfs_sqlite.rules import ancestry
from amfs_sqlite.rules.commits import (
    PreparedChange,
    PreparedWrite,
    adopted_id,
    check_batch,
    check_change_count,
    check_free,
    check_may_describe,
    check_signature,
    checked_commit,
    checked_entry,
    checked_model,
    payload_digest,
    prepare_commit,
    prepare_entry,
    prepare_outcome,
    saved,
)
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.hashing import commit_digest, tree_hash
from amfs_sqlite.rules.limits import check_count, check_is_text, check_name, check_optional_text
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.visibility import commit_for, is_visible
from amfs_sqlite.sqlite import entries, idempotency, outcomes, overlays
from amfs_sqlite.sqlite.drafts import CommitDraft, Line, as_listed
from amfs_sqlite.sqlite.ground import NEWEST_ID
from amfs_sqlite.sqlite.rows import UnreadableRowError, commit_of, microseconds
from amfs_sqlite.sqlite.transaction import Transaction

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
SAVED = f"{COMMIT} WHERE m.namespace = :namespace AND m.kind <> 'description' AND m.listed <> '[]'"
COMMIT_BY_ID = f"{COMMIT} WHERE m.namespace = ? AND m.id = ? AND m.kind <> 'description'"
COMMIT_AS_MADE = """
SELECT sequence, namespace, branch, id, kind, message, author, session_id, parent_ids, tree_hash,
       listed, created_at, digest
FROM commits WHERE sequence = ?"""
VERSIONS_OF_COMMITS = """
SELECT v.sequence, c.entity_path, c.key, v.version, v.content_hash, v.shared, v.agent_id
FROM json_each(?) AS s CROSS JOIN versions AS v ON v.sequence = s.value
JOIN current AS c ON c.id = v.key_id ORDER BY v.id"""
AUTHOR_OF_VERSION = f"""
SELECT v.shared, v.agent_id FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE {entries.AT} AND v.version = :version"""
# The commit itself, and those before it, among which its ancestors mostly are.
PLACES = """
SELECT m.id, m.sequence, m.parent_ids FROM commits AS m
WHERE m.namespace = :namespace AND m.kind <> 'description' AND m.sequence <= (
    SELECT x.sequence FROM commits AS x
    WHERE x.namespace = :namespace AND x.id = :id AND x.kind <> 'description')
ORDER BY m.sequence DESC LIMIT :limit"""
IS_KNOWN = "SELECT count(*) FROM commits WHERE namespace = ? AND id = ?"

COMMIT_ID_DIGITS = 16
PLACES_LIMIT = 500


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
    checked = checked_entry(entry, "entry", value=None)
    prepared = prepare_entry(checked, entry.value, policy, expected_version)
    return _signed_by((prepared,), checked, idempotency_key)


def batch_request(
    policy: OutcomePolicy, batch: Sequence[MemoryEntry], idempotency_key: str | None
) -> CommitRequest:
    """A request for several writes; an empty batch asks for nothing."""
    check_batch(batch, idempotency_key)
    if not batch:
        return CommitRequest((), "")
    checked = [checked_entry(entry, "entries", value=None) for entry in batch]
    check_change_count(len(batch))
    values = (entry.value for entry in batch)
    prepared = tuple(prepare_entry(*each, policy) for each in zip(checked, values, strict=True))
    return replace(_signed_by(prepared, checked[0], idempotency_key), batch=checked)


def _signed_by(
    changes: tuple[PreparedChange, ...], entry: MemoryEntry, idempotency_key: str | None
) -> CommitRequest:
    """A request by the author of this entry."""
    author, session_id = entry.agent_id, entry.provenance.session_id or None
    check_signature(author, "", session_id, idempotency_key)
    return CommitRequest(changes, author, session_id=session_id, idempotency_key=idempotency_key)


def outcome_request(policy: OutcomePolicy, record: OutcomeRecord) -> CommitRequest:
    """A request for one outcome."""
    record = checked_model(record, OutcomeRecord, "record")
    prepared = prepare_outcome(record, policy)
    check_signature(record.agent_id, "", record.session_id, None)
    return CommitRequest((prepared,), record.agent_id, session_id=record.session_id)


def commit_entries(tx: Transaction, asked: CommitRequest) -> Sequence[MemoryEntry]:
    """As ``commit``, for those who want the entries alone."""
    if asked.idempotency_key:
        return list(commit(tx, asked).entries)
    return _made(tx, asked).entries() if asked.changes else []


def commit_entry(tx: Transaction, asked: CommitRequest) -> MemoryEntry:
    """As ``commit``, for a request of one write."""
    return commit_entries(tx, asked)[0]


def commit(tx: Transaction, asked: CommitRequest) -> CommitResult:
    """Apply the changes in order and append the commit that holds them."""
    author, key = asked.author, asked.idempotency_key
    payload = payload_digest(asked.changes, tx.branch) if key else ""
    stored = idempotency.find(tx, author, key, payload) if key else None
    if stored is not None:
        return _repeated(tx, stored)
    made = _made(tx, asked)
    result = CommitResult(
        commit=made.commit(), entries=tuple(made.entries()), effects=tuple(made.draft.effects)
    )
    if key:
        idempotency.store(tx, author, key, payload, result)
    return result


class Made(NamedTuple):
    """A commit that was appended: its columns as ``COMMIT_AS_MADE`` selects them, and what belongs to it."""

    row: tuple[Any, ...]
    draft: CommitDraft
    written: Sequence[MemoryEntry] = ()

    @property
    def commit_id(self) -> str:
        """Its id."""
        return str(self.row[3])

    def commit(self) -> Commit:
        """The commit itself."""
        return commit_of(self.row, [line.shown() for line in self.draft.lines], self.draft.effects)

    def entries(self) -> list[MemoryEntry]:
        """The entries written or moved; those it wrote carry its id."""
        commit_id = self.commit_id
        if not self.draft.outcome_digests:
            return [entry.copied(commit_id=commit_id) for entry in self.written]
        own = set(self.draft.lines)
        return [
            entry.copied(commit_id=commit_id) if Line.of(entry) in own else entry for entry in self.written
        ]


def _made(tx: Transaction, asked: CommitRequest) -> Made:
    """Apply the changes of a request that was not made before."""
    draft = begin(tx)
    written: list[MemoryEntry] = []
    for change in asked.changes:
        if isinstance(change, PreparedWrite):
            written.append(entries.write(tx, draft, change))
        else:
            written += outcomes.record(tx, draft, change.record)
    writes = any(isinstance(change, PreparedWrite) for change in asked.changes)
    made = append(
        tx,
        draft,
        commit_id=id_for(tx, asked.batch),
        kind="write" if writes else "outcome",
        message=asked.message,
        author=asked.author,
        session_id=asked.session_id,
    )
    return made._replace(written=written)


def id_for(tx: Transaction, batch: Sequence[MemoryEntry] = ()) -> str:
    """The id of the next commit: the one that its entries name, unless that is taken, or a new one."""
    adopted = adopted_id(batch, lambda named: bool(tx.value(IS_KNOWN, (tx.namespace, named))))
    return adopted or tx.ids.hex(COMMIT_ID_DIGITS)


def begin(tx: Transaction) -> CommitDraft:
    """A draft behind the head of the log."""
    if tx.ground is None:
        raise UnreadableRowError("the head of the commit log is missing")
    return CommitDraft(tx.ground)


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
    listed: Sequence[CommitEntry] = (),
) -> Made:
    """Append the drafted commit to the log and move the head. ``given`` is a commit from outside, ``listed``
    are versions that it is about without writing them.
    """
    ground = draft.ground
    branch = tx.branch if given is None else given.branch
    place = (tx.namespace, branch)
    newest = None if given else ground.newest_commit_id(tx.connection, place) or overlays.base_commit_id(tx)
    parents = given.parent_ids if given else () if newest is None else (newest,)
    tree = tree_hash(line.content_hash for line in draft.lines) if draft.lines else None
    tree = tree if given is None else given.tree_hash
    listed = listed if given is None else given.entries
    created_at = tx.now if given is None else given.created_at
    sequence = draft.sequence
    digest = commit_digest(
        ground.digest,
        sequence=sequence,
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
        sequence,
        tx.namespace,
        branch,
        commit_id,
        kind,
        message,
        author,
        session_id,
        encode(list(parents)),
        tree,
        encode([entry.to_wire() for entry in listed]) if listed else "[]",
        describes,
        microseconds(created_at),
        digest,
    )
    tx.run(INSERT_COMMIT, row)
    ground.sequence, ground.digest, ground.is_moved = sequence, digest, True
    if kind != "description":
        ground.newest_commit_ids[place] = commit_id
    tx.sequence = sequence
    return Made((*row[:11], row[12], digest), draft)


def recorded_result(tx: Transaction, idempotency_key: str, *, author: str) -> CommitResult | None:
    check_name(idempotency_key, "idempotency_key")
    check_is_text(author, "author")
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
    check_optional_text(viewer, "viewer")
    parameters = {"namespace": tx.namespace, "before": before}
    pages = tx.pages(COMMITS, parameters, limit)
    return list(islice(filter(None, _seen(tx, pages, viewer)), limit))


def hidden_saved_count(tx: Transaction, viewer: str) -> int:
    """How many commits from outside the viewer can see nothing of."""
    pages = tx.pages(SAVED, {"namespace": tx.namespace}, None)
    return sum(shown is None for shown in _seen(tx, pages, viewer))


def get_commit(tx: Transaction, commit_id: str, *, viewer: str | None = None) -> Commit | None:
    check_is_text(commit_id, "commit_id")
    check_optional_text(viewer, "viewer")
    row = tx.one(COMMIT_BY_ID, (tx.namespace, commit_id))
    return None if row is None else next(_seen(tx, [[row]], viewer))


def save_commit(tx: Transaction, given: Commit) -> Commit:
    given = checked_commit(given)
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
        ).commit()
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
    check_is_text(commit_a, "commit_a")
    check_is_text(commit_b, "commit_b")

    return ancestry.common_ancestor(commit_a, commit_b, _Places(tx))


class _Places:
    """Where commits stand. Whoever asks about many is told of ever more that lie before the one asked for."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._known: dict[str, ancestry.Place] = {}
        self._limit = 1

    def __call__(self, commit_id: str) -> ancestry.Place | None:
        if commit_id not in self._known:
            asked = {"namespace": self._tx.namespace, "id": commit_id, "limit": self._limit}
            for found, sequence, parents in self._tx.each(PLACES, asked):
                self._known[found] = sequence, json.loads(parents)
            self._limit = min(2 * self._limit, PLACES_LIMIT)
        return self._known.get(commit_id)


def _newest_id(tx: Transaction, branch: str) -> str | None:
    row = tx.one(NEWEST_ID, (tx.namespace, branch))
    return None if row is None else str(row[0])


def _whole(tx: Transaction, row: tuple[Any, ...]) -> Commit:
    [(commit, _)] = _with_all(tx, [row], None)
    return commit


def _seen(
    tx: Transaction, pages: Iterable[list[tuple[Any, ...]]], viewer: str | None
) -> Iterator[Commit | None]:
    """Each commit as the viewer may see it, None where there is nothing for it to see."""
    for page in pages:
        for commit, hidden in _with_all(tx, page, viewer):
            yield commit_for(commit, viewer, hidden)


def _with_all(
    tx: Transaction, page: list[tuple[Any, ...]], viewer: str | None
) -> Iterator[tuple[Commit, outcomes.Hidden]]:
    """Each commit with all that belongs to it, and which of that is hidden from the viewer."""
    sequences = [row[0] for row in page]
    written: defaultdict[int, list[CommitEntry]] = defaultdict(list)
    branch_of = {row[0]: row[2] for row in page}
    hidden: defaultdict[str, outcomes.Hidden] = defaultdict(outcomes.Hidden)
    rows = tx.each(VERSIONS_OF_COMMITS, (json.dumps(sequences),))
    for sequence, path, key, version, content, shared, agent_id in rows:
        written[sequence].append(as_listed(path, key, version, content))
        if not is_visible(shared == 1, agent_id, viewer):
            hidden[branch_of[sequence]].add((path, key, version))
    effects = outcomes.effects_of_commits(tx, sequences)
    if viewer is not None:
        for branch in {*branch_of.values()}:
            its_own = [sequence for sequence in sequences if branch_of[sequence] == branch]
            hidden[branch] |= outcomes.hidden_of_commits(tx, its_own, viewer)
    for row in page:
        commit = commit_of(row, written[row[0]], effects[row[0]])
        if viewer is not None and commit.entries and not written[row[0]]:
            hidden[commit.branch].update(_hidden_of_listed(tx, commit, viewer))
        yield commit, hidden[commit.branch]


def _hidden_of_listed(tx: Transaction, commit: Commit, viewer: str) -> Iterator[tuple[str, str, int]]:
    """Of the versions that a commit names and did not write, those that are stored and hidden: as its branch
    wrote them, or else as main did.
    """
    for named in commit.entries:
        at = {**entries.own_place(tx, named.entity_path, named.key), "version": named.version}
        row = tx.one(AUTHOR_OF_VERSION, at | {"branch": commit.branch}) or tx.one(
            AUTHOR_OF_VERSION, at | {"branch": MAIN_BRANCH}
        )
        if row is not None and not is_visible(bool(row[0]), row[1], viewer):
            yield named.entity_path, named.key, named.version


def _repeated(tx: Transaction, stored: idempotency.Stored) -> CommitResult:
    """The first result, as it was: versions do not change, and the opinions were stored with it."""
    tx.sequence = stored.sequence
    commit = _whole(tx, tx.row(COMMIT_AS_MADE, (stored.sequence,)))
    with tx.elsewhere(branch=commit.branch):
        first = idempotency.entries_of(tx, stored)
    return CommitResult(commit=commit, entries=first, effects=commit.effects)
