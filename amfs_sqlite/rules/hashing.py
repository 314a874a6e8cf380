"""Hashes: AMFS's three formulas exactly, and our own digests over what they leave out."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from amfs_sqlite.clock import spelled
from amfs_sqlite.models import Commit, CommitEntry, MemoryEntry, OutcomeEffect

RECORD_FORM = "amfs-sqlite record 1"
COMMIT_FORM = "amfs-sqlite commit 1"
GENESIS = ""
# Made once: json.dumps makes an encoder for every call that does not take its defaults.
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode


def hash_of(text: str) -> str:
    """SHA-256 of a text, in hex; of canonical JSON that is the contentHash."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_json(value: Any) -> str:
    r"""The text AMFS hashes: members sorted, no spaces, ASCII.

    >>> canonical_json({"b": 1, "a": [1.0, "é"]})
    '{"a":[1.0,"\\u00e9"],"b":1}'
    """
    return _CANONICAL(value)


def content_hash(value: Any) -> str:
    """AMFS's contentHash: SHA-256 of the canonical JSON, in hex.

    >>> content_hash("hello")[:8], content_hash(1)[:8], content_hash(1.0)[:8]
    ('5aa762ae', '6b86b273', 'd0ff5974')
    """
    return hash_of(canonical_json(value))


def integrity_chain(content: str, previous_chain: str | None) -> str:
    """AMFS's integrityChain: SHA-256 of the contentHash followed by the chain before (the first has '')."""
    return hash_of(content + (previous_chain or ""))


def tree_hash(content_hashes: Iterable[str]) -> str:
    """AMFS's treeHash over the content hashes of a commit.

    >>> tree_hash(["b", "a"])[:8]
    '7e18f737'
    """
    return hash_of("\n".join(sorted(content_hashes)))


def digest(*fields: str | None) -> str:
    """SHA-256 over fields, each preceded by its length, so that no two lists of fields look alike.

    >>> digest("ab", "c") == digest("a", "bc"), digest(None) == digest("")
    (False, False)
    """
    framed = "".join(["-;" if field is None else f"{len(field)}:{field};" for field in fields])
    if not framed.isascii():
        framed = "".join("-;" if field is None else f"{len(field.encode())}:{field};" for field in fields)
    return hash_of(framed)


NOTHING = digest()
"""The digest of no fields at all."""


def record_digest(entry: MemoryEntry, *, namespace: str, branch: str, kind: str, extra_hash: str) -> str:
    """Covers everything written with a version but the value and the unknown fields themselves, for
    which their hashes stand, so that it outlives their erasure.

    ``entry`` is the version as written. Not covered, since they come later: superseded_at and the
    opinions of outcomes. The commit is covered by its own digest, which lists this one.
    """
    return digest(
        RECORD_FORM,
        namespace,
        branch,
        entry.entity_path,
        entry.key,
        str(entry.version),
        kind,
        entry.content_hash,
        entry.amfs_version,
        entry.provenance.agent_id,
        entry.provenance.session_id,
        spelled(entry.written_at),
        digest(*entry.provenance.pattern_refs) if entry.provenance.pattern_refs else NOTHING,
        "shared" if entry.shared else "private",
        None if entry.ttl_at is None else spelled(entry.ttl_at),
        repr(entry.confidence),
        str(entry.outcome_count),
        str(entry.success_count),
        str(entry.failure_count),
        None
        if entry.artifact_refs is None
        else canonical_json([ref.to_wire() for ref in entry.artifact_refs]),
        extra_hash,
    )


def outcome_digest(record: Mapping[str, Any], effects: Sequence[OutcomeEffect]) -> str:
    """Covers an outcome as reported, given in its wire form, and each of its effects."""
    return digest(canonical_json(record), *(canonical_json(effect.to_wire()) for effect in effects))


def commit_digest(
    previous: str,
    *,
    sequence: int,
    commit_id: str,
    namespace: str,
    branch: str,
    kind: str,
    message: str,
    author: str,
    session_id: str | None,
    parent_ids: Sequence[str],
    created_at: datetime,
    tree: str | None,
    listed: Sequence[CommitEntry],
    describes: str | None,
    record_digests: Sequence[str],
    outcome_digests: Sequence[str],
) -> str:
    """Covers a commit, all it holds, and through ``previous`` all commits before it."""
    return digest(
        COMMIT_FORM,
        previous,
        str(sequence),
        commit_id,
        namespace,
        branch,
        kind,
        message,
        author,
        session_id,
        digest(*parent_ids),
        spelled(created_at),
        tree,
        canonical_json([entry.to_wire() for entry in listed]) if listed else "[]",
        describes,
        digest(*record_digests),
        digest(*outcome_digests) if outcome_digests else NOTHING,
    )


def digest_of(
    commit: Commit,
    previous: str,
    *,
    describes: str | None,
    record_digests: Sequence[str],
    outcome_digests: Sequence[str],
) -> str:
    """``commit_digest`` of a commit whose entries are those it names without having written them."""
    return commit_digest(
        previous,
        sequence=commit.sequence,
        commit_id=commit.id,
        namespace=commit.namespace,
        branch=commit.branch,
        kind=commit.kind,
        message=commit.message,
        author=commit.author_agent_id,
        session_id=commit.session_id,
        parent_ids=commit.parent_ids,
        created_at=commit.created_at,
        tree=commit.tree_hash,
        listed=commit.entries,
        describes=describes,
        record_digests=record_digests,
        outcome_digests=outcome_digests,
    )
