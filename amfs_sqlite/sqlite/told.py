"""Commits as somebody told of them: what a commit from outside says, kept as it was said.

Of a commit that is in the log already what is said is kept as its description, whole: other parents than the
log has, another time, and the entries as they were planned.
"""

from collections.abc import Sequence
from typing import Any

from amfs_sqlite.models import Commit, CommitKind
from amfs_sqlite.rules.commits import check_free, check_may_describe, checked_commit
from amfs_sqlite.sqlite import commits
from amfs_sqlite.sqlite.rows import commit_of
from amfs_sqlite.sqlite.transaction import Transaction

IS_TOLD = "m.kind <> 'erase' AND (m.kind = 'description' OR m.message <> '' OR m.listed <> '[]')"
TOLD = f"""
SELECT m.sequence, m.namespace, m.branch, coalesce(m.describes, m.id), 'write', m.message, m.author,
       m.session_id, m.parent_ids, m.tree_hash, m.listed, m.created_at, m.digest
FROM commits AS m WHERE m.namespace = :namespace
AND {IS_TOLD}"""
TOLD_IN = f"""
SELECT m.namespace FROM commits AS m WHERE {IS_TOLD} AND (m.id = ? OR m.describes = ?)
ORDER BY m.sequence DESC LIMIT 1"""
LATEST = """
NOT EXISTS (SELECT 1 FROM commits AS x WHERE x.namespace = :namespace
            AND x.describes = coalesce(m.describes, m.id) AND x.sequence > m.sequence)"""
TOLD_OF = f"""
{TOLD} AND (m.id = :id OR m.describes = :id) ORDER BY m.sequence DESC LIMIT 1"""
NEWEST_TOLD = f"""
{TOLD} AND m.branch = :branch AND {LATEST}
ORDER BY m.created_at DESC, coalesce(m.describes, m.id) DESC LIMIT :limit"""


def save(tx: Transaction, given: Commit) -> None:
    """Keep what is said of a commit, or add it. Saying the same again is saying it once."""
    given = checked_commit(given)
    given = given.copied(parent_ids=tuple(parent for parent in given.parent_ids if parent != given.id))
    known = commits.get_commit(tx, given.id)
    if known is None:
        check_free(given.id, bool(tx.value(commits.IS_KNOWN, (tx.namespace, given.id))))
        _append(tx, given, given.id, "write", None)
    else:
        check_may_describe(given, known, commits.get_commit(tx, given.id, viewer=given.author_agent_id))
    if get(tx, given.id) != given.copied(namespace=tx.namespace):
        _append(tx, given, commits.id_for(tx), "description", given.id)


def get(tx: Transaction, commit_id: str) -> Commit | None:
    """What was said last of a commit; None where nothing was."""
    row = tx.one(TOLD_OF, {"namespace": tx.namespace, "id": commit_id})
    return None if row is None else _shown(tx, row, commit_id)


def anywhere(tx: Transaction, commit_id: str) -> Commit | None:
    """As ``get``; what another namespace was told, where this one was told nothing."""
    if (here := get(tx, commit_id)) is not None:
        return here
    row = tx.one(TOLD_IN, (commit_id, commit_id))
    if row is None:
        return None
    with tx.elsewhere(namespace=row[0]):
        return get(tx, commit_id)


def newest(tx: Transaction, *, limit: int) -> Sequence[Commit]:
    """What was said last of each commit of this branch that something was said of, newest first."""
    asked = {"namespace": tx.namespace, "branch": tx.branch, "limit": limit}
    return [_shown(tx, row, row[3]) for row in tx.each(NEWEST_TOLD, asked)]


def _shown(tx: Transaction, row: Sequence[Any], commit_id: str) -> Commit:
    """As it was said, without what is ours; the entries it wrote where none were named."""
    told = commit_of(row, (), ()).copied(id=commit_id, sequence=0, digest=None)
    made = None if told.entries else commits.get_commit(tx, commit_id)
    return told if made is None else told.copied(entries=made.entries)


def _append(tx: Transaction, given: Commit, commit_id: str, kind: CommitKind, describes: str | None) -> None:
    commits.append(
        tx,
        commits.begin(tx),
        commit_id=commit_id,
        kind=kind,
        message=given.message,
        author=given.author_agent_id,
        session_id=given.session_id,
        given=given,
        describes=describes,
    )
