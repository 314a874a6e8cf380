"""Retention: values taken out of the rows, and what has expired put away."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

from amfs_sqlite.errors import EntryNotFoundError
from amfs_sqlite.models import CommitEntry, CommitKind, EntryRef, RetentionReport
from amfs_sqlite.rules.hashing import content_hash
from amfs_sqlite.rules.retention import ERASED_TOGETHER, Kept, Signature, Under, check_erased, kept
from amfs_sqlite.sqlite import commits, entries, index, recalls, traces
from amfs_sqlite.sqlite.database import scrubbing
from amfs_sqlite.sqlite.drafts import CommitDraft, as_listed
from amfs_sqlite.sqlite.entries import BELOW, HERE, NOT_SYSTEM, PRESENT
from amfs_sqlite.sqlite.overlays import is_own
from amfs_sqlite.sqlite.rows import microseconds, moment
from amfs_sqlite.sqlite.transaction import Transaction

VERSIONS = f"""
SELECT v.id, v.key_id, c.version_id, c.entity_path, c.key, v.version, v.content_hash, c.version,
       (SELECT n.written_at FROM versions AS n WHERE n.key_id = v.key_id AND n.version = v.version + 1)
FROM current AS c CROSS JOIN versions AS v ON v.key_id = c.id
WHERE {HERE} AND typeof(v.value) <> 'null'"""
IN_ORDER = "ORDER BY c.id, v.version"
NAMED = "c.entity_path = :entity_path AND c.key = :key AND (:version IS NULL OR v.version = :version)"
COUNT = f"""
SELECT count(*) FROM current AS c CROSS JOIN versions AS v ON v.key_id = c.id
WHERE c.namespace = :namespace AND {NAMED}"""
BRANCHES = "SELECT name FROM branches WHERE namespace = ? ORDER BY id"
# What a branch shows, or one made over it: as it stood when the branch was made. Closed ones can be read too.
IS_STOOD_ON = """EXISTS (
    SELECT 1 FROM branches AS b WHERE b.namespace = c.namespace AND b.parent_branch = c.branch
    AND v.sequence <= b.base_sequence AND NOT EXISTS (
        SELECT 1 FROM versions AS n
        WHERE n.key_id = v.key_id AND n.version = v.version + 1 AND n.sequence <= b.base_sequence))"""
EXPIRED = f"""
SELECT c.entity_path, c.key, c.version, c.content_hash FROM current AS c
WHERE {HERE} AND c.ttl_at <= :now AND {PRESENT}"""
BLANK_VERSION = "UPDATE versions SET value = NULL, extra = '{}' WHERE id = ?"
BLANK_CURRENT = "UPDATE current SET value = NULL, extra = '{}' WHERE id = ?"
TAGS = "SELECT tags FROM current WHERE id = ?"
RECORD = "INSERT INTO erasures (version_id, sequence) VALUES (?, ?)"


class _Stored(NamedTuple):
    """A version that still has its value."""

    id: int
    key_id: int
    current_id: int
    entity_path: str
    key: str
    version: int
    content_hash: str
    newest: int
    superseded_at: int | None

    @property
    def listed(self) -> CommitEntry:
        """The version as a commit names it."""
        return as_listed(self.entity_path, self.key, self.version, self.content_hash)


def erase(
    tx: Transaction, refs: Sequence[EntryRef], written_by: str | None, signature: Signature
) -> RetentionReport:
    named = check_erased(refs, written_by)
    for ref in named:
        at = {"namespace": tx.namespace, "entity_path": ref.entity_path, "key": ref.key}
        if not tx.value(COUNT, at | {"version": ref.version}):
            raise EntryNotFoundError(ref.entity_path, ref.key, ref.version)
    reports = []
    for branch in (tx.branch, *(name for (name,) in tx.all(BRANCHES, (tx.namespace,)))):
        with tx.elsewhere(branch=branch):
            reports.append(_erased(tx, _meant(tx, named, written_by), signature))
    return RetentionReport(
        versions=tuple(chain.from_iterable(report.versions for report in reports)),
        commit_ids=tuple(chain.from_iterable(report.commit_ids for report in reports)),
        dry_run=signature.dry_run,
    )


def _meant(tx: Transaction, named: Sequence[EntryRef], written_by: str | None) -> Sequence[_Stored]:
    """What of the branch is to be erased, by key and version."""
    found: dict[int, _Stored] = {}
    for ref in named:
        at = _here(tx) | {"entity_path": ref.entity_path, "key": ref.key, "version": ref.version}
        found |= {each.id: each for each in _versions(tx, NAMED, at)}
    if written_by is not None:
        at = _here(tx) | {"written_by": written_by}
        found |= {each.id: each for each in _versions(tx, "v.agent_id = :written_by", at)}
    return sorted(found.values(), key=lambda each: (each.key_id, each.version))


def prune(
    tx: Transaction,
    under: Under,
    *,
    keep_last: int | None,
    keep_days: float | None,
    keep: Sequence[EntryRef],
    signature: Signature,
) -> RetentionReport:
    rule = kept(keep_last, keep_days, keep, tx.now)
    superseded = f"v.id <> c.version_id AND NOT {IS_STOOD_ON}{_conditions(under)}"
    at = _here(tx) | {"entity_path": under.entity_path}
    old = [each for each in _versions(tx, superseded, at) if not _is_held(rule, each)]
    return _erased(tx, old, signature)


def archive_expired(tx: Transaction, under: Under, signature: Signature) -> RetentionReport:
    at = _here(tx) | {"entity_path": under.entity_path, "now": microseconds(tx.now)}
    expired = tx.all(f"{EXPIRED}{_conditions(under)} ORDER BY c.id", at)
    if signature.dry_run:
        return RetentionReport(versions=tuple(as_listed(*row) for row in expired), dry_run=True)
    versions: list[CommitEntry] = []
    commit_ids: list[str] = []
    for together in _slices(expired):
        draft = commits.begin(tx)
        for path, key, *_ in together:
            bury(tx, draft, path, key)
        made = _commit(tx, draft, signature, "write")
        versions += made.commit().entries
        commit_ids.append(made.commit().id)
    return RetentionReport(versions=tuple(versions), commit_ids=tuple(commit_ids))


def bury(tx: Transaction, draft: CommitDraft, entity_path: str, key: str) -> None:
    """A tombstone behind what stands there."""
    found = entries.found(tx, entity_path, key)
    if found is None:
        raise EntryNotFoundError(entity_path, key)
    expired, before = found.entry, found.standing
    tombstone = expired.model_copy(
        update={
            "value": None,
            "provenance": expired.provenance.copied(written_at=tx.now, pattern_refs=()),
            "ttl_at": None,
            "artifact_refs": None,
            "outcome_count": 0,
            "success_count": 0,
            "failure_count": 0,
            "content_hash": content_hash(None),
        }
    )
    # Unknown fields go with the value.
    object.__setattr__(tombstone, "__pydantic_extra__", {})
    entries.append(tx, draft, tombstone, {}, None, before=before, kind="tombstone")
    if is_own(tx, before.key_id):
        index.remove(tx, before.key_id)


def _versions(tx: Transaction, matching: str, parameters: dict[str, Any]) -> Iterator[_Stored]:
    rows = tx.each(f"{VERSIONS} AND {matching} {IN_ORDER}", parameters)
    return (_Stored(*row) for row in rows)


def _is_held(rule: Kept, each: _Stored) -> bool:
    superseded_at = moment(each.superseded_at or 0)
    return rule.holds((each.entity_path, each.key), each.version, each.newest, superseded_at)


def _erased(tx: Transaction, meant: Sequence[_Stored], signature: Signature) -> RetentionReport:
    commit_ids: list[str] = []
    indexed_through = index.indexed_through(tx)
    for together in () if signature.dry_run else _slices(meant):
        draft = commits.begin(tx)
        for each in together:
            blank(tx, each, indexed_through)
            tx.run(RECORD, (each.id, draft.sequence))
        made = _commit(tx, draft, signature, "erase", [each.listed for each in together])
        commit_ids.append(made.commit().id)
    return RetentionReport(
        versions=tuple(each.listed for each in meant),
        commit_ids=tuple(commit_ids),
        dry_run=signature.dry_run,
    )


class Standing(Protocol):
    """A version that is to lose its value, and what is current of its key."""

    @property
    def id(self) -> int: ...
    @property
    def key_id(self) -> int: ...
    @property
    def current_id(self) -> int: ...


def blank(tx: Transaction, each: Standing, indexed_through: int) -> None:
    """Take the value out of the rows, and what was derived from it out of what stands beside them."""
    scrubbing.mark(tx)
    tx.run(BLANK_VERSION, (each.id,))
    traces.blank(tx, each.id)
    recalls.drop_vector(tx, each.id)
    is_current = each.id == each.current_id
    if is_current:
        entries.retag(tx, each.key_id, tx.value(TAGS, (each.key_id,)), ())
        tx.run(BLANK_CURRENT, (each.key_id,))
    if is_current or each.current_id > indexed_through:
        # What the index holds of this key may be the words of the version that goes.
        index.remove(tx, each.key_id)


def _commit(
    tx: Transaction,
    draft: CommitDraft,
    signature: Signature,
    kind: CommitKind,
    listed: Sequence[CommitEntry] = (),
) -> commits.Made:
    return commits.append(
        tx,
        draft,
        commit_id=commits.id_for(tx),
        kind=kind,
        message=signature.message,
        author=signature.author,
        session_id=signature.session_id,
        listed=listed,
    )


def _conditions(under: Under) -> str:
    conditions = f" AND {BELOW}" if under.entity_path else ""
    return conditions if under.include_system else f"{conditions} AND {NOT_SYSTEM}"


def _here(tx: Transaction) -> dict[str, Any]:
    return {"namespace": tx.namespace, "branch": tx.branch}


def _slices(things: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(things), ERASED_TOGETHER):
        yield things[start : start + ERASED_TOGETHER]
