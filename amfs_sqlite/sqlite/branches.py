"""Branches: making, comparing and merging them, going back in time, and forking an agent."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MAIN_BRANCH, MemoryEntry
from amfs_sqlite.records.branches import Branch, DiffEntry, MergeResult
from amfs_sqlite.rules import branches as rules
from amfs_sqlite.rules.limits import check_instant, check_name, check_optional_name
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite import commits, entries, recalls, retention
from amfs_sqlite.sqlite.drafts import CommitDraft
from amfs_sqlite.sqlite.ground import NEWEST_ID
from amfs_sqlite.sqlite.overlays import here, seen
from amfs_sqlite.sqlite.rows import entry_of, microseconds, model_of
from amfs_sqlite.sqlite.transaction import Transaction

INSERT = """
INSERT INTO branches (namespace, name, parent_branch, base_sequence, status, created_at, record)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, name) DO NOTHING"""
BRANCH = "SELECT record FROM branches WHERE namespace = ? AND name = ?"
BRANCHES = """
SELECT record FROM branches WHERE namespace = :namespace AND (:status IS NULL OR status = :status)
ORDER BY created_at DESC, id DESC"""
CHANGE = "UPDATE branches SET status = ?, record = ? WHERE namespace = ? AND name = ?"
# The keys that a branch wrote itself, and what each of them was built on.
OWN = """
SELECT o.entity_path, o.key, p.version_id FROM current AS o LEFT JOIN branch_points AS p ON p.key_id = o.id
WHERE o.namespace = :namespace AND o.branch = :branch ORDER BY o.entity_path, o.key"""
BY_ID = f"{entries.ENTRY_VERSION} WHERE v.id = ?"
# By when it was stored: when a version was written is what its author says.
SINCE = f"""
SELECT DISTINCT c.entity_path, c.key FROM versions AS v JOIN current AS c ON c.id = v.key_id
JOIN commits AS m ON m.sequence = v.sequence
WHERE {entries.HERE} AND m.created_at > :at ORDER BY c.entity_path, c.key"""
AS_OF = f"""{entries.ENTRY_VERSION} WHERE {entries.AT} AND m.created_at <= :at
ORDER BY v.version DESC LIMIT 1"""
ALL_VERSIONS = f"{entries.ENTRY_VERSION} WHERE {entries.AT} AND v.value IS NOT NULL ORDER BY v.version"


def create_branch(tx: Transaction, branch: Branch) -> Branch:
    made = rules.prepared(branch, tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now)
    if made.parent_branch != MAIN_BRANCH:
        _stored(tx, made.parent_branch)
    draft = commits.begin(tx)
    place = (tx.namespace, made.parent_branch)
    made = made.copied(base_commit_id=draft.ground.newest_commit_id(tx.connection, place))
    row = (made.name, made.parent_branch, draft.ground.sequence, made.status, microseconds(tx.now))
    if not tx.execute(INSERT, (tx.namespace, *row, encode(made.to_wire(), "branch"))).rowcount:
        raise rules.taken(made.name)
    return made


def get_branch(tx: Transaction, name: str) -> Branch | None:
    check_name(name, "name")
    row = tx.one(BRANCH, (tx.namespace, name))
    return None if row is None else _with_head(tx, model_of(row[0], Branch))


def list_branches(tx: Transaction, *, status: str | None = None) -> Sequence[Branch]:
    check_optional_name(status, "status")
    rows = tx.all(BRANCHES, {"namespace": tx.namespace, "status": status})
    return [_with_head(tx, model_of(record, Branch)) for (record,) in rows]


def close_branch(tx: Transaction, name: str) -> Branch:
    branch = _stored(tx, name)
    rules.check_active(name, branch.status, "it is not to be closed")
    return _changed(tx, branch, status="closed")


def diff_branch(tx: Transaction, name: str) -> Sequence[DiffEntry]:
    return [rules.difference(sides) for sides in _compared(tx, _stored(tx, name)) if sides.differs]


def merge_branch(
    tx: Transaction,
    name: str,
    *,
    strategy: str = "fast_forward",
    resolve_conflicts: Mapping[str, str] | None = None,
) -> MergeResult:
    resolution = rules.resolution(strategy, resolve_conflicts)
    branch = _stored(tx, name)
    rules.check_active(name, branch.status, "there is nothing to merge")
    changed = [sides for sides in _compared(tx, branch) if sides.differs]
    resolution = resolution.among(changed)
    undecided = tuple(rules.conflict(sides) for sides in changed if resolution.side(sides) is None)
    if undecided:
        return MergeResult(branch_name=name, status="conflicts", conflicts=undecided)
    taken = [sides.address for sides in changed if resolution.side(sides) == "branch"]
    brought = [_brought(tx, name, address) for address in taken]
    with tx.elsewhere(branch=branch.parent_branch):
        if brought:
            draft = commits.begin(tx)
            for address, each in zip(taken, brought, strict=True):
                _put(tx, draft, address, each)
            _commit(tx, draft, f"merge {name}", branch.created_by)
    _changed(tx, branch, status="merged", merged_at=tx.now, merged_by=branch.created_by)
    return MergeResult(branch_name=name, status="merged", merged_entries=len(taken))


def rollback_to_timestamp(tx: Transaction, agent_id: str, branch: str, timestamp: datetime | str) -> int:
    check_name(agent_id, "agent_id")
    check_name(branch, "branch")
    at = check_instant(timestamp, "timestamp")
    if at is None:
        raise InvalidArgumentError("timestamp", "is empty; say to when")
    with tx.elsewhere(branch=branch):
        moment = here(tx) | {"at": microseconds(at)}
        restored: list[tuple[tuple[str, str], _Brought | None]] = []
        for address in tx.all(seen(tx, SINCE), moment):
            path, key = address
            row = tx.one(seen(tx, AS_OF), moment | {"entity_path": path, "key": key})
            then = None if row is None or row[entries.VALUE] is None else _of(tx, row)
            stands = entries.current(tx, path, key, None)
            if (then is None and stands is None) or (then and rules.same(then.entry, stands)):
                continue
            restored.append(((path, key), then))
        if restored:
            draft = commits.begin(tx)
            for address, then in restored:
                _put(tx, draft, address, then)
            _commit(tx, draft, "rollback", agent_id)
    return len(restored)


def fork_agent(
    tx: Transaction, source_agent_id: str, target_agent_id: str, *, branch: str = MAIN_BRANCH
) -> int:
    for argument, name in (("source_agent_id", source_agent_id), ("target_agent_id", target_agent_id)):
        check_name(name, argument)
    check_name(branch, "branch")
    with tx.elsewhere(branch=branch):
        listed = entries.list_entries(tx, viewer=source_agent_id, include_system=False)
    new = [
        (each.entity_path, each.key)
        for each in listed
        if entries.standing(tx, each.entity_path, each.key) is None
    ]
    draft = commits.begin(tx)
    for address in new:
        with tx.elsewhere(branch=branch):
            rows = tx.all(seen(tx, ALL_VERSIONS), entries.place(tx, *address))
            history = [_of(tx, row) for row in rows if _may_see(row, source_agent_id)]
        for each in history:
            _put(tx, draft, address, each.by(target_agent_id))
    if new:
        _commit(tx, draft, f"fork of {source_agent_id}", target_agent_id)
    return len(new)


class _Brought(NamedTuple):
    """A version to be written anew: the entry, the text of its value, and where its embedding lies."""

    entry: MemoryEntry
    value: str
    version_id: int

    def by(self, agent_id: str) -> "_Brought":
        """As another agent's."""
        provenance = self.entry.provenance.copied(agent_id=agent_id)
        return self._replace(
            entry=self.entry.copied(provenance=provenance, outcome_count=0, success_count=0, failure_count=0)
        )


def _may_see(row: Sequence[Any], viewer: str) -> bool:
    entry = entry_of(row)
    return entry.shared or entry.agent_id == viewer


def _of(tx: Transaction, row: Sequence[Any]) -> _Brought:
    entry = entry_of(row)
    at = here(tx) | {"entity_path": entry.entity_path, "key": entry.key, "version": entry.version}
    return _Brought(entry, row[entries.VALUE], int(tx.value(seen(tx, VERSION_ID), at)))


VERSION_ID = f"""
SELECT v.id FROM versions AS v JOIN current AS c ON c.id = v.key_id
WHERE {entries.AT} AND v.version = :version"""


def _brought(tx: Transaction, name: str, address: tuple[str, str]) -> _Brought | None:
    """What a branch says of a key; None where it says that nothing is there."""
    with tx.elsewhere(branch=name):
        found = entries.found(tx, *address)
        if found is None or found.entry.withdrawn:
            return None
        return _Brought(found.entry, found.value, found.standing.version_id)


def _put(tx: Transaction, draft: CommitDraft, address: tuple[str, str], brought: _Brought | None) -> None:
    """The next version of a key, or a tombstone."""
    if brought is None:
        retention.bury(tx, draft, *address)
        return
    provenance = brought.entry.provenance.copied(written_at=tx.now)
    entry = brought.entry.copied(provenance=provenance, commit_id=None, superseded_at=None)
    before = entries.standing(tx, *address)
    entries.append(tx, draft, entry, {}, brought.value, before=before)
    recalls.carry_vector(tx, draft.ground.newest_version_id, brought.version_id)


def _commit(tx: Transaction, draft: CommitDraft, message: str, author: str) -> None:
    commits.append(
        tx,
        draft,
        commit_id=commits.id_for(tx),
        kind="write",
        message=message,
        author=author,
        session_id=None,
    )


def _compared(tx: Transaction, branch: Branch) -> Iterator[rules.Sides]:
    """Every key that the branch wrote, by path and key."""
    for path, key, base_id in tx.all(OWN, {"namespace": tx.namespace, "branch": branch.name}):
        row = None if base_id is None else tx.row(BY_ID, (base_id,))
        with tx.elsewhere(branch=branch.name):
            ours = entries.current(tx, path, key, None)
        with tx.elsewhere(branch=branch.parent_branch):
            theirs = entries.current(tx, path, key, None)
        base = None if row is None else entry_of(row)
        yield rules.Sides(None if base and base.withdrawn else base, ours, theirs, (path, key))


def _stored(tx: Transaction, name: str) -> Branch:
    found = get_branch(tx, name)
    if found is None:
        raise rules.never_made(name)
    return found


def _with_head(tx: Transaction, branch: Branch) -> Branch:
    row = tx.one(NEWEST_ID, (tx.namespace, branch.name))
    return branch.copied(head_commit_id=None if row is None else row[0])


def _changed(tx: Transaction, branch: Branch, **changes: Any) -> Branch:
    changed = branch.copied(**changes)
    tx.run(CHANGE, (changed.status, encode(changed.to_wire(), "branch"), tx.namespace, changed.name))
    return changed
