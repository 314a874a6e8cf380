"""Exports that say something else than any store did, with every digest made to fit."""

import json
from collections.abc import Sequence
from typing import Any

from amfs_sqlite import Commit, MemoryEntry, OutcomeEffect
from amfs_sqlite.rules import transfer
from amfs_sqlite.rules.hashing import GENESIS, commit_digest, outcome_digest, record_digest, tree_hash

Line = dict[str, Any]


def parsed(export: bytes) -> list[Line]:
    """Its lines, to be changed."""
    return [json.loads(line) for line in export.splitlines()]


def sealed(lines: Sequence[Line]) -> bytes:
    """The export of these lines, numbered, counted and hashed as if a store had written them."""
    first, *others = lines
    commits: list[list[Line]] = []
    for line in others[:-1]:
        if "commit" in line:
            commits.append([line])
        else:
            commits[-1].append(line)
    digest = GENESIS
    for sequence, (line, *changes) in enumerate(commits, 1):
        digest = _seal(line, changes, sequence, digest)
    end = {
        "commits": len(commits),
        "versions": sum("entry" in line for line in others),
        "outcomes": sum("outcome" in line for line in others),
        "sequence": len(commits),
        "digest": digest,
    }
    return b"".join(transfer.line(each) for each in [first, *others[:-1], {"end": end}])


def _seal(line: Line, changes: Sequence[Line], sequence: int, previous: str) -> str:
    commit = Commit.from_wire(line["commit"])
    versions, outcomes = [], []
    for change in changes:
        if "entry" in change:
            change["recordDigest"] = _record_digest(change, commit)
            versions.append(change)
        else:
            effects = [OutcomeEffect.from_wire(each) for each in change["effects"]]
            change["digest"] = outcome_digest(change["outcome"], effects)
            outcomes.append(change)
    if versions:
        line["commit"]["treeHash"] = tree_hash(each["entry"]["contentHash"] for each in versions)
    line["sequence"] = sequence
    line["digest"] = commit_digest(
        previous,
        sequence=sequence,
        commit_id=commit.id,
        namespace=commit.namespace,
        branch=commit.branch,
        kind=line["kind"],
        message=commit.message,
        author=commit.author_agent_id,
        session_id=commit.session_id,
        parent_ids=commit.parent_ids,
        created_at=commit.created_at,
        tree=line["commit"].get("treeHash"),
        listed=commit.entries,
        describes=line["describes"],
        record_digests=[each["recordDigest"] for each in versions],
        outcome_digests=[each["digest"] for each in outcomes],
    )
    digest: str = line["digest"]
    return digest


def _record_digest(line: Line, commit: Commit) -> str:
    return record_digest(
        MemoryEntry.from_wire(line["entry"]),
        namespace=commit.namespace,
        branch=commit.branch,
        kind=line["kind"],
        extra_hash=line["extraHash"],
    )
