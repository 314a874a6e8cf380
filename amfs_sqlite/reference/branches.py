"""Branches: making, comparing and merging them, going back in time, and forking an agent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MAIN_BRANCH, MemoryEntry
from amfs_sqlite.records.branches import Branch, DiffEntry, MergeResult
from amfs_sqlite.reference.commits import COMMIT_ID_DIGITS, make, newest_id
from amfs_sqlite.reference.retention import bury
from amfs_sqlite.reference.store import State, Store, StoredBranch, StoredVersion
from amfs_sqlite.rules import branches as rules
from amfs_sqlite.rules.hashing import integrity_chain
from amfs_sqlite.rules.limits import check_instant, check_name, check_optional_name
from amfs_sqlite.rules.values import encode
from amfs_sqlite.rules.versions import next_version
from amfs_sqlite.rules.visibility import is_system

Address = tuple[str, str]


def create_branch(store: Store, branch: Branch) -> Branch:
    state = store.state
    made = rules.prepared(branch, store.ids.hex(rules.ID_DIGITS), state.namespace, store.clock.now())
    if made.parent_branch != MAIN_BRANCH:
        _stored(state, made.parent_branch)
    if made.name in state.branches:
        raise rules.taken(made.name)
    made = made.copied(base_commit_id=newest_id(state, made.parent_branch))
    new = StoredBranch(encode(made.to_wire(), "branch"), state.head[0], {})
    store.change(lambda draft: draft.branches.update({made.name: new}))
    return made


def get_branch(store: Store, name: str) -> Branch | None:
    check_name(name, "name")
    state = store.state
    return _shown(state, name) if name in state.branches else None


def list_branches(store: Store, *, status: str | None = None) -> Sequence[Branch]:
    check_optional_name(status, "status")
    state = store.state
    made_last_first = reversed([_shown(state, name) for name in state.branches])
    listed = sorted(made_last_first, key=lambda branch: str(branch.created_at), reverse=True)
    return [branch for branch in listed if status in (None, branch.status)]


def close_branch(store: Store, name: str) -> Branch:
    check_name(name, "name")
    branch = _stored(store.state, name)
    rules.check_active(name, branch.status, "it is not to be closed")
    return store.change(lambda draft: _changed(draft, branch, status="closed"))


def diff_branch(store: Store, name: str) -> Sequence[DiffEntry]:
    check_name(name, "name")
    state = store.state
    return [rules.difference(sides) for sides in _compared(state, _stored(state, name)) if sides.differs]


def merge_branch(
    store: Store,
    name: str,
    *,
    strategy: str = "fast_forward",
    resolve_conflicts: Mapping[str, str] | None = None,
) -> MergeResult:
    state = store.state
    resolution = rules.resolution(strategy, resolve_conflicts)
    check_name(name, "name")
    branch = _stored(state, name)
    rules.check_active(name, branch.status, "there is nothing to merge")
    changed = [sides for sides in _compared(state, branch) if sides.differs]
    resolution = resolution.among(changed)
    undecided = tuple(rules.conflict(sides) for sides in changed if resolution.side(sides) is None)
    if undecided:
        return MergeResult(branch_name=name, status="conflicts", conflicts=undecided)
    taken = [sides for sides in changed if resolution.side(sides) == "branch"]
    now = store.clock.now()

    def work(draft: State) -> None:
        for sides in taken:
            _put(store, draft, branch.parent_branch, sides.address, sides.branch)
        if taken:
            _commit(store, draft, branch.parent_branch, f"merge {name}", branch.created_by)
        _changed(draft, branch, status="merged", merged_at=now, merged_by=branch.created_by)

    store.change(work)
    return MergeResult(branch_name=name, status="merged", merged_entries=len(taken))


def rollback_to_timestamp(store: Store, agent_id: str, branch: str, timestamp: datetime | str) -> int:
    check_name(agent_id, "agent_id")
    check_name(branch, "branch")
    at = check_instant(timestamp, "timestamp")
    if at is None:
        raise InvalidArgumentError("timestamp", "is empty; say to when")
    there = store.state.on(branch)
    stored_at = {sequence: stored.commit.created_at for sequence, stored in there.commits.items()}
    restored: list[tuple[Address, MemoryEntry | None]] = []
    for address, key in sorted(there.keys.items(), key=lambda item: item[0]):
        before = [version for version in key.versions if stored_at[version.sequence] <= at]
        then = _said(there, before[-1]) if before else None
        if len(before) < len(key.versions) and not rules.same(then, _said(there, key.current)):
            restored.append((address, then))

    def work(draft: State) -> None:
        for address, then in restored:
            _put(store, draft, branch, address, then)
        if restored:
            _commit(store, draft, branch, "rollback", agent_id)

    store.change(work)
    return len(restored)


def fork_agent(store: Store, source_agent_id: str, target_agent_id: str, *, branch: str = MAIN_BRANCH) -> int:
    for argument, name in (("source_agent_id", source_agent_id), ("target_agent_id", target_agent_id)):
        check_name(name, argument)
    check_name(branch, "branch")
    there = store.state.on(branch)
    new = [
        (address, [_said(there, each) for each in key.versions if each.is_visible(source_agent_id)])
        for address, key in there.keys.items()
        if address not in store.state.keys
        and not is_system(address[0])
        and there.current(*address, source_agent_id)
    ]

    def work(draft: State) -> None:
        for address, history in new:
            for each in filter(None, history):
                _put(store, draft, MAIN_BRANCH, address, _by(each, target_agent_id))
        if new:
            _commit(store, draft, MAIN_BRANCH, f"fork of {source_agent_id}", target_agent_id)

    store.change(work)
    return len(new)


def _said(there: State, version: StoredVersion) -> MemoryEntry | None:
    """What a version says; None where it was withdrawn."""
    return None if version.withdrawn else there.shown(version)


def _by(entry: MemoryEntry, agent_id: str) -> MemoryEntry:
    provenance = entry.provenance.copied(agent_id=agent_id)
    return entry.copied(provenance=provenance, outcome_count=0, success_count=0, failure_count=0)


def _compared(state: State, branch: Branch) -> Iterator[rules.Sides]:
    """Every key that the branch wrote, by path and key."""
    ours, theirs = state.on(branch.name), state.on(branch.parent_branch)
    for address, own in sorted(state.branches[branch.name].keys.items(), key=lambda item: item[0]):
        versions = ours.keys[address].versions
        below = versions[: len(versions) - len(own.versions)]
        base = _said(ours, below[-1]) if below else None
        there = theirs.current(*address, None)
        parent = None if there is None else theirs.shown(there)
        yield rules.Sides(base, _said(ours, own.current), parent, address)


def _put(store: Store, draft: State, branch: str, address: Address, said: MemoryEntry | None) -> None:
    """The next version of a key on a branch, or a tombstone."""
    key = draft.on(branch).keys.get(address)
    if said is None:
        if key is not None:
            bury(draft, key.current, store, branch)
        return
    before = None if key is None else key.current.written
    chain = None if before is None else before.integrity_chain
    draft.append(
        said.copied(
            version=next_version(None if before is None else before.version),
            provenance=said.provenance.copied(written_at=store.clock.now()),
            integrity_chain=integrity_chain(said.content_hash or "", chain),
            commit_id=None,
            superseded_at=None,
        ),
        "write",
        branch,
    )


def _commit(store: Store, draft: State, branch: str, message: str, author: str) -> None:
    make(
        draft,
        kind="write",
        author=author,
        message=message,
        session_id=None,
        created_at=store.clock.now(),
        commit_id=store.ids.hex(COMMIT_ID_DIGITS),
        branch=branch,
    )


def _stored(state: State, name: str) -> Branch:
    if name not in state.branches:
        raise rules.never_made(name)
    return _shown(state, name)


def _shown(state: State, name: str) -> Branch:
    return state.branches[name].branch.copied(head_commit_id=newest_id(state, name))


def _changed(draft: State, branch: Branch, **changes: Any) -> Branch:
    changed = branch.copied(**changes)
    stored = draft.branches[branch.name]
    draft.branches[branch.name] = replace(stored, record=encode(changed.to_wire(), "branch"))
    return changed
